"""What moves a rate between two populations: each driver's share of the way, whatever the order."""

from __future__ import annotations

from itertools import combinations
from math import factorial
from typing import TYPE_CHECKING

import polars as pl

from mensura.extrapolation.world.ability import DRIVERS
from mensura.extrapolation.world.assumptions import central

if TYPE_CHECKING:
    from mensura.extrapolation.world.transfer import Transfer

NEGLIGIBLE = 1e-6  # change of a rate that is no row of its own


def driver_table(transfer: Transfer) -> pl.DataFrame:
    """Return driver, change (of the mean rate over items, at the stated assumptions) and meaning.

    With every driver off, each person of the reference population is like a member of the focal group. A
    driver's change is its Shapley value: the mean, over all orders of switching the drivers on, of how far
    the rate moves with it. The changes add up to the whole way; a last row ``shape`` holds what a focal
    group that is itself a mixture loses when described by its mean and spread alone. Between the same people nothing
    moves, and the table is empty.
    """
    columns = {"driver": pl.String, "change": pl.Float64, "meaning": pl.String}
    if transfer.same_people:
        return pl.DataFrame(schema=columns)
    names = list(DRIVERS)
    stated = transfer.stated(central(transfer.assumptions))
    everything = frozenset(names)
    rate = {
        on: float(transfer.rates(stated, off=everything - on).mean())
        for size in range(len(names) + 1)
        for on in map(frozenset, combinations(names, size))
    }
    rows = [(name, _shapley(name, names, rate), DRIVERS[name]) for name in names]
    observed = float(transfer.observed.rate.mean())
    shape = rate[frozenset()] - observed
    if abs(shape) > NEGLIGIBLE:
        rows.append(("shape", shape, "the focal group described by its mean and spread alone"))
    return pl.DataFrame(rows, schema=columns, orient="row")


def _shapley(name: str, names: list[str], rate: dict[frozenset[str], float]) -> float:
    others = [other for other in names if other != name]
    total = 0.0
    for size in range(len(others) + 1):
        weight = factorial(size) * factorial(len(others) - size) / factorial(len(names))
        for before in map(frozenset, combinations(others, size)):
            total += weight * (rate[before | {name}] - rate[before])
    return total
