"""Responses: item by item, for models and people, from logs to abilities.

In: evaluation logs, tables of answers or item pools. Out: a :class:`ResponseFit` with abilities, items, fit and
differences.
Read first: ``sources`` and ``counting`` (files become counts), ``table`` and ``store`` (in memory, on disk), ``fit``
(the verb), ``irt/`` (the mathematics, on NumPy or PyTorch), ``comparing`` (groups), ``categories`` (rubric scores,
ratings, options), ``surprises`` (leaked items), ``linking`` (two fits on one scale), ``adaptive`` (short
forms), ``scoring`` (new subjects on the items of a fit), ``among`` (abilities among people).
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
    from mensura.responses.among import AmongPeople as AmongPeople, place_among as place_among
    from mensura.responses.bank import ItemBank as ItemBank, Placement as Placement
    from mensura.responses.categories import CategoryFit as CategoryFit, fit_categories as fit_categories
    from mensura.responses.dimensions import DimensionFit as DimensionFit, fit_dimensions as fit_dimensions
    from mensura.responses.fit import FitOptions as FitOptions, fit_responses as fit_responses
    from mensura.responses.linking import LinkedFit as LinkedFit, link_fits as link_fits
    from mensura.responses.reading import read_responses as read_responses
    from mensura.responses.regression import (
        ItemExplanation as ItemExplanation,
        explain_items as explain_items,
        regress_abilities as regress_abilities,
    )
    from mensura.responses.regression_tables import (
        AbilityRegression as AbilityRegression,
        DimensionRegression as DimensionRegression,
    )
    from mensura.responses.result import ResponseFit as ResponseFit
    from mensura.responses.rules import CountRules as CountRules
    from mensura.responses.scoring import score_new as score_new
    from mensura.responses.store import ResponseStore as ResponseStore, write_store as write_store
    from mensura.responses.surprises import Surprises as Surprises, find_surprises as find_surprises
    from mensura.responses.survey import Survey as Survey, take_columns as take_columns
    from mensura.responses.table import ResponseTable as ResponseTable

__getattr__, __dir__, __all__ = on_first_use(__name__, __file__)
