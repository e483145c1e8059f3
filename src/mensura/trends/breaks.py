"""The published break of the frontier: a continuous two-piece line."""

from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, just_above
from mensura.core.results import Result
from mensura.stitching import to_date, to_years
from mensura.trends.lines import find_frontier

MARGIN = 0.1
"""A bend is looked for this share of the time span away from both ends."""


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


def find_break(capabilities: Any = None) -> Break:
    """Find the best continuous two-piece line through the frontier.

    Parameters
    ----------
    capabilities : fit, Evidence, table or None
        A fit, evidence (None: the embedded one), a table of scores, or one with subject, released, capability.

    Returns
    -------
    Break
        Where the line bends, inside the middle 80% of the time span, and its slopes. The published analysis calls an
        acceleration if their ratio is at least 1.5.

    Examples
    --------
    >>> from datetime import date
    >>> days = [date(2024 + month // 12, month % 12 + 1, 1) for month in range(24)]
    >>> models = {"subject": [f"m{at}" for at in range(24)], "released": days}
    >>> models |= {"capability": [at / 12 for at in range(24)]}
    >>> from mensura.trends import find_break
    >>> round(find_break(models).ratio, 1)
    1.0

    """
    frontier = find_frontier(capabilities)
    return best_break(to_years(frontier["released"]), frontier["capability"].to_numpy())


def best_break(x: Floats, y: Floats) -> Break:
    """Minimise the squares of y about a continuous two-piece line in x (sorted), bending in the middle 80%."""
    span = x[-1] - x[0]
    low, high = x[0] + MARGIN * span, x[-1] - MARGIN * span
    bends = [low, high, *x[(x > low) & (x < high)], *_meetings(x, y, low, high)]
    return max([_hinge(x, y, bend) for bend in bends], key=lambda fit: fit.r_squared)


def _meetings(x: Floats, y: Floats, low: float, high: float) -> list[float]:
    """Where the line through the first points meets the line through the rest, if that is between the two parts."""
    candidates = []
    for n in range(2, x.size - 1):
        if x[n] == x[n - 1] or np.ptp(x[:n]) == 0 or np.ptp(x[n:]) == 0:
            continue
        left, right = np.polyfit(x[:n] - x[0], y[:n], 1), np.polyfit(x[n:] - x[0], y[n:], 1)
        if left[0] != right[0]:
            meeting = x[0] + (left[1] - right[1]) / (right[0] - left[0])
            if max(x[n - 1], low) <= meeting <= min(x[n], high):
                candidates.append(float(meeting))
    return candidates


def _hinge(x: Floats, y: Floats, bend: float) -> Break:
    """Least squares with a given bend."""
    design = np.column_stack([np.ones_like(x), x - bend, np.maximum(x - bend, 0)])
    solution = np.linalg.lstsq(design, y, rcond=None)[0]
    squares = np.sum((y - design @ solution) ** 2)
    total = np.sum((y - y.mean()) ** 2)
    r_squared = 1 - float(squares / total) if total > just_above(0.0) else 1.0
    return Break(float(bend), float(solution[1]), float(solution[1] + solution[2]), r_squared, float(solution[0]))
