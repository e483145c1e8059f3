"""Item by item: responses of models and people, item response models at any size, adaptive testing.

Public names are imported on first use: the arrays underneath (:mod:`mensura.responses.irt`) need NumPy alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mensura.exports import on_first_use

if TYPE_CHECKING:
    from mensura.responses.adaptive import Aim, NextItems, ShortForm, next_items, select_items
    from mensura.responses.among import AmongPeople, place_among
    from mensura.responses.bank import ItemBank, Placement
    from mensura.responses.fit import FitOptions, fit_responses
    from mensura.responses.reading import read_responses
    from mensura.responses.result import ResponseFit
    from mensura.responses.rules import CountRules
    from mensura.responses.store import ResponseStore, write_store
    from mensura.responses.table import ResponseTable

_HOMES = {
    "Aim": "adaptive",
    "AmongPeople": "among",
    "CountRules": "rules",
    "FitOptions": "fit",
    "ItemBank": "bank",
    "NextItems": "adaptive",
    "Placement": "bank",
    "ResponseFit": "result",
    "ResponseStore": "store",
    "ResponseTable": "table",
    "ShortForm": "adaptive",
    "fit_responses": "fit",
    "next_items": "adaptive",
    "place_among": "among",
    "read_responses": "reading",
    "select_items": "adaptive",
    "write_store": "store",
}

__all__ = [
    "Aim",
    "AmongPeople",
    "CountRules",
    "FitOptions",
    "ItemBank",
    "NextItems",
    "Placement",
    "ResponseFit",
    "ResponseStore",
    "ResponseTable",
    "ShortForm",
    "fit_responses",
    "next_items",
    "place_among",
    "read_responses",
    "select_items",
    "write_store",
]

__getattr__, __dir__ = on_first_use(__name__, _HOMES)
