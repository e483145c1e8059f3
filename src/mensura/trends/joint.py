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
