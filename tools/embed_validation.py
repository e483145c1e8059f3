"""Rebuild the report's table of our extrapolation errors: ``python -m tools.embed_validation [HUMAN_DATA]``.

Only the errors are kept, one row per open item pool, class of groups and situation.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

from benchmarks.extrapolation_situations import DEFAULT, measure
from mensura.files import write_csv
from mensura.people import ItemPool

TARGET = Path(__file__).parents[1] / "src" / "mensura" / "site" / "data" / "extrapolation_validation.csv"
SITUATIONS = {
    "described": "descriptions and public facts",
    "linked3": "three linking items",
    "slices": "other groups of the pool",
}
CLASSES = {"country": "countries", "country_x_sex": "countries by sex", "other": "other groups"}


def main() -> None:
    human = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT
    folders = sorted(folder for folder in human.iterdir() if (folder / "group_rates.csv").is_file())
    measured = pl.concat([measure(folder, ItemPool.read(folder), None) for folder in folders])
    kept = measured.filter(pl.col("run").is_in(list(SITUATIONS))).with_columns(
        situation=pl.col("run").replace_strict(SITUATIONS)
    )
    rounded = kept.with_columns(pl.col("identity", "mae", "coverage").round(4), pl.col("class").replace(CLASSES))
    write_csv(rounded.select("pool", "class", "situation", "identity", "mae", "coverage"), TARGET)


if __name__ == "__main__":
    main()
