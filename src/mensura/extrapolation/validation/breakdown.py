"""Where extrapolation breaks: countries grouped by alignment, and items that behave differently in a group."""

from __future__ import annotations

from math import erfc
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import scipy

from mensura.extrapolation.line.slices import fit_slice
from mensura.extrapolation.validation.cases import countries_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mensura.core.arrays import Floats, Ints
    from mensura.extrapolation.validation.cases import Case

ETS_UNIT = 2.35  # one logit in units of the ETS delta scale
MODERATE, LARGE = 1.0, 1.5  # where the ETS classes B and C begin
FALSE_SHARE = 0.05  # of the items reported, expected to be so by chance
CLUSTERS = 2  # countries that align with the rest, and those that do not


def cluster_countries(cases: Sequence[Case], summary: pl.DataFrame) -> pl.DataFrame:
    """Group countries by how well their items are predicted, by k-means on standardised r and mean absolute error.

    r is the Pearson correlation of predicted and observed rates, as in the published analysis. Columns: group, pearson,
    mae, cluster (1 holds the countries of the higher r), cluster_pearson and cluster_mae (means over the cluster's
    countries); empty with fewer than two countries per cluster. Countries that are all alike are one cluster.
    """
    countries = pl.col("covariate").is_in({case.covariate for case in countries_of(cases)})
    table = summary.filter(countries).select("group", "pearson", "mae").fill_nan(None).drop_nulls()
    if table.height < 2 * CLUSTERS:
        return pl.DataFrame(schema=_CLUSTERED)
    points = table.select("pearson", "mae").to_numpy()
    spread = points.std(axis=0)
    label = k_means((points - points.mean(axis=0)) / np.where(spread > 0, spread, 1.0), CLUSTERS)
    order = sorted(set(label.tolist()), key=lambda k: -float(points[label == k, 0].mean()))
    rank = np.array([order.index(k) + 1 for k in label])
    ranked = table.with_columns(cluster=pl.Series(rank, dtype=pl.Int64))
    means = pl.col("pearson", "mae").mean().over("cluster").name.prefix("cluster_")
    return ranked.with_columns(means).sort("cluster", "mae").select(list(_CLUSTERED))


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


def differential_items(cases: Sequence[Case]) -> pl.DataFrame:
    """Return the items whose difficulty in a group departs from the group's own line (DIF).

    ``difference``: logit by which the item is easier for the group than for the rest, given the group's
    line; ``se`` its sampling error; ``q`` the two-sided p-value after Benjamini and Hochberg over all items and
    groups; ``size`` by the ETS classes on the delta scale (2.35 per logit): A below 1, B below 1.5, C from 1.5 on.
    Only rows with q ≤ 0.05 and size B or C, largest first. Rates give no matching by ability of persons:
    the line, with its slope, stands in for it.
    """
    rows = [row for case in cases for row in _residuals(case)]
    if not rows:
        return pl.DataFrame(schema=_DIF)
    table = pl.DataFrame(rows, schema=_DIF | {"p": pl.Float64}, orient="row").drop("q")
    table = table.with_columns(q=scipy.stats.false_discovery_control(table["p"].to_numpy()))
    found = table.filter((pl.col("q") <= FALSE_SHARE) & (pl.col("size") != "A"))
    return found.sort(pl.col("difference").abs(), descending=True).select(list(_DIF))


_CLUSTERED = {
    "group": pl.String,
    "pearson": pl.Float64,
    "mae": pl.Float64,
    "cluster": pl.Int64,
    "cluster_pearson": pl.Float64,
    "cluster_mae": pl.Float64,
}
_DIF = {
    "item": pl.String,
    "covariate": pl.String,
    "group": pl.String,
    "difference": pl.Float64,
    "se": pl.Float64,
    "q": pl.Float64,
    "size": pl.String,
}


def _residuals(case: Case) -> list[tuple[object, ...]]:
    fit = fit_slice(case.revealed)
    if fit is None:
        return []
    rows: list[tuple[object, ...]] = []
    for item, residual, variance in zip(fit.items, -fit.residuals, fit.noise, strict=True):
        se = float(np.sqrt(variance))
        delta = abs(float(residual)) * ETS_UNIT
        size = "A" if delta < MODERATE else "B" if delta < LARGE else "C"
        p = erfc(abs(float(residual)) / se / 2**0.5)
        rows.append((item, case.covariate, case.group, float(residual), se, 1.0, size, p))
    return rows
