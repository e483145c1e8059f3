"""Lower asymptotes: the score that guessing gives, estimated where nobody says it.

Left at 0, an unknown chance level makes weak subjects look able and stretches the top of the scale. Given s = σ(η), a
score's expectation is linear in its benchmark's floor g,

    f = g (1 − s) + ceiling · s,

so floor, intercept and slope of a benchmark follow together from weighted least squares (Gauss-Newton), which gives
the likelihood of g as a normal one, N(g; ĝ_b, v_b). The prior of g is a list of floors that tests have, from none
(free answers) to one in two, whose weights are learned over the benchmarks (EM): where no subject comes near a
benchmark's floor, it takes what the others have. Capability alone explains the scores here; the posterior means then
stand as given in the full fit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mensura.core.arrays import Floats, Mask
from mensura.stitching.pooled import solve_pooled
from mensura.stitching.posterior import Cells, Pooled, expect, extended
from mensura.stitching.response import variance_shape
from mensura.stitching.symmetric import unpack

FLOORS = np.linspace(0.0, 0.5, 11)
"""Floors that are thought possible: free answers, mixtures, ten, four, three and two options."""
FIRST_WEIGHTS = np.where(FLOORS == 0, 0.5, 0.5 / (FLOORS.size - 1))
"""Half of all tests are taken to ask for free answers before any is seen."""
PRIOR_BENCHMARKS = 4.0
"""Pseudo-benchmarks that hold these weights where they began."""
FLOOR_ROUNDS, FIRST_SWEEPS, FLOOR_SWEEPS = 60, 40, 4
"""Rounds of floors after capability; sweeps of capability before the first round and in each later one."""
FLOOR_TOLERANCE = 1e-3
"""Change of any floor in a round below which they have settled."""
SLIGHT_INFORMATION = 1e-6
"""Keeps the likelihood of a floor finite where no score is anywhere near it."""


class Floors(NamedTuple):
    """Estimated floor and its posterior standard deviation per benchmark (0 where it was given)."""

    chance: Floats
    error: Floats


def estimate_floors(cells: Cells, unknown: Mask, pooling: float, shares: Floats) -> Floors:
    """Estimate the floors of the ``unknown`` benchmarks; the others keep what ``cells`` gives them.

    ``shares`` (benchmarks,), which the weights of ``cells`` hold, keep near-duplicates from counting twice in the
    prior; a benchmark's own scores count in full for its own floor.
    """
    chance, error = cells.chance.copy(), np.zeros(cells.chance.size)
    if not unknown.any():
        return Floors(chance, error)
    chance[unknown] = 0.0
    weights = FIRST_WEIGHTS
    fit: Pooled | None = None
    for _ in range(FLOOR_ROUNDS):
        now = replace(cells, chance=chance)
        sweeps = FIRST_SWEEPS if fit is None else FLOOR_SWEEPS
        fit = solve_pooled(now, 1, start=fit, pooling=pooling, max_iterations=sweeps)
        centre, variance = _likelihood(replace(now, weights=now.weights / shares[now.layout.cols]), fit, pooling)
        each = _posterior(centre[unknown], variance[unknown], weights)
        own = shares[unknown]
        weights = (PRIOR_BENCHMARKS * FIRST_WEIGHTS + own @ each) / (PRIOR_BENCHMARKS + own.sum())
        before, chance = chance, chance.copy()
        chance[unknown] = each @ FLOORS
        error[unknown] = np.sqrt(each @ FLOORS**2 - chance[unknown] ** 2)
        if float(np.abs(chance - before).max()) < FLOOR_TOLERANCE:
            break
    return Floors(chance, error)


def _posterior(centre: Floats, variance: Floats, weights: Floats) -> Floats:
    """Probability of every possible floor (benchmarks, floors) under a normal likelihood and the learned weights."""
    log = np.log(weights) - (FLOORS - centre[:, None]) ** 2 / (2 * variance[:, None])
    odds = np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def _likelihood(cells: Cells, fit: Pooled, pooling: float) -> tuple[Floats, Floats]:
    """Centre and variance of every floor's likelihood, intercept and slope free to follow within their prior."""
    layout, cols = cells.layout, cells.layout.cols
    at = expect(cells, fit)
    w = cells.weights / (cells.sampling + fit.dispersion[cols] * variance_shape(at.f))
    first, second = extended(fit.theta, fit.theta_cov)
    chance, ceiling = cells.bounds
    lift = (ceiling - at.f) / (ceiling - chance)
    prior = pooling * np.linalg.inv(fit.phi_spread)
    n, k = fit.phi.shape
    matrix = np.empty((n, k + 1, k + 1))
    matrix[:, :k, :k] = unpack(layout.matrix(w * at.slope**2).T @ second, k) + prior
    matrix[:, :k, k] = matrix[:, k, :k] = layout.matrix(w * at.slope * lift).T @ first
    matrix[:, k, k] = np.bincount(cols, w * lift**2, n) + SLIGHT_INFORMATION
    residual = w * (cells.y - at.f)
    right = np.empty((n, k + 1))
    right[:, :k] = layout.matrix(residual * at.slope).T @ first + (fit.phi_mean - fit.phi) @ prior
    right[:, k] = np.bincount(cols, residual * lift, n)
    step = np.linalg.solve(matrix, right[:, :, None])[:, -1, 0]
    return cells.chance + step, np.linalg.inv(matrix)[:, -1, -1].astype(float)
