"""How fast horizons grow: doubling times by domain, with the errors of the horizons in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from mensura.core.frames import require_columns
from mensura.intake.tables import as_frame
from mensura.scale import Z90
from mensura.stitching import to_years

FEWEST, DRAWS = 5, 1000
RECENT = "2024-01-01"
"""From here on the second line of each domain runs."""
TREND = {
    "domain": pl.String,
    "since": pl.String,
    "systems": pl.Int64,
    "first": pl.String,
    "last": pl.String,
    "doubling_months": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "ratio": pl.Float64,
    "ratio_low": pl.Float64,
    "ratio_high": pl.Float64,
}


def follow_horizons(horizons: Any, systems: Any, *, seed: int = 0) -> pl.DataFrame:  # noqa: ANN401
    """Fit a straight line to log2 minutes by release date in each domain.

    Parameters
    ----------
    horizons : table
        subject, suite (the domain), p50, p50_low, p50_high; rows without p50 take no part.
    systems : table
        subject and released; a system without a date takes no part.
    seed : int
        Seed of the draws: systems are drawn again, and each horizon within its interval.

    Returns
    -------
    DataFrame
        One row per domain and start: doubling time in months with a 90% interval, empty where growth is not sure. The
        row since 2024 has the ratio of its pace to the pace before; above 1 is an acceleration.

    Raises
    ------
    MensuraError
        If a column is missing.

    Examples
    --------
    >>> from mensura.trends import follow_horizons
    >>> names = list("abcdef")
    >>> systems = {"subject": names, "released": [f"202{i}-01-01" for i in range(6)]}
    >>> rows = {"subject": names, "suite": ["x"] * 6, "p50": [2.0**i for i in range(6)]}
    >>> rows |= {"p50_low": rows["p50"], "p50_high": rows["p50"]}
    >>> round(follow_horizons(rows, systems)["doubling_months"][0])
    12

    """
    table, dated = as_frame(horizons, name="horizons"), as_frame(systems, name="systems")
    require_columns(table, ["subject", "suite", "p50", "p50_low", "p50_high"], name="horizons")
    require_columns(dated, ["subject", "released"], name="systems")
    days = dated.select("subject", pl.col("released").cast(pl.String).str.slice(0, 10)).drop_nulls()
    joined = table.join(days, on="subject").drop_nulls("p50").sort("released", "subject")
    rows: list[tuple[object, ...]] = []
    for (domain,), part in joined.group_by("suite", maintain_order=True):
        rng = np.random.default_rng(seed)
        for since in ("", RECENT):
            own = part.filter(pl.col("released") >= since)
            if own.height >= FEWEST and (not since or own.height < part.height):
                ratio = _ratio(part, since, rng) if since else (None, None, None)
                ends = own["released"][0], own["released"][-1]
                rows.append((domain, since or "all", own.height, *ends, *_doubling(own, rng), *ratio))
    return pl.DataFrame(rows, schema=TREND, orient="row")


def _slopes(part: pl.DataFrame, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Return slopes in doublings a year, the plain one first, then those of draws."""
    years = to_years(part["released"].str.to_date())
    value = np.log2(part["p50"].to_numpy())
    low, high = (
        np.log2(pl.Series(part[f"p50_{end}"]).fill_null(part["p50"] * factor).to_numpy())
        for end, factor in (("low", 0.25), ("high", 4.0))
    )
    error = (high - low) / (2 * Z90)
    places = np.vstack([np.arange(value.size), rng.integers(value.size, size=(DRAWS, value.size))])
    drawn = value[places]
    drawn[1:] += (error * rng.standard_normal((DRAWS, value.size)))[np.arange(DRAWS)[:, None], places[1:]] / np.sqrt(2)
    x = years[places] - years[places].mean(1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((x * drawn).sum(1) / (x**2).sum(1))


def _doubling(part: pl.DataFrame, rng: np.random.Generator) -> tuple[float | None, float | None, float | None]:
    """Return months per doubling with ends; an end is empty where the slope may be zero."""
    slopes = _slopes(part, rng)
    low, high = np.nanquantile(slopes[1:], (0.05, 0.95))
    months = [12 / slope if slope > 0 else None for slope in (slopes[0], high, low)]
    return float(months[0]) if months[0] else None, months[1], months[2]


def _ratio(part: pl.DataFrame, since: str, rng: np.random.Generator) -> tuple[float | None, ...]:
    """Return the pace since a day over the pace before it, with its interval."""
    before, after = (part.filter(rule) for rule in (pl.col("released") < since, pl.col("released") >= since))
    if before.height < 3:
        return None, None, None
    early, late = _slopes(before, rng), _slopes(after, rng)
    if not early[0] > 0:
        return None, None, None
    ratios = late / np.where(early > 0, early, np.nan)
    low, high = np.nanquantile(ratios[1:], (0.05, 0.95))
    return float(ratios[0]), float(low), float(high)
