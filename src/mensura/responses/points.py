"""The tables behind the pictures of a fit."""

from __future__ import annotations

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.responses.bank import ItemBank
from mensura.responses.result import ResponseFit
from mensura.scale import Z90, rate_interval

BIN = 0.5
"""Width of the ranges of ability that observed rates are taken over, in standard deviations of the first group."""
LEAST_OBSERVED = 2.0
"""Answers in a range below which its rate is not reported."""
MOST_MARKS = 150
"""Items, and subjects of a group, on an item map. Of more, those at equal steps by position are drawn."""
MOST_INTERVALS = 60
"""Marks of a strip of the map up to which each has its interval: of more they would hide one another."""
_NODES = np.linspace(-4.0, 4.0, 81)
_FAR = 6.0
"""Difficulties beyond this are off any map: an item nobody (or everybody) answers right."""


def observed_rates(nodes: Floats, right: Floats, taken: Floats, items: pl.Series) -> pl.DataFrame:
    """Return item, ability, rate, low, high (90%), n: shares right, or of the highest score, over ranges of ability.

    Subjects count in each range with the posterior chance of being there. ``nodes``: in standard deviations of the
    first group; ``right`` and ``taken``: expected there, items × nodes.
    """
    place = np.round(nodes / BIN).astype(int)
    bins = np.unique(place)
    within = (place[:, None] == bins).astype(float)
    taken = np.maximum(np.broadcast_to(taken, right.shape), 0.0) @ within
    right = np.clip(right @ within, 0.0, taken)
    at, where = np.nonzero(taken >= LEAST_OBSERVED)
    n, k = taken[at, where], right[at, where]
    low, high = rate_interval(k, n)
    columns = {"ability": bins[where] * BIN, "rate": k / n, "low": low, "high": high, "n": n}
    return pl.DataFrame({"item": items.gather(at.astype(np.uint32)), **columns})


def map_points(fit: ResponseFit) -> pl.DataFrame:
    """Return name, kind, value, low, high: items by difficulty, subjects of every group by ability."""
    value, reach = fit.bank.parameters.difficulty, Z90 * fit.bank.errors[:, 1]
    items = pl.DataFrame({"name": fit.bank.items, "value": value, "low": value - reach, "high": value + reach})
    items = items.filter(pl.col("value").abs() <= _FAR)
    items = items.select("name", pl.lit("items").alias("kind"), "value", "low", "high")
    subjects = fit.subjects.select(name="subject", kind="group", value="ability", low="low", high="high")
    kinds = [items, *subjects.partition_by("kind", maintain_order=True)]
    return pl.concat([_some(kind.sort("value")) for kind in kinds])


def _some(rows: pl.DataFrame) -> pl.DataFrame:
    if rows.height > MOST_INTERVALS:
        rows = rows.with_columns(low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64))
    if rows.height <= MOST_MARKS:
        return rows
    return rows[np.round(np.linspace(0, rows.height - 1, MOST_MARKS)).astype(int)]


def information_points(bank: ItemBank) -> pl.DataFrame:
    """Return ability, information of all items together, error (half-width of a 90% interval from them alone)."""
    nodes = _NODES[::2]
    total = bank.information(nodes).sum(axis=0)
    return pl.DataFrame({"ability": nodes, "information": total, "error": Z90 / np.sqrt(np.maximum(total, 1e-9))})


def curve_points(bank: ItemBank, item: str) -> pl.DataFrame:
    """Return ability and rate along the curve of an item."""
    if item not in bank.items:
        raise MensuraError(
            f"item: got {item!r}; expected {bank.items[0]!r} or one of {len(bank.items) - 1} others (see items.csv)"
        )
    return pl.DataFrame({"ability": _NODES, "rate": bank.only([bank.items.index(item)]).chances(_NODES)[0]})


def difference_points(dif: pl.DataFrame, group: str) -> pl.DataFrame:
    """Return item, difference, low, high, flagged of one group beside the first."""
    reach = Z90 * pl.col("se")
    return dif.filter(pl.col("group") == group).select(
        "item", "difference", "flagged", low=pl.col("difference") - reach, high=pl.col("difference") + reach
    )
