"""Test whether k, the capability that compute buys, is the same at every scale and date.

The regression is C = a + k x + q t + m z with x = ln(compute) and t = year. For scale, z = (x − x̄)² / 2; for date,
z = (x − x̄)(t − t̄). So m is the change of k per unit of x or t. Errors are robust to unequal scatter (HC3, MacKinnon
and White 1985).
"""

from __future__ import annotations

import numpy as np
import polars as pl
import scipy

from mensura.core.arrays import Floats

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
