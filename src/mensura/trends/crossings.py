"""When the frontier passed a level, such as the capability of a group of people."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from scipy.stats import norm

from mensura.frames import as_frame, require_columns
from mensura.trends.frontier import read_capabilities, read_draws, to_date, to_years
from mensura.trends.lines import Floats

DRAWS = 2000
"""Draws of a level known by its interval only."""


def find_crossings(
    capabilities: Any,  # noqa: ANN401
    levels: Any,  # noqa: ANN401
    *,
    draws: Any = None,  # noqa: ANN401
    level: float = 0.9,
    seed: int = 0,
) -> pl.DataFrame:
    """Return when the frontier first reached each level.

    Columns: ``group``, ``capability``, ``passed``, ``subject``, ``date``, ``low``, ``high``.

    ``levels`` has ``group`` (or ``subject``), ``capability`` and, where known, ``low`` and ``high``, the ends of an
    interval of the given ``level``; ``draws`` are those of the fit. ``passed`` is the share of the draws in which the
    frontier is past the level by the last release; ``date`` is the median over the draws, with the central interval,
    each empty while more than that share of the draws has not passed; ``subject`` is who passed it by the estimates.
    """
    frame = read_capabilities(capabilities)
    table = as_frame(levels, name="levels")
    if "group" not in table.columns and "subject" in table.columns:
        table = table.rename({"subject": "group"})
    require_columns(table, ["group", "capability"], name="levels")
    rng = np.random.default_rng(seed)
    values = frame["capability"].to_numpy()
    matrix = values[None] if draws is None else read_draws(draws, frame["subject"])
    picked = matrix[rng.integers(0, matrix.shape[0], DRAWS)]
    frontier = np.maximum.accumulate(picked, axis=1)
    years = to_years(frame["released"])
    rows = [_crossing(row, frame, values, frontier, years, level, rng) for row in table.iter_rows(named=True)]
    schema = {"group": pl.String, "capability": pl.Float64, "passed": pl.Float64, "subject": pl.String}
    dates = {"date": pl.Date, "low": pl.Date, "high": pl.Date}
    return pl.DataFrame(rows, schema={**schema, **dates})


def _crossing(
    row: dict[str, Any],
    frame: pl.DataFrame,
    values: Floats,
    frontier: Floats,
    years: Floats,
    level: float,
    rng: np.random.Generator,
) -> dict[str, object]:
    """First crossing of one level in every draw, summarised."""
    height = float(row["capability"])
    heights = np.full(frontier.shape[0], height)
    if row.get("low") is not None and row.get("high") is not None:
        error = (row["high"] - row["low"]) / (2 * norm.ppf(0.5 + level / 2))
        heights = heights + error * rng.standard_normal(heights.size)
    over = frontier >= heights[:, None]
    passed = over[:, -1]
    when = np.sort(np.where(passed, years[np.argmax(over, axis=1)], np.inf))
    dates = {}
    for name, share in (("date", 0.5), ("low", 0.5 - level / 2), ("high", 0.5 + level / 2)):
        at = when[min(int(np.ceil(share * when.size)), when.size) - 1]
        dates[name] = to_date(at) if np.isfinite(at) else None
    first = np.flatnonzero(values >= height)
    subject = frame["subject"][int(first[0])] if first.size else None
    return {"group": row["group"], "capability": height, "passed": float(passed.mean()), "subject": subject, **dates}
