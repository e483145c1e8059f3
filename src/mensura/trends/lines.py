"""Straight lines by least squares, with the errors that belong to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
import scipy
from numpy.typing import ArrayLike

from mensura.core.arrays import Floats, Mask
from mensura.core.errors import MensuraError
from mensura.core.results import Result
from mensura.stitching import to_years
from mensura.trends.capabilities import read_capabilities

FEWEST_POINTS = 3
"""Two points fix a line; its error needs one more."""
SAME = 1e-12
"""Relative spread of x below which all points share one x."""


@dataclass(frozen=True, eq=False, repr=False)
class TrendLine(Result):
    """y = height + slope (x − center), with residual standard deviation ``sd`` on ``freedom`` degrees of freedom.

    ``spread`` is Σ (x − center)². ``table``: slope, slope_error, intercept, sd, r_squared, n.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("table",)

    center: float
    height: float
    slope: float
    spread: float
    sd: float
    freedom: int
    r_squared: float

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        return f"line through {self.n} points: slope {self.slope:.4g} (standard error {self.slope_error:.2g})"

    @property
    def table(self) -> pl.DataFrame:
        """One row: slope, slope_error, intercept, sd, r_squared, n."""
        names = ("slope", "slope_error", "intercept", "sd", "r_squared", "n")
        return pl.DataFrame({name: [getattr(self, name)] for name in names})

    @property
    def n(self) -> int:
        """Number of points."""
        return self.freedom + 2

    @property
    def intercept(self) -> float:
        """Value at x = 0."""
        return self.height - self.slope * self.center

    @property
    def slope_error(self) -> float:
        """Standard error of the slope."""
        return self.sd / float(np.sqrt(self.spread))

    def at(self, x: ArrayLike) -> Floats:
        """Value of the line at ``x``."""
        return self.height + self.slope * (np.asarray(x, dtype=float) - self.center)

    def error_at(self, x: ArrayLike, *, new: bool = False) -> Floats:
        """Standard error of the line at ``x``, or with ``new`` of one more observation there."""
        distance = np.asarray(x, dtype=float) - self.center
        return np.asarray(self.sd * np.sqrt(new + 1 / self.n + distance**2 / self.spread))

    def quantile(self, level: float) -> float:
        """Half-width, in standard errors, of the central interval of this level (Student)."""
        return float(scipy.special.stdtrit(self.freedom, 0.5 + level / 2))


def fit_line(x: ArrayLike, y: ArrayLike) -> TrendLine:
    """Fit a line to at least three points that do not all share one x."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if x.size < FEWEST_POINTS:
        raise MensuraError(f"a line with an error needs at least {FEWEST_POINTS} points, got {x.size}")
    center, height = float(x.mean()), float(y.mean())
    spread = float(np.sum((x - center) ** 2))
    if spread <= SAME * max(1.0, center**2):
        raise MensuraError("a line needs points at different x; all of them are alike")
    slope = float(np.sum((x - center) * (y - height)) / spread)
    squares = float(np.sum((y - height - slope * (x - center)) ** 2))
    total = float(np.sum((y - height) ** 2))
    freedom = x.size - 2
    r_squared = 1 - squares / total if total > SAME * max(1.0, height**2) else 1.0
    return TrendLine(center, height, slope, spread, float(np.sqrt(squares / freedom)), freedom, r_squared)


# The frontier: which subjects were the best when they came out, and how fast that rises.


def find_frontier(capabilities: Any = None) -> pl.DataFrame:  # noqa: ANN401
    """Return the subjects that were the best at their release: ``subject``, ``released``, ``capability``.

    Of several released on one day only the best can be one; to equal the record counts.
    """
    frame = read_capabilities(capabilities)
    best = is_record(to_years(frame["released"]), frame["capability"].to_numpy())
    return frame.filter(pl.Series(best)).select("subject", "released", "capability")


def is_record(years: Floats, values: Floats) -> Mask:
    """Mark the values no smaller than any value up to and including their own day (``years`` sorted)."""
    last_of_day = np.searchsorted(years, years, side="right") - 1
    return np.asarray(values >= np.maximum.accumulate(values)[last_of_day])


def frontier_line(capabilities: Any = None) -> TrendLine:  # noqa: ANN401
    """Fit the line through the frontier, capability on years since 1970."""
    frontier = find_frontier(capabilities)
    return fit_line(to_years(frontier["released"]), frontier["capability"].to_numpy())


def frontier_slopes(years: Floats, draws: Floats) -> Floats:
    """Slope per year of the line through the records of every draw (draws, subjects), NaN where it has but one.

    ``years`` are sorted; a subject that a draw does not know holds NaN there and counts for nothing.
    """
    slopes = np.full(len(draws), np.nan)
    for i, values in enumerate(draws):
        known = np.isfinite(values)
        t, c = years[known], values[known]
        records = is_record(t, c)
        t, c = t[records], c[records]
        if np.unique(t).size > 1:
            slopes[i] = np.polyfit(t - t.mean(), c, 1)[0]
    return slopes
