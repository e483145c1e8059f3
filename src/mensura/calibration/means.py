"""The published procedure (``method="means"``): a line through the mean empirical level of each annotated level.

Per dimension: keep the items whose highest demand it is (ties count for each), take the unweighted mean of their
empirical levels −log10(p/√10) at each annotated level 1 to 5, and fit a least-squares line through these at most five
means. Its slope m gives the base 10^m; m is never rounded before. Fractional levels (means of several readings, groups)
count for the nearest whole level, halves upwards. Guessing, errors and other demands are left as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mensura.calibration.levels import empirical_levels
from mensura.calibration.rated_items import RatedItems
from mensura.core.arrays import Floats, Ints

LEVELS = np.arange(1.0, 6.0)
MOST_BLOCKS = 2_000
"""Items are resampled one by one up to this many; more are dealt at random into so many blocks, which are resampled.

A mean's bootstrap variance is the same either way, and 100,000 items cost no more than 2,000.
"""


@dataclass(frozen=True, eq=False)
class MeansFit:
    """Lines through level means, one entry per dimension; NaN where fewer than two levels have items.

    ``means``, ``counts``: dimensions × levels 1 to 5. ``slope_draws``, ``intercept_draws``: draws × dimensions.
    """

    slope: Floats
    intercept: Floats
    r2: Floats
    means: Floats
    counts: Ints
    slope_draws: Floats
    intercept_draws: Floats


def fit_means(items: RatedItems, *, draws: int, rng: np.random.Generator) -> MeansFit:
    """Fit every dimension, and again on ``draws`` bootstrap samples of the items."""
    nearest = np.floor(items.levels + 0.5)
    y = empirical_levels(items.rate)
    blocks, shares = _blocks(items.size, rng)
    count = len(shares)
    sums = np.zeros((count, 2, len(items.dimensions), LEVELS.size))
    for at in range(len(items.dimensions)):
        rows = np.flatnonzero(items.deciding[:, at] & (nearest[:, at] >= 1))
        cell = blocks[rows] * LEVELS.size + nearest[rows, at].astype(np.int64) - 1
        sums[:, 0, at] = np.bincount(cell, minlength=count * LEVELS.size).reshape(count, -1)
        sums[:, 1, at] = np.bincount(cell, weights=y[rows], minlength=count * LEVELS.size).reshape(count, -1)
    whole = sums.sum(axis=0)
    slope, intercept, r2, means = _lines(whole[None])
    picks = rng.multinomial(count, shares, size=draws).astype(np.float64)
    drawn = (picks @ sums.reshape(count, -1)).reshape(draws, *whole.shape)
    slopes, intercepts, _, _ = _lines(drawn)
    return MeansFit(slope[0], intercept[0], r2[0], means[0], whole[0].astype(np.int64), slopes, intercepts)


def _blocks(size: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Return each item's block and each block's chance of being picked."""
    if size <= MOST_BLOCKS:
        return np.arange(size), np.full(size, 1.0 / size)
    blocks = rng.permutation(np.arange(size) % MOST_BLOCKS)
    return blocks, np.full(MOST_BLOCKS, 1.0 / MOST_BLOCKS)


def _lines(sums: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return slope, intercept, R² and level means from draws × (count, sum) × dimensions × levels."""
    counts, totals = sums[:, 0], sums[:, 1]
    there = counts > 0
    means = np.where(there, totals / np.where(there, counts, 1), np.nan)
    k = there.sum(axis=-1, keepdims=True)
    few = k[..., 0] < 2
    x = np.where(there, LEVELS, 0.0)
    y = np.where(there, means, 0.0)
    safe = np.maximum(k, 1)
    dx = np.where(there, x - x.sum(axis=-1, keepdims=True) / safe, 0.0)
    dy = np.where(there, y - y.sum(axis=-1, keepdims=True) / safe, 0.0)
    spread = (dx**2).sum(axis=-1)
    slope = np.where(few, np.nan, (dx * dy).sum(axis=-1) / np.where(few, 1.0, spread))
    intercept = (y.sum(axis=-1) - slope * x.sum(axis=-1)) / safe[..., 0]
    total = (dy**2).sum(axis=-1)
    left = ((dy - slope[..., None] * dx) ** 2).sum(axis=-1)
    flat = few | (total <= 1e-24)  # a line through equal means explains nothing because there is nothing to explain
    r2 = np.where(flat, np.nan, 1.0 - left / np.where(flat, 1.0, total))
    return slope, intercept, r2, means
