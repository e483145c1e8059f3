"""What was known on a day: the scores of that vintage, and the fit that could have been made from them.

A score was known no earlier than its model's release. Where the table says more it is used: ``known`` is the day a
score was published, ``benchmark_released`` the day its benchmark came out. A day that a table does not give is not
guessed at.
"""

from __future__ import annotations

from datetime import date
from typing import Any

import polars as pl

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.stitching import Stitch, stitch
from mensura.trends.capabilities import read_capabilities, read_dates, read_draws

DATES = ("released", "benchmark_released", "known")
"""Columns that a score's vintage follows from: it was known when all of them had passed."""


def known_by(scores: pl.DataFrame, day: date) -> pl.DataFrame:
    """Keep the scores known on a day: of models and benchmarks out, and published, by then as far as is known."""
    frame = read_dates(scores, name="scores")
    for column in set(DATES[1:]) & set(frame.columns):
        frame = frame.with_columns(_as_date(frame[column], column))
    given = [column for column in DATES if column in frame.columns]
    return frame.filter(pl.all_horizontal(pl.col(column).fill_null(day) <= day for column in given))


def refit_vintage(scores: pl.DataFrame, day: date, settings: dict[str, Any]) -> tuple[pl.DataFrame, Floats]:
    """Fit what was known on a day: ``subject``, ``released``, ``capability``, and draws in that order."""
    fit: Stitch = stitch(known_by(scores, day), parts="largest", **settings)
    frame = read_capabilities(fit)
    return frame, read_draws(fit.laplace, frame["subject"])


def _as_date(values: pl.Series, name: str) -> pl.Series:
    """Read days; what is there and is none is refused."""
    if values.dtype == pl.Date:
        return values
    days = values.cast(pl.String).str.to_date("%Y-%m-%d", strict=False)
    bad = values.filter(days.is_null() & values.is_not_null() & (values.cast(pl.String) != ""))
    if bad.len():
        raise MensuraError(
            f"scores: {bad.len()} days in {name!r} are not YYYY-MM-DD, the first is {bad[0]!r}; correct them"
        )
    return days.alias(name)
