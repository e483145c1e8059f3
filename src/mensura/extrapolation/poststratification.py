"""Post-stratification: item difficulty from the focal group's rate, then the average over the reference's strata.

The probability that a person of a stratum with ability ``N(μ, σ²)`` is right on an item of slope ``a``,
difficulty ``b`` and floor ``c``::

    P = c + (1 − c) Φ((μ − b) / √(σ² + 1/a²))

``b`` is solved so that the focal population, itself a mixture of strata, reproduces its observed rate; the
reference's rate is the average of ``P`` over its strata, with those who cannot read or are unwell at ``c`` and
those below the first age at 0. Every constant comes from the assumptions table. The rate is the one at the stated
values; the interval comes from draws of all assumptions, of the focal rate's sampling error (Jeffreys) and of the
item's own departure between countries.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mensura.errors import MensuraError
from mensura.extrapolation.ability import Domain, Strata, abilities, read_curves
from mensura.extrapolation.assumptions import central, number_of, one_at_a_time, part, sample
from mensura.extrapolation.mixture import success
from mensura.extrapolation.observed import Observed, observe
from mensura.extrapolation.protocol import Extrapolation
from mensura.extrapolation.sensitivity import sensitivity_table
from mensura.people.cells import cells_of
from mensura.people.world import World

if TYPE_CHECKING:
    from mensura.extrapolation.assumptions import Draws, Floats
    from mensura.people.population import Population

NAME = "poststratification"
FALLBACK_DOMAIN = ("literacy", False)
CHUNK = 128
SLOPE_RATIO = 1.1


@dataclass(frozen=True)
class PostStratification:
    """Extrapolator 3: needs only descriptions of both populations and the world tables.

    ``draws`` and ``seed`` govern the interval of probability ``level``; ``domain`` overrides the items' own.
    """

    world: World = field(default_factory=World.load)
    draws: int = 1000
    seed: int = 0
    level: float = 0.9
    domain: str | None = None

    def __post_init__(self) -> None:
        if self.draws < 20:
            raise MensuraError(f"draws: at least 20 are needed for an interval, got {self.draws}")
        if not 0 < self.level < 1:
            raise MensuraError(f"level: between 0 and 1 (exclusive), got {self.level}")

    @property
    def name(self) -> str:
        """The name used in tables and by ``--method``."""
        return NAME

    def predict(
        self, items: pl.DataFrame, focal_rates: pl.DataFrame, focal: Population, reference: Population
    ) -> Extrapolation:
        """Return the reference population's rate for each item, with intervals and what they hang on."""
        task = Task(self.world, items, focal_rates, focal, reference, self.domain)
        rng = np.random.default_rng(self.seed)
        draws = sample(task.assumptions, self.draws, rng)
        chance = task.observed.sample(self.draws, rng)
        departure = rng.standard_normal((task.observed.size, self.draws)) * draws["item_by_country"] * task.mismatch
        rate = task.rates(central(task.assumptions), task.observed.rate[:, None])[:, 0]
        drawn = task.rates(draws, chance, departure)
        tail = (1 - self.level) / 2
        low, high = np.quantile(drawn, [tail, 1 - tail], axis=1)
        table = pl.DataFrame(
            {
                "item": task.observed.items,
                "rate": rate,
                "low": np.minimum(low, rate),
                "high": np.maximum(high, rate),
                "status": "extrapolated",
                "method": NAME,
            }
        )
        ends = task.rates(one_at_a_time(task.assumptions), task.observed.rate[:, None])
        random = {"item_by_country": departure, "sampling of the focal rate": chance}
        return Extrapolation(
            table,
            focal,
            reference,
            NAME,
            level=self.level,
            interval="assumption ranges, sampling of the focal rate and item-by-country departures",
            sensitivity=sensitivity_table(task.assumptions, draws, drawn, ends, random, rate),
            settings={"draws": self.draws, "seed": self.seed, "domain": self.domain},
            warnings=(*task.observed.warnings, *task.warnings),
        )


