"""Where a class of people stands on the scale that models made: one number with an interval that says how little it is.

    logit of the share above chance = slope_b · (μ_class − difficulty_b) + u_b + error

People are not weak models: what is hard for one is easy for the other, so every benchmark has its own shift u_b for
all people, u_b ~ N(0, ω²), and ω is estimated over the benchmarks. A score of "about zero", at chance or at the ceiling
only bounds the left side. μ has a wide prior; the benchmarks' own error enters through draws of the fit, which people
do not move. Sampled by Gibbs: bounded logits from truncated normals, (μ, u) jointly normal, ω on a grid.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from mensura.core.arrays import Floats, Ints
from mensura.stitching.positions import Positions

PRIOR_SPREADS = 3.0
"""Standard deviation of a class's prior around the mean of the models, in standard deviations among models."""
SHIFT_SCALE = 2.0
"""Scale, in logits, of the half-normal prior of ω."""
SHIFT_GRID = np.linspace(0.1, 6.0, 60)
"""Values of ω that are weighed."""
_LOG_GRID, _TWICE_SQUARED, _PRIOR_LOSS = np.log(SHIFT_GRID), 2 * SHIFT_GRID**2, (SHIFT_GRID / SHIFT_SCALE) ** 2 / 2
BURN_IN = 200
"""Gibbs sweeps before the first draw is kept."""
SWEEPS_PER_DRAW = 5
"""Gibbs sweeps from one draw that is kept to the next: ω and bounded scores move slowly given each other."""


class ClassScores(NamedTuple):
    """Scores of classes of people on benchmarks of a fit, as logits of the share of the way from chance to ceiling.

    ``logit`` and ``error`` (scores,), ``bound`` (scores,): −1 where the truth is at most the logit, +1 at least, 0 for
    a score; ``cols`` are positions of the fit's benchmarks, ``classes`` numbers from 0.
    """

    logit: Floats
    error: Floats
    bound: Ints
    cols: Ints
    classes: Ints


def draw_classes(scores: ClassScores, positions: Positions, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return μ (draws, classes) and ω (draws,), one for every draw of the fit, on the fit's scale."""
    benchmarks, cols = np.unique(scores.cols, return_inverse=True)
    k, b, n = int(scores.classes.max()) + 1, benchmarks.size, len(positions.phi)
    slope, intercept = positions.slope[:, benchmarks], positions.phi[:, benchmarks, 0]
    models = positions.capability
    centre, width = models.mean(axis=1), PRIOR_SPREADS * models.std(axis=1)
    shift, z = 1.0, scores.logit.copy()
    held, taken = np.flatnonzero(scores.bound), np.arange(z.size)
    design = np.zeros((z.size, k + b))
    design[taken, k + cols] = 1.0
    weight = 1 / scores.error**2
    mu, omega, diagonal = np.empty((n, k)), np.empty(n), np.arange(k + b)
    for sweep in range(-BURN_IN, n * SWEEPS_PER_DRAW):
        i = max(sweep, 0) // SWEEPS_PER_DRAW
        if sweep == -BURN_IN or sweep % SWEEPS_PER_DRAW == 0:  # the next draw of the fit: it stays for some sweeps
            design[taken, scores.classes] = slope[i, cols]
            weighted, offset = design.T * weight, intercept[i, cols]
            told = weighted @ design
        prior = np.concatenate((np.full(k, width[i] ** -2), np.full(b, shift**-2)))
        right = weighted @ (z - offset)
        right[:k] += centre[i] * prior[:k]
        precision = told.copy()
        precision[diagonal, diagonal] += prior
        mean = _draw_normal(precision, right, rng)
        z = _bounded_draws(scores, held, offset + design @ mean, rng)
        shift = _draw_shift(mean[k:], rng)
        mu[i], omega[i] = mean[:k], shift
    return mu, omega


def _draw_normal(precision: Floats, right: Floats, rng: np.random.Generator) -> Floats:
    """Draw from the normal distribution with this precision and the mean ``precision⁻¹ right``.

    LAPACK is called directly: at this size NumPy's checks take longer than the arithmetic.
    """
    lapack = scipy.linalg.lapack
    root, _ = lapack.dpotrf(precision, lower=1)
    whitened, _ = lapack.dtrtrs(root, right, lower=1)
    drawn, _ = lapack.dtrtrs(root, whitened + rng.standard_normal(right.size), lower=1, trans=1)
    return np.asarray(drawn)


def _bounded_draws(scores: ClassScores, held: Ints, expected: Floats, rng: np.random.Generator) -> Floats:
    """Keep measured logits; draw those that are only bounded, ``held``, from their side of the bound."""
    z = scores.logit.copy()
    if held.size:
        side, error = -scores.bound[held], scores.error[held]
        at = side * (z[held] - expected[held]) / error
        drawn = scipy.special.ndtri_exp(np.log(1 - rng.random(at.size)) + scipy.special.log_ndtr(at))
        z[held] = expected[held] + error * side * drawn
    return z


def _draw_shift(u: Floats, rng: np.random.Generator) -> float:
    """Draw ω given the benchmarks' shifts."""
    log = -u.size * _LOG_GRID - (u @ u) / _TWICE_SQUARED - _PRIOR_LOSS
    odds = np.exp(log - log.max()).cumsum()
    return float(SHIFT_GRID[np.searchsorted(odds / odds[-1], rng.random(), side="right")])
