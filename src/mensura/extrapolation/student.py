"""How far an interval reaches when shift and interaction are Student, and everything else normal.

A Student variable is a normal one whose variance is itself unknown: ``t_ν`` of variance 1 is N(0, w) with
``w = (ν − 2) / χ²_ν``. So the sum of a Student shift, a Student interaction and normal parts, with shares a, b and
1 − a − b of the variance, is N(0, 1 − a − b + a w₁ + b w₂), and its distribution function is the mean of
``Φ(z / √·)`` over the two unknown variances. Gauss–Laguerre nodes stand for them; the quantile is tabulated over the
shares once and read off for each item.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import scipy

if TYPE_CHECKING:
    from mensura.core.arrays import Floats

NEARLY_NORMAL = 60.0  # degrees of freedom from which a Student variable counts as normal
FEWEST_DF = 2.5  # below it the variance is next to infinite
_NODES = 16
_STEPS = 21  # of either share in the table
_HALVINGS = 40  # of the bracket about a quantile


@lru_cache(maxsize=64)
def unknown_variances(df: float, nodes: int = _NODES) -> tuple[Floats, Floats]:
    """Return values and weights that stand for ``w = (df − 2) / χ²_df``, of mean 1; one value where nearly normal.

    χ²/2 has a gamma density of shape df/2. The nodes belong to the shape df/2 − 1, and their weights take the
    missing factor, so that both the total and the mean of w are exact.
    """
    if df >= NEARLY_NORMAL:
        return np.ones(1), np.ones(1)
    x, weight = scipy.special.roots_genlaguerre(nodes, df / 2 - 2)
    weight = weight * x
    return (df / 2 - 1) / x, weight / weight.sum()


def student_reach(
    level: float, shift_share: Floats, interaction_share: Floats, shift_df: float, interaction_df: float
) -> Floats:
    """Return how many SDs an interval of probability ``level`` goes to either side, per pair of shares of variance."""
    table = _table(level, *(max(min(df, NEARLY_NORMAL), FEWEST_DF) for df in (shift_df, interaction_df)))
    total = np.clip(shift_share + interaction_share, 0.0, 1.0)
    mix = np.clip(shift_share / np.maximum(total, 1e-12), 0.0, 1.0)
    row, column = (values * (_STEPS - 1) for values in (total, mix))
    i, j = (np.minimum(place.astype(np.int64), _STEPS - 2) for place in (row, column))
    u, v = row - i, column - j
    reach: Floats = (1 - u) * ((1 - v) * table[i, j] + v * table[i, j + 1]) + u * (
        (1 - v) * table[i + 1, j] + v * table[i + 1, j + 1]
    )
    return reach


def normal_reach(level: float) -> float:
    """Return how many standard deviations a normal interval of probability ``level`` goes to either side."""
    return float(scipy.special.ndtri((1 + level) / 2))


@lru_cache(maxsize=256)
def _table(level: float, shift_df: float, interaction_df: float) -> Floats:
    """Return the reach over the Student share of the variance (rows) and the shift's part of that share (columns)."""
    (w1, p1), (w2, p2) = unknown_variances(shift_df), unknown_variances(interaction_df)
    total, mix = np.meshgrid(*[np.linspace(0.0, 1.0, _STEPS)] * 2, indexing="ij")
    a, b = (part[..., None, None] for part in (total * mix, total * (1 - mix)))
    sd = np.sqrt(np.maximum(1 - a - b, 0.0) + a * w1[:, None] + b * w2)
    weight = p1[:, None] * p2
    target = (1 + level) / 2
    low, high = np.zeros(total.shape), np.full(total.shape, 4 * normal_reach(level) + 4)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        below = (scipy.special.ndtr(middle[..., None, None] / sd) * weight).sum(axis=(-2, -1)) < target
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray((low + high) / 2)
