"""Extrapolation: from the success rates of one population to those of another.

In: an item pool with rates of a focal group, and a target population. Out: a rate with its interval per item.
Read first: ``protocol`` (the contract of every method) and ``methods`` (the verb and the table of methods).
Statistical methods: ``line_methods``, on ``straight_line``, ``distributions``, ``slices``, ``facts``,
``descriptions``. The world: ``poststratification``, on ``transfer`` and ``abilities``. Language models:
``whole_pool`` and ``item_by_item``, on ``prompts`` and ``correction``. Hidden rates, predicted and
scored: ``validation``, on ``cases``, ``scoring``, ``breakdown`` and ``answers``.
"""

from typing import TYPE_CHECKING

from mensura.core.exports import on_first_use

if TYPE_CHECKING:
    from mensura.extrapolation.answers import (
        dominant_dimensions as dominant_dimensions,
        measure_distance as measure_distance,
        score_answers as score_answers,
    )
    from mensura.extrapolation.breakdown import (
        published_distances as published_distances,
        published_errors as published_errors,
    )
    from mensura.extrapolation.cases import Case as Case, cases_of as cases_of
    from mensura.extrapolation.correction import Correction as Correction
    from mensura.extrapolation.item_by_item import ItemByItem as ItemByItem
    from mensura.extrapolation.line_methods import (
        Described as Described,
        Hierarchical as Hierarchical,
        Linked as Linked,
    )
    from mensura.extrapolation.methods import (
        METHODS as METHODS,
        SITUATIONS as SITUATIONS,
        Extrapolation as Extrapolation,
        extrapolate as extrapolate,
        make_method as make_method,
        methods_of as methods_of,
    )
    from mensura.extrapolation.poststratification import PostStratification as PostStratification
    from mensura.extrapolation.prompts import read_percentage as read_percentage
    from mensura.extrapolation.protocol import (
        Extrapolator as Extrapolator,
        Prediction as Prediction,
        Slices as Slices,
        Task as Task,
        make_task as make_task,
    )
    from mensura.extrapolation.validation import Validation as Validation, validate as validate
    from mensura.extrapolation.whole_pool import WholePool as WholePool

__getattr__, __dir__, __all__ = on_first_use(__name__, __file__)
