"""World strata: the cells of subregion × age × attainment that a described population is made of.

``python -m tools.build_strata`` makes the packaged tables, and others (another year, other sources).
"""

import polars as pl

from mensura.core.errors import MensuraError
from mensura.people.world import Ability, Population, World

ATTAINMENT = ("none", "incomplete_primary", "primary", "lower_secondary", "upper_secondary", "post_secondary")
PUPIL = "pupil"
ADULT_FROM = 15  # age from which people are counted in bands of five years
BAND_YEARS = 5
_TINY = 1e-12
HIGHEST_INCOME = 3.0  # the last of the income groups
GIVEN, IN_SCHOOL = "given", "in_school"
_ORDER = ["country", "region", "subregion", "age", "attainment", "weight", "learning", "spread", "regional", "income"]


def cells_of(population: Population, world: World) -> pl.DataFrame:
    """Return the cells that a population is made of.

    Children are split into single years of age, evenly within their five. A country without strata of its own has its
    subregion's ages and attainment and its own learning score. Where everyone is a pupil, each age counts as one cell
    per country, of attainment ``in_school``. A population whose ability is given is one cell of attainment ``given``.

    Parameters
    ----------
    population
        A described group of people.
    world
        The world tables.

    Returns
    -------
    polars.DataFrame
        country (null: a whole subregion), region, subregion, age, attainment, weight (they sum to 1), learning, spread,
        regional (the subregion's shift in the world table ``links``, 0 where it has none), income (the country's income
        group from 0 to 3, in cells of a whole subregion the mean over its people; 3 where unknown).

    Raises
    ------
    MensuraError
        If the world tables have nobody of that description.

    Examples
    --------
    >>> from mensura.people import World, cells_of
    >>> world = World.load()
    >>> round(cells_of(world.population("DEU"), world)["weight"].sum(), 6)
    1.0

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
