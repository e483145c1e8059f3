"""Values of the assumptions: at their stated value, drawn from their ranges, or one at a time at the ends.

The range of an assumption is read as a triangular distribution from ``low`` to ``high`` with its peak at
``value``. Ranges are judgement where the table's ``basis`` says so: intervals made from them are assumption
ranges, not sampling errors.

The ability of each stratum under given assumptions.

Unit: 100 points of the PISA or HLO scale, 0 at 500. For a stratum with learning score ``H``::

children      H + link − growth still to come before 15           (+ gap of no schooling, out of school)
15–19         H + link + youth gain                               (lower secondary or more)
older, others adult_slope (H + link) + anchor + gap(attainment) × schooling(domain)
+ ageing × curve(domain, age) − forgetting(age, curricular domains) − language

``link`` is the common error of learning scores plus ``regional_link`` of the shift that puts a subregion's share of
15- to 19-year-olds below 420 points where Gust, Hanushek and Woessmann find it. ``language`` is the loss of adults who
answer in a language they do not speak best. In knowledge, which school does not teach, ``H + link`` counts by
``follow_knowledge`` only, and people of poorer countries lose ``income_knowledge`` per income group where "don't know"
counts as wrong. Adults also differ in what they specialised in: their spread in taught and
knowledge domains has the part ``specialisation`` besides.

Answering takes being old enough, reading the item and being well: ``present`` is the share of a stratum
above the first age, ``able`` the share that can read and is neither demented nor intellectually disabled.
Those who are present but not able guess; those below the first age are never right.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.extrapolation.distributions import Abilities
from mensura.people.strata import ADULT_FROM, ATTAINMENT, GIVEN, HIGHEST_INCOME, IN_SCHOOL

if TYPE_CHECKING:
    from mensura.core.arrays import Mask

AssumptionDraws = dict[str, Floats]


def central(assumptions: pl.DataFrame) -> AssumptionDraws:
    """Return one draw: every assumption at its stated value."""
    return {row["assumption"]: np.array([row["value"]]) for row in assumptions.iter_rows(named=True)}


def sample(assumptions: pl.DataFrame, count: int, rng: np.random.Generator) -> AssumptionDraws:
    """Return ``count`` draws of every assumption, independent of each other."""
    draws: AssumptionDraws = {}
    for name, peak, low, high in assumptions.select("assumption", "value", "low", "high").iter_rows():
        draws[name] = triangular(stratified(rng, (count,)), low, peak, high)
    return draws


def stratified(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Return uniform draws with one in each n-th part of (0, 1) along the last axis (a Latin hypercube).

    Quantiles of what is made from them settle with far fewer draws than those of independent ones.
    """
    place = rng.permuted(np.broadcast_to(np.arange(shape[-1], dtype=float), shape), axis=-1)
    return (place + rng.random(shape)) / shape[-1]


def triangular(share: Floats, low: float, peak: float, high: float) -> Floats:
    """Return the quantiles of a triangular distribution at the given shares."""
    if high <= low:
        return np.full(share.shape, float(peak))
    rising = low + np.sqrt(share * (high - low) * (peak - low))
    falling = high - np.sqrt((1 - share) * (high - low) * (high - peak))
    return np.where(share < (peak - low) / (high - low), rising, falling)


def one_at_a_time(assumptions: pl.DataFrame) -> AssumptionDraws:
    """Return two draws per assumption, in order: it at its low, then its high end, the rest as stated."""
    count = 2 * assumptions.height
    draws: AssumptionDraws = {}
    for index, (name, value, low, high) in enumerate(
        assumptions.select("assumption", "value", "low", "high").iter_rows()
    ):
        draws[name] = np.full(count, float(value))
        draws[name][2 * index : 2 * index + 2] = (low, high)
    return draws


def part(draws: AssumptionDraws, rows: slice) -> AssumptionDraws:
    """Return some of the draws."""
    return {name: values[rows] for name, values in draws.items()}


def number_of(draws: AssumptionDraws) -> int:
    """Return how many draws there are."""
    return len(next(iter(draws.values())))


