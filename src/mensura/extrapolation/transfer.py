"""One transfer of item rates from a focal to a reference population, under any draws of the assumptions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import scipy

from mensura.core.errors import MensuraError
from mensura.extrapolation.abilities import Domain, Strata, abilities, number_of, part, read_curves, sample, stratified
from mensura.extrapolation.distributions import TINY, Abilities, moments, success
from mensura.extrapolation.protocol import number_column
from mensura.people.strata import cells_of

if TYPE_CHECKING:
    from mensura.core.arrays import Floats, Ints
    from mensura.extrapolation.abilities import AssumptionDraws
    from mensura.extrapolation.protocol import Task
    from mensura.people.world import Population, World

FEWEST_OPTIONS = 2  # an item with fewer offers no choice
_EDGE = 1e-9
FALLBACK_DOMAIN = ("literacy", False)
CHUNK = 128  # draws at a time: strata × draws stay in the processor's cache
YOUNGEST_ADULT = 15
"""Both groups being older, departures are at least those of knowledge: no survey of adults taught those of the other
domains, which were learned on pupils."""
SLOPE_RATIO = 1.1  # between neighbouring values that known slopes are rounded to

_RANGE = {"assumption": pl.String, **dict.fromkeys(("value", "low", "high"), pl.Float64)}
_Kind = tuple[tuple[str, bool], float | None, bool]


@dataclass(frozen=True, eq=False)
class Observed:
    """The focal group's rates, one entry per item.

    ``rate``: as observed; exactly 0 or 1 becomes ``(correct + ½) / (n + 1)``. ``n``: NaN where unknown.
    ``floor``: one over the number of options, 0 where unknown or open. ``slope``: NaN where unknown.
    """

    rate: Floats
    n: Floats
    floor: Floats
    slope: Floats
    domains: list[str | None]
    warnings: tuple[str, ...]

    @classmethod
    def of(cls, task: Task) -> Observed:
        """Read the focal rates of a task and the items' domain, number of options and slope."""
        warnings = []
        edge = (task.rate == 0) | (task.rate == 1)
        rate = np.where(edge, (task.rate * task.n + 0.5) / (task.n + 1), task.rate)
        if edge.any():
            warnings.append(f"{int(edge.sum())} rates of exactly 0 or 1 read as (correct + ½) / (n + 1)")
        options = number_column(task.items, "n_options")
        floor = np.where(options >= FEWEST_OPTIONS, 1 / np.maximum(options, FEWEST_OPTIONS), 0.0)
        if below := int(np.sum(rate < floor)):
            warnings.append(
                f"{below} items are answered worse than chance: nothing says how knowledge would change them, "
                "so their rate is carried over as the rate of guessing"
            )
        slope = number_column(task.items, "slope")
        if np.any(slope <= 0):
            first = int(np.argmax(slope <= 0))
            raise MensuraError(
                f"items: slope must be above 0, got {slope[first]:g} for {task.names[first]!r}; "
                "leave it empty where it is unknown"
            )
        domains = task.items["domain"].to_list() if "domain" in task.items.columns else [None] * task.size
        return cls(rate, task.n, floor, slope, domains, tuple(warnings))

    @property
    def size(self) -> int:
        """How many items there are."""
        return len(self.rate)

    def sample(self, count: int, rng: np.random.Generator) -> Floats:
        """Return items × draws of the true rate under Jeffreys' prior; fixed where n is unknown."""
        drawn = np.repeat(self.rate[:, None], count, axis=1)
        given = np.flatnonzero(np.isfinite(self.n))
        right = np.rint(self.rate[given] * self.n[given])
        drawn[given] = rng.beta(right[:, None] + 0.5, (self.n[given] - right)[:, None] + 0.5, (given.size, count))
        return np.clip(drawn, _EDGE, 1 - _EDGE)


@dataclass(frozen=True, eq=False)
class Drawn:
    """Draws of all that is uncertain.

    ``draws``: the assumptions. ``focal_rate``: items × draws. ``departure``: items × draws, in probit units, by how
    much the reference finds an item easier than its ability says. ``shift``: per draw, in units of ability, by how
    much the reference is abler than its countries' learning scores say. Both are multiplied by ``departures_DOMAIN``.
    """

    draws: AssumptionDraws
    focal_rate: Floats
    departure: Floats
    shift: Floats

    def part(self, rows: Ints, block: slice) -> Drawn:
        """Return some items of some draws."""
        rate, departure = self.focal_rate[rows, block], self.departure[rows, block]
        return Drawn(part(self.draws, block), rate, departure, self.shift[block])


