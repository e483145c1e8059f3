"""Rebuild the report's tables of our extrapolation errors: ``python -m tools.embed_validation``.

Only the errors are kept, by priors learned without the pool: one row per open item pool, class of groups and situation,
and one per country of the surveys with a dozen countries or more (correlation, error, cluster).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import scipy

from benchmarks.extrapolation_pools import DevelopmentPool, development_pools, priors_without
from benchmarks.extrapolation_situations import by_class, measure_all
from mensura.core.arrays import Floats, Ints
from mensura.core.files import write_csv
from mensura.extrapolation import Case, cases_of, validate
from mensura.extrapolation.cases import countries_of

DATA_FOLDER = Path(__file__).parents[1] / "src" / "mensura" / "site" / "data"
SURVEYS = ("pisa2009_12c", "gapminder2017_14c")
SITUATIONS = {
    "described": "descriptions and public facts",
    "linked3": "three linking items",
    "slices": "other groups of the pool",
}
CLASSES = {"country": "countries", "country_x_sex": "countries by sex", "other": "other groups"}
DRAWS = 100  # of linking items
CLUSTERS = 2  # countries that align with the rest, and those that do not
CLUSTERED = {
    "group": pl.String,
    **dict.fromkeys(("pearson", "mae"), pl.Float64),
    "cluster": pl.Int64,
    **dict.fromkeys(("cluster_pearson", "cluster_mae"), pl.Float64),
}


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
        clusters = cluster_countries(cases_of(found.pool, found.description), checked.summary)
        parts.append(clusters.select(pl.lit(name).alias("pool"), pl.all()))
    return pl.concat(parts).with_columns(pl.selectors.float().round(4))


def cluster_countries(cases: Sequence[Case], summary: pl.DataFrame) -> pl.DataFrame:
    """Group countries by how well their items are predicted, by k-means on standardised r and mean absolute error.

    r is the Pearson correlation of predicted and observed rates, as in the published analysis. Columns: group, pearson,
    mae, cluster (1 holds the countries of the higher r), cluster_pearson and cluster_mae (means over the cluster's
    countries); empty with fewer than two countries per cluster. Countries that are all alike are one cluster.
    """
    countries = pl.col("covariate").is_in({case.covariate for case in countries_of(cases)})
    table = summary.filter(countries).select("group", "pearson", "mae").fill_nan(None).drop_nulls()
    if table.height < 2 * CLUSTERS:
        return pl.DataFrame(schema=CLUSTERED)
    points = table.select("pearson", "mae").to_numpy()
    spread = points.std(axis=0)
    label = k_means((points - points.mean(axis=0)) / np.where(spread > 0, spread, 1.0), CLUSTERS)
    order = sorted(set(label.tolist()), key=lambda k: -float(points[label == k, 0].mean()))
    rank = np.array([order.index(k) + 1 for k in label])
    ranked = table.with_columns(cluster=pl.Series(rank, dtype=pl.Int64))
    means = pl.col("pearson", "mae").mean().over("cluster").name.prefix("cluster_")
    return ranked.with_columns(means).sort("cluster", "mae").select(list(CLUSTERED))


def k_means(points: Floats, clusters: int) -> Ints:
    """Return the cluster of each point: Lloyd's algorithm from every choice of first centres along a line.

    Starts are the points spread evenly along each axis, so the result does not depend on chance; the start
    with the smallest sum of squares wins.
    """
    best, smallest = np.zeros(len(points), dtype=np.int64), np.inf
    for axis in range(points.shape[1]):
        order = np.argsort(points[:, axis], kind="stable")
        centres = points[order[np.linspace(0, len(points) - 1, clusters).astype(int)]]
        settled, _ = scipy.cluster.vq.kmeans(points, centres, thresh=0.0)
        label, distance = scipy.cluster.vq.vq(points, settled)
        total = float(distance @ distance)
        if total < smallest - 1e-12:
            best, smallest = label.astype(np.int64), total
    return best


if __name__ == "__main__":
    main()
