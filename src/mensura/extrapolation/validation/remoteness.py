"""Error against cultural distance: whether countries far from those where tests are written are predicted worse.

Most tests, and most texts that language models read, come from rich English-speaking countries. The distance of a
country counts steps from there: 0 in the six English-speaking countries (USA, Britain, Ireland, Canada, Australia, New
Zealand), 1 in the rest of Europe, 2 elsewhere, and one more per income group below the highest. The steps are
judgement; they order countries and measure nothing about their people.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
import scipy

from mensura.extrapolation.line.facts import country_of, world_tables

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
    names = pairs["reference"].unique(maintain_order=True).to_list()
    steps = {name: cultural_distance(str(name).rpartition("=")[2]) for name in names}
    known = {name: value for name, value in steps.items() if value is not None}
    if len(known) < FEWEST_COUNTRIES:
        return pl.DataFrame(schema=DISTANCE_COLUMNS)
    means = pl.col("mae", "bias", "coverage", "mae_identity").mean()
    table = pairs.group_by(group="reference", maintain_order=True).agg(means).filter(pl.col("group").is_in(list(known)))
    return (
        table.with_columns(distance=pl.col("group").replace_strict(known, return_dtype=pl.Float64))
        .select(list(DISTANCE_COLUMNS))
        .sort("distance", "group")
    )


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
