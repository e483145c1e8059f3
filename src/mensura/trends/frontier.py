"""The frontier: which subjects were the best when they came out, and how fast that rises."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, Mask
from mensura.stitching import to_years
from mensura.trends.capabilities import read_capabilities
from mensura.trends.lines import TrendLine, fit_line


def find_frontier(capabilities: Any = None) -> pl.DataFrame:  # noqa: ANN401
    """Return the subjects that were the best at their release: ``subject``, ``released``, ``capability``.

    Of several released on one day only the best can be one; to equal the record counts.
    """
    frame = read_capabilities(capabilities)
    best = is_record(to_years(frame["released"]), frame["capability"].to_numpy())
    return frame.filter(pl.Series(best)).select("subject", "released", "capability")


def is_record(years: Floats, values: Floats) -> Mask:
    """Mark the values no smaller than any value up to and including their own day (``years`` sorted)."""
    last_of_day = np.searchsorted(years, years, side="right") - 1
    return np.asarray(values >= np.maximum.accumulate(values)[last_of_day])


def frontier_line(capabilities: Any = None) -> TrendLine:  # noqa: ANN401
    """Fit the line through the frontier, capability on years since 1970."""
    frontier = find_frontier(capabilities)
    return fit_line(to_years(frontier["released"]), frontier["capability"].to_numpy())


def frontier_slopes(years: Floats, draws: Floats) -> Floats:
    """Slope per year of the line through the records of every draw (draws, subjects), NaN where it has but one.

    ``years`` are sorted; a subject that a draw does not know holds NaN there and counts for nothing.
    """
    slopes = np.full(len(draws), np.nan)
    for i, values in enumerate(draws):
        known = np.isfinite(values)
        t, c = years[known], values[known]
        records = is_record(t, c)
        t, c = t[records], c[records]
        if np.unique(t).size > 1:
            slopes[i] = np.polyfit(t - t.mean(), c, 1)[0]
    return slopes
