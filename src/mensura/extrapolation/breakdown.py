"""Where extrapolation breaks: items that behave differently in a group, and countries that are far.

Error against cultural distance: whether countries far from those where tests are written are predicted worse.

Most tests, and most texts that language models read, come from rich English-speaking countries. The distance of a
country counts steps from there: 0 in the six English-speaking countries (USA, Britain, Ireland, Canada, Australia, New
Zealand), 1 in the rest of Europe, 2 elsewhere, and one more per income group below the highest. The steps are
judgement; they order countries and measure nothing about their people.

The paper's language-model figures: errors, and distances apart.

Its "calibration" tables hold no errors: they compare estimates for the world with the rates of the people tested, and
nobody knows the world's rates. Here they are distances, and stand in a table of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import scipy

from mensura.core.frames import sort_highest
from mensura.evidence import load
from mensura.extrapolation.facts import country_of, world_tables
from mensura.extrapolation.slices import fit_slice

if TYPE_CHECKING:
    from mensura.extrapolation.cases import Case

ETS_UNIT = 2.35  # one logit in units of the ETS delta scale
MODERATE, LARGE = 1.0, 1.5  # where the ETS classes B and C begin
FALSE_SHARE = 0.05  # of the items reported, expected to be so by chance


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
    return sort_highest(departing, pl.col("difference").abs(), "item", "covariate", "group")


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


_CALIBRATION = "calibration"


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
    return (load().validations if validations is None else validations).filter(pl.col("task") != _CALIBRATION)


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
    distances = table.filter(pl.col("task") == _CALIBRATION).drop("task")
    return distances.rename({"mae": "distance", "rmse": "rms_distance"})
