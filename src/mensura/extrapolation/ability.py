"""The ability of each stratum under given assumptions.

Unit: 100 points of the PISA or HLO scale, 0 at 500. For a stratum with learning score ``H``::

    children      H + link − growth still to come before 15           (+ gap of no schooling, out of school)
    15–19         H + link + youth gain                               (lower secondary or more)
    older, others adult_slope (H + link) + anchor + gap(attainment) × schooling(domain)
                  + ageing × curve(domain, age) − forgetting(age, curricular domains)

Answering takes being old enough, reading the item and being well: ``present`` is the share of a stratum
above the first age, ``able`` the share that can read and is neither demented nor intellectually disabled.
Those who are present but not able guess; those below the first age are never right.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mensura.people.cells import ADULT_FROM, GIVEN
from mensura.people.strata import ATTAINMENT, PUPIL

if TYPE_CHECKING:
    from mensura.extrapolation.assumptions import Draws, Floats

SCHOOL_END, FORGOTTEN_AT = 18.0, 28.0
UPPER = "upper_secondary"
DRIVERS = {
    "learning": "how much pupils of each country learn at school, against the focal group",
    "childhood": "children who are still learning, or too young to answer",
    "schooling": "how much schooling adults completed, and what is left of it in adult life",
    "ageing": "rise and decline of the domain's ability with age",
    "forgetting": "loss of school content after school",
    "illiteracy": "people who cannot read the item",
    "health": "dementia and intellectual disability",
}


@dataclass(frozen=True)
class Strata:
    """Cells of a population as arrays, one entry per cell."""

    weight: Floats
    learning: Floats
    spread: Floats
    age: Floats
    attainment: tuple[str, ...]

    @classmethod
    def from_cells(cls, cells: pl.DataFrame) -> Strata:
        """Read the columns of :func:`mensura.people.cells.cells_of`; weights are scaled to sum to 1."""
        numbers = (cells[name].cast(pl.Float64).to_numpy() for name in ("weight", "learning", "spread", "age"))
        weight, learning, spread, age = numbers
        return cls(weight / weight.sum(), learning, spread, age, tuple(cells["attainment"].to_list()))

    def like(self, mean: float, sd: float) -> Strata:
        """Return the same people with the learning of one group."""
        return replace(self, learning=np.full_like(self.learning, mean), spread=np.full_like(self.spread, sd))


@dataclass(frozen=True)
class Domain:
    """A domain of the model: its name, whether school teaches it, and the age curves."""

    name: str
    curricular: bool
    curves: dict[str, tuple[Floats, Floats]]

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


@dataclass(frozen=True)
class Abilities:
    """Draws × cells arrays: mean and variance of ability, share present, share of those able."""

    mean: Floats
    variance: Floats
    present: Floats
    able: Floats


def abilities(
    strata: Strata, draws: Draws, domain: Domain, *, given: str, off: frozenset[str] = frozenset()
) -> Abilities:
    """Return the ability of every cell under every draw; drivers named in ``off`` have no effect.

    ``given`` names the draws that hold the mean of a population whose ability is given.
    """
    value = {name: values[:, None] for name, values in draws.items()}
    where = {level: np.array([entry == level for entry in strata.attainment]) for level in (*ATTAINMENT, PUPIL)}
    stated = np.array([entry == GIVEN for entry in strata.attainment])
    child = (strata.age < ADULT_FROM) & ~stated
    pupil = where[PUPIL] & ~child
    finished = where["lower_secondary"] | where[UPPER] | where["post_secondary"]
    youth = (strata.age < ADULT_FROM + 5) & finished
    adult = ~(child | pupil | youth | stated)
    # the learning driver switched off gives everyone the focal group's mean, which the link does not move
    base = strata.learning + (0 if "learning" in off else value["score_link"])
    mean = base + np.zeros_like(value["slope"])
    schooling = 0.0 if "schooling" in off else value[f"schooling_{domain.name}"]
    gaps = {level: value[f"gap_{level}"] for level in ATTAINMENT if level != UPPER}
    if "schooling" not in off:
        mean = np.where(youth, mean + value["youth_gain"], mean)
        mean = np.where(adult, value["adult_slope"] * base + value["adult_anchor"], mean)
        for level, gap in gaps.items():
            mean = np.where(adult & where[level], mean + gap * schooling, mean)
    if "childhood" not in off:
        still = _growth_left(domain, strata.age)
        mean = np.where(child, mean - value["growth"] * still, mean)
        mean = np.where(child & where["none"], mean + gaps["none"] * schooling, mean)
    if "ageing" not in off:
        mean = np.where(adult, mean + value["ageing"] * domain.curve(domain.name, strata.age), mean)
    if "forgetting" not in off and domain.curricular:
        passed = np.clip((strata.age - SCHOOL_END) / (FORGOTTEN_AT - SCHOOL_END), 0, 1)
        mean = np.where(adult, mean - value["forgetting"] * passed, mean)
    mean = np.where(stated, value[given], mean) if stated.any() else mean
    within = np.where(adult & ("schooling" not in off), value["adult_sd"], value["pupil_sd"])
    between = strata.spread**2 * np.where(adult & ("schooling" not in off), value["adult_slope"] ** 2, 1.0)
    own_spread = stated | ("learning" in off)
    variance = np.where(own_spread, strata.spread**2, within**2 + between)
    present = np.ones_like(mean)
    if "childhood" not in off:
        present = np.where(child, np.clip(strata.age + 0.5 - value["first_age"], 0, 1), present)
    return Abilities(mean, variance, present, _able(strata, value, domain, where, pupil | stated, off))


def _growth_left(domain: Domain, age: Floats) -> Floats:
    """Return the gain between ``age`` and 15 at the stated yearly gains, linear within a year."""
    years, gains = domain.curves["growth"]
    left = np.concatenate([np.cumsum(gains[::-1])[::-1], [0.0]])
    remaining: Floats = np.interp(age, np.append(years, years[-1] + 1), left)
    return remaining


def _able(
    strata: Strata,
    value: Draws,
    domain: Domain,
    where: dict[str, np.ndarray],
    sitting: np.ndarray,
    off: frozenset[str],
) -> Floats:
    """Return the share of each cell that reads the item and is well; whoever sits in class is both."""
    able = np.ones((value["slope"].shape[0], strata.age.size))
    if "illiteracy" not in off:
        for level in ("none", "incomplete_primary", "primary"):
            able = np.where(where[level], able * (1 - value[f"illiterate_{level}"]), able)
    if "health" not in off:
        demented = np.clip(value["dementia"] * domain.curve("dementia", strata.age), 0, 1)
        able = able * (1 - demented) * (1 - value["intellectual_disability"])
    return np.where(sitting, 1.0, able)
