"""Derive the country scores, their spreads and the sex gaps that the described-situation method ships with.

Country means of TIMSS, PISA and PIRLS rounds are averaged over the rounds of an epoch (up to 2008, from 2009 on):
what ships is an aggregate, in the points of Angrist et al. (2021). Their spreads say how far a fact on a country may
err: by rounds of the same test (``matched``), by tests about the country's learning score (``general``), or between
countries where nothing is known (``none``); rows of other kinds in ``group_spreads.csv`` stay as they are.

Run from the project root: ``python -m tools.embed_country_scores``.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from benchmarks import development_data
from mensura.people import World

TARGET = Path(__file__).parents[1] / "src" / "mensura" / "extrapolation" / "data"
TESTS = ("PIRLS", "PISA", "TIMSS")


def country_scores(world: Path) -> pl.DataFrame:
    """Return country, test, subject, level, epoch, score and the number of rounds it is the mean of."""
    keys = ["country", "test", "subject", "level", "epoch"]
    rounds = _rounds(world).rename({"iso3": "country"}).group_by(keys)
    return rounds.agg(score=pl.col("hlo").mean().round(1), rounds=pl.len()).sort(keys)


def sex_gaps(world: Path) -> pl.DataFrame:
    """Return girls minus boys in units of 100 points, the mean over country rounds."""
    gaps = _rounds(world).drop_nulls(["hlo_f", "hlo_m"]).group_by("test", "subject", "level")
    female = gaps.agg(gap=((pl.col("hlo_f") - pl.col("hlo_m")).mean() / 100).round(3), countries=pl.len())
    return female.sort("test", "subject", "level")


def country_spreads(world: Path, learning: pl.DataFrame) -> pl.DataFrame:
    """Return kind, basis, evidence, spread (units of 100 points) and source; ``learning``: country, learning_score."""
    keys = ["iso3", "test", "subject", "level", "epoch"]
    means = _rounds(world).group_by(keys).agg(mean=pl.col("hlo").mean(), v=pl.col("hlo").var(), rounds=pl.len())
    several, free = means.filter(pl.col("rounds") > 1), pl.col("rounds") - 1
    same = several.group_by("test").agg(spread=((pl.col("v") * free).sum() / free.sum()).sqrt())
    scores = learning.drop_nulls("learning_score").select(iso3="country", general="learning_score")
    away = pl.col("mean") - pl.col("general")
    other = (
        means.filter(pl.col("epoch") == "late")
        .join(scores, on="iso3")
        .with_columns(away=away - away.mean().over("test", "subject", "level"))
        .group_by("test")
        .agg(spread=pl.col("away").std())
    )
    everybody = pl.DataFrame({"test": ["all"], "spread": [scores["general"].std()]})
    parts = {
        "matched": (
            same,
            "round to round within an epoch, same country, test, subject and level (Angrist et al. 2021)",
        ),
        "general": (
            other,
            "means of a test (Angrist et al. 2021) about the learning scores of the Human Capital Index",
        ),
        "none": (everybody, "learning scores of 174 countries (World Bank, Human Capital Index 2020)"),
    }
    return pl.concat(
        table.sort("test").select(
            kind=pl.lit("country"),
            basis=pl.lit(basis),
            evidence="test",
            spread=(pl.col("spread") / 100).round(3),
            source=pl.lit(source),
        )
        for basis, (table, source) in parts.items()
    )


def _rounds(world: Path) -> pl.DataFrame:
    table = pl.read_csv(world / "quality_hlo_by_test.csv").filter(pl.col("test").is_in(TESTS))
    return table.with_columns(epoch=pl.when(pl.col("year") < 2009).then(pl.lit("early")).otherwise(pl.lit("late")))


def main() -> None:
    """Write the scores; print the gaps, which stand in group_gaps.csv."""
    world = development_data("world")
    scores = country_scores(world)
    scores.write_csv(TARGET / "country_scores.csv")
    spreads = TARGET / "group_spreads.csv"
    kept = pl.read_csv(spreads).filter(pl.col("kind") != "country")
    pl.concat([country_spreads(world, World.load().countries), kept]).write_csv(spreads)
    print(f"{scores.height} scores of {scores['country'].n_unique()} countries")
    print(sex_gaps(world))


if __name__ == "__main__":
    main()
