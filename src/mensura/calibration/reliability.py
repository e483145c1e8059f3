"""Errors in levels: what an item's true demands are, on average, given its annotated ones.

A slope on levels with errors is too small (attenuation). Regression calibration removes this: each level is replaced by
its expectation given what was read, E[x | w, pool]; what that leaves open joins the residual, and the slopes are those
on x. A true demand x is a whole level of the rubric, 0 to 5. A reading is x plus a normal error, rounded, with the ends
open. How common each level is in a pool is learned there (leaning on all pools where it is small), so that a reading of
3 in a pool of 0s and 1s is taken for less than 3.
"""

from __future__ import annotations

import numpy as np
import scipy

from mensura.arrays import Floats, Ints
from mensura.demands.rubrics import HIGHEST

TRUE_LEVELS = np.arange(HIGHEST + 1.0)
POOLING = 5.0
"""Items by which the shares of levels over all pools count within each pool."""
_ROUNDS = 30
_STEPS = 60  # parts of a level that means of up to six readings fall on
_LARGEST_NOISE = 2.0


def predicted_levels(levels: Floats, pool: Ints, readings: Ints, level_error: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance of x given what was read, items × dimensions.

    ``level_error``: standard deviation of one reading's error, per dimension.
    """
    predicted, left = levels.copy(), np.zeros_like(levels)
    most = int(readings.max())
    for at in np.flatnonzero(level_error > 0):
        key = (pool * (most + 1) + readings) * (HIGHEST * _STEPS + 1) + np.round(levels[:, at] * _STEPS).astype(
            np.int64
        )
        _, first, back, counts = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
        where = pool[first]
        noise = reading_noise(levels[:, at], level_error[at])
        chance = reading_chances(levels[first, at], readings[first].astype(np.float64), noise)
        posterior = chance * _true_shares(chance, where, counts.astype(np.float64))[where]
        posterior /= posterior.sum(axis=1, keepdims=True)
        mean = posterior @ TRUE_LEVELS
        predicted[:, at] = mean[back]
        left[:, at] = (posterior @ TRUE_LEVELS**2 - mean**2)[back]
    return predicted, left


def pool_means(values: Floats, pool: Ints) -> Floats:
    """Return the mean of each column in each pool."""
    sums = np.column_stack([np.bincount(pool, weights=column) for column in values.T])
    means: Floats = sums / np.bincount(pool)[:, None]
    return means


def reading_noise(levels: Floats, spread: float) -> float:
    """Return the error before rounding whose rounded readings scatter by ``spread`` around levels like these."""
    share = (
        np.bincount(np.clip(np.round(levels), 0, HIGHEST).astype(np.int64), minlength=TRUE_LEVELS.size) / levels.size
    )
    low, high = 0.01, _LARGEST_NOISE
    for _ in range(40):
        middle = 0.5 * (low + high)
        chance = reading_chances(TRUE_LEVELS, np.ones(TRUE_LEVELS.size), middle).T
        mean = chance @ TRUE_LEVELS
        variance = chance @ TRUE_LEVELS**2 - mean**2
        low, high = (middle, high) if share @ variance < spread**2 else (low, middle)
    return 0.5 * (low + high)


def reading_chances(told: Floats, readings: Floats, noise: float) -> Floats:
    """Return cases × true levels: the chance of a mean of so many readings."""
    half, sd = 0.5 / readings, noise / np.sqrt(readings)
    upper = np.where(told >= HIGHEST, np.inf, told + half)[:, None]
    lower = np.where(told <= 0, -np.inf, told - half)[:, None]
    chance = scipy.special.ndtr((upper - TRUE_LEVELS) / sd[:, None]) - scipy.special.ndtr(
        (lower - TRUE_LEVELS) / sd[:, None]
    )
    return np.asarray(np.maximum(chance, 1e-12), dtype=np.float64)


def _true_shares(chance: Floats, pool: Ints, counts: Floats) -> Floats:
    """Return pools × levels: how common each true level is, by expectation–maximisation."""
    pools = int(pool.max()) + 1
    shares = np.full((pools, TRUE_LEVELS.size), 1.0 / TRUE_LEVELS.size)
    for _ in range(_ROUNDS):
        posterior = chance * shares[pool]
        posterior *= (counts / posterior.sum(axis=1))[:, None]
        summed = np.column_stack([np.bincount(pool, weights=column, minlength=pools) for column in posterior.T])
        shares = summed + POOLING * summed.sum(axis=0) / counts.sum()
        shares /= shares.sum(axis=1, keepdims=True)
    return shares
