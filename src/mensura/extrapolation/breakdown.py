"""Where extrapolation breaks: countries grouped by alignment, and items that behave differently in a group.

Error against cultural distance: whether countries far from those where tests are written are predicted worse.

Most tests, and most texts that language models read, come from rich English-speaking countries. The distance of a
country counts steps from there: 0 in the six English-speaking countries (USA, Britain, Ireland, Canada, Australia, New
Zealand), 1 in the rest of Europe, 2 elsewhere, and one more per income group below the highest. The steps are
judgement; they order countries and measure nothing about their people.

The paper's language-model figures: errors beside ours where the test is of the same kind, and distances apart.

Its "calibration" tables hold no errors: they compare estimates for the world with the rates of the people tested, and
nobody knows the world's rates. Here they are distances, and stand in a table of their own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import scipy

from mensura.evidence import load
from mensura.extrapolation.cases import countries_of
from mensura.extrapolation.facts import country_of, world_tables
from mensura.extrapolation.slices import fit_slice

if TYPE_CHECKING:
    from mensura.core.arrays import Floats, Ints
    from mensura.extrapolation.cases import Case

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
    table = pl.DataFrame(rows, schema=_DIF, orient="row")
    table = table.with_columns(q=scipy.stats.false_discovery_control(table["q"].to_numpy()))
    departing = table.filter((pl.col("q") <= FALSE_SHARE) & (pl.col("size") != "A"))
    return departing.sort(pl.col("difference").abs(), descending=True)


_NUMBERS = ("pearson", "mae")
_CLUSTERED = {
    "group": pl.String,
    **dict.fromkeys(_NUMBERS, pl.Float64),
    "cluster": pl.Int64,
    **{f"cluster_{name}": pl.Float64 for name in _NUMBERS},
}
_DIF = {
    **dict.fromkeys(("item", "covariate", "group"), pl.String),
    **dict.fromkeys(("difference", "se", "q"), pl.Float64),
    "size": pl.String,
}


def _residuals(case: Case) -> list[tuple[object, ...]]:
    """Return the columns of ``dif`` for every item of a group, with the p-value in place of q."""
    fit = fit_slice(case.revealed)
    if fit is None:
        return []
    difference, se = -fit.residuals, np.sqrt(fit.noise)
    p = scipy.special.erfc(np.abs(difference) / se / 2**0.5)
    size = np.array(["A", "B", "C"])[np.digitize(np.abs(difference) * ETS_UNIT, [MODERATE, LARGE])]
    columns = (difference.tolist(), se.tolist(), p.tolist(), size.tolist())
    return [(item, case.covariate, case.group, *row) for item, *row in zip(fit.items, *columns, strict=True)]


ENGLISH = frozenset({"AUS", "CAN", "GBR", "IRL", "NZL", "USA"})
WESTERN = "Europe"
HIGHEST_INCOME = 3
FEWEST_COUNTRIES = 4
TAIL = 0.95  # of the 90% interval of a slope
DISTANCE_COLUMNS: Mapping[str, Any] = {
    "group": pl.String,
    "distance": pl.Float64,
    **dict.fromkeys(("mae", "bias", "coverage", "mae_identity"), pl.Float64),
}
SLOPE_COLUMNS: Mapping[str, Any] = {
    "measure": pl.String,
    "countries": pl.Int64,
    **dict.fromkeys(("slope", "low", "high"), pl.Float64),
}


def cultural_distance(country: str) -> float | None:
    """Return the steps from the countries where most tests are written, or None for a name that is no country."""
    code = country_of(country)
    if code is None:
        return None
    row = world_tables().countries.filter(pl.col("country") == code).row(0, named=True)
    place = 0 if code in ENGLISH else 1 if row["region"] == WESTERN else 2
    poorer = HIGHEST_INCOME - row["income"] if row["income"] is not None else 0
    return float(place + poorer)


def by_distance(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return group, distance, mae, bias, coverage, mae_identity: each country, predicted from every other one."""
    if pairs.is_empty():
        return pl.DataFrame(schema=DISTANCE_COLUMNS)
    means = pl.col("mae", "bias", "coverage", "mae_identity").mean()
    table = pairs.group_by(group="reference", maintain_order=True).agg(means)
    steps = [cultural_distance(str(name).rpartition("=")[2]) for name in table["group"]]
    table = table.with_columns(distance=pl.Series(steps, dtype=pl.Float64)).drop_nulls("distance")
    if table.height < FEWEST_COUNTRIES:
        return pl.DataFrame(schema=DISTANCE_COLUMNS)
    return table.select(list(DISTANCE_COLUMNS)).sort("distance", "group")


