"""How good forecasts would have been: forecast from every origin with what was known then, compare with what came."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, just_above
from mensura.core.errors import MensuraError
from mensura.core.results import Result
from mensura.evidence import Evidence
from mensura.intake.tables import as_frame
from mensura.stitching import Stitch, read_any, stitch, to_date, to_years
from mensura.trends.capabilities import read_capabilities, refit_vintage
from mensura.trends.lines import is_record
from mensura.trends.pace import forecast_known

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
    ``coverage``, ``width``. Origins overlap, so rows of the table are not independent. ``refitted`` says whether every
    forecast came from a fit to the scores known at its origin, or from the final capabilities of the models out then.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("summary", "table")

    method: str
    level: float
    table: pl.DataFrame
    summary: pl.DataFrame
    refitted: bool = False

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        how = "refitted at every origin" if self.refitted else "from the final capabilities"
        return f"{self.table.height} forecasts ({self.method}, {how}) against what came, intervals of {self.level:.0%}"


def backtest(
    source: Any = None,  # noqa: ANN401
    *,
    origins: list[date] | None = None,
    horizons: tuple[float, ...] = HORIZONS,
    refit: bool | None = None,
    fit_error: bool = True,
    fit_settings: dict[str, Any] | None = None,
    method: str = "releases",
    level: float = 0.9,
    seed: int = 0,
    advance: Callable[[], object] | None = None,
) -> Backtest:
    """Forecast the frontier from days in the past and compare with what came.

    Parameters
    ----------
    source : Evidence, fit, table or None
        With evidence or a table of scores, everything is refitted at every origin to the scores known by then. With a
        fit or a table of capabilities, the final capabilities are used, as the published validation does.
    origins : list of date, optional
        Days of forecast (default: the first of every month from 15 subjects and 3 records on).
    horizons : tuple of float
        Years ahead.
    refit : bool, optional
        False uses final capabilities although scores are given: that forgives the forecast the error of the early fit.
    fit_error : bool
        Whether the draws of the refits enter the intervals.
    fit_settings : dict, optional
        Arguments of :func:`mensura.stitch`.
    method, level, seed
        As in :func:`forecast`.
    advance : callable, optional
        Called once per origin.

    Returns
    -------
    Backtest
        Every forecast beside what came, and errors and coverage per horizon.

    Raises
    ------
    MensuraError
        If no origin has a horizon that ends by the last release, or ``refit`` is asked of what has no scores.

    Examples
    --------
    >>> from datetime import date
    >>> days = [date(2024 + month // 12, month % 12 + 1, 1) for month in range(24)]
    >>> models = {"subject": [f"m{at}" for at in range(24)], "released": days}
    >>> models |= {"capability": [at / 12 for at in range(24)]}
    >>> from mensura.trends import backtest
    >>> backtest(models, origins=[date(2025, 6, 1)], horizons=(0.25,)).table.height
    1

    """
    scores = _scores_of(source)
    if refit and scores is None:
        raise MensuraError("refit: a fit or a table of capabilities has no scores to refit; hand in the scores")
    refitted = scores is not None and refit is not False
    settings = fit_settings or {}
    frame = read_capabilities(source if scores is None else stitch(scores, parts="largest", **settings))
    years = to_years(frame["released"])
    rows: list[dict[str, object]] = []
    for origin in origins or monthly_origins(frame):
        at = float(to_years(pl.Series([origin]))[0])
        ends = [at + ahead for ahead in horizons if at + ahead <= just_above(years[-1])]
        if ends:
            known, draws = frame.filter(pl.col("released") <= origin), None
            if refitted and scores is not None:
                known, draws = on_final_scale(*refit_vintage(scores, origin, settings), frame)
            days = [to_date(end) for end in ends]
            drawn = draws if fit_error else None
            prediction = forecast_known(known, days, draws=drawn, level=level, method=method, seed=seed)
            rows += [
                _compared(origin, at, end, row, frame) for end, row in zip(ends, prediction.to_dicts(), strict=True)
            ]
        if advance is not None:
            advance()
    if not rows:
        raise MensuraError("backtest: no origin has a horizon that ends by the last release; choose earlier origins")
    table = pl.DataFrame(rows)
    return Backtest(method, level, table, summarise(table), refitted)


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


def _scores_of(source: Any) -> pl.DataFrame | None:  # noqa: ANN401
    """Scores to refit, where the source has them; a fit and a table of capabilities have none."""
    if isinstance(source, Stitch):
        return None
    if source is None or isinstance(source, Evidence):
        return read_any(source)[0]
    frame = as_frame(source, name="scores")
    return read_any(frame)[0] if "score" in frame.columns and "capability" not in frame.columns else None


def on_final_scale(known: pl.DataFrame, draws: Floats, final: pl.DataFrame) -> tuple[pl.DataFrame, Floats]:
    """Put an early fit and its draws on the final scale, by the line through the subjects both have."""
    both = known.join(final.select("subject", last="capability"), on="subject")
    slope, intercept = np.polyfit(both["capability"].to_numpy(), both["last"].to_numpy(), 1)
    return known.with_columns(capability=intercept + slope * pl.col("capability")), intercept + slope * draws


def _compared(origin: date, at: float, end: float, row: dict[str, Any], frame: pl.DataFrame) -> dict[str, object]:
    """One forecast beside what came."""
    out = to_years(frame["released"]) <= just_above(end)
    actual = float(frame["capability"].to_numpy()[out].max())
    forecasts = {"expected": row["capability"], "low": row["low"], "high": row["high"]}
    covered = row["low"] <= actual <= row["high"]
    when = {"origin": origin, "horizon": round(end - at, 6), "date": row["date"]}
    return when | forecasts | {"actual": actual, "covered": covered}
