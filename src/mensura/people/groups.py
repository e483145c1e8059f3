"""Groups of people: bands of covariates, the population of a pool or a group, and the strata that it is made of."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import polars as pl

from mensura.core.errors import MensuraError
from mensura.people.pool import ItemPool
from mensura.people.strata import ATTAINMENT, PUPIL
from mensura.people.world import OLDEST, Ability, Population, World

COUNTRY_WORDS = ("country", "country_group", "nation", "cnt", "cntry")
"""Names of the covariate that holds countries, in small letters; PISA has CNT."""
SCHOOL_AGE = 18


def add_bands(persons: pl.DataFrame, covariate: str, edges: Sequence[int]) -> pl.DataFrame:
    """Add ``COVARIATE_band``: edges 18, 25, 50 give ``under 18``, ``18-24``, ``25-49``, ``50+``."""
    if covariate not in persons.columns:
        have = ", ".join(name for name in persons.columns if name != "person")
        raise MensuraError(f"no covariate {covariate!r} to band; expected one of {have}")
    if not persons[covariate].dtype.is_numeric():
        raise MensuraError(
            f"covariate {covariate!r} is not a number, so it has no bands; choose a numeric covariate such as age"
        )
    if not edges or list(edges) != sorted(set(edges)):
        raise MensuraError(f"edges of {covariate!r} must rise, got {', '.join(map(str, edges)) or 'none'}")
    labels = [f"under {edges[0]}"]
    labels += [f"{low}-{high - 1}" for low, high in pairwise(edges)]
    labels.append(f"{edges[-1]}+")
    return persons.with_columns(banded(persons[covariate], edges, labels).alias(f"{covariate}_band"))


def banded(values: pl.Series, edges: Sequence[float], labels: Sequence[str]) -> pl.Series:
    """Return the label of each value's band; band i + 1 starts at ``edges[i]``. Unknown stays unknown."""
    numbers = values.cast(pl.Float64).fill_nan(None)
    place = np.searchsorted(np.asarray(edges, dtype=float), numbers.fill_null(0).to_numpy(), side="right")
    return pl.Series(values.name, labels, dtype=pl.String).gather(place).set(numbers.is_null(), None)


def describe(pool: ItemPool, world: World) -> Population:
    """Return the population of a whole pool, read off its covariates: countries with their shares, and ages.

    Everyone counts as a pupil where nobody is older than 18.
    """
    countries = _countries(pool, world)
    ages = _age_range(pool)
    if not countries and ages is None:
        raise MensuraError(
            f"pool {pool.name!r}: neither countries nor ages among its covariates say who was tested; "
            "name the population (for example --from pisa)"
        )
    low, high = ages or (15, OLDEST)
    where = ", ".join(countries) or "unknown countries"
    given = f" The test was given in {pool.administration}." if pool.administration.known else ""
    return Population(
        name=pool.name,
        prose=f"The people tested in {pool.name}: aged {low} to {high}, in {where}.{given}",
        ages=(low, high),
        countries=tuple(countries),
        shares=tuple(countries.values()),
        in_school=high <= SCHOOL_AGE,
        year=pool.administration.year,
        language=pool.administration.language,
    )


def population_of(group: str, whole: Population, world: World) -> Population:
    """Return the population of one group of a pool, given that of the whole pool.

    ``country=AUS`` narrows the countries, ``age_band=18-24`` the ages; of any other covariate the world
    tables know nothing, and the group is described in prose only.
    """
    if "=" not in group:
        return whole
    covariate, level = group.split("=", 1)
    prose = f"{whole.prose} Of these, those with {covariate.replace('_', ' ')} {level.replace('_', ' ')}."
    if covariate.casefold() in COUNTRY_WORDS:
        code = world.country(level)
        return whole.with_(name=group, prose=prose, countries=(code,), shares=(), ability=None)
    if covariate in ("age", "age_band"):
        return whole.with_(name=group, prose=prose, ages=parse_ages(level), ability=None)
    return whole.with_(name=group, prose=prose)


