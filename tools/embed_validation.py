"""Rebuild the report's tables of our extrapolation errors: ``python -m tools.embed_validation``.

Only the errors are kept, by priors learned without the pool: one row per open item pool, class of groups and situation,
and one per country of the surveys with a dozen countries or more (correlation, error, cluster).
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from benchmarks.extrapolation_pools import DevelopmentPool, development_pools, priors_without
from benchmarks.extrapolation_situations import by_class, measure_all
from mensura.core.files import write_csv
from mensura.extrapolation import validate

DATA_FOLDER = Path(__file__).parents[1] / "src" / "mensura" / "site" / "data"
SURVEYS = ("pisa2009_12c", "gapminder2017_14c")
SITUATIONS = {
    "described": "descriptions and public facts",
    "linked3": "three linking items",
    "slices": "other groups of the pool",
}
CLASSES = {"country": "countries", "country_x_sex": "countries by sex", "other": "other groups"}
DRAWS = 100  # of linking items


def main() -> None:
    pools = development_pools()
    write_csv(alignment(pools), DATA_FOLDER / "country_alignment.csv")
    measured = by_class(measure_all(pools, DRAWS)[0])
    kept = measured.filter(pl.col("run").is_in(list(SITUATIONS))).with_columns(
        situation=pl.col("run").replace_strict(SITUATIONS)
    )
    rounded = kept.with_columns(pl.col("identity", "mae", "coverage").round(4), pl.col("class").replace(CLASSES))
    write_csv(
        rounded.select("pool", "class", "situation", "identity", "mae", "coverage"),
        DATA_FOLDER / "extrapolation_validation.csv",
    )


def alignment(pools: dict[str, DevelopmentPool]) -> pl.DataFrame:
    """Return how well each country's whole sample is predicted from it, described by public facts alone."""
    parts = []
    for name in SURVEYS:
        found = pools[name]
        priors = priors_without(pools, found.family)
        checked = validate(found.pool, "described", description=found.description, method="described", priors=priors)
        parts.append(checked.clusters.select(pl.lit(name).alias("pool"), pl.all()))
    return pl.concat(parts).with_columns(pl.selectors.float().round(4))


if __name__ == "__main__":
    main()