@dataclass(frozen=True)
class Task:
    """One extrapolation: items with focal rates, and both populations as strata."""

    world: World
    items: pl.DataFrame
    focal_rates: pl.DataFrame
    focal: Population
    reference: Population
    domain: str | None = None

    @cached_property
    def observed(self) -> Observed:
        """The focal rates, aligned with what is known of the items."""
        return observe(self.items, self.focal_rates)

    @cached_property
    def assumptions(self) -> pl.DataFrame:
        """The assumptions table, with a row for each mean that a population states of itself."""
        rows = [
            {
                "assumption": f"mean of {population.name}",
                "value": population.ability.mean,
                "low": population.ability.low,
                "high": population.ability.high,
            }
            for population in dict.fromkeys((self.focal, self.reference))
            if population.ability is not None
        ]
        table = self.world.assumptions
        return pl.concat([table, pl.DataFrame(rows)], how="diagonal_relaxed") if rows else table

    @cached_property
    def focal_cells(self) -> pl.DataFrame:
        """The focal population's cells."""
        return cells_of(self.focal, self.world)

    @cached_property
    def reference_cells(self) -> pl.DataFrame:
        """The reference population's cells."""
        return cells_of(self.reference, self.world)

    @cached_property
    def domains(self) -> list[tuple[str, bool]]:
        """The model's domain of each item."""
        words = [self.domain] * self.observed.size if self.domain else self.observed.domains
        return [self.world.domain(word) or FALLBACK_DOMAIN for word in words]

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What the reader should know of how domains were read."""
        words = {self.domain} if self.domain else set(self.observed.domains)
        unknown = sorted(str(word) for word in words if self.world.domain(word) is None)
        if not unknown:
            return ()
        return (f"domain {', '.join(unknown[:3])}: not in the domain table, treated as {FALLBACK_DOMAIN[0]}",)

    @cached_property
    def mismatch(self) -> float:
        """How much of the item-by-country departure lies between the two populations, from 0 to 1.

        With independent departures of variance τ²/2 per country, those of two mixtures with country shares f and
        r differ by ``τ² ½ Σ (f − r)²``: the whole τ between two countries, less from a country to a pool that
        holds it. People of other ages than the focal group's are as foreign to an item as another country.
        """
        shares = [
            dict(cells.drop_nulls("country").group_by("country").agg(pl.col("weight").sum()).iter_rows())
            for cells in (self.focal_cells, self.reference_cells)
        ]
        apart = sum((shares[0].get(name, 0) - shares[1].get(name, 0)) ** 2 for name in {*shares[0], *shares[1]}) / 2
        low, high = self.focal.ages
        inside = pl.col("age").is_between(low - 1, high + 2)
        outside = 1.0 - float(self.reference_cells.filter(inside)["weight"].sum())
        return float(np.sqrt(min(1.0, apart + outside)))

    def rates(
        self, draws: Draws, focal_rate: Floats, departure: Floats | None = None, cells: pl.DataFrame | None = None
    ) -> Floats:
        """Return items × draws rates of the reference population, or of the ``cells`` given in its place.

        ``focal_rate``: items × draws, or one column for all draws. ``departure``: probit units, in which the
        reference finds an item easier than its general ability says.
        """
        count = number_of(draws)
        result = np.empty((self.observed.size, count))
        reference = Strata.from_cells(self.reference_cells if cells is None else cells)
        focal = Strata.from_cells(self.focal_cells)
        for (domain, slope), rows in self._alike().items():
            for start in range(0, count, CHUNK):
                block = slice(start, start + CHUNK)
                some = part(draws, block)
                rate = np.broadcast_to(focal_rate, result.shape)[rows, block]
                shift = None if departure is None else departure[rows, block]
                result[rows, block] = self._rates(focal, reference, domain, slope, some, rate, shift, rows)
        return result

    def _alike(self) -> dict[tuple[tuple[str, bool], float | None], np.ndarray]:
        """Group the items that share a domain and a slope (known slopes to the nearest tenth of their size)."""
        steps = np.log(self.observed.slope) / np.log(SLOPE_RATIO)
        slopes = [None if np.isnan(step) else SLOPE_RATIO ** round(step) for step in steps]
        groups: dict[tuple[tuple[str, bool], float | None], list[int]] = {}
        for index, key in enumerate(zip(self.domains, slopes, strict=True)):
            groups.setdefault(key, []).append(index)
        return {key: np.array(rows) for key, rows in groups.items()}

    def _rates(
        self,
        focal: Strata,
        reference: Strata,
        domain: tuple[str, bool],
        slope: float | None,
        draws: Draws,
        rate: Floats,
        departure: Floats | None,
        rows: np.ndarray,
    ) -> Floats:
        kind = Domain(*domain, curves=read_curves(self.world.curves))
        here = abilities(focal, draws, kind, given=f"mean of {self.focal.name}")
        there = abilities(reference, draws, kind, given=f"mean of {self.reference.name}")
        kernel = np.minimum(here.variance.min(axis=1), there.variance.min(axis=1))
        steep = draws["slope"] if slope is None else np.full(kernel.size, slope)
        seen, sought = (
            success(strata.weight, group, kernel, steep) for strata, group in ((focal, here), (reference, there))
        )
        floor = np.minimum(self.observed.floor[rows, None] * draws["guessing"], rate / seen.present)
        difficulty = seen.difficulty(rate, floor)
        if departure is not None:
            difficulty = difficulty - departure * np.sqrt(draws["pupil_sd"] ** 2 + 1 / steep**2)
        return sought.rate(difficulty, floor)
