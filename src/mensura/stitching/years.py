"""Dates as numbers: years since 1970-01-01, one length of the year for every instrument."""

from __future__ import annotations

from datetime import date, timedelta

import polars as pl

from mensura.core.arrays import Floats

DAYS_PER_YEAR = 365.25
"""The mean length of the calendar's year from 1901 to 2099, and the one the published analyses use."""
_FIRST = date(1970, 1, 1)


def to_years(dates: pl.Series) -> Floats:
    """Turn dates into years since 1970-01-01; a missing date is NaN."""
    days = dates.cast(pl.Date).to_physical().cast(pl.Float64).fill_null(float("nan"))
    return days.to_numpy() / DAYS_PER_YEAR


def to_date(years: float) -> date:
    """Turn years since 1970-01-01 into a date, the inverse of :func:`to_years`."""
    return _FIRST + timedelta(days=round(years * DAYS_PER_YEAR))
