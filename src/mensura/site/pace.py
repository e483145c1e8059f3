"""How fast the frontier moves: slope, forecast and acceleration watch for the report."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import ClassVar

import polars as pl

from mensura.errors import MensuraError
from mensura.evidence import Evidence
from mensura.results import Result
from mensura.stitching import Stitch, evidence_scores
from mensura.trends import Watch, forecast, watch_acceleration

_QUARTERS = 12
"""How far the forecast of the report looks ahead: three years."""
_STREAMS = 59
"""Simulated streams of releases behind the alarm: few, as a report is built often; 5% of 59 + 1 is a whole number."""
_BEFORE = 0.4
"""Share of the releases before the watch starts: enough to know the pace that an acceleration is measured against."""


@dataclass(frozen=True, eq=False, repr=False)
class Pace(Result):
    """The frontier's slope per year with its interval, where it may go, and since when models are counted."""

    TABLES: ClassVar = ("forecast",)

    slope: float
    low: float
    high: float
    since: date
    until: date
    forecast: pl.DataFrame

    @property
    def heading(self) -> str:
        """How fast, in one line."""
        return f"The frontier rises by {self.slope:.2f} a year (90% interval {self.low:.2f} to {self.high:.2f})"


def measure_pace(fit: Stitch, evidence: Evidence) -> Pace:
    """Fit and forecast the frontier of capability, the error of the fit included."""
    dated = fit.capabilities.select("subject", "capability").join(
        evidence.models.select("subject", "released"), on="subject"
    )
    released: list[date] = dated["released"].drop_nulls().sort().to_list()
    if not released:
        raise MensuraError("evidence: no model has both a capability and a release date; add `released` to the models")
    since, until = released[0], released[-1]
    ahead = forecast(dated, to=quarters_after(until, _QUARTERS), draws=fit.laplace)
    slope, low, high = ahead.slope.row(0)[:3]
    table = ahead.table.select("date", "low", "high", value="capability")
    best = float(dated["capability"].max())  # type: ignore[arg-type]
    start = pl.DataFrame({"date": [until], "low": [best], "high": [best], "value": [best]})
    return Pace(slope, low, high, since, until, pl.concat([start, table]))


def quarters_after(day: date, count: int) -> list[date]:
    """Return the days 3, 6, … months after a day; where a month is too short its last day stands in."""
    months = [f"{3 * quarter}mo" for quarter in range(1, count + 1)]
    return pl.select(pl.lit(day).dt.offset_by(pl.lit(pl.Series(months)))).to_series().to_list()


def watch_evidence(evidence: Evidence) -> Watch:
    """Watch the releases for an acceleration, from the day by which two fifths of them were out."""
    scores, _ = evidence_scores(evidence)
    released = evidence.models.filter(pl.col("subject").is_in(scores["subject"].to_list()))["released"].sort()
    return watch_acceleration(scores, start=released[int(_BEFORE * released.len())], streams=_STREAMS)
