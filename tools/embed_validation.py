"""Rebuild the report's table of our extrapolation errors: ``python -m tools.embed_validation [SHARED_DATA]``.

Only the errors are kept, one row per open item pool, class of groups and situation, by priors learned without the pool.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

from benchmarks.extrapolation_pools import DATA, development_pools
from benchmarks.extrapolation_situations import by_class, measure_all
from mensura.files import write_csv

TARGET = Path(__file__).parents[1] / "src" / "mensura" / "site" / "data" / "extrapolation_validation.csv"
SITUATIONS = {
    "described": "descriptions and public facts",
    "linked3": "three linking items",
    "slices": "other groups of the pool",
}
CLASSES = {"country": "countries", "country_x_sex": "countries by sex", "other": "other groups"}
DRAWS = 100  # of linking items


def main() -> None:
    pools = development_pools(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA)
    measured = by_class(measure_all(pools, DRAWS)[0])
    kept = measured.filter(pl.col("run").is_in(list(SITUATIONS))).with_columns(
        situation=pl.col("run").replace_strict(SITUATIONS)
    )
    rounded = kept.with_columns(pl.col("identity", "mae", "coverage").round(4), pl.col("class").replace(CLASSES))
    write_csv(rounded.select("pool", "class", "situation", "identity", "mae", "coverage"), TARGET)


if __name__ == "__main__":
    main()
