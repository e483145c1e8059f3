"""Stitching: one capability per model and one difficulty and slope per benchmark, from a sparse table of scores.

In: scores of subjects on benchmarks. Out: a :class:`Stitch` with capabilities, benchmarks, intervals and residuals.
Read first: ``fit`` (the verb), ``scores`` and ``layout`` (checked scores as arrays), ``pooled`` (the default method),
``rosetta`` (the published method), ``laplace`` and ``positions`` (uncertainty), ``people`` (groups of people on the
scale), ``place`` and ``frozen`` (new subjects on a scale that stands).
"""

from mensura.stitching.checks import Convergence, published_anchor
from mensura.stitching.fit import read_any, stitch
from mensura.stitching.frozen import FrozenScale, freeze, frozen_scales, load_scale
from mensura.stitching.influence import battery_intervals, benchmark_influence, information_curves
from mensura.stitching.layout import ScoreLayout
from mensura.stitching.links import DAYS_PER_YEAR, evidence_scores, to_date, to_years
from mensura.stitching.people import People, people_scores, place_people
from mensura.stitching.place import domain, place
from mensura.stitching.positions import PositionDraws
from mensura.stitching.predict import residual_tables
from mensura.stitching.result import Stitch
from mensura.stitching.rosetta import Solution, penalty_weight, solve_rosetta
from mensura.stitching.scores import ScoreSet, encode, read_scores

__all__ = [
    "DAYS_PER_YEAR",
    "Convergence",
    "FrozenScale",
    "People",
    "PositionDraws",
    "ScoreLayout",
    "ScoreSet",
    "Solution",
    "Stitch",
    "battery_intervals",
    "benchmark_influence",
    "domain",
    "encode",
    "evidence_scores",
    "freeze",
    "frozen_scales",
    "information_curves",
    "load_scale",
    "penalty_weight",
    "people_scores",
    "place",
    "place_people",
    "published_anchor",
    "read_any",
    "read_scores",
    "residual_tables",
    "solve_rosetta",
    "stitch",
    "to_date",
    "to_years",
]
