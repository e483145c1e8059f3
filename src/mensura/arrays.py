"""Arrays as every room calls them, and the logit scale."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]


def logit(rate: Floats) -> Floats:
    """Return ln(p / (1 − p)); −∞ and ∞ at 0 and 1."""
    with np.errstate(divide="ignore"):
        odds: Floats = np.log(rate) - np.log1p(-rate)
    return odds


def expit(value: Floats) -> Floats:
    """Return 1 / (1 + e^−v), without overflow."""
    rate: Floats = np.exp(-np.logaddexp(0.0, -value))
    return rate
