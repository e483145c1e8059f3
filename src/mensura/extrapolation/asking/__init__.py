"""Language models as extrapolators: one item per call as published, or a whole pool in one prompt."""

from mensura.extrapolation.asking.correction import (
    Correction,
    learn_correction,
    published_correction,
    shipped_correction,
)
from mensura.extrapolation.asking.item_by_item import ItemByItem
from mensura.extrapolation.asking.percentages import read_percentage
from mensura.extrapolation.asking.whole_pool import WholePool

__all__ = [
    "Correction",
    "ItemByItem",
    "WholePool",
    "learn_correction",
    "published_correction",
    "read_percentage",
    "shipped_correction",
]
