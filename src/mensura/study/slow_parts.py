"""The parts of a study that take seconds and need no IQ: pace of releases, watch, world example, abilities."""

from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import ClassVar

import polars as pl

from mensura.calibration import (
    CalibrationResult,
    ProfileResult,
    calibrate,
    open_demands,
    open_items,
    open_outcomes,
    open_rates,
    profile,
    profile_counts,
)
from mensura.calibration.abilities import FEWEST_DECIDED
from mensura.calibration.open_pool import READERS
from mensura.calibration.placing import doubt_of_lines
from mensura.core.cache import recall
from mensura.core.errors import MensuraError
from mensura.core.frames import read_csv
from mensura.core.results import Result
from mensura.evidence import Evidence, load
from mensura.scale import Calibration
from mensura.stitching import Stitch, evidence_scores
from mensura.trends import Watch, forecast, watch_acceleration
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
    ahead = forecast(dated, to=quarters_after(until, _QUARTERS), draws=fit.laplace, level=_LEVEL)
    best = float(dated["capability"].max())  # type: ignore[arg-type]
    start = pl.DataFrame({"date": [until], "low": [best], "high": [best], "value": [best]})
    table = pl.concat([start, ahead.table.select("date", "low", "high", value="capability")])
    (_, slope, low, high, _, since), (_, records, *_) = ahead.pace.iter_rows()
    return Pace(slope, low, high, records, fit.unit, since, until, table)


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
    prediction = method.predict(task)
    drivers = method.drivers(task).select(
        "driver", effect=100 * pl.col("change"), low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64)
    )
    regions = method.breakdown(task).select("region", "rate", "low", "high")
    rate, low, high = (float(part[0, 0]) for part in (prediction.rate, prediction.low, prediction.high))
    return WorldExample(OBSERVED, rate, low, high, regions, drivers)


# AI systems and people on the calibrated human scales: who they are, which test they took, and where they stand.

ADELE = "ADeLe"
"""The test of the systems with published counts by level; the others took items of the open pool."""


@cache
def placed_subjects() -> pl.DataFrame:
    """Return subject, name, provider, test, origin of everybody who is placed, in the order of the pictures."""
    return read_csv(Path(__file__).parent / "data" / "placed_subjects.csv")


@dataclass(frozen=True, eq=False, repr=False)
class PlacedAbilities(Result):
    """Models and people by level: ``places``, and the profiles and calibrations that it is made of.

    ``places``: subject, dimension, level, low, high, kind, provider, test, origin, note, items.
    ``doubt``: why no calibrated line turns these levels into rarities among people.
    ``language``: the profile of language models on the ADeLe battery; ``together``: of models and people on the same
    open items; ``published`` and ``ours``: the open calibration by the published procedure and by ours.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("places",)

    places: pl.DataFrame
    doubt: str
    language: ProfileResult
    together: ProfileResult
    published: CalibrationResult
    ours: CalibrationResult

    @property
    def heading(self) -> str:
        """How many subjects in how many dimensions."""
        placed = self.places.drop_nulls("level")
        return f"{placed['subject'].n_unique()} subjects placed in {placed['dimension'].n_unique()} dimensions"


def place_abilities(evidence: Evidence, lines: Calibration) -> PlacedAbilities:
    """Find the levels that language models and people reach.

    The models are systems with published counts; an evidence of one's own that has none of them takes the embedded.
    """
    on_adele = pl.col("test") == ADELE
    published_systems = pl.col("subject").is_in(placed_subjects().filter(on_adele)["subject"].implode())
    counts = evidence.demand_outcomes.filter(published_systems)
    if counts.is_empty():
        counts = load().demand_outcomes.filter(published_systems)
    language = profile_counts(counts, calibration=lines)
    order = placed_subjects().filter(~on_adele).select("subject")
    outcomes = order.join(open_outcomes(), on="subject", maintain_order="left")
    together = profile(outcomes, open_demands(), calibration=lines)
    kinds = dict(outcomes.select("subject", "kind").unique().iter_rows())
    published, ours = recall("open-calibrations", (), calibrate_open_pool)
    return PlacedAbilities(
        _named(language, together, kinds), doubt_of_lines(lines), language, together, published, ours
    )


def _named(language: ProfileResult, together: ProfileResult, kinds: dict[str, str]) -> pl.DataFrame:
    """Return the places of both profiles with who made each system, which test it took and how its score arose."""
    places = pl.concat([ability_rows(language, {}), ability_rows(together, kinds)])
    facts = placed_subjects().select("provider", "test", "origin", subject="name")
    return places.join(facts, on="subject", how="left", maintain_order="left")


def calibrate_open_pool() -> tuple[CalibrationResult, CalibrationResult]:
    """Calibrate on the open items by the published procedure and by ours: the same for every evidence."""
    rates, demands = open_rates(), open_demands()
    means = calibrate(rates, demands, method="means", groups=True)
    return means, calibrate(rates, demands, groups=True, readers=READERS)


def ability_rows(made: ProfileResult, kinds: dict[str, str]) -> pl.DataFrame:
    """Return the rows of a picture of abilities; too few deciding items tell no level."""
    names = dict(placed_subjects().select("subject", "name").iter_rows())
    return made.profile.join(made.positions, on=["subject", "dimension"], maintain_order="left").select(
        subject=pl.col("subject").replace(names),
        dimension="name",
        **{
            name: pl.when(pl.col("items") >= FEWEST_DECIDED).then(value)
            for name, value in {"level": "ability", "low": "low", "high": "high"}.items()
        },
        kind=pl.col("subject").replace_strict(kinds, default="AI"),
        note="note",
        items="items",
    )


def observed_and_world() -> pl.DataFrame:
    """Return item, observed, world, low, high, dimension of the open items: the dominant dimension, or "several"."""
    from mensura.extrapolation import dominant_dimensions  # here: reading kept abilities does not need it

    demands = open_demands().drop("annotator").group_by("item", maintain_order=True).mean()
    dominant = dominant_dimensions(demands.unpivot(index="item", variable_name="dimension", value_name="level"))
    world = open_rates().select("item", "low", "high", world="rate")
    items = open_items().select("item", observed="rate")
    return items.join(world, on="item", maintain_order="left").join(dominant, on="item", maintain_order="left")
