"""Derive the country scores and sex gaps that the described-situation method ships with.

Country means of TIMSS, PISA and PIRLS rounds are averaged over the rounds of an epoch (up to 2008, from 2009 on), so
that what ships is an aggregate of two or three rounds; the general learning score of 2020 is copied only
where it was read record by record (``hlo_hci2020_via`` = ``lookup``).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import polars as pl

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "src" / "mensura" / "extrapolation" / "data"
TESTS = ("PIRLS", "PISA", "TIMSS")


def country_scores(world: Path) -> pl.DataFrame:
    rounds = _rounds(world).group_by("iso3", "test", "subject", "level", "epoch")
    by_test = rounds.agg(score=pl.col("hlo").mean().round(1), rounds=pl.len().cast(pl.Int64))
    general = pl.read_csv(world / "quality_hlo.csv").filter(pl.col("hlo_hci2020_via") == "lookup")
    overall = general.drop_nulls("hlo_hci2020").select(
        "iso3",
        test=pl.lit("HLO"),
        subject=pl.lit("general"),
        level=pl.lit("any"),
        epoch=pl.lit("late"),
        score=pl.col("hlo_hci2020").round(1),
        rounds=pl.lit(1, dtype=pl.Int64),
    )
    keys = ["iso3", "test", "subject", "level", "epoch"]
    return pl.concat([by_test.select(overall.columns), overall]).sort(keys)


def sex_gaps(world: Path) -> pl.DataFrame:
    gaps = _rounds(world).drop_nulls(["hlo_f", "hlo_m"]).group_by("test", "subject", "level")
    female = gaps.agg(gap=((pl.col("hlo_f") - pl.col("hlo_m")).mean() / 100).round(3), countries=pl.len())
    return female.sort("test", "subject", "level")


def _rounds(world: Path) -> pl.DataFrame:
    table = pl.read_csv(world / "quality_hlo_by_test.csv").filter(pl.col("test").is_in(TESTS))
    return table.with_columns(
        epoch=pl.when(pl.col("year") < 2009).then(pl.lit("early")).otherwise(pl.lit("late"))
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--world", type=Path, default=ROOT.parent / "shared" / "data" / "world")
    parser.add_argument("--write", action="store_true", help="replace the shipped country_scores.csv")
    arguments = parser.parse_args()
    if not arguments.world.is_dir():
        raise SystemExit(f"{arguments.world}: the development data is not here; give --world FOLDER")
    scores, gaps = country_scores(arguments.world), sex_gaps(arguments.world)
    print(scores.group_by("test", "subject", "level", "epoch").agg(countries=pl.len()).sort("test", "subject"))
    print(gaps)
    if arguments.write:
        scores.write_csv(TARGET / "country_scores.csv")
    print(json.dumps({"rows": scores.height, "countries": scores["iso3"].n_unique(), "sex_gaps": gaps.to_dicts()}))


if __name__ == "__main__":
    main()
