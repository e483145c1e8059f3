"""Empirical levels: what a world success rate is on the common base-10 ruler, and rates that have no level.

The empirical level of a rate p is −log10(p / √10) = ½ − log10 p. A rate of 1 is level ½ as it stands. A rate of 0 has
no level, so one is read as the smallest rate that could still have hidden there: ½ / (n + 1) where n is known, else
half the high end of its interval, else half the smallest rate above 0 in the table.
"""

from __future__ import annotations

import numpy as np

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError

TOP = 0.5
"""The empirical level of a rate of 1, at which everybody succeeds."""


def empirical_levels(rates: Floats) -> Floats:
    """Return −log10(p / √10) of rates above 0."""
    levels: Floats = TOP - np.log10(rates)
    return levels


def lift_zeros(rates: Floats, n: Floats, high: Floats) -> Floats:
    """Return the rates with 0 read by the rule of this file; ``n`` and ``high`` are NaN where unknown."""
    zero = rates == 0
    if not zero.any():
        return rates
    if zero.all() and not np.isfinite(np.where(high > 0, high, n)).all():
        raise MensuraError("rates: every rate is 0; a base needs items that somebody solves")
    least = rates[~zero].min() / 2 if not zero.all() else np.nan
    by_interval = np.where(high > 0, high / 2, least)
    lifted: Floats = np.where(zero, np.where(n > 0, 0.5 / (n + 1), by_interval), rates)
    return lifted
