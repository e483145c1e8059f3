"""People on the same curve: how often professionals solved tasks of each length."""

from __future__ import annotations

import numpy as np
import polars as pl

from mensura.horizon.metr import exact_minutes
from mensura.horizon.reading import ALL, HorizonData
from mensura.scale import rate_interval

FEWEST = 20
"""Attempts of one length that a rate of people needs."""
EDGES = (1.0, 4.0, 15.0, 60.0, 240.0)
"""Minutes between the lengths: under a minute, one to four, to fifteen, to an hour, to four hours, longer."""
PEOPLE = "people"


def people_curve(data: HorizonData, persons: list[str]) -> pl.DataFrame:
    """Return subject, suite, minutes, rate, low, high, n of people by length; rates only of 20 attempts or more.

    The length of an attempt is its task's best time; a task without one has the minutes of the attempt.
    """
    attempts = data.attempts.select(
        "suite", "task", "minutes", score=pl.col("solved").cast(pl.Float64), trials=pl.lit(1.0)
    )
    runs = data.runs.filter(pl.col("subject").is_in(persons)).select(
        "suite", "task", pl.lit(None, pl.Float64).alias("minutes"), "score", "trials"
    )
    table = pl.concat([attempts, runs]).join(exact_minutes(data.times), on=["suite", "task"], how="left")
    table = table.with_columns(x=pl.coalesce("x", pl.col("minutes").log(2))).drop_nulls("x")
    bins = np.digitize(np.exp2(table["x"].to_numpy()), EDGES)
    rows = []
    for place in range(len(EDGES) + 1):
        part = table.filter(pl.Series(bins == place))
        tried = float(part["trials"].sum())
        right = float((part["score"] * part["trials"]).sum())
        ends = np.r_[EDGES[0] / 4, EDGES, EDGES[-1] * 4]
        rate, low, high = None, None, None
        if tried >= FEWEST:
            rate = right / tried
            low, high = (float(end) for end in rate_interval(right, tried))
        if tried:
            rows.append((PEOPLE, ALL, float(np.sqrt(ends[place] * ends[place + 1])), rate, low, high, int(tried)))
    return pl.DataFrame(rows, schema=CURVE, orient="row")


CURVE = {
    "subject": pl.String,
    "suite": pl.String,
    "minutes": pl.Float64,
    "rate": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
}
"""Columns of curves."""