SCHOOL_END, FORGOTTEN_AT = 18.0, 28.0
"""Ages at which forgetting of school content begins and is complete; the loss is linear between them."""
YOUTH_YEARS = 5  # after ADULT_FROM: the band of 15 to 19, whose learning scores were measured at 15
UPPER = "upper_secondary"
KNOWLEDGE = "knowledge"
DRIVERS = {
    "learning": "how much pupils of each country learn at school, against the focal group",
    "childhood": "children who are still learning, or too young to answer",
    "schooling": "how much schooling adults completed, and what is left of it in adult life",
    "ageing": "rise and decline of the domain's ability with age",
    "forgetting": "loss of school content after school",
    "illiteracy": "people who cannot read the item",
    "health": "dementia and intellectual disability",
    "specialisation": "adults who met the subject more, or less, than others of their schooling",
    "language": "adults who answer in a language they do not speak best",
}


@dataclass(frozen=True)
class Kinds:
    """Which cells are what: masks over cells. ``child`` overlaps with ``attending``; the others exclude each other."""

    given: Mask
    child: Mask
    attending: Mask
    youth: Mask
    adult: Mask
    level: dict[str, Mask]

    @classmethod
    def of(cls, age: Floats, attainment: np.ndarray) -> Kinds:
        """Tell the cells apart by age and attainment."""
        level = {name: attainment == name for name in ATTAINMENT}
        given, attending = attainment == GIVEN, attainment == IN_SCHOOL
        child = (age < ADULT_FROM) & ~given
        finished = level["lower_secondary"] | level[UPPER] | level["post_secondary"]
        youth = (age < ADULT_FROM + YOUTH_YEARS) & finished
        return cls(given, child, attending, youth, ~(child | attending | youth | given), level)


@dataclass(frozen=True)
class Strata:
    """Cells of a population as arrays, one entry per cell; ``kinds`` tells which cells are what."""

    weight: Floats
    learning: Floats
    spread: Floats
    age: Floats
    regional: Floats
    income: Floats
    kinds: Kinds

    @classmethod
    def from_cells(cls, cells: pl.DataFrame) -> Strata:
        """Read the columns of :func:`mensura.people.strata.cells_of`; weights are scaled to sum to 1."""
        names = ("weight", "learning", "spread", "age", "regional", "income")
        weight, learning, spread, age, regional, income = (cells[name].cast(pl.Float64).to_numpy() for name in names)
        kinds = Kinds.of(age, np.array(cells["attainment"].to_list()))
        return cls(weight / weight.sum(), learning, spread, age, regional, income, kinds)

    def like(self, mean: float, sd: float) -> Strata:
        """Return the same people with the learning of one group."""
        return replace(self, learning=np.full_like(self.learning, mean), spread=np.full_like(self.spread, sd))


@dataclass(frozen=True)
class Domain:
    """A domain of the model: its name, whether school teaches it, and the age curves.

    ``dont_know``: "don't know" was an answer and counts as wrong.
    """

    name: str
    curricular: bool
    curves: dict[str, tuple[Floats, Floats]]
    dont_know: bool = False

    def curve(self, name: str, age: Floats) -> Floats:
        """Return a curve at the given ages, flat beyond its ends."""
        ages, values = self.curves[name]
        return np.interp(age, ages, values)


def read_curves(table: pl.DataFrame) -> dict[str, tuple[Floats, Floats]]:
    """Return each curve's ages and values, by name."""
    return {
        str(name): (part["age"].cast(pl.Float64).to_numpy(), part["value"].cast(pl.Float64).to_numpy())
        for (name,), part in table.sort("age").group_by("curve", maintain_order=True)
    }


def abilities(
    strata: Strata, draws: AssumptionDraws, domain: Domain, *, given: str, off: frozenset[str] = frozenset()
) -> Abilities:
    """Return the ability of every cell under every draw; drivers named in ``off`` have no effect.

    ``given`` names the draws that hold the mean of a population whose ability is given.
    """
    value = {name: values[:, None] for name, values in draws.items()}
    kinds = strata.kinds
    mean = _means(strata, kinds, value, domain, off)
    if kinds.given.any() and "learning" not in off:
        mean = np.where(kinds.given, value[given], mean)
    present = np.ones_like(mean)
    if "childhood" not in off:
        present = np.where(kinds.child, np.clip(strata.age + 0.5 - value["first_age"], 0, 1), present)
    able = _able(strata, kinds, value, domain, off)
    return Abilities(mean, _variances(strata, kinds, value, domain, off), present, able)


