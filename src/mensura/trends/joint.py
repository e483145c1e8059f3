"""The joint regression: capability on compute and year together.

The ratio of the two coefficients is the decades of compute saved per year. Its interval is Fieller's. The published
notebook leaves the covariance of the coefficients out.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import scipy

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError

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
        half = float(_published_z(level) * abs(ratio) * np.sqrt(relative))
        low, high = ratio - half, ratio + half
    else:
        low, high = fieller(
            beta[2], beta[1], covariance[1:, 1:][::-1, ::-1], float(scipy.special.stdtrit(freedom, 0.5 + level / 2))
        )
    return pl.DataFrame(
        {
            "per_decade": [float(beta[1])],
            "per_year": [float(beta[2])],
            "r_squared": [1 - float(residual @ residual / np.sum((C - C.mean()) ** 2))],
            "decades_saved": [ratio],
            "low": [low],
            "high": [high],
            "n": [C.size],
        }
    )


def _published_z(level: float) -> float:
    """Normal quantile with the digits the published code uses."""
    return round(float(scipy.special.ndtri(0.5 + level / 2)), 3 if level < 0.95 else 2)


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
SAME = 1e-9
"""Singular values below this share of the largest mean that the data cannot tell the coefficients apart."""
_SCHEMA = {
    "over": pl.String,
    "n": pl.Int64,
    "k": pl.Float64,
    "change": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "p": pl.Float64,
}


def constancy_table(years: Floats, C: Floats, compute: Floats, *, level: float) -> pl.DataFrame:
    """Return the change of k per decade of compute (``scale``) and per year (``date``), with intervals.

    ``compute`` is ln(compute). ``k`` is the value at mean compute and mean date. Data that cannot tell the
    coefficients apart give no row. Columns over, n, k, change, low, high, p.
    """
    x, t = compute - compute.mean(), years - years.mean()
    rows = []
    for over, bend, unit in (("scale", x**2 / 2, np.log(10.0)), ("date", x * t, 1.0)):
        found = _last_coefficient(np.column_stack([np.ones_like(x), t, x, bend]), C)
        if found is not None:
            k, change, error = found
            freedom = C.size - 4
            half = float(scipy.special.stdtrit(freedom, 0.5 + level / 2)) * error
            p = 2 * float(scipy.special.stdtr(freedom, -abs(change) / error)) if error > 0 else float(change == 0)
            rows.append((over, C.size, k, unit * change, unit * (change - half), unit * (change + half), p))
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def _last_coefficient(design: Floats, y: Floats) -> tuple[float, float, float] | None:
    """Return the last two coefficients and the robust error of the last one; None where they are not determined."""
    scaled = design / np.sqrt(np.mean(design**2, axis=0)).clip(1e-300)
    if y.size < FEWEST or np.linalg.cond(scaled) > 1 / SAME:
        return None
    turned, triangle = np.linalg.qr(design)
    beta = np.linalg.solve(triangle, turned.T @ y)
    kept = 1.0 - np.sum(turned**2, axis=1)
    if kept.min() < SAME:
        return None
    weights = np.linalg.solve(triangle, turned.T)[-1] * (y - design @ beta) / kept
    return float(beta[-2]), float(beta[-1]), float(np.sqrt(weights @ weights))