def distance_slopes(countries: pl.DataFrame) -> pl.DataFrame:
    """Return measure, countries, slope, low, high: change of error and bias per step of distance, with a 90% interval.

    Empty where all countries are equally far.
    """
    x = countries["distance"].to_numpy() if countries.height else np.zeros(0)
    if x.size < FEWEST_COUNTRIES or np.ptp(x) == 0:
        return pl.DataFrame(schema=SLOPE_COLUMNS)
    rows = []
    for measure in ("mae", "bias", "mae_identity"):
        fit = scipy.stats.linregress(x, countries[measure].to_numpy())
        reach = float(scipy.stats.t.ppf(TAIL, x.size - 2)) * fit.stderr
        rows.append((measure, x.size, float(fit.slope), float(fit.slope - reach), float(fit.slope + reach)))
    return pl.DataFrame(rows, schema=SLOPE_COLUMNS, orient="row")


COLUMNS = ("method", "origin", "n", "mae", "rmse", "pearson", "spearman", "correlations", "note")
_CALIBRATION = "calibration"
_NOTE = "other items, countries and years than here: orientation, no head-to-head"


def published_errors(validations: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return the published rows whose truth was known: a whole sample's rates, predicted or taken over as they are.

    Parameters
    ----------
    validations
        The table of an evidence; the packaged one when not given.

    Returns
    -------
    polars.DataFrame
        pool, task, method, n, mae, rmse, pearson, spearman, source.

    Examples
    --------
    >>> from mensura.extrapolation import published_errors
    >>> published_errors()["pool"].unique().sort().to_list()
    ['ICAR', 'PISA', 'TIMSS']

    """
    table = load().validations if validations is None else validations
    return table.filter(pl.col("task") != _CALIBRATION)


def published_distances(validations: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return how far the published world estimates lie from the rates of the people tested.

    Parameters
    ----------
    validations
        The table of an evidence; the packaged one when not given.

    Returns
    -------
    polars.DataFrame
        pool, method, n, distance (mean of |world estimate − rate of the people tested|, printed as MAE in the paper),
        rms_distance, pearson, spearman, source.

    Examples
    --------
    >>> from mensura.extrapolation import published_distances
    >>> "distance" in published_distances().columns
    True

    """
    table = load().validations if validations is None else validations
    rows = table.filter(pl.col("task") == _CALIBRATION)
    return rows.drop("task").rename({"mae": "distance", "rmse": "rms_distance"})


def comparison(description: str, ours: Mapping[str, object], method: str, predictions: int) -> pl.DataFrame:
    """Return the paper's validation rows for this assessment and two rows of ours, in the form of its tables.

    Same kind: part-to-whole on ICAR, PISA or TIMSS from the description of the groups. ``ours``: the row of
    all groups of the overall table. The paper's models are scored over all predictions pooled, its baseline as
    a mean over groups; ours is given both ways. Empty where the paper has no such test.
    """
    test = re.search(r"(?<![a-z])(icar|pisa|timss)", description.lower())
    if test is None:
        return pl.DataFrame(schema=dict.fromkeys(COLUMNS, pl.String))
    figures = ("mae", "rmse", "pearson", "spearman")
    theirs = (
        published_errors()
        .filter(pl.col("pool") == test[1].upper())
        .select(
            *("method", pl.lit("paper").alias("origin"), pl.col("n").cast(pl.Float64), *figures),
            correlations=pl.when(pl.col("task") == "baseline").then(pl.lit("within")).otherwise(pl.lit("pooled")),
            note=pl.lit(_NOTE),
        )
    )
    kinds = {"pooled": "errors: mean over groups; correlations: all pairs", "within": "mean over groups"}
    own = [
        (
            method,
            "here",
            float(predictions),
            *(ours.get(name, ours.get(f"{name}_{kind}")) for name in figures),
            kind,
            note,
        )
        for kind, note in kinds.items()
    ]
    return pl.concat([pl.DataFrame(own, schema=theirs.schema, orient="row"), theirs])