def _means(strata: Strata, kinds: Kinds, value: AssumptionDraws, domain: Domain, off: frozenset[str]) -> Floats:
    """Return the mean ability of every cell, as in the head of this file."""
    base = strata.learning + np.zeros_like(value["slope"])
    if "learning" not in off:
        base = base + value["score_link"] + value["regional_link"] * strata.regional
        base = _followed(domain, value) * base
        if domain.name == KNOWLEDGE and domain.dont_know:
            base = base - value["income_knowledge"] * (HIGHEST_INCOME - strata.income)
    mean, adult = base, kinds.adult
    weight = 0.0 if "schooling" in off else value[f"schooling_{domain.name}"]
    if "schooling" not in off:
        mean = np.where(kinds.youth, mean + value["youth_gain"], mean)
        mean = np.where(adult, value["adult_slope"] * base + value["adult_anchor"], mean)
        for level in ATTAINMENT:
            if level != UPPER:
                mean = np.where(adult & kinds.level[level], mean + value[f"gap_{level}"] * weight, mean)
    if "childhood" not in off:
        mean = np.where(kinds.child, mean - value["growth"] * _growth_left(domain, strata.age), mean)
        mean = np.where(kinds.child & kinds.level["none"], mean + value["gap_none"] * weight, mean)
    if "ageing" not in off:
        mean = np.where(adult, mean + value["ageing"] * domain.curve(domain.name, strata.age), mean)
    if "forgetting" not in off and domain.curricular:
        passed = np.clip((strata.age - SCHOOL_END) / (FORGOTTEN_AT - SCHOOL_END), 0, 1)
        mean = np.where(adult, mean - value["forgetting"] * passed, mean)
    if "language" not in off:
        mean = np.where(adult, mean - value["language"], mean)
    return mean


def _variances(strata: Strata, kinds: Kinds, value: AssumptionDraws, domain: Domain, off: frozenset[str]) -> Floats:
    """Return the variance of every cell: within one country, by specialisation, and between countries' learning scores.

    A population whose ability is given states its own; so does everybody when the learning driver is off.
    """
    adult = kinds.adult & ("schooling" not in off)
    within = np.where(adult, value["adult_sd"], value["pupil_sd"])
    if "specialisation" not in off and (domain.curricular or domain.name == KNOWLEDGE):
        within = np.where(adult, np.hypot(within, value["specialisation"]), within)
    between = np.where(adult, value["adult_slope"], 1.0) * _followed(domain, value) * strata.spread
    return np.where(kinds.given | ("learning" in off), strata.spread**2, within**2 + between**2)


def _followed(domain: Domain, value: AssumptionDraws) -> Floats | float:
    """Return the part of a difference between countries' learning scores that shows in a domain."""
    return value["follow_knowledge"] if domain.name == KNOWLEDGE else 1.0


def _growth_left(domain: Domain, age: Floats) -> Floats:
    """Return the gain between ``age`` and 15 at the stated yearly gains, linear within a year."""
    years, gains = domain.curves["growth"]
    left = np.concatenate([np.cumsum(gains[::-1])[::-1], [0.0]])
    return np.asarray(np.interp(age, np.append(years, years[-1] + 1), left))


def _able(strata: Strata, kinds: Kinds, value: AssumptionDraws, domain: Domain, off: frozenset[str]) -> Floats:
    """Return the share of each cell that reads the item and is well; those in class or sampled are both."""
    able = np.ones((value["slope"].shape[0], strata.age.size))
    if "illiteracy" not in off:
        needed = value["reading_knowledge"] if domain.name == KNOWLEDGE else 1.0
        for level in ("none", "incomplete_primary", "primary"):
            able = np.where(kinds.level[level], able * (1 - needed * value[f"illiterate_{level}"]), able)
    if "health" not in off:
        demented = np.clip(value["dementia"] * domain.curve("dementia", strata.age), 0, 1)
        able = able * (1 - demented) * (1 - value["intellectual_disability"])
    return np.where(kinds.attending | kinds.given, 1.0, able)
