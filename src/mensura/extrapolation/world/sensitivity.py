"""Which assumption a result hangs on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import polars as pl
import scipy

from mensura.core.arrays import Floats

SMALLEST = 1e-9  # distance from 0 and 1 at which rates are read as probits

ROUNDING = 1e-16  # variance of a probit rate below which only arithmetic moved it


@dataclass(frozen=True)
class Source:
    """A source of uncertainty: the items' rates with it at its low and high end, all else as stated.

    ``sd`` is its standard deviation as a share of the distance between the ends; ``row`` its row of the
    assumptions table, where it has one.
    """

    name: str
    low: Floats
    high: Floats
    sd: float
    row: Mapping[str, Any]


def triangular_sd(low: float, peak: float, high: float) -> float:
    """Return the standard deviation of a triangular distribution as a share of its range, 0 without a range."""
    if high <= low:
        return 0.0
    place = (peak - low) / (high - low)
    return sqrt((1 - place + place**2) / 18)


def sensitivity_table(sources: Sequence[Source]) -> pl.DataFrame:
    """Return one row per source of uncertainty that has an effect, the largest first.

    ``rate_low``, ``rate_high``: the mean rate over items with the source at its low and high end; ``swing``:
    their distance. ``share``: its part of the variance of an item's probit rate, to first order, mean over items;
    the shares sum to 1.
    """
    probit = np.array(
        [scipy.special.ndtri(np.clip([source.low, source.high], SMALLEST, 1 - SMALLEST)) for source in sources]
    )
    variance = ((probit[:, 1] - probit[:, 0]) * np.array([[source.sd] for source in sources])) ** 2
    variance[variance < ROUNDING] = 0
    share = (variance / np.maximum(variance.sum(axis=0), ROUNDING)).mean(axis=1)
    rows = [
        {
            "assumption": source.name,
            "value": source.row.get("value"),
            "low": source.row.get("low"),
            "high": source.row.get("high"),
            "rate_low": source.low.mean(),
            "rate_high": source.high.mean(),
            "swing": abs(source.high.mean() - source.low.mean()),
            "share": part,
        }
        for source, part in zip(sources, share.tolist(), strict=True)
    ]
    table = pl.DataFrame(rows, schema_overrides=dict.fromkeys(("value", "low", "high"), pl.Float64))
    return table.filter(pl.col("share") > 0).sort("share", descending=True)
