"""Extrapolation: from the success rates of one population to those of another.

In: an item pool with rates of a focal group, and a target population. Out: a rate with its interval per item.
Read first: ``protocol`` (the contract of every method) and ``extrapolate`` (the verb and the table of methods).
Statistical methods: ``line_methods``, on ``straight_line``, ``slices``, ``facts`` and ``descriptions``. The
world: ``poststratification``, on ``transfer``, ``mixture`` and ``abilities``. Language models: ``whole_pool`` and
``item_by_item``, on ``prompts``, ``percentages`` and ``correction``. Hidden rates, predicted and scored: ``validate``,
on ``cases``, ``scoring`` and ``breakdown``.
"""

from mensura.extrapolation.breakdown import (
    dominant_dimensions,
    measure_distance,
    published_distances,
    published_errors,
    score_answers,
)
from mensura.extrapolation.cases import Case, cases_of
from mensura.extrapolation.correction import Correction, learn_correction
from mensura.extrapolation.extrapolate import (
    METHODS,
    SITUATIONS,
    Extrapolation,
    extrapolate,
    make_method,
    methods_of,
)
from mensura.extrapolation.item_by_item import ItemByItem
from mensura.extrapolation.line_methods import Described, Hierarchical, Identity, Linked
from mensura.extrapolation.percentages import read_percentage
from mensura.extrapolation.poststratification import PostStratification
from mensura.extrapolation.protocol import Extrapolator, Prediction, Slices, Task, make_task
from mensura.extrapolation.validate import Validation, validate
from mensura.extrapolation.whole_pool import WholePool

__all__ = [
    "METHODS",
    "SITUATIONS",
    "Case",
    "Correction",
    "Described",
    "Extrapolation",
    "Extrapolator",
    "Hierarchical",
    "Identity",
    "ItemByItem",
    "Linked",
    "PostStratification",
    "Prediction",
    "Slices",
    "Task",
    "Validation",
    "WholePool",
    "cases_of",
    "dominant_dimensions",
    "extrapolate",
    "learn_correction",
    "make_method",
    "make_task",
    "measure_distance",
    "methods_of",
    "published_distances",
    "published_errors",
    "read_percentage",
    "score_answers",
    "validate",
]
