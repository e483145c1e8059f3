"""How many people and items would halve the interval of a baseline, and what a panel would cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mensura.baseline.pooling import Z90
from mensura.core.errors import MensuraError

if TYPE_CHECKING:
    from mensura.baseline.estimator import PoolEstimate

ITEMS = (5, 10, 20, 40, 80)
PEOPLE = (10, 20, 50, 100, 200)


@dataclass(frozen=True)
class PanelCost:
    """What a panel costs: US dollars per hour and person, seconds per answer."""

    hourly: float = 12.0
    seconds: float = 45.0

    def __post_init__(self) -> None:
        if self.hourly < 0 or self.seconds <= 0:
            raise MensuraError(
                f"pay={self.hourly:g}, seconds={self.seconds:g}: expected pay of 0 or more and seconds above 0"
            )


def plan_panel(estimate: PoolEstimate, ability_sd: float, cost: PanelCost) -> pl.DataFrame:
    """Return per size of panel the width of the mean's 90% interval, whether it is halved, and the cost.

    Every person answers the same items, spread over the range of difficulty. The people differ (``ability_sd`` in
    logits), so that more items do not replace more people.
    """
    slope = estimate.rate * (1 - estimate.rate) / estimate.rate.size
    before = _width(estimate, slope)
    rows = []
    for items in [size for size in ITEMS if size <= estimate.rate.size] or [estimate.rate.size]:
        at = _spread_out(estimate, items)
        for people in PEOPLE:
            rate = np.clip(estimate.rate[at], 0.02, 0.98)
            after = estimate.anchored(at, estimate.centre[at], 1 / (people * rate * (1 - rate)))
            shared = (ability_sd * slope.sum()) ** 2 / people
            width = _width(after, slope, shared)
            hours = people * items * cost.seconds / 3600
            rows.append((items, people, items * people, before, width, width <= before / 2, hours, hours * cost.hourly))
    columns = ["items", "people", "answers", "width_now", "width", "halved", "hours", "cost"]
    return pl.DataFrame(rows, schema=columns, orient="row").sort("cost", "width")


def _spread_out(estimate: PoolEstimate, count: int) -> np.ndarray:
    order = np.argsort(estimate.centre)
    return np.unique(order[np.linspace(0, order.size - 1, count).round().astype(int)])


def _width(estimate: PoolEstimate, slope: np.ndarray, more: float = 0.0) -> float:
    row = slope @ estimate.columns
    variance = row @ estimate.covariance @ row + slope**2 @ estimate.own_variance + more
    return float(2 * Z90 * np.sqrt(variance))
