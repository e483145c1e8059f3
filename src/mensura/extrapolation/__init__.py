"""Extrapolation: from the success rates of one population to those of another.

In: an item pool with rates of a focal group, and a target population. Out: a rate with its interval per item.
Read first: ``protocol`` (the contract of every method), ``observed`` (tasks from tables), ``line/`` (statistical
methods), ``world/`` (post-stratification over the strata of the world), ``asking/`` (language models),
``extrapolate`` (the verb), ``validation/`` (hidden rates, predicted and scored).
"""

from mensura.extrapolation.asking.item_by_item import ItemByItem
from mensura.extrapolation.asking.whole_pool import WholePool
from mensura.extrapolation.extrapolate import METHODS, SITUATIONS, extrapolate, make_method, methods_of
from mensura.extrapolation.line.methods import Described, Hierarchical, Identity, Linked
from mensura.extrapolation.line.priors import learn_priors
from mensura.extrapolation.observed import make_task
from mensura.extrapolation.protocol import (
    Extrapolation,
    Extrapolator,
    Prediction,
    Slices,
    Task,
    empty_sensitivity,
)
from mensura.extrapolation.validation.answers import dominant_dimensions, measure_distance, score_answers
from mensura.extrapolation.validation.cases import Case, cases_of
from mensura.extrapolation.validation.published import published_distances, published_errors
from mensura.extrapolation.validation.validate import Validation, validate
from mensura.extrapolation.world.poststratification import PostStratification

__all__ = [
    "METHODS",
    "SITUATIONS",
    "Case",
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
    "empty_sensitivity",
    "extrapolate",
    "learn_priors",
    "make_method",
    "make_task",
    "measure_distance",
    "methods_of",
    "published_distances",
    "published_errors",
    "score_answers",
    "validate",
]