def parse_ages(level: str) -> tuple[int, int]:
    """Read ``18-24``, ``50+``, ``under 18`` or ``37`` as a range of ages."""
    text = level.replace("–", "-").strip()
    try:
        if text.startswith("under "):
            return 0, int(text.removeprefix("under ")) - 1
        if text.endswith("+"):
            return int(text[:-1]), 120
        first, _, last = text.partition("-")
        return int(first), int(last or first)
    except ValueError as fault:
        raise MensuraError(f"age group {level!r}: expected a form such as 18-24, 50+ or 37") from fault


def _countries(pool: ItemPool, world: World) -> dict[str, float]:
    """Return the answers given per country, from the rates by country or the persons."""
    persons = pl.DataFrame() if pool.persons is None else pool.persons
    for word in COUNTRY_WORDS:
        rates = pool.rates.filter(pl.col("covariate").str.to_lowercase() == word)
        column = next((name for name in persons.columns if name.casefold() == word), None)
        if rates.height:
            counts = rates.group_by("group").agg(pl.col("n").sum()).sort("group").iter_rows()
            named = [(str(group).split("=", 1)[-1], float(n)) for group, n in counts]
        elif column is not None:
            named = [(str(name), float(n)) for name, n in persons[column].drop_nulls().value_counts().iter_rows()]
        else:
            continue
        return {world.country(name): n for name, n in named if world.knows(name)}
    return {}


def _age_range(pool: ItemPool) -> tuple[int, int] | None:
    """Return the ages between which all but a hundredth of the persons lie."""
    if pool.persons is None or "age" not in pool.persons.columns or not pool.persons["age"].dtype.is_numeric():
        return None
    ages = pool.persons["age"].drop_nulls()
    if ages.is_empty():
        return None
    low, high = (ages.quantile(share, interpolation="nearest") for share in (0.005, 0.995))
    return int(low or 0), int(high or OLDEST)


# From a described population to the strata it is made of.

ADULT_FROM = 15  # age from which people are counted in bands of five years
BAND_YEARS = 5
_TINY = 1e-12
HIGHEST_INCOME = 3.0  # the last of the income groups
GIVEN, IN_SCHOOL = "given", "in_school"
_ORDER = ["country", "region", "subregion", "age", "attainment", "weight", "learning", "spread", "regional", "income"]


def cells_of(population: Population, world: World) -> pl.DataFrame:
    """Return the cells a population is made of.

    Columns: country (null: a whole subregion), region, subregion, age, attainment, weight (they sum to 1),
    learning and spread, regional (the subregion's shift in the world table ``links``, 0 where it has none), income (the
    country's income group from 0 to 3, in cells of a whole subregion the mean over its people; 3 where unknown).

    Children are split into single years of age, evenly within their five. A country without strata of its
    own has its subregion's ages and attainment and its own learning score. Where everyone is a pupil, each
    age counts as one cell per country, of attainment ``in_school``. A population whose ability is given is
    one cell of attainment ``given``.
    """
    if population.ability is not None:
        return _one_cell(population, population.ability)
    strata = _national(world.strata)
    if population.in_school:
        strata = _pupils(strata)
    if population.countries:
        strata = _of_countries(population, world, strata)
    strata = _within_ages(_single_years(strata), population)
    if population.attainment:
        if unknown := set(population.attainment) - {*ATTAINMENT, PUPIL, IN_SCHOOL}:
            raise MensuraError(f"unknown attainment {unknown.pop()!r}; expected one of {', '.join(ATTAINMENT)}")
        strata = strata.filter(pl.col("attainment").is_in(list(population.attainment)))
    if strata.is_empty():
        raise MensuraError(
            f"population {population.name!r}: the world tables have nobody of that description; relax its ages, sex, "
            "countries or attainment"
        )
    shifts = world.links.select("subregion", regional=pl.col("shift").cast(pl.Float64))
    linked = strata.join(shifts, on="subregion", how="left", maintain_order="left").with_columns(
        pl.col("regional").fill_null(0.0), weight=pl.col("weight") / pl.col("weight").sum()
    )
    return _with_income(linked, world).select(_ORDER)


