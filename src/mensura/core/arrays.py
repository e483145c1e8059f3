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