@dataclass(frozen=True, eq=False)
class Transfer:
    """Items with the rates of a focal population, and both populations as strata of the world tables."""

    world: World
    task: Task
    domain: str | None = None

    @cached_property
    def observed(self) -> Observed:
        """The focal rates, with what is known of the items."""
        return Observed.of(self.task)

    @cached_property
    def assumptions(self) -> pl.DataFrame:
        """The assumptions table, with a row for each mean that a population states of itself."""
        rows = [
            (_mean_of(population), population.ability.mean, population.ability.low, population.ability.high)
            for population in dict.fromkeys((self.task.focal, self.task.reference))
            if population.ability is not None
        ]
        stated = pl.DataFrame(rows, schema=_RANGE, orient="row")
        return pl.concat([self.world.assumptions, stated], how="diagonal_relaxed")

    @property
    def same_people(self) -> bool:
        """Whether the two populations differ in words alone: then nothing moves a rate."""
        return self.task.focal.with_(name="", prose="") == self.task.reference.with_(name="", prose="")

    @cached_property
    def reference_cells(self) -> pl.DataFrame:
        """The reference population's cells."""
        return cells_of(self.task.reference, self.world)

    @cached_property
    def focal_cells(self) -> pl.DataFrame:
        """The focal population's cells."""
        return cells_of(self.task.focal, self.world)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What the reader should know of how rates and domains were read."""
        words = {self.domain} if self.domain else set(self.observed.domains)
        unknown = sorted(str(word) for word in words if self.world.domain(word) is None)
        warnings = list(self.observed.warnings)
        if unknown:
            shown = ", ".join(unknown[:3])
            what = "no domain was given" if unknown == ["None"] else f"domain {shown} is unknown"
            warnings.append(f"{what}; items are treated as {FALLBACK_DOMAIN[0]}. Name another: --domain mathematics")
        if self.same_people:
            warnings.append(
                "the world tables know no difference between the two populations: rates carried over as they are"
            )
        return tuple(warnings)

    def distance(self, cells: pl.DataFrame) -> float:
        """Return ``√Σ(f − r)²`` of the country shares of the focal population and of ``cells`` of the reference.

        By so much do errors of single countries' scores, independent of each other, count between the two. A
        population that states its ability has no such error.
        """
        here = {} if self.task.focal.ability else _country_shares(self.task.focal, self.focal_cells, self.world)
        there = {} if self.task.reference.ability else _country_shares(self.task.reference, cells, self.world)
        return float(np.sqrt(_squared_gap(here, there)))

    @cached_property
    def mismatch(self) -> float:
        """How much of the item-by-country departure lies between the two populations, from 0 to 1.

        With independent departures of variance τ²/2 per country, those of two mixtures with country shares
        f and r differ by ``τ² ½ Σ (f − r)²``: the whole τ² between two countries, less from a country to a
        pool that holds it. People of other ages than the focal group's are as foreign to an item as another
        country.
        """
        here = _country_shares(self.task.focal, self.focal_cells, self.world)
        there = _country_shares(self.task.reference, self.reference_cells, self.world)
        between = _squared_gap(here, there) / 2
        low, high = self.task.focal.ages
        inside = self.reference_cells.filter(pl.col("age").is_between(low - 1, high + 2))
        outside = max(0.0, 1.0 - float(inside["weight"].sum()))
        return float(np.sqrt(min(1.0, between + outside)))

    def stated(self, draws: AssumptionDraws) -> Drawn:
        """Return draws with the focal rates as observed, items that do not depart, and country scores as given."""
        shape = (self.observed.size, number_of(draws))
        rates = np.broadcast_to(self.observed.rate[:, None], shape)
        return Drawn(draws, rates, np.broadcast_to(0.0, shape), np.zeros(shape[1]))

    def sampled(self, count: int, rng: np.random.Generator) -> Drawn:
        """Draw all that is uncertain."""
        draws = sample(self.assumptions, count, rng)
        focal_rate = self.observed.sample(count, rng)
        departure = scipy.special.ndtri(stratified(rng, focal_rate.shape)) * draws["item_by_country"] * self.mismatch
        shift = (
            scipy.special.ndtri(stratified(rng, (count,)))
            * draws["country_score"]
            * self.distance(self.reference_cells)
        )
        return Drawn(draws, focal_rate, departure, shift)

    def rates(self, drawn: Drawn, *, cells: pl.DataFrame | None = None, off: frozenset[str] = frozenset()) -> Floats:
        """Return items × draws rates of the reference population, or of the ``cells`` given in its place.

        ``off``: drivers without effect.
        """
        result = np.empty(drawn.focal_rate.shape)
        strata = self._reference_strata if cells is None else Strata.from_cells(cells)
        for kind, rows in self._alike.items():
            for start in range(0, drawn.shift.size, CHUNK):
                block = slice(start, start + CHUNK)
                result[rows, block] = self._carry(kind, rows, strata, drawn.part(rows, block), off)
        return result

    @cached_property
    def _focal_strata(self) -> Strata:
        return Strata.from_cells(self.focal_cells)

    @cached_property
    def _reference_strata(self) -> Strata:
        return Strata.from_cells(self.reference_cells)

    @cached_property
    def _curves(self) -> dict[str, tuple[Floats, Floats]]:
        return read_curves(self.world.curves)

    @cached_property
    def _alike(self) -> dict[_Kind, Ints]:
        """The items that share a domain, a slope (known ones rounded to within 5%), and being open.

        An open item is one on which "don't know" is an answer.
        """
        words = [self.domain] * self.observed.size if self.domain else self.observed.domains
        steps = np.log(self.observed.slope) / np.log(SLOPE_RATIO)
        groups: dict[_Kind, list[int]] = {}
        for index, (word, step) in enumerate(zip(words, steps, strict=True)):
            slope = None if np.isnan(step) else SLOPE_RATIO ** round(step)
            kind = self.world.domain(word) or FALLBACK_DOMAIN, slope, bool(self.observed.floor[index] == 0)
            groups.setdefault(kind, []).append(index)
        return {kind: np.array(rows) for kind, rows in groups.items()}

    def _carry(self, kind: _Kind, rows: Ints, strata: Strata, drawn: Drawn, off: frozenset[str]) -> Floats:
        (name, curricular), slope, dont_know = kind
        domain = Domain(name, curricular, self._curves, dont_know)
        focal, draws = self._focal_strata, drawn.draws
        scale = draws[f"departures_{name}"]
        if self.task.focal.ages[0] > YOUNGEST_ADULT and self.task.reference.ages[0] > YOUNGEST_ADULT:
            scale = np.maximum(scale, draws["departures_knowledge"])
        here = abilities(focal, draws, domain, given=_mean_of(self.task.focal))
        if "learning" in off:
            strata = strata.like(*moments(focal.weight, here))
        there = abilities(strata, draws, domain, given=_mean_of(self.task.reference), off=off)
        there = replace(there, mean=there.mean + (scale * drawn.shift)[:, None])
        kernel = np.minimum(_least(here), _least(there))
        steep = draws["slope"] if slope is None else np.full(kernel.size, slope)
        observed = success(focal.weight, here, kernel, steep)
        sought = success(strata.weight, there, kernel, steep)
        rate = drawn.focal_rate
        floor = np.minimum(self.observed.floor[rows, None] * draws["guessing"], rate / observed.present)
        difficulty = observed.difficulty(rate, floor)
        reached, carried = observed.rate(difficulty, floor), sought.rate(difficulty, floor)
        # Where more of the focal group answered than the tables let answer, as many of the others do as well.
        beyond = np.maximum(rate - reached, 0.0) / np.maximum(1 - reached, TINY)
        carried = carried + beyond * (1 - carried)
        return depart(carried, scale * drawn.departure, np.maximum(sought.present, carried))


def depart(rate: Floats, departure: Floats, present: Floats) -> Floats:
    """Move rates by probit ``departure`` within what those old enough to answer can reach."""
    share = np.clip(rate / present, TINY, 1 - TINY)
    return np.asarray(present * scipy.special.ndtr(scipy.special.ndtri(share) + departure))


def _country_shares(population: Population, cells: pl.DataFrame, world: World) -> dict[str, float]:
    """Return the share of each country; in cells of whole subregions, as many as live there."""
    if population.ability is not None:
        shares = population.shares or (1.0,) * len(population.countries)
        return {name: share / sum(shares) for name, share in zip(population.countries, shares, strict=True)}
    named = cells.drop_nulls("country").select("country", "weight")
    whole = (
        cells.filter(pl.col("country").is_null()).group_by("subregion", maintain_order=True).agg(pl.col("weight").sum())
    )
    people = pl.col("population") / pl.col("population").sum().over("subregion")
    spread = world.countries.join(whole, on="subregion", maintain_order="left").select(
        "country", weight=pl.col("weight") * people
    )
    both = pl.concat([named, spread]).group_by("country", maintain_order=True).agg(pl.col("weight").sum())
    return dict(both.iter_rows())


def _squared_gap(here: dict[str, float], there: dict[str, float]) -> float:
    return fsum((here.get(name, 0.0) - there.get(name, 0.0)) ** 2 for name in {*here, *there})


def _mean_of(population: Population) -> str:
    return f"mean of {population.name}"


def _least(group: Abilities) -> Floats:
    return np.asarray(group.variance.min(axis=1))
