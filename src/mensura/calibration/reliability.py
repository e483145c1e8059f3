"""Errors in levels: what an item's true demands are, on average, given its annotated ones.

A slope on levels with errors is too small (attenuation). Regression calibration removes this: each level is replaced by
its expectation given what was read, E[x | w, pool]; what that leaves open joins the residual, and the slopes are those
on x. A true demand x is a whole level of the rubric, 0 to 5. A reading is x plus a normal error, rounded, with the ends
open. How common each level is in a pool is learned there (leaning on a bell curve where it is small), so that a reading
of 3 in a pool of 0s and 1s is taken for less than 3. Where demands go together in a pool, what was read of the others
tells of each as well; without it a slope would take over part of its neighbours'.
"""

import numpy as np
import scipy

from mensura.core.arrays import Floats, Ints
from mensura.demands.rubrics import HIGHEST

TRUE_LEVELS = np.arange(HIGHEST + 1.0)
POOLING = 20.0
"""Items by which the bell curve that fits a pool's levels best counts beside the levels themselves."""
WIDTH_POOLING = 5.0
"""Items by which the width of that curve over all pools counts in each."""
LEAN = 10.0
"""Items per dimension by which the covariance of demands over all pools counts in each: few tell little of it."""
LEAST_VARIANCE = 0.01
"""Of true demands in a pool, in squared levels: a demand that does not vary there is not known to be constant."""
_ROUNDS = 30
_CUTS = np.concatenate([[-1e3], TRUE_LEVELS[:-1] + 0.5, [1e3]])  # the ends are open: nothing lies beyond
_STEPS = 60  # parts of a level that means of up to six readings fall on
_LARGEST_NOISE = 2.0
_LEAST_CHANCE = 1e-12