def _with_income(cells: pl.DataFrame, world: World) -> pl.DataFrame:
    """Add the income group of each cell's country, or the mean of its subregion."""
    if "income" not in world.countries.columns:
        return cells.with_columns(income=HIGHEST_INCOME)
    groups = world.countries.drop_nulls("income")
    people = (pl.col("income") * pl.col("population")).sum() / pl.col("population").sum()
    means = groups.group_by("subregion").agg(usual=people)
    own = groups.select("country", own=pl.col("income").cast(pl.Float64))
    joined = cells.join(own, on="country", how="left", maintain_order="left").join(
        means, on="subregion", how="left", maintain_order="left"
    )
    return joined.with_columns(income=pl.coalesce("own", "usual", pl.lit(HIGHEST_INCOME)))


def _one_cell(population: Population, ability: Ability) -> pl.DataFrame:
    row = {
        "country": population.countries[0] if len(population.countries) == 1 else None,
        "region": population.name,
        "subregion": population.name,
        "age": float(sum(population.ages)) / 2,
        "attainment": GIVEN,
        "weight": 1.0,
        "learning": ability.mean,
        "spread": ability.sd,
        "regional": 0.0,
        "income": HIGHEST_INCOME,
    }
    text = {"country": pl.String, "region": pl.String, "subregion": pl.String, "attainment": pl.String}
    return pl.DataFrame([row], schema_overrides=text).select(_ORDER)


def _national(strata: pl.DataFrame) -> pl.DataFrame:
    """Give strata of whole subregions an empty country column, and a weight."""
    if "country" not in strata.columns:
        strata = strata.with_columns(country=pl.lit(None, dtype=pl.String))
    return strata.with_columns(weight=pl.col("population"))


def _pupils(strata: pl.DataFrame) -> pl.DataFrame:
    """Take everyone with any schooling for a pupil."""
    keys = ["country", "region", "subregion", "age_low", "age_high"]
    mean = (pl.col("learning") * pl.col("weight")).sum() / pl.col("weight").sum()
    return (
        strata.filter(pl.col("attainment") != "none")
        .group_by(keys, maintain_order=True)
        .agg(learning=mean, spread=pl.col("spread").max(), weight=pl.col("weight").sum())
        .with_columns(attainment=pl.lit(IN_SCHOOL))
    )


def _of_countries(population: Population, world: World, strata: pl.DataFrame) -> pl.DataFrame:
    """Return the strata of the population's countries, weighted by its shares or by people."""
    parts = []
    for index, name in enumerate(population.countries):
        code = world.country(name)
        place = world.countries.filter(pl.col("country") == code).row(0, named=True)
        own = strata.filter(pl.col("country") == code)
        if own.is_empty():
            own = strata.filter(pl.col("subregion") == place["subregion"]).with_columns(
                country=pl.lit(code), learning=pl.lit(world.learning(code)), spread=pl.lit(0.0)
            )
        size = population.shares[index] if population.shares else place["population"]
        total = _within_ages(own, population)["weight"].sum() if population.shares else own["weight"].sum()
        parts.append(own.with_columns(weight=pl.col("weight") * size / max(total, _TINY)))
    return pl.concat(parts)


def _within_ages(strata: pl.DataFrame, population: Population) -> pl.DataFrame:
    """Keep the ages asked for; a band that is cut counts by the part of its years inside."""
    low, high = population.ages
    first, last = pl.col("age_low"), pl.col("age_high")
    years = pl.min_horizontal(last, pl.lit(high)) - pl.max_horizontal(first, pl.lit(low)) + 1
    share = years.clip(0) / (last - first + 1)
    inside = strata.with_columns(weight=pl.col("weight") * share).filter(pl.col("weight") > 0)
    start, end = pl.max_horizontal(first, pl.lit(low)), pl.min_horizontal(last, pl.lit(high), first + BAND_YEARS - 1)
    return inside.with_columns(age=(start + end + 1) / 2)


def _single_years(strata: pl.DataFrame) -> pl.DataFrame:
    """Split the children's bands into single years."""
    young = strata.filter(pl.col("age_high") < ADULT_FROM)
    width = young["age_high"] - young["age_low"] + 1
    split = (
        young.with_columns(weight=pl.col("weight") / width, year=pl.int_ranges("age_low", pl.col("age_high") + 1))
        .explode("year")
        .with_columns(age_low="year", age_high="year")
        .drop("year")
    )
    return pl.concat([split, strata.filter(pl.col("age_high") >= ADULT_FROM)])
