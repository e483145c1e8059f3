"""Benchmarks and subjects on one scale: the joint fit, its uncertainty, held-out checks."""

from mensura.stitching.fit import Stitch, stitch
from mensura.stitching.layout import Layout
from mensura.stitching.rosetta import Solution, penalty_weight, shift_to_anchor, solve_rosetta
from mensura.stitching.scores import ScoreSet, encode, read_scores

__all__ = [
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
