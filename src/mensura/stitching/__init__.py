"""Benchmarks and subjects on one scale: the joint fit, its uncertainty, people, held-out checks."""

from mensura.stitching.draws import Draws
from mensura.stitching.fit import stitch
from mensura.stitching.layout import Layout
from mensura.stitching.result import Stitch
from mensura.stitching.rosetta import Solution, penalty_weight, shift_to_anchor, solve_rosetta
from mensura.stitching.scores import ScoreSet, encode, read_scores

__all__ = [
    "Draws",
    "Layout",
    "ScoreSet",
    "Solution",
    "Stitch",
    "encode",
    "penalty_weight",
    "read_scores",
    "shift_to_anchor",
    "solve_rosetta",
    "stitch",
]
