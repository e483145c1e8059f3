"""Which assumption a result hangs on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy.special import ndtri

if TYPE_CHECKING:
    from mensura.extrapolation.assumptions import Draws, Floats

SMALLEST = 1e-9


def sensitivity_table(
    assumptions: pl.DataFrame, draws: Draws, drawn: Floats, ends: Floats, random: dict[str, Floats], rate: Floats
) -> pl.DataFrame:
    """Return one row per source of uncertainty, the largest first.

    ``rate_low`` and ``rate_high``: the mean rate over items with this assumption at its low and high end and the
    others as stated (``ends``, two columns per assumption); ``swing`` their distance. ``share``: how much of the
    variance of an item's probit rate over the ``drawn`` samples goes along with this source, the squared
    correlation averaged over items; shares sum to about 1. ``random``: items × draws sources of their own.
    """
    probit = ndtri(np.clip(drawn, SMALLEST, 1 - SMALLEST))
    centred = probit - probit.mean(axis=1, keepdims=True)
    total = np.maximum((centred**2).sum(axis=1), SMALLEST)
    rows = []
    for index, (name, value, low, high) in enumerate(
        assumptions.select("assumption", "value", "low", "high").iter_rows()
    ):
        source = random.pop(name) if name in random else draws[name][None, :]
        low_rate, high_rate = ends[:, 2 * index].mean(), ends[:, 2 * index + 1].mean()
        rows.append((name, value, low, high, low_rate, high_rate, _share(centred, total, source)))
    for name, source in random.items():
        rows.append((name, None, None, None, None, None, _share(centred, total, source)))
    columns = ["assumption", "value", "low", "high", "rate_low", "rate_high", "share"]
    table = pl.DataFrame(rows, schema=columns, orient="row", infer_schema_length=None)
    swing = (pl.col("rate_high") - pl.col("rate_low")).abs()
    return table.with_columns(swing=swing).select(*columns[:6], "swing", "share").sort("share", descending=True)


def _share(centred: Floats, total: Floats, source: Floats) -> float:
    apart = source - source.mean(axis=1, keepdims=True)
    spread = (apart**2).sum(axis=1)
    if not spread.any():
        return 0.0
    along = (centred * apart).sum(axis=1) ** 2
    return float(np.mean(along / (total * np.maximum(spread, SMALLEST**2))))
