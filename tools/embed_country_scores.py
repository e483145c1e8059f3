"""Derive the country scores and sex gaps that the described-situation method ships with.

Country means of TIMSS, PISA and PIRLS rounds are averaged over the rounds of an epoch (up to 2008, from 2009 on):
what ships is an aggregate, in the points of Angrist et al. (2021).

Run from the project root: ``python -m tools.embed_country_scores ../shared/data/world``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

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


def _rounds(world: Path) -> pl.DataFrame:
    table = pl.read_csv(world / "quality_hlo_by_test.csv").filter(pl.col("test").is_in(TESTS))
    return table.with_columns(epoch=pl.when(pl.col("year") < 2009).then(pl.lit("early")).otherwise(pl.lit("late")))


def main() -> None:
    """Write the scores; print the gaps, which stand in group_gaps.csv."""
    world = Path(sys.argv[1])
    scores = country_scores(world)
    scores.write_csv(TARGET / "country_scores.csv")
    print(f"{scores.height} scores of {scores['country'].n_unique()} countries")
    print(sex_gaps(world))


if __name__ == "__main__":
    main()
