"""New subjects on a fit: their θ given the benchmarks, by iterated linearised updates."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mensura.core.arrays import Floats, Ints
from mensura.stitching.posterior import extended
from mensura.stitching.response import bounded, levels
from mensura.stitching.scores import ScoreSet
from mensura.stitching.symmetric import pack_squares, pack_twice, unpack

PLACING_SWEEPS, PLACING_TOLERANCE = 100, 1e-6
SHORTENED, LENGTHENED = 0.5, 1.25
"""Factors on a placing's step after one that turned back, and after one that went on."""
SMALLEST_PLACING_SLOPE = 1e-3
"""Least derivative of a score in η taken when placing, so that a step stays finite far out on the curve."""


class Placed(NamedTuple):
    """New subjects on a fit: mean (S, K) and covariance (S, K, K) of their θ, and whether the iteration arrived."""

    theta: Floats
    covariance: Floats
    converged: bool


class SubjectPrior(NamedTuple):
    """What is known of new subjects before their scores: mean (S, K) and precision (S, K, K) of their θ."""

    mean: Floats
    precision: Floats


def place_subjects(
    new: ScoreSet,
    phi: Floats,
    variance: Callable[[Floats], Floats],
    prior: SubjectPrior,
    phi_cov: Floats | None = None,
) -> Placed:
    """Return the posterior of θ with the benchmarks at ``phi`` (B, 1 + K).

    ``variance`` gives the noise of every score at its expectation. ``phi_cov`` (B, 1 + K, 1 + K) is the benchmarks' own
    error: it makes a score of a benchmark that is hardly known say less. A subject whose step turns back on the one
    before shortens its steps: a score far out on a steep curve would otherwise send it to and fro for ever.
    """
    layout = new.layout
    loadings, offset, squares = phi[layout.cols, 1:], phi[layout.cols, 0], pack_squares(phi[:, 1:])
    theta, covariance = prior.mean.copy(), np.linalg.inv(prior.precision).astype(float)
    pull = np.einsum("mij,mj->mi", prior.precision, prior.mean)
    step, length, arrived = np.zeros_like(theta), np.ones((layout.n_subjects, 1)), False
    for _ in range(PLACING_SWEEPS):
        eta = offset + np.einsum("ij,ij->i", loadings, theta[layout.rows])
        f, slope = levels(new.chance[layout.cols], new.ceiling[layout.cols], eta, new.step)
        slope = np.maximum(slope, SMALLEST_PLACING_SLOPE)
        noise: Floats = variance(f)
        if phi_cov is not None:
            noise = noise + slope**2 * benchmark_error(phi_cov, theta, covariance, layout.rows, layout.cols)
        w = new.counts * slope**2 / noise
        z = eta - offset + bounded(new.y - f, slope, noise)
        matrix = unpack(layout.matrix(w) @ squares, theta.shape[1])
        vector = layout.matrix(w * z) @ phi[:, 1:] + pull
        covariance = np.linalg.inv(matrix + prior.precision).astype(float)
        before, step = step, np.einsum("mij,mj->mi", covariance, vector) - theta
        turned = (step * before).sum(axis=1, keepdims=True) < 0
        length = np.where(turned, SHORTENED * length, np.minimum(LENGTHENED * length, 1))
        theta = theta + length * step
        arrived = bool(np.abs(step).max() < PLACING_TOLERANCE)
        if arrived:
            break
    return Placed(theta, covariance, arrived)


def benchmark_error(phi_cov: Floats, theta: Floats, theta_cov: Floats, rows: Ints, cols: Ints) -> Floats:
    """Variance of η that comes from the benchmarks' own error, for pairs of subject and benchmark."""
    _, second = extended(theta, theta_cov)
    return np.asarray(np.einsum("ij,ij->i", pack_twice(phi_cov)[cols], second[rows]))
