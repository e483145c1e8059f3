"""Benchmarks and subjects on one scale: the joint fit, its uncertainty, people, held-out checks."""

from mensura.stitching.draws import Draws
from mensura.stitching.fit import stitch
from mensura.stitching.heldout import held_out_errors
from mensura.stitching.influence import benchmark_influence, information_curves, subject_information
from mensura.stitching.layout import Layout
from mensura.stitching.links import evidence_scores
from mensura.stitching.people import People, people_scores, place_people
from mensura.stitching.place import domain, place
from mensura.stitching.result import Stitch
from mensura.stitching.robustness import robustness_tables
from mensura.stitching.rosetta import Solution, penalty_weight, shift_to_anchor, solve_rosetta
from mensura.stitching.scores import ScoreSet, encode, read_scores
from mensura.stitching.sensitivity import sens5

__all__ = [
    "Draws",
    "Layout",
    "People",
    "ScoreSet",
    "Solution",
    "Stitch",
    "benchmark_influence",
    "domain",
    "encode",
    "evidence_scores",
    "held_out_errors",
    "information_curves",
    "penalty_weight",
    "people_scores",
    "place",
    "place_people",
    "read_scores",
    "robustness_tables",
    "sens5",
    "shift_to_anchor",
    "solve_rosetta",
    "stitch",
    "subject_information",
]
