"""The worked example of the human scales: one PISA item's rate carried to the whole world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from mensura.core.cache import recall
from mensura.core.results import Result

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
