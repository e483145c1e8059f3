"""The published tests for an acceleration: a two-piece line through the frontier and a rule on its slopes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, Ints, just_above
from mensura.core.results import Result
from mensura.stitching import to_date, to_years
from mensura.trends.frontier import find_frontier

CANDIDATES = 50
"""Split times of the published rule."""
MARGIN = 0.1
"""A bend is looked for this share of the time span away from both ends."""
FEWEST_BEFORE, FEWEST_AFTER = 2, 3
LEAST_R_SQUARED = 0.6
"""Points on both sides and fit that the published rule asks for."""
SAME = 1e-14
"""Variance of x below which points share one x."""


@dataclass(frozen=True, eq=False, repr=False)
class Break(Result):
    """A continuous two-piece line: where it bends, its slopes per year and how well it fits.

    ``table``: date, before, after, ratio, r_squared.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("table",)

    when: float
    before: float
    after: float
    r_squared: float
    level: float
    """Value at the bend."""

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        return f"two-piece line: {self.before:.3g} a year, from {self.date} on {self.after:.3g} (×{self.ratio:.2f})"

    @property
    def table(self) -> pl.DataFrame:
        """One row: date, before, after, ratio, r_squared."""
        names = ("date", "before", "after", "ratio", "r_squared")
        return pl.DataFrame({name: [getattr(self, name)] for name in names})

    @property
    def date(self) -> date:
        """Day of the bend."""
        return to_date(self.when)

    @property
    def ratio(self) -> float:
        """Slope after the bend over slope before it."""
        return self.after / self.before

    def path(self, released: pl.Series) -> pl.DataFrame:
        """Return the line over the given days, as its ends and its bend: released, value."""
        days = pl.Series("released", [released.min(), self.date, released.max()], dtype=pl.Date)
        years = to_years(days) - self.when
        slopes = np.where(years > 0, self.after, self.before)
        return pl.DataFrame({"released": days, "value": self.level + slopes * years})


def find_break(capabilities: Any = None) -> Break:  # noqa: ANN401
    """Return the best continuous two-piece line through the frontier, bending inside the middle 80% of its time span.

    The published analysis searches for it from 50 starts and calls an acceleration when the ratio is at least 1.5.
    Here the optimum is exact: between two neighbouring points it is either where the two separate lines meet, or at
    one of the points.
    """
    frontier = find_frontier(capabilities)
    return best_break(to_years(frontier["released"]), frontier["capability"].to_numpy())


def best_break(x: Floats, y: Floats) -> Break:
    """Minimise the squares of y about a continuous two-piece line in x (sorted), bending in the middle 80%."""
    span = x[-1] - x[0]
    low, high = x[0] + MARGIN * span, x[-1] - MARGIN * span
    bends = [low, high, *x[(x > low) & (x < high)], *_meetings(x, y, low, high)]
    fits = [_hinge(x, y, bend) for bend in bends]
    return max(fits, key=lambda fit: fit.r_squared)


def _meetings(x: Floats, y: Floats, low: float, high: float) -> list[float]:
    """Where the line through the first points meets the line through the rest, if that is between the two parts."""
    found = []
    for n in range(2, x.size - 1):
        if x[n] == x[n - 1] or np.ptp(x[:n]) == 0 or np.ptp(x[n:]) == 0:
            continue
        left, right = np.polyfit(x[:n] - x[0], y[:n], 1), np.polyfit(x[n:] - x[0], y[n:], 1)
        if left[0] != right[0]:
            meeting = x[0] + (left[1] - right[1]) / (right[0] - left[0])
            if max(x[n - 1], low) <= meeting <= min(x[n], high):
                found.append(float(meeting))
    return found


def _hinge(x: Floats, y: Floats, bend: float) -> Break:
    """Least squares with a given bend."""
    design = np.column_stack([np.ones_like(x), x - bend, np.maximum(x - bend, 0)])
    solution = np.linalg.lstsq(design, y, rcond=None)[0]
    squares = np.sum((y - design @ solution) ** 2)
    total = np.sum((y - y.mean()) ** 2)
    r_squared = 1 - float(squares / total) if total > just_above(0.0) else 1.0
    return Break(float(bend), float(solution[1]), float(solution[1] + solution[2]), r_squared, float(solution[0]))


def rosetta_ratio(years: Floats, capabilities: Floats, start: float) -> float:
    """Return the largest slope ratio the published rule of the synthetic study sees at one look; −∞ if none qualifies.

    The running maximum is split at 50 times from ``start`` to the last release. Each side has its own line, the right
    one moved so that they meet at the split; a split counts with a positive slope before it, at least 3 points after
    it and R² of at least 0.6. The rule fires when the ratio is 2 or more.
    """
    x, y = years - start, np.maximum.accumulate(capabilities)
    if x[-1] <= 0:
        return float("-inf")
    n, total_squares = x.size, float(np.sum((y - y.mean()) ** 2))
    splits = np.linspace(0, x[-1], CANDIDATES)
    left = np.searchsorted(x, splits, side="right")
    allowed = (left >= FEWEST_BEFORE) & (n - left >= FEWEST_AFTER)
    if not allowed.any() or total_squares <= just_above(0.0):
        return float("-inf")
    splits, left = splits[allowed], left[allowed]
    slope, intercept = _prefix_lines(x, y, left)
    reverse_slope, _ = _prefix_lines(x[::-1], y[::-1], n - left)
    before = np.where(x <= splits[:, None], x, splits[:, None])
    fitted = intercept[:, None] + slope[:, None] * before + reverse_slope[:, None] * np.maximum(x - splits[:, None], 0)
    r_squared = 1 - np.sum((y - fitted) ** 2, axis=1) / total_squares
    counted = (slope > 0) & (r_squared >= LEAST_R_SQUARED)
    return float(np.max(reverse_slope[counted] / slope[counted], initial=float("-inf")))


def _prefix_lines(x: Floats, y: Floats, counts: Ints) -> tuple[Floats, Floats]:
    """Slope and intercept of the line through the first ``counts`` points, for several counts at once."""
    k = counts - 1
    mean_x, mean_y = np.cumsum(x)[k] / counts, np.cumsum(y)[k] / counts
    xx, xy = np.cumsum(x * x)[k] / counts - mean_x**2, np.cumsum(x * y)[k] / counts - mean_x * mean_y
    slope = np.divide(xy, xx, out=np.zeros_like(xx), where=xx > SAME)
    return slope, mean_y - slope * mean_x
