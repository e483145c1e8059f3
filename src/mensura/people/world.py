"""Populations, in prose for prompts and in structure for arithmetic, and the tables of the world, each replaceable."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache, cached_property
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mensura.core.errors import MensuraError, check_choice
from mensura.core.frames import require_columns
from mensura.intake.tables import find_table, read_table

OLDEST = 120


@dataclass(frozen=True)
class Ability:
    """A population's mean and SD on the learning scale: 0 = 500, 1 unit = 100 points of PISA or HLO.

    Attributes
    ----------
    mean, sd
        Of the population.
    low, high
        Range within which the mean is taken to lie.
    source
        Where it comes from.

    Raises
    ------
    MensuraError
        If low ≤ mean ≤ high does not hold, or sd is not above 0.

    """

    mean: float
    sd: float
    low: float
    high: float
    source: str = ""

    def __post_init__(self) -> None:
        if not self.low <= self.mean <= self.high:
            raise MensuraError(f"ability: low ≤ mean ≤ high is needed, got {self.low}, {self.mean}, {self.high}")
        if not self.sd > 0:
            raise MensuraError(f"ability: sd must be above 0, got {self.sd}")


@dataclass(frozen=True)
class Population:
    """A described group of people; a field left out restricts nothing.

    Attributes
    ----------
    name, prose
        Its name, and the description for readers and prompts.
    ages
        In completed years, both ends included.
    countries, shares
        ISO 3166 alpha-3 codes, and their weights; without shares, the people of those ages who live there.
    attainment
        Levels of schooling completed.
    in_school
        Whether everyone is a pupil.
    year, language
        Of the test.
    ability
        Overrides what the world tables would say of the group, for samples whose mean is known.

    Raises
    ------
    MensuraError
        If ages or shares are impossible.

    """

    name: str
    prose: str
    ages: tuple[int, int] = (0, OLDEST)
    countries: tuple[str, ...] = ()
    shares: tuple[float, ...] = ()
    attainment: tuple[str, ...] = ()
    in_school: bool = False
    year: int | None = None
    language: str | None = None
    ability: Ability | None = None

    def __post_init__(self) -> None:
        low, high = self.ages
        if not 0 <= low <= high <= OLDEST:
            raise MensuraError(
                f"population {self.name!r}: ages must satisfy 0 ≤ low ≤ high ≤ {OLDEST}, got {self.ages}"
            )
        if self.shares and (len(self.shares) != len(self.countries) or min(self.shares) < 0 or not sum(self.shares)):
            raise MensuraError(
                f"population {self.name!r}: one share ≥ 0 per country is needed, "
                f"got {len(self.shares)} for {len(self.countries)} countries"
            )

    def with_(self, **changes: object) -> Population:
        """Return a copy with some fields changed."""
        return replace(self, **changes)  # type: ignore[arg-type]

    def __str__(self) -> str:
        return f"{self.name}: {self.prose}"


WORLD = Population(
    name="world",
    prose="All people alive in the middle of 2025, of every age, country, state of health and amount of "
    "schooling, answering under the same conditions in a language they speak.",
    year=2025,
)

_COLUMNS = {
    "strata": [*("region", "subregion", "age_low", "age_high", "attainment", "population", "learning", "spread")],
    "countries": ["country", "iso2", "name", "subregion", "region", "population", "learning_score"],
    "links": ["subregion", "shift"],
    "assumptions": ["assumption", "value", "low", "high", "meaning", "basis"],
    "curves": ["curve", "age", "value"],
    "domains": ["word", "domain", "curricular"],
    "populations": ["population", "prose", "age_low", "age_high"],
}


@dataclass(frozen=True, eq=False, repr=False)
class World:
    """Everything the world model takes from outside.

    Attributes
    ----------
    strata
        People (thousands) by subregion, age and attainment, with the mean and SD (``learning``, ``spread``) of their
        countries' learning scores, 0 = 500 points and 1 = 100 points. A ``country`` column makes the strata national.
    countries
        Names, place, people and learning score.
    links
        By how much a subregion's learning scores would have to move to agree with another link to the PISA scale.
    assumptions
        Every constant of the model with the range it is drawn from.
    curves
        Growth, age and dementia by age.
    domains
        Which word in an item's domain means which domain of the model.
    populations
        Named groups.

    """

    strata: pl.DataFrame
    countries: pl.DataFrame
    links: pl.DataFrame
    assumptions: pl.DataFrame
    curves: pl.DataFrame
    domains: pl.DataFrame
    populations: pl.DataFrame

    @classmethod
    def load(cls, folder: str | Path | None = None) -> World:
        """Read the packaged tables, each replaced by the file of its name in ``folder``, if there is one."""
        tables = {name: table for name, table in _packaged().items() if name in _COLUMNS}
        for name in tables:
            if folder is not None and (own := find_table(Path(folder), name)):
                tables[name] = read_table(own)
        world = cls(**tables)
        needed = _packaged()["assumptions"]["assumption"]
        if missing := [name for name in needed if name not in world.assumptions["assumption"]]:
            raise MensuraError(
                f"world table 'assumptions': no row {missing[0]!r} ({len(missing)} missing); "
                "the model needs every one: copy it from the packaged table, with a value of your own if you like"
            )
        return world

    def __post_init__(self) -> None:
        for table, columns in _COLUMNS.items():
            require_columns(getattr(self, table), columns, name=f"world table {table!r}")
        wrong = self.assumptions.filter(~pl.col("value").is_between("low", "high"))
        if wrong.height:
            raise MensuraError(f"assumption {wrong['assumption'][0]!r}: value is outside low to high; correct its row")
        if self.strata.filter(~(pl.col("population") > 0)).height:
            raise MensuraError("world table 'strata': every population must be above 0")

    def __repr__(self) -> str:
        sizes = ", ".join(f"{getattr(self, name).height} {name}" for name in _COLUMNS)
        return f"World({sizes})"

    def assume(self, **values: float) -> World:
        """Return a copy with some assumptions fixed at a value, without a range."""
        names = self.assumptions["assumption"].to_list()
        for name in values:
            check_choice("assumption", name, names)
        value = pl.col("assumption").replace_strict(values, default=None, return_dtype=pl.Float64)
        columns = [pl.coalesce(value, pl.col(name)).alias(name) for name in ("value", "low", "high")]
        return replace(self, assumptions=self.assumptions.with_columns(columns))

    @cached_property
    def names(self) -> dict[str, str]:
        """The code of every country by its English name and by other spellings, in small letters."""
        rows = *self.countries.select("name", "country").iter_rows(), *_packaged()["country_aliases"].iter_rows()
        return {name.casefold(): code for name, code in rows}

    @cached_property
    def codes(self) -> dict[str, str]:
        """The same, and by codes of two and three letters."""
        rows = self.countries.select("country", "iso2").iter_rows()
        return self.names | {text.casefold(): row[0] for row in rows for text in row if text is not None}

    def knows(self, country: str) -> bool:
        """Tell whether a country is in the table, by code or name."""
        return country.strip().casefold() in self.codes

    def country(self, name: str) -> str:
        """Return the ISO 3166 alpha-3 code of a country given by code (two or three letters) or name."""
        code = self.codes.get(name.strip().casefold())
        if code is None:
            near = get_close_matches(name.casefold(), self.codes, n=3)
            hint = f"; did you mean {', '.join(sorted({self.codes[text] for text in near}))}?" if near else ""
            raise MensuraError(f"unknown country {name!r}; give an ISO 3166 code or an English name{hint}")
        return code

    def learning(self, country: str) -> float:
        """Return a country's learning score (0 = 500, 1 = 100 points), or its subregion's mean."""
        row = self.countries.filter(pl.col("country") == self.country(country)).row(0, named=True)
        if row["learning_score"] is not None:
            return float((row["learning_score"] - 500) / 100)
        near = self.strata.filter(pl.col("subregion") == row["subregion"])
        return float(np.average(near["learning"].to_numpy(), weights=near["population"].to_numpy()))

    def population(self, name: str) -> Population:
        """Return a population by its name, or the people of one country by its code or name."""
        named = self.populations.filter(pl.col("population") == name.lower())
        if named.height:
            return _from_row(named.row(0, named=True))
        try:
            code = self.country(name)
        except MensuraError as fault:
            names = ", ".join(self.populations["population"])
            raise MensuraError(f"unknown population {name!r}; expected one of {names}, or a country") from fault
        title = self.countries.filter(pl.col("country") == code)["name"][0]
        return Population(name=code, prose=f"All people living in {title} in 2025.", countries=(code,), year=2025)

    def domain(self, words: str | None) -> tuple[str, bool] | None:
        """Return the model's domain for an item's domain in any words, and whether it is taught at school.

        The first word of the domain table that occurs in ``words`` decides; None when there is none.
        """
        text = (words or "").casefold()
        rows = self.domains.select("word", "domain", "curricular").iter_rows()
        return next(((domain, bool(curricular)) for word, domain, curricular in rows if word in text), None)


@cache
def _packaged() -> dict[str, pl.DataFrame]:
    with as_file(files("mensura.people") / "data" / "world") as folder:
        return {name: read_table(folder / f"{name}.csv") for name in (*_COLUMNS, "country_aliases")}


def _from_row(row: dict[str, Any]) -> Population:
    parts = {name: row.get(f"ability_{name}") for name in ("mean", "sd", "low", "high")}
    ability = None if parts["mean"] is None else Ability(**parts, source=row["source"] or "")  # type: ignore[arg-type]
    return Population(
        name=row["population"],
        prose=row["prose"],
        ages=(row["age_low"], row["age_high"]),
        countries=tuple((row.get("countries") or "").split(";")) if row.get("countries") else (),
        in_school=bool(row.get("in_school")),
        year=row.get("year"),
        language=row.get("language"),
        ability=ability,
    )