def predicted_levels(levels: Floats, pool: Ints, readings: Ints, level_error: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance of x given what was read, items × dimensions.

    ``level_error``: standard deviation of one reading's error, per dimension.
    """
    predicted, left = levels.copy(), np.zeros_like(levels)
    erring = np.flatnonzero(level_error > 0)
    if not erring.size:
        return predicted, left
    noise = np.zeros(len(level_error))
    noise[erring] = [reading_noise(levels[:, at], level_error[at]) for at in erring]
    pull, grip = implied_by_others(*_straightened(levels, noise), pool, readings)
    most = int(readings.max())
    for at in erring:
        key = (pool * (most + 1) + readings) * (HIGHEST * _STEPS + 1) + np.round(levels[:, at] * _STEPS).astype(
            np.int64
        )
        _, first, back, counts = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
        where = pool[first]
        chance = reading_chances(levels[first, at], readings[first], noise[at])
        by_reading = chance * _true_shares(chance, where, counts.astype(np.float64))[where]
        log = pull[:, at, None] * TRUE_LEVELS - 0.5 * grip[:, at, None] * TRUE_LEVELS**2
        posterior = by_reading[back] * np.exp(log - log.max(axis=1, keepdims=True))
        posterior /= posterior.sum(axis=1, keepdims=True)
        predicted[:, at] = posterior @ TRUE_LEVELS
        left[:, at] = posterior @ TRUE_LEVELS**2 - predicted[:, at] ** 2
    return predicted, left


def pool_means(values: Floats, pool: Ints) -> Floats:
    """Return the mean of each column in each pool."""
    sums = np.column_stack([np.bincount(pool, weights=column) for column in values.T])
    return np.asarray(sums / np.bincount(pool)[:, None])


def reading_noise(levels: Floats, spread: float) -> float:
    """Return the error before rounding whose rounded readings scatter by ``spread`` around levels like these."""
    share = _nearest_shares(levels)
    low, high = 0.01, _LARGEST_NOISE
    for _ in range(40):
        middle = 0.5 * (low + high)
        chance = _one_reading(middle)
        mean = chance @ TRUE_LEVELS
        variance = chance @ TRUE_LEVELS**2 - mean**2
        low, high = (middle, high) if share @ variance < spread**2 else (low, middle)
    return 0.5 * (low + high)


def _nearest_shares(levels: Floats) -> Floats:
    """Return how common each whole level is among the readings."""
    nearest = np.clip(np.round(levels), 0, HIGHEST).astype(np.int64)
    return np.bincount(nearest, minlength=TRUE_LEVELS.size) / levels.size


def reading_chances(means: Floats, readings: Ints, noise: float) -> Floats:
    """Return cases × true levels: the chance of a mean of so many readings.

    The sum of r readings has the r-fold convolution of one reading's chances; between whole sums it is interpolated.
    """
    chance = np.empty((len(means), TRUE_LEVELS.size))
    summed = one = _one_reading(noise)
    for times in range(1, int(readings.max()) + 1):
        if times > 1:
            summed = np.stack([np.convolve(*pair) for pair in zip(summed, one, strict=True)])
        rows = readings == times
        below, part = np.divmod(means[rows] * times, 1.0)
        at = below.astype(np.int64)
        chance[rows] = ((1.0 - part) * summed[:, at] + part * summed[:, np.minimum(at + 1, HIGHEST * times)]).T
    return np.maximum(chance, _LEAST_CHANCE)


def _one_reading(noise: float) -> Floats:
    """Return true levels × levels read: the chance of one reading, a normal error rounded, with the ends open."""
    return np.asarray(np.diff(scipy.special.ndtr((_CUTS - TRUE_LEVELS[:, None]) / noise), axis=1), dtype=np.float64)


def _true_shares(chance: Floats, pool: Ints, counts: Floats) -> Floats:
    """Return pools × levels: how common each true level is, by expectation–maximisation.

    Small pools lean on the bell curve, cut off at both ends, that fits them best: six free shares of forty items would
    follow the errors of the readings.
    """
    pools = int(pool.max()) + 1
    shares = np.full((pools, TRUE_LEVELS.size), 1.0 / TRUE_LEVELS.size)
    centre, width = np.full(pools, TRUE_LEVELS.mean()), np.full(pools, float(HIGHEST))
    for _ in range(_ROUNDS):
        posterior = chance * shares[pool]
        posterior *= (counts / posterior.sum(axis=1))[:, None]
        columns = [np.bincount(pool, weights=column, minlength=pools) for column in posterior.T]
        summed: Floats = np.column_stack(columns).astype(np.float64)
        centre, width, bell = _bell(summed, centre, width)
        shares = summed + POOLING * bell
        shares /= shares.sum(axis=1, keepdims=True)
    return shares


def _bell(counts: Floats, centre: Floats, width: Floats) -> tuple[Floats, Floats, Floats]:
    """Return centre and width of a rounded normal with open ends, one step nearer to counts, and its shares.

    Widths lean on that of all pools.
    """
    low, high = _CUTS[:-1], _CUTS[1:]
    a, b = ((cut - centre[:, None]) / width[:, None] for cut in (low, high))
    shares = np.maximum(scipy.special.ndtr(b) - scipy.special.ndtr(a), _LEAST_CHANCE)
    first = (_density(a) - _density(b)) / shares  # mean of what lies in the bin, in widths from the centre
    second = 1.0 + (a * _density(a) - b * _density(b)) / shares
    n = np.maximum(counts.sum(axis=1), _LEAST_CHANCE)
    mean = (counts * first).sum(axis=1) / n
    variance = width**2 * np.maximum((counts * second).sum(axis=1) / n - mean**2, _LEAST_CHANCE)
    common = (n * variance).sum() / n.sum()
    variance = np.maximum((n * variance + WIDTH_POOLING * common) / (n + WIDTH_POOLING), LEAST_VARIANCE)
    return centre + width * mean, np.sqrt(variance), shares


def _density(x: Floats) -> Floats:
    return np.asarray(np.exp(-0.5 * np.minimum(np.abs(x), 40.0) ** 2) / np.sqrt(2.0 * np.pi))


def _straightened(levels: Floats, noise: Floats) -> tuple[Floats, Floats]:
    """Return readings without the pull that open ends have towards the middle, and the variance of one's error.

    E[w | x] is read as a line of x, which the readings are put back through.
    """
    straight, variance = levels.copy(), np.zeros(len(noise))
    for at in np.flatnonzero(noise > 0):
        share = _nearest_shares(levels[:, at])
        chance = _one_reading(noise[at])
        mean = chance @ TRUE_LEVELS
        centre, read = share @ TRUE_LEVELS, share @ mean
        spread = share @ (TRUE_LEVELS - centre) ** 2
        slope = share @ ((TRUE_LEVELS - centre) * mean) / spread if spread > 0 else 1.0
        straight[:, at] = centre + (levels[:, at] - read) / slope
        variance[at] = share @ (chance @ TRUE_LEVELS**2 - mean**2) / slope**2
    return straight, variance


def implied_by_others(readings_of: Floats, error: Floats, pool: Ints, readings: Ints) -> tuple[Floats, Floats]:
    """Return what the other demands of an item imply of each, where demands go together in a pool.

    It is ``pull`` and ``grip`` of the log density pull · x − ½ grip · x², items × dimensions.
    With Σ the covariance of true demands in the pool and D that of errors, Q = (Σ + D)⁻¹ gives the mean and variance of
    a demand given the readings of all others, w_d − (Q (w − μ))_d / Q_dd and 1 / Q_dd − D_d; against them stands what
    the pool says of it anyway, μ_d and Σ_dd.
    """
    mean = pool_means(readings_of, pool)
    cases, case = np.unique(pool * (int(readings.max()) + 1) + readings, return_inverse=True)
    of_pool, times = np.divmod(cases, int(readings.max()) + 1)
    off = readings_of - mean[pool]
    errors = error / times[:, None]
    size = np.bincount(case).astype(np.float64)
    scatter = np.stack([off[case == at].T @ off[case == at] for at in range(len(cases))])
    spread = _true_covariances(scatter, size, errors, of_pool)
    pull, grip = np.empty_like(off), np.empty_like(off)
    inverse = np.linalg.inv(spread[of_pool] + _diagonal(errors))
    for at in range(len(cases)):
        rows, own = case == at, np.diag(inverse[at])
        expected = readings_of[rows] - off[rows] @ inverse[at] / own
        variance = np.maximum(1.0 / own - errors[at], LEAST_VARIANCE)
        anyway = np.diag(spread[of_pool[at]])
        pull[rows] = expected / variance - mean[of_pool[at]] / anyway
        grip[rows] = 1.0 / variance - 1.0 / anyway
    return pull, grip


def _true_covariances(scatter: Floats, size: Floats, errors: Floats, of_pool: Ints) -> Floats:
    """Return the covariance of true demands in each pool, by expectation–maximisation; small pools lean on all."""
    pools, count = int(of_pool.max()) + 1, scatter.shape[1]
    least = LEAST_VARIANCE * np.eye(count)
    spread = np.tile(scatter.sum(axis=0) / size.sum() + least, (pools, 1, 1))
    items = np.bincount(of_pool, weights=size)[:, None, None]
    lean = LEAN * count
    for _ in range(_ROUNDS):
        now = spread[of_pool]
        gain = now @ np.linalg.inv(now + _diagonal(errors))
        expected = gain @ scatter @ gain.transpose(0, 2, 1) + size[:, None, None] * (now - gain @ now)
        summed = np.zeros_like(spread)
        np.add.at(summed, of_pool, expected)
        common = summed.sum(axis=0) / size.sum()
        spread = (summed + lean * common) / (items + lean) + least
    return spread


def _diagonal(values: Floats) -> Floats:
    return values[:, :, None] * np.eye(values.shape[1])
