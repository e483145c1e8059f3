"""How good forecasts would have been: forecast from every origin with what was known then, compare with what came."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.errors import MensuraError
from mensura.results import Result
from mensura.stitching import to_date, to_years
from mensura.trends.capabilities import read_capabilities
from mensura.trends.forecasting import forecast
from mensura.trends.frontier import is_record

HORIZONS = (0.25, 0.5, 1.0)
"""Years ahead."""
FEWEST, RECORDS = 15, 3
"""Subjects and records known at the first origin."""
ROUNDING = 1e-9
"""Years by which a day may miss itself when it goes through years and back."""


@dataclass(frozen=True, eq=False, repr=False)
class Backtest(Result):
    """``table``: ``origin``, ``horizon`` (years), ``date``, ``expected``, ``low``, ``high``, ``actual``, ``covered``.

    ``summary`` per horizon and over all: ``n``, ``error`` (mean absolute), ``rmse``, ``bias`` (actual − expected),
    ``coverage``, ``width``. Origins overlap, so rows of the table are not independent.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("summary", "table")

    method: str
    level: float
    table: pl.DataFrame
    summary: pl.DataFrame

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        return f"{self.table.height} forecasts ({self.method}) against what came, intervals of {self.level:.0%}"


def backtest(
    capabilities: Any = None,  # noqa: ANN401
    *,
    origins: list[date] | None = None,
    horizons: tuple[float, ...] = HORIZONS,
    fits: Mapping[date, pl.DataFrame] | None = None,
    draws: Mapping[date, pl.DataFrame] | None = None,
    method: str = "releases",
    level: float = 0.9,
    seed: int = 0,
    advance: Callable[[], object] | None = None,
) -> Backtest:
    """Forecast the frontier from every origin (default monthly) for every horizon that ends by the last release.

    ``capabilities`` is the fit of everything (or what :func:`forecast` takes) and says what came. ``fits`` and
    ``draws`` hold, per origin, the capabilities and draws fitted to the scores known then; they are put on the final
    scale by the line through the subjects both have. Without ``fits`` the final capabilities of the subjects released
    by then are used, as the published validation does: that forgives the forecast the error of the early fit.
    """
    frame = read_capabilities(capabilities)
    years = to_years(frame["released"])
    origins = origins or monthly_origins(frame)
    rows: list[dict[str, object]] = []
    for origin in origins:
        at = to_years(pl.Series([origin]))[0]
        ends = [at + ahead for ahead in horizons if at + ahead <= years[-1] + ROUNDING]
        if not ends:
            continue
        known, spread = _known(frame, origin, fits, draws)
        days = [to_date(end) for end in ends]
        result = forecast(known, to=days, draws=spread, level=level, method=method, seed=seed).table
        for end, (day, expected, low, high) in zip(ends, result.iter_rows(), strict=True):
            actual = float(frame["capability"].to_numpy()[years <= end + ROUNDING].max())
            rows.append(
                {
                    "origin": origin,
                    "horizon": round(end - at, 6),
                    "date": day,
                    "expected": expected,
                    "low": low,
                    "high": high,
                    "actual": actual,
                    "covered": low <= actual <= high,
                }
            )
        if advance is not None:
            advance()
    if not rows:
        raise MensuraError("backtest: no origin has a horizon that ends by the last release; choose earlier origins")
    table = pl.DataFrame(rows)
    return Backtest(method, level, table, summarise(table))


def monthly_origins(frame: pl.DataFrame) -> list[date]:
    """First day of every month from the one by which 15 subjects and 3 records are known."""
    values, days = frame["capability"].to_numpy(), frame["released"].to_list()
    records = np.cumsum(is_record(to_years(frame["released"]), values))
    ready = np.flatnonzero((np.arange(1, values.size + 1) >= FEWEST) & (records >= RECORDS))
    if ready.size == 0:
        raise MensuraError(
            f"backtest: {FEWEST} subjects and {RECORDS} records are needed at the first origin, got {values.size} "
            f"subjects and {records[-1]} records in all"
        )
    months = pl.date_range(days[int(ready[0])], days[-1], "1mo", eager=True).dt.month_end().dt.offset_by("1d")
    return [day for day in months.to_list() if day < days[-1]]


def summarise(table: pl.DataFrame) -> pl.DataFrame:
    """Error and coverage per horizon, and over all of them (``horizon`` empty)."""
    off = pl.col("actual") - pl.col("expected")
    figures = [
        pl.len().alias("n"),
        off.abs().mean().alias("error"),
        (off**2).mean().sqrt().alias("rmse"),
        off.mean().alias("bias"),
        pl.col("covered").mean().alias("coverage"),
        (pl.col("high") - pl.col("low")).mean().alias("width"),
    ]
    each = table.group_by("horizon").agg(figures).sort("horizon")
    overall = table.select(pl.lit(None, dtype=pl.Float64).alias("horizon"), *figures)
    return pl.concat([each, overall])


def _known(
    frame: pl.DataFrame,
    origin: date,
    fits: Mapping[date, pl.DataFrame] | None,
    draws: Mapping[date, pl.DataFrame] | None,
) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """Capabilities and draws as known at an origin, on the final scale."""
    past = frame.filter(pl.col("released") <= origin)
    if fits is None:
        return past, None
    both = past.join(fits[origin].select("subject", then="capability"), on="subject")
    slope, intercept = np.polyfit(both["then"].to_numpy(), both["capability"].to_numpy(), 1)
    known = both.with_columns(capability=intercept + slope * pl.col("then")).select("subject", "released", "capability")
    if draws is None:
        return known, None
    spread = draws[origin].filter(pl.col("subject").is_in(known["subject"].implode()))
    return known, spread.with_columns(capability=intercept + slope * pl.col("capability"))
