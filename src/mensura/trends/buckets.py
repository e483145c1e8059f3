"""Compute at fixed capability: the running minimum of compute within ranges of capability."""

from __future__ import annotations

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, just_below
from mensura.trends.frontier import is_record
from mensura.trends.lines import fit_line

WIDTH, STRIDE = 0.3, 0.1
"""Width of a range of capability, and the distance of one from the next, as published."""
RECORDS, SPAN = 3, 0.25
"""Records a range must have, and the years they must span."""


def bucket_table(years: Floats, capability: Floats, decades: Floats) -> pl.DataFrame:
    """Return ``from``, ``to``, ``n``, ``records``, ``years``, ``decades_saved`` for every range with enough records.

    ``decades`` is log10 of compute. Ranges are 0.3 wide and start at every multiple of 0.1. Within one, a record took
    no more compute than any subject before it or on its day; decades saved per year is minus the slope of their line.
    At least 3 records over a quarter of a year are asked for. Ranges overlap, so rows are not independent.
    """
    rows = []
    first, last = np.floor(capability.min() / STRIDE), np.floor(capability.max() / STRIDE)
    for step in np.arange(first, last + 1):
        low = step * STRIDE
        inside = (capability >= just_below(low)) & (capability < just_below(low + WIDTH))
        records = np.zeros_like(inside)
        records[inside] = is_record(years[inside], -decades[inside])
        if np.count_nonzero(records) < RECORDS or np.ptp(years[records]) < SPAN:
            continue
        line = fit_line(years[records], decades[records])
        rows.append(
            {
                "from": round(low, 6),
                "to": round(low + WIDTH, 6),
                "n": int(np.count_nonzero(inside)),
                "records": line.n,
                "years": float(np.ptp(years[records])),
                "decades_saved": -line.slope,
            }
        )
    schema = {"from": pl.Float64, "to": pl.Float64, "n": pl.Int64, "records": pl.Int64}
    return pl.DataFrame(rows, schema={**schema, "years": pl.Float64, "decades_saved": pl.Float64})
