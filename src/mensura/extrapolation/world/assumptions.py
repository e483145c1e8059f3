"""Values of the assumptions: at their stated value, drawn from their ranges, or one at a time at the ends.

The range of an assumption is read as a triangular distribution from ``low`` to ``high`` with its peak at
``value``. Ranges are judgement where the table's ``basis`` says so: intervals made from them are assumption
ranges, not sampling errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mensura.core.arrays import Floats

if TYPE_CHECKING:
    import polars as pl

AssumptionDraws = dict[str, Floats]


def central(assumptions: pl.DataFrame) -> AssumptionDraws:
    """Return one draw: every assumption at its stated value."""
    return {row["assumption"]: np.array([row["value"]]) for row in assumptions.iter_rows(named=True)}


def sample(assumptions: pl.DataFrame, count: int, rng: np.random.Generator) -> AssumptionDraws:
    """Return ``count`` draws of every assumption, independent of each other."""
    draws: AssumptionDraws = {}
    for name, peak, low, high in assumptions.select("assumption", "value", "low", "high").iter_rows():
        draws[name] = triangular(stratified(rng, (count,)), low, peak, high)
    return draws


def stratified(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Return uniform draws with one in each n-th part of (0, 1) along the last axis (a Latin hypercube).

    Quantiles of what is made from them settle with far fewer draws than those of independent ones.
    """
    place = rng.permuted(np.broadcast_to(np.arange(shape[-1], dtype=float), shape), axis=-1)
    return (place + rng.random(shape)) / shape[-1]


def triangular(share: Floats, low: float, peak: float, high: float) -> Floats:
    """Return the quantiles of a triangular distribution at the given shares."""
    if high <= low:
        return np.full(share.shape, float(peak))
    rising = low + np.sqrt(share * (high - low) * (peak - low))
    falling = high - np.sqrt((1 - share) * (high - low) * (high - peak))
    return np.where(share < (peak - low) / (high - low), rising, falling)


def one_at_a_time(assumptions: pl.DataFrame) -> AssumptionDraws:
    """Return two draws per assumption, in order: it at its low, then its high end, the rest as stated."""
    count = 2 * assumptions.height
    draws: AssumptionDraws = {}
    for index, (name, value, low, high) in enumerate(
        assumptions.select("assumption", "value", "low", "high").iter_rows()
    ):
        draws[name] = np.full(count, float(value))
        draws[name][2 * index : 2 * index + 2] = (low, high)
    return draws


def part(draws: AssumptionDraws, rows: slice) -> AssumptionDraws:
    """Return some of the draws."""
    return {name: values[rows] for name, values in draws.items()}


def number_of(draws: AssumptionDraws) -> int:
    """Return how many draws there are."""
    return len(next(iter(draws.values())))
