"""World strata: tables of population, attainment and learning, summed to subregion × age × attainment.

This is how the packaged tables were made, and how to make others (another year, other sources)::

    mensura people summary FOLDER --out DIR

FOLDER holds ``population_2025.csv`` (iso3, age_lo, sex, pop_thousands), ``education_2020.csv`` (iso3, age_lo,
sex, pop_thousands_2020 and the shares e_none … e_post_secondary), ``countries.csv`` (iso3, un_region,
un_subregion) and ``quality_hlo.csv`` (iso3, hlo_hci2020, hlo_hci2020_via).
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from mensura.core.errors import MensuraError
from mensura.intake.tables import read_table
from mensura.people.world import Ability, Population, World

ATTAINMENT = ("none", "incomplete_primary", "primary", "lower_secondary", "upper_secondary", "post_secondary")
PUPIL = "pupil"
POPULATION_FILE = "population_2025.csv"
"""The file that tells a folder of country tables from a pool."""
SETTLED_AGE = 25
COHORT_SHIFT = 5
INCOME_GROUPS = ("Low income", "Lower middle income", "Upper middle income", "High income")
"""The World Bank's groups, from 0 to 3."""


def build_world(folder: Path, names: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return the tables ``strata`` and ``countries``; ``names`` gives country, iso2 and name."""
    population = read_table(folder / POPULATION_FILE).rename({"iso3": "country", "age_lo": "age"})
    education = read_table(folder / "education_2020.csv").rename({"iso3": "country", "age_lo": "age"})
    listed = read_table(folder / "countries.csv")
    group = pl.col("wb_income") if "wb_income" in listed.columns else pl.lit(None, dtype=pl.String)
    places = listed.select(
        country="iso3",
        subregion="un_subregion",
        region=pl.col("un_region").str.to_titlecase().str.replace("And The", "and the", literal=True),
        income=group.replace_strict(INCOME_GROUPS, range(len(INCOME_GROUPS)), default=None, return_dtype=pl.Int64),
    )
    scores = (
        read_table(folder / "quality_hlo.csv")
        .filter(pl.col("hlo_hci2020_via") == "lookup")
        .select(country="iso3", learning_score="hlo_hci2020")
    )
    people = population.group_by("country", "age").agg(population=pl.col("pop_thousands").sum())
    places = _with_learning(places, scores, people)
    cells = _cells(people, _attainment(education), places)
    return {"strata": _sum_up(cells), "countries": _country_table(places, names)}


def _with_learning(places: pl.DataFrame, scores: pl.DataFrame, people: pl.DataFrame) -> pl.DataFrame:
    """Add population and learning score; ``theta`` is the subregion's mean where a country has none."""
    totals = people.group_by("country").agg(population=pl.col("population").sum())
    has_score = pl.col("learning_score").is_not_null()
    weighted = (pl.col("learning_score") * pl.col("population")).sum()
    filled = weighted.over("subregion") / pl.col("population").filter(has_score).sum().over("subregion")
    return (
        places.join(totals, on="country")
        .join(scores, on="country", how="left")
        .with_columns(theta=(pl.coalesce("learning_score", filled) - 500) / 100)
    )


def _attainment(education: pl.DataFrame) -> pl.DataFrame:
    """Return country, age, attainment, share of 2025.

    Attainment hardly changes after 25, so each cohort that was 25 or older in 2020 is moved up five years;
    the younger ages keep the shares that people of that age had in 2020.
    """
    heads = education.group_by("country", "age").agg(
        [(pl.col(f"e_{level}") * pl.col("pop_thousands_2020")).sum().alias(level) for level in ATTAINMENT]
    )
    long = heads.unpivot(index=["country", "age"], variable_name="attainment", value_name="heads")
    oldest = education["age"].max()
    moved = long.filter(pl.col("age") >= SETTLED_AGE).with_columns(
        age=pl.min_horizontal(pl.col("age") + COHORT_SHIFT, pl.lit(oldest))
    )
    both = pl.concat([long.filter(pl.col("age") <= SETTLED_AGE), moved])
    counted = both.group_by("country", "age", "attainment").agg(pl.col("heads").sum())
    share = pl.col("heads") / pl.col("heads").sum().over("country", "age")
    return counted.with_columns(share=share).filter(pl.col("share").is_finite())


def _cells(people: pl.DataFrame, shares: pl.DataFrame, places: pl.DataFrame) -> pl.DataFrame:
    """Return country × age × attainment cells.

    Children of 5 to 14 are pupils, except a share who never went to school: that of the 15- to 19-year-olds
    without schooling. Countries without attainment figures take the mean shares of their subregion.
    """
    located = people.join(places.select("country", "subregion", "region", "theta"), on="country")
    heads = shares.join(located, on=["country", "age"]).with_columns(mass=pl.col("share") * pl.col("population"))
    typical = heads.group_by("subregion", "age", "attainment").agg(pl.col("mass").sum())
    typical = typical.with_columns(typical=pl.col("mass") / pl.col("mass").sum().over("subregion", "age"))
    youths = shares.filter((pl.col("age") == 15) & (pl.col("attainment") == "none"))
    away = located.join(youths.select("country", away="share"), on="country", how="left").with_columns(
        pl.col("away").fill_null(pl.col("away").mean())
    )
    children = pl.concat(
        [
            away.filter(pl.col("age").is_between(5, 10)).with_columns(
                attainment=pl.lit(PUPIL), share=1 - pl.col("away")
            ),
            away.filter(pl.col("age").is_between(5, 10)).with_columns(attainment=pl.lit("none"), share=pl.col("away")),
            away.filter(pl.col("age") == 0).with_columns(attainment=pl.lit(PUPIL), share=pl.lit(1.0)),
        ]
    ).drop("away")
    grown = (
        located.filter(pl.col("age") >= 15)
        .join(typical.select("subregion", "age", "attainment", "typical"), on=["subregion", "age"])
        .join(
            shares.select("country", "age", "attainment", "share"),
            on=["country", "age", "attainment"],
            how="left",
        )
    )
    covered = pl.col("share").is_not_null().any().over("country", "age")
    grown = grown.with_columns(share=pl.when(covered).then(pl.col("share").fill_null(0)).otherwise("typical"))
    return pl.concat([children, grown.drop("typical")], how="diagonal").with_columns(
        people=pl.col("population") * pl.col("share")
    )


def _sum_up(cells: pl.DataFrame) -> pl.DataFrame:
    """Sum cells to subregion × age × attainment, with the mean and SD of the countries' learning scores."""
    weight = pl.col("people")
    mean = (pl.col("theta") * weight).sum() / weight.sum()
    square = (pl.col("theta") ** 2 * weight).sum() / weight.sum()
    return (
        cells.filter(weight > 0)
        .group_by("region", "subregion", "age", "attainment")
        .agg(population=weight.sum(), learning=mean, spread=(square - mean**2).clip(0).sqrt())
        .with_columns(
            pl.col("population").round(1),
            pl.col("learning", "spread").round(3),
            age_high=pl.when(pl.col("age") == 100).then(120).otherwise(pl.col("age") + 4),
        )
        .rename({"age": "age_low"})
        .filter(pl.col("population") > 0)
        .select("region", "subregion", "age_low", "age_high", "attainment", "population", "learning", "spread")
        .sort("region", "subregion", "age_low", "attainment")
    )


def _country_table(places: pl.DataFrame, names: pl.DataFrame) -> pl.DataFrame:
    """Return names, place, people (thousands) and the learning score where there is one."""
    table = names.select("country", "iso2", "name").join(places, on="country", how="left")
    return table.select(
        "country", "iso2", "name", "subregion", "region", pl.col("population").round(0), "learning_score", "income"
    ).sort("country")


# From a described population to the strata it is made of.

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
