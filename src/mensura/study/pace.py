"""How fast capability rises: pace of all releases, forecast of the frontier and acceleration watch for the report."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import ClassVar

import polars as pl

from mensura.core.cache import recall
from mensura.core.errors import MensuraError
from mensura.core.results import Result
from mensura.evidence import Evidence
from mensura.stitching import Stitch, evidence_scores
from mensura.trends import Watch, measure_pace, watch_acceleration
from mensura.trends.capabilities import read_with_draws
from mensura.trends.forecasting import forecast_known
from mensura.trends.pace import FEWEST_RELEASES
from mensura.trends.watching import BASELINE, FEWEST

_QUARTERS = 12
"""How far the forecast of the report looks ahead: three years."""
_LEVEL = 0.9
"""Share of futures between the ends of the forecast."""
_STREAMS, _FEWEST_STREAMS = 59, 19
"""Simulated streams of releases behind the alarm: few, as a report is built often; 5% of 59 + 1, and of 19 + 1, is a
whole number, so that the false-alarm rate is met exactly."""
_MANY = 500
"""Releases from which the fewest streams do: each is a world of all scores that is fitted anew."""
_BEFORE = 0.4
"""Share of the releases before the watch starts: enough to know the pace that an acceleration is measured against."""


@dataclass(frozen=True, eq=False, repr=False)
class Pace(Result):
    """The slope per year of all recent releases with its interval, and where the frontier may go.

    ``slope``, ``low`` and ``high`` are in the ``unit`` of the fit, ``records`` is the slope of the line through the
    records beside them. ``since`` and ``until`` are the first and the last release the pace takes in.
    """

    TABLES: ClassVar = ("forecast",)

    slope: float
    low: float
    high: float
    records: float | None
    unit: str
    since: date
    until: date
    forecast: pl.DataFrame

    @property
    def heading(self) -> str:
        """How fast, in one line: the pace first, the records called by their name."""
        return (
            f"Releases since {self.since:%B %Y} gain {self.slope:.2f} a year (90% interval {self.low:.2f} to "
            f"{self.high:.2f}; 1 is {self.unit})"
        ) + ("" if self.records is None else f"; the line through the records rises by {self.records:.2f} a year")


def report_pace(fit: Stitch, evidence: Evidence) -> Pace:
    """Measure the pace and forecast the frontier of capability, the error of the fit included."""
    dated = fit.capabilities.select("subject", "capability").join(
        evidence.models.select("subject", "released"), on="subject"
    )
    released: list[date] = dated["released"].drop_nulls().sort().to_list()
    if len(released) < FEWEST_RELEASES:
        raise MensuraError(
            f"evidence: {len(released)} models have both a capability and a release date; a report needs "
            f"{FEWEST_RELEASES} or more (mensura where says where one model stands)"
        )
    until = released[-1]
    found = measure_pace(dated, draws=fit.laplace)
    known, draws = read_with_draws(dated, fit.laplace)
    days = quarters_after(until, _QUARTERS)
    ahead = forecast_known(known, days, draws=draws, level=_LEVEL, method="releases", seed=0)
    table = ahead.select("date", "low", "high", value="capability")
    best = float(dated["capability"].max())  # type: ignore[arg-type]
    start = pl.DataFrame({"date": [until], "low": [best], "high": [best], "value": [best]})
    (low, high), (since, _), (_, records) = found.interval, found.table["since"], found.table["slope"]
    return Pace(found.slope, low, high, records, fit.unit, since, until, pl.concat([start, table]))


def quarters_after(day: date, count: int) -> list[date]:
    """Return the days 3, 6, … months after a day; where a month is too short its last day stands in."""
    months = [f"{3 * quarter}mo" for quarter in range(1, count + 1)]
    return pl.select(pl.lit(day).dt.offset_by(pl.lit(pl.Series(months)))).to_series().to_list()


def watch_evidence(evidence: Evidence) -> Watch | None:
    """Watch the releases for an acceleration, from the day by which two fifths of them were out, and a baseline.

    None where too few models were released for a baseline and a watch after it.
    """
    scores, _ = evidence_scores(evidence)
    released = evidence.models.filter(pl.col("subject").is_in(scores["subject"].to_list()))["released"].sort()
    baseline = max(int(_BEFORE * released.len()), BASELINE)
    if released.len() <= baseline:
        return None
    start = released[baseline]
    if (released > start).sum() < FEWEST + 2:
        return None
    return watch_acceleration(scores, start=start, streams=_STREAMS if released.len() < _MANY else _FEWEST_STREAMS)


# The worked example of the human scales: one PISA item's rate carried to the whole world.

OBSERVED = 0.19
"""Share of 15-year-olds in PISA who solve the item of the example."""

_DRAWS = 250
"""Draws of the assumptions behind the example's interval; its ends are shown to the tenth of a percent."""


@dataclass(frozen=True, eq=False, repr=False)
class WorldExample(Result):
    """The example's rate in the world, with its interval, by region, and what moves it."""

    TABLES: ClassVar = ("regions", "drivers")

    observed: float
    rate: float
    low: float
    high: float
    regions: pl.DataFrame
    drivers: pl.DataFrame

    @property
    def heading(self) -> str:
        """The example in one line."""
        return f"{self.observed:.0%} in PISA, {self.rate:.1%} of the world (90% {self.low:.1%} to {self.high:.1%})"


def carry_example() -> WorldExample:
    """Carry the example to the world by post-stratification: the same for every evidence, so it is kept."""
    return recall("world-example", (), _carried)


def _carried() -> WorldExample:
    from mensura.extrapolation import PostStratification, make_task  # here: reading a kept example needs neither
    from mensura.people import WORLD, World

    items = pl.DataFrame({"item": ["example"], "domain": ["mathematics"]})
    rates = pl.DataFrame({"item": ["example"], "n": [None], "rate": [OBSERVED]}, schema_overrides={"n": pl.Int64})
    world = World.load()
    method = PostStratification(world=world, domain="mathematics", draws=_DRAWS)
    task = make_task(items, rates, world.population("pisa"), WORLD)
    found = method.predict(task)
    drivers = method.drivers(task).select(
        "driver", effect=100 * pl.col("change"), low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64)
    )
    regions = method.breakdown(task).select("region", "rate", "low", "high")
    rate, low, high = (float(part[0, 0]) for part in (found.rate, found.low, found.high))
    return WorldExample(OBSERVED, rate, low, high, regions, drivers)
