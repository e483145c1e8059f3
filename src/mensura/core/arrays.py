"""Arrays as every room calls them, and the logit scale."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]
DIGITS = 9
"""Decimals to which computed numbers are compared and sorted: processors differ in the last bits."""
MARGIN = 10.0**-DIGITS
_SMALLEST_SPREAD = 1e-12


def just_above(bound: float) -> float:
    """Return a bound that a computed number still meets with ``<=`` if it ends a bit above the true one."""
    return bound + MARGIN * max(1.0, abs(bound))


def just_below(bound: float) -> float:
    """Return a bound that a computed number still meets with ``>=`` if it ends a bit below the true one."""
    return bound - MARGIN * max(1.0, abs(bound))


def logit(rate: Floats) -> Floats:
    """Return ln(p / (1 − p)); −∞ and ∞ at 0 and 1."""
    with np.errstate(divide="ignore"):
        odds: Floats = np.log(rate) - np.log1p(-rate)
    return odds


def expit(value: Floats) -> Floats:
    """Return 1 / (1 + e^−v); 0 where e^−v is beyond all numbers."""
    with np.errstate(over="ignore"):
        rate: Floats = 1.0 / (1.0 + np.exp(-value))
    return rate


def correlation(one: Floats, other: Floats) -> Floats:
    """Return the product-moment correlation along the last axis; NaN where one side does not vary."""
    da, db = (side - side.mean(axis=-1, keepdims=True) for side in (one, other))
    spread = np.sqrt((da**2).sum(axis=-1) * (db**2).sum(axis=-1))
    products = (da * db).sum(axis=-1) / np.maximum(spread, _SMALLEST_SPREAD)
    return np.where(spread > _SMALLEST_SPREAD, products, np.nan)


def rank_correlation(one: Floats, other: Floats) -> Floats:
    """Return Spearman's rank correlation along the last axis; NaN where one side does not vary."""
    return correlation(mean_ranks(one), mean_ranks(other))


def mean_ranks(values: Floats) -> Floats:
    """Return the ranks along the last axis, from 1; ties share their mean rank. It spares the import of scipy.stats."""
    order, ordered = values.argsort(axis=-1), np.sort(values, axis=-1)
    place = np.arange(1.0, values.shape[-1] + 1)
    first = np.where(np.diff(ordered, prepend=-np.inf) > 0, place, 0.0)
    last = np.where(np.diff(ordered, append=np.inf) > 0, place, np.inf)[..., ::-1]
    middle = (np.maximum.accumulate(first, axis=-1) + np.minimum.accumulate(last, axis=-1)[..., ::-1]) / 2
    return np.take_along_axis(middle, order.argsort(axis=-1), axis=-1)
