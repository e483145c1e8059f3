"""Straight lines by least squares, with the errors that belong to them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import scipy
from numpy.typing import ArrayLike

from mensura.core.arrays import Floats, Mask
from mensura.core.errors import MensuraError
from mensura.stitching import to_years
from mensura.trends.capabilities import read_capabilities

FEWEST_POINTS = 3
"""Two points fix a line; its error needs one more."""
SAME = 1e-12
"""Relative spread of x below which all points share one x."""


@dataclass(frozen=True)
class TrendLine:
    """Describe the line y = height + slope (x − center).

    Attributes
    ----------
    center, height, slope : float
        Mean of x, mean of y, and slope.
    spread : float
        Σ (x − center)².
    sd : float
        Residual standard deviation, on ``freedom`` degrees of freedom.
    freedom : int
        Points less two.
    r_squared : float
        Share of the variance of y that the line explains.

    """

    center: float
    height: float
    slope: float
    spread: float
    sd: float
    freedom: int
    r_squared: float

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
    """Fit a line by least squares.

    Parameters
    ----------
    x, y : array
        At least three points that do not all share one x.

    Returns
    -------
    TrendLine
        The line with its errors.

    Raises
    ------
    MensuraError
        If there are too few points, or all share one x.

    Examples
    --------
    >>> from mensura.trends import fit_line
    >>> fit_line([0, 1, 2, 3], [0, 2, 4, 6]).slope
    2.0

    """
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


def find_frontier(capabilities: Any = None) -> pl.DataFrame:
    """Find the subjects that were the best at their release.

    Parameters
    ----------
    capabilities : fit, Evidence, table or None
        A fit, evidence (None: the embedded one), a table of scores, or one with subject, released, capability.

    Returns
    -------
    table
        subject, released, capability. Of several released on one day only the best can be a record; to equal the record
        counts.

    Examples
    --------
    >>> from datetime import date
    >>> days = [date(2024 + month // 12, month % 12 + 1, 1) for month in range(24)]
    >>> models = {"subject": [f"m{at}" for at in range(24)], "released": days}
    >>> models |= {"capability": [at / 12 for at in range(24)]}
    >>> from mensura.trends import find_frontier
    >>> find_frontier(models).height
    24

    """
    frame = read_capabilities(capabilities)
    best = is_record(to_years(frame["released"]), frame["capability"].to_numpy())
    return frame.filter(pl.Series(best)).select("subject", "released", "capability")


def is_record(years: Floats, values: Floats) -> Mask:
    """Mark the values no smaller than any value up to and including their own day (``years`` sorted)."""
    return np.asarray(values >= np.maximum.accumulate(values)[np.searchsorted(years, years, side="right") - 1])


def frontier_line(capabilities: Any = None) -> TrendLine:
    """Fit the line through the frontier, capability on years since 1970.

    Parameters
    ----------
    capabilities : fit, Evidence, table or None
        A fit, evidence (None: the embedded one), a table of scores, or one with subject, released, capability.

    Returns
    -------
    TrendLine
        The line.

    Examples
    --------
    >>> from datetime import date
    >>> days = [date(2024 + month // 12, month % 12 + 1, 1) for month in range(24)]
    >>> models = {"subject": [f"m{at}" for at in range(24)], "released": days}
    >>> models |= {"capability": [at / 12 for at in range(24)]}
    >>> from mensura.trends import frontier_line
    >>> round(frontier_line(models).slope, 2)
    1.0

    """
    frontier = find_frontier(capabilities)
    return fit_line(to_years(frontier["released"]), frontier["capability"].to_numpy())


WINDOW, FEWEST_RECENT = 3.0, 10
"""Years of releases the line is fitted to, and how many there must be; fewer: all releases are used. Two years would
say too little of the pace before a bend, so that bends are missed (``benchmarks/trends_shocks.py``)."""
SILVERMAN = 1.06
"""Silverman's rule: the width of a Gaussian kernel is so many standard deviations times n to the power −1/5."""


def recent_releases(years: Floats) -> Mask:
    """Mark the releases of the last three years, or all where those are too few."""
    recent = years > years[-1] - WINDOW
    return recent if np.count_nonzero(recent) >= FEWEST_RECENT else np.ones(years.size, dtype=bool)


def draw_residuals(line: TrendLine, residuals: Floats, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Draw from the observed standardised residuals, smoothed; their variance is 1."""
    spread = residuals * np.sqrt(line.n / line.freedom)
    width = SILVERMAN * line.n**-0.2
    smoothed = rng.choice(spread, shape) + width * rng.standard_normal(shape)
    return np.asarray(smoothed / np.sqrt(1 + width**2))


# The joint regression: capability on compute and year together.
#
# The ratio of the two coefficients is the decades of compute saved per year. Its interval is Fieller's. The published
# notebook leaves the covariance of the coefficients out.

FEWEST_JOINT = 4
"""The regression has three coefficients and an error."""


def joint_table(years: Floats, C: Floats, spent: Floats, *, level: float, published: bool) -> pl.DataFrame:
    """Regress capability C on ``spent``, which is ln(compute), and on the year.

    Returns one row: ``per_decade``, ``per_year``, ``r_squared``, ``decades_saved`` with ``low`` and ``high``, ``n``.
    ``published``: the interval of the published notebook.
    """
    x = np.column_stack([np.ones_like(C), spent / np.log(10), years - years.mean()])
    if C.size < FEWEST_JOINT:
        raise MensuraError(
            f"models: {C.size} subjects with compute; the joint regression needs at least {FEWEST_JOINT}"
        )
    beta = np.linalg.lstsq(x, C, rcond=None)[0]
    residual = C - x @ beta
    freedom = C.size - 3
    covariance = residual @ residual / freedom * np.linalg.inv(x.T @ x)
    ratio = float(beta[2] / beta[1])
    if published:
        relative = covariance[1, 1] / beta[1] ** 2 + covariance[2, 2] / beta[2] ** 2
        z = round(float(scipy.special.ndtri(0.5 + level / 2)), 3 if level < 0.95 else 2)  # as the published code does
        half = float(z * abs(ratio) * np.sqrt(relative))
        low, high = ratio - half, ratio + half
    else:
        quantile = float(scipy.special.stdtrit(freedom, 0.5 + level / 2))
        low, high = fieller(beta[2], beta[1], covariance[1:, 1:][::-1, ::-1], quantile)
    explained = 1 - float(residual @ residual / np.sum((C - C.mean()) ** 2))
    row = (float(beta[1]), float(beta[2]), explained, ratio, low, high, C.size)
    columns = ["per_decade", "per_year", "r_squared", "decades_saved", "low", "high", "n"]
    return pl.DataFrame([row], schema=columns, orient="row")


def fieller(top: float, bottom: float, covariance: Floats, quantile: float) -> tuple[float, float]:
    """Interval of top / bottom by Fieller's theorem; infinite ends where the bottom may be zero."""
    q2 = quantile**2
    a = bottom**2 - q2 * covariance[1, 1]
    b = top * bottom - q2 * covariance[0, 1]
    c = top**2 - q2 * covariance[0, 0]
    if a <= 0 or b * b < a * c:
        return float("-inf"), float("inf")
    root = float(np.sqrt(b * b - a * c))
    return float((b - root) / a), float((b + root) / a)


# Test whether k, the capability that compute buys, is the same at every scale and date.
#
# The regression is C = a + k x + q t + m z with x = ln(compute) and t = year. For scale, z = (x − x̄)² / 2; for date,
# z = (x − x̄)(t − t̄). So m is the change of k per unit of x or t. Errors are robust to unequal scatter (HC3, MacKinnon
# and White 1985).

FEWEST = 8
"""Subjects with compute that four coefficients and a robust error need."""
SAME_COLUMNS = 1e-9
"""Singular values below this share of the largest mean that the data cannot tell the coefficients apart."""
_SCHEMA = {"over": pl.String, "n": pl.Int64, **dict.fromkeys(("k", "change", "low", "high", "p"), pl.Float64)}


def constancy_table(years: Floats, C: Floats, compute: Floats, *, level: float) -> pl.DataFrame:
    """Return the change of k per decade of compute (``scale``) and per year (``date``), with intervals.

    ``compute`` is ln(compute). ``k`` is the value at mean compute and mean date. Data that cannot tell the
    coefficients apart give no row. Columns over, n, k, change, low, high, p.
    """
    x, t = compute - compute.mean(), years - years.mean()
    rows = []
    for over, bend, unit in (("scale", x**2 / 2, np.log(10.0)), ("date", x * t, 1.0)):
        coefficient = _last_coefficient(np.column_stack([np.ones_like(x), t, x, bend]), C)
        if coefficient is not None:
            k, change, error = coefficient
            freedom = C.size - 4
            half = float(scipy.special.stdtrit(freedom, 0.5 + level / 2)) * error
            p = 2 * float(scipy.special.stdtr(freedom, -abs(change) / error)) if error > 0 else float(change == 0)
            rows.append((over, C.size, k, unit * change, unit * (change - half), unit * (change + half), p))
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def _last_coefficient(design: Floats, y: Floats) -> tuple[float, float, float] | None:
    """Return the last two coefficients and the robust error of the last one; None where they are not determined."""
    scaled = design / np.sqrt(np.mean(design**2, axis=0)).clip(1e-300)
    if y.size < FEWEST or np.linalg.cond(scaled) > 1 / SAME_COLUMNS:
        return None
    turned, triangle = np.linalg.qr(design)
    beta = np.linalg.solve(triangle, turned.T @ y)
    kept = 1.0 - np.sum(turned**2, axis=1)
    if kept.min() < SAME_COLUMNS:
        return None
    weights = np.linalg.solve(triangle, turned.T)[-1] * (y - design @ beta) / kept
    return float(beta[-2]), float(beta[-1]), float(np.sqrt(weights @ weights))
