"""How fast the frontier moves: slope, forecast and acceleration watch for the report."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

import polars as pl

from mensura.evidence import Evidence
from mensura.stitching import Stitch, evidence_scores
from mensura.trends import Watch, forecast, watch_acceleration

_QUARTERS = 12
_STREAMS = 59
_BEFORE = 0.4


@dataclass(frozen=True)
class Pace:
    """The frontier's slope per year with its interval, where it may go, and since when models are counted."""

    slope: float
    low: float
    high: float
    since: date
    until: date
    forecast: pl.DataFrame


def measure_pace(fit: Stitch, evidence: Evidence) -> Pace:
    """Fit and forecast the frontier of capability, the error of the fit included."""
    dated = fit.capabilities.select("subject", "capability").join(
        evidence.models.select("subject", "released"), on="subject"
    )
    released = dated["released"].sort().to_list()
    since, until = released[0], released[-1]
    days = quarters_after(until)
    ahead = forecast(dated, to=days, draws=fit.laplace)
    slope, low, high = ahead.slope.row(0)[:3]
    table = ahead.table.select("date", "low", "high", value="capability")
    best = float(dated["capability"].max())  # type: ignore[arg-type]
    start = pl.DataFrame({"date": [until], "low": [best], "high": [best], "value": [best]})
    return Pace(slope, low, high, since, until, pl.concat([start, table]))


def quarters_after(day: date) -> list[date]:
    """Return the same day of the month every three months for three years; the month's last day where it has none."""
    months = [f"{3 * quarter}mo" for quarter in range(1, _QUARTERS + 1)]
    return [pl.Series([day]).dt.offset_by(step)[0] for step in months]


def watch_evidence(evidence: Evidence) -> Watch:
    """Watch the releases for an acceleration, from the day by which two fifths of them were out."""
    scores, _ = evidence_scores(evidence)
    released = evidence.models.filter(pl.col("subject").is_in(scores["subject"].to_list()))["released"].sort()
    return watch_acceleration(scores, start=released[int(_BEFORE * released.len())], streams=_STREAMS)
