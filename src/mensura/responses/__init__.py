"""Responses: item by item, for models and people, from logs to abilities.

In: evaluation logs, tables of answers or item pools. Out: a :class:`ResponseFit` with abilities, items, fit and
differences.
Read first: ``reading`` and ``counting`` (files become counts), ``table`` and ``store`` (in memory, on disk), ``fit``
(the verb), ``irt/`` (the mathematics, on NumPy or PyTorch), ``categories`` (rubric scores, ratings, options),
``dimensions`` (several abilities), ``surprises`` (leaked items), ``invariance`` (one scale for two groups), ``linking``
(two fits on one scale), ``times`` (response times), ``adaptive`` (short forms), ``among`` (abilities among people, new
subjects).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mensura.core.exports import on_first_use

if TYPE_CHECKING:
    from mensura.responses.adaptive import (
        Aim as Aim,
        NextItems as NextItems,
        ShortForm as ShortForm,
        next_items as next_items,
        select_items as select_items,
    )
    from mensura.responses.among import AmongPeople as AmongPeople, place_among as place_among, score_new as score_new
    from mensura.responses.bank import ItemBank as ItemBank, Placement as Placement
    from mensura.responses.categories import CategoryFit as CategoryFit, fit_categories as fit_categories
    from mensura.responses.comparison import (
        FitComparison as FitComparison,
        SubjectComparison as SubjectComparison,
        compare_fits as compare_fits,
        compare_subjects as compare_subjects,
    )
    from mensura.responses.counting import CountRules as CountRules
    from mensura.responses.dimensions import DimensionFit as DimensionFit, fit_dimensions as fit_dimensions
    from mensura.responses.explanation import ItemExplanation as ItemExplanation, explain_items as explain_items
    from mensura.responses.fit import FitOptions as FitOptions, fit_responses as fit_responses
    from mensura.responses.invariance import Invariance as Invariance, check_invariance as check_invariance
    from mensura.responses.linking import LinkedFit as LinkedFit, link_fits as link_fits
    from mensura.responses.reading import AnswerChoice as AnswerChoice, read_responses as read_responses
    from mensura.responses.regression import (
        AbilityRegression as AbilityRegression,
        regress_abilities as regress_abilities,
    )
    from mensura.responses.result import ResponseFit as ResponseFit
    from mensura.responses.store import ResponseStore as ResponseStore, write_store as write_store
    from mensura.responses.surprises import Surprises as Surprises, find_surprises as find_surprises
    from mensura.responses.survey import Survey as Survey, take_columns as take_columns
    from mensura.responses.table import ResponseTable as ResponseTable
    from mensura.responses.times import TimeFit as TimeFit, fit_times as fit_times

__getattr__, __dir__, __all__ = on_first_use(__name__, __file__)
