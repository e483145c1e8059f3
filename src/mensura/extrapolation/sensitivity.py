"""Which assumption a result hangs on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy.special import ndtri

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mensura.extrapolation.assumptions import Floats

SMALLEST = 1e-9


@dataclass(frozen=True)
class Source:
    """A source of uncertainty.

    Its draws (one row for all items, or one per item), the mean rate with it at its low and its high end, and
    its row of the assumptions table.
    """

    name: str
    draws: Floats
    rate_low: float
    rate_high: float
    row: Mapping[str, Any]


def sensitivity_table(sources: Sequence[Source], drawn: Floats) -> pl.DataFrame:
    """Return one row per source of uncertainty, the largest first.

    ``rate_low`` and ``rate_high``: the mean rate over items with this assumption at its low and high end
    and the others as stated (for the item-by-country departure and the sampling error, at the ends of the
    interval); ``swing`` is their distance. ``share``: how much of the variance of an item's probit rate
    over the ``drawn`` items × draws goes along with this source: the squared correlation less what chance
    gives, averaged over items. Shares sum to 1, but for interactions and noise of the draws.
    """
    probit = ndtri(np.clip(drawn, SMALLEST, 1 - SMALLEST))
    centred = probit - probit.mean(axis=1, keepdims=True)
    rows = [
        {
            "assumption": source.name,
            "value": source.row.get("value"),
            "low": source.row.get("low"),
            "high": source.row.get("high"),
            "rate_low": source.rate_low,
            "rate_high": source.rate_high,
            "swing": abs(source.rate_high - source.rate_low),
            "share": _share(centred, source.draws),
        }
        for source in sources
    ]
    table = pl.DataFrame(rows, schema_overrides=dict.fromkeys(("value", "low", "high"), pl.Float64))
    return table.sort("share", "swing", descending=True)


def _share(centred: Floats, draws: Floats) -> float:
    apart = draws - draws.mean(axis=1, keepdims=True)
    spread = (apart**2).sum(axis=1) * (centred**2).sum(axis=1)
    live = spread > 0
    if not live.any():
        return 0.0
    squared = (centred * apart).sum(axis=1)[live] ** 2 / np.broadcast_to(spread, centred.shape[:1])[live]
    return float(np.mean(np.maximum(squared - (1 - squared) / (centred.shape[1] - 1), 0)))
