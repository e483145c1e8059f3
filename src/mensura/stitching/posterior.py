"""The default model's data and posterior: means and covariances of both sides, and what they say of any pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mensura.arrays import Floats, Ints
from mensura.stitching.layout import ScoreLayout


@dataclass(frozen=True, eq=False)
class Cells:
    """The data of a fit: scores on a layout, levels per benchmark, what is known about every subject.

    ``sampling`` (scores,) is the known sampling variance of each score (0 where unknown); ``weights`` (scores,) count
    each score (bootstrap); ``x`` (subjects, q) are the prior's regressors, a constant first, of which the first
    ``lasting`` inform the residual dimensions too (default all). ``right_or_wrong`` marks single answers, 0 or 1, whose
    variance is f (1 − f) and needs no overdispersion.
    """

    layout: ScoreLayout
    y: Floats
    chance: Floats
    ceiling: Floats
    sampling: Floats
    weights: Floats
    x: Floats
    right_or_wrong: bool = False
    lasting: int | None = None


@dataclass(frozen=True, eq=False)
class Pooled:
    """Posterior means and covariances of both sides, and the estimated prior.

    ``theta`` (subjects, K), ``phi`` (benchmarks, 1 + K): intercept, then loadings; ``gamma`` (q, K); ``phi_mean``
    (1 + K,) and ``phi_spread`` (1 + K, 1 + K) are the benchmarks' prior; ``dispersion`` (benchmarks,) is ρ.
    ``iterations`` counts the sweeps, ``change`` is the last change of any η, ``tolerance`` what it had to come below.
    """

    theta: Floats
    theta_cov: Floats
    phi: Floats
    phi_cov: Floats
    gamma: Floats
    phi_mean: Floats
    phi_spread: Floats
    dispersion: Floats
    iterations: int = 0
    change: float = np.inf
    tolerance: float = 0.0

    @property
    def converged(self) -> bool:
        """Whether the last change of any η was small enough."""
        return self.change < self.tolerance

    @property
    def dimensions(self) -> int:
        """Number of latent dimensions, capability included."""
        return int(self.theta.shape[1])


def fitted_eta(layout: ScoreLayout, fit: Pooled) -> Floats:
    """η of every score at the posterior means."""
    phi = fit.phi[layout.cols]
    return np.asarray(phi[:, 0] + np.einsum("ij,ij->i", phi[:, 1:], fit.theta[layout.rows]))


def extended(theta: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """First and second moments of (1, θ)."""
    first = np.concatenate((np.ones((len(theta), 1)), theta), axis=1)
    second = first[:, :, None] * first[:, None]
    second[:, 1:, 1:] += covariance
    return first, second


def eta_variance(fit: Pooled, rows: Ints, cols: Ints) -> Floats:
    """Mean-field variance of η for pairs of subject and benchmark."""
    _, second = extended(fit.theta, fit.theta_cov)
    loadings = fit.phi[:, 1:]
    subject = np.einsum("ij,ijk,ik->i", loadings[cols], fit.theta_cov[rows], loadings[cols])
    return np.asarray(subject + np.einsum("ijk,ijk->i", fit.phi_cov[cols], second[rows]))
