"""Sum tables of population, attainment and learning to world strata: ``python -m tools.build_strata RAW FOLDER``.

This is how the packaged tables were made, and how to make others (another year, other sources). RAW has
``population_2025.csv`` (iso3, age_lo, sex, pop_thousands), ``education_2020.csv`` (iso3, age_lo, sex,
pop_thousands_2020 and the shares e_none … e_post_secondary), ``countries.csv`` (iso3, un_region, un_subregion) and
``quality_hlo.csv`` (iso3, hlo_hci2020, hlo_hci2020_via). ``World.load(FOLDER)`` reads the result.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import polars as pl

from mensura.core.files import write_csv
from mensura.intake.tables import read_table
from mensura.people import World
from mensura.people.strata import ATTAINMENT, PUPIL

SETTLED_AGE = 25
COHORT_SHIFT = 5
INCOME_GROUPS = ("Low income", "Lower middle income", "Upper middle income", "High income")
"""The World Bank's groups, from 0 to 3."""


def build_world(folder: Path, names: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return the tables ``strata`` and ``countries``; ``names`` gives country, iso2 and name."""
    population = read_table(folder / "population_2025.csv").rename({"iso3": "country", "age_lo": "age"})
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
        .join(shares.select("country", "age", "attainment", "share"), on=["country", "age", "attainment"], how="left")
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


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.build_strata", description=__doc__.splitlines()[0])
    parser.add_argument("raw", type=Path, metavar="RAW", help="folder of country tables")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="folder for strata.csv and countries.csv")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for name, table in build_world(given.raw, World.load().countries).items():
        write_csv(table, given.folder / f"{name}.csv")
        print(f"{given.folder / name}.csv: {table.height} rows")


if __name__ == "__main__":
    main()
