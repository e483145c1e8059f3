"""The default model's data and posterior: means and covariances of both sides, and what they say of any pair."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from mensura.core.arrays import Floats, Ints
from mensura.stitching.layout import ScoreLayout, paired_products
from mensura.stitching.response import by_pieces, levels
from mensura.stitching.symmetric import pack, pack_squares, pack_twice


@dataclass(frozen=True, eq=False)
class Cells:
    """The data of a fit: scores on a layout, levels per benchmark, what is known about every subject.

    ``sampling`` (scores,) is the known sampling variance of each score (0 where unknown); ``weights`` (scores,) count
    each score (bootstrap); ``x`` (subjects, q) are the prior's regressors, a constant first, of which the first
    ``lasting`` inform the residual dimensions too (default all). ``right_or_wrong`` marks single answers, 0 or 1, whose
    variance is f (1 − f) and needs no overdispersion. ``step`` is the shape of the curve (:mod:`.steps`).
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
    step: float = 0.0

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """Chance and ceiling at every score."""
        return self.chance[self.layout.cols], self.ceiling[self.layout.cols]


class Surprise(NamedTuple):
    """Scores that neither the fit nor ordinary noise explains.

    ``chance`` (scores,) is the probability of that for each score, ``trust`` (scores,) the factor on its precision,
    ``share`` (subjects,) the share of such scores of each subject, and ``spread`` their variance in logits.
    """

    chance: Floats
    trust: Floats
    share: Floats
    spread: float


NO_SURPRISE = Surprise(np.zeros(1), np.ones(1), np.zeros(1), 0.0)
"""Every score is ordinary and counts in full."""


@dataclass(frozen=True, eq=False)
class Pooled:
    """Posterior means and covariances of both sides, and the estimated prior.

    ``theta`` (subjects, K), ``phi`` (benchmarks, 1 + K): intercept, then loadings; ``gamma`` (q, K); ``phi_mean``
    (1 + K,) and ``phi_spread`` (1 + K, 1 + K) are the benchmarks' prior; ``dispersion`` (benchmarks,) is ρ.
    ``surprise`` says how much each score counts, and why (:mod:`mensura.stitching.surprise`).
    ``length`` is the part of its steps that each benchmark takes (:mod:`mensura.stitching.damping`).
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
    surprise: Surprise = NO_SURPRISE
    length: Floats = field(default_factory=lambda: np.ones(1))
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


class Expected(NamedTuple):
    """What a fit expects of every score: η, the score f and its derivative in η."""

    eta: Floats
    f: Floats
    slope: Floats


def expect(cells: Cells, fit: Pooled) -> Expected:
    """Return η, expected score and its derivative of every score at the posterior means."""
    eta = fitted_eta(cells.layout, fit)
    return Expected(eta, *by_pieces(partial(levels, step=cells.step), *cells.bounds, eta))


def fitted_eta(layout: ScoreLayout, fit: Pooled) -> Floats:
    """η of every score at the posterior means."""
    return layout.products(with_constant(fit.theta), fit.phi)


def with_constant(theta: Floats) -> Floats:
    """Return (1, θ) of every subject."""
    return np.concatenate((np.ones((len(theta), 1)), theta), axis=1)


def extended(theta: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """First moments (subjects, 1 + K) of (1, θ) and second ones, packed."""
    first = with_constant(theta)
    second = pack_squares(first)
    second[:, first.shape[1] :] += pack(covariance)  # the pairs without the constant come last
    return first, second


def eta_variance(fit: Pooled, rows: Ints, cols: Ints) -> Floats:
    """Mean-field variance of η for pairs of subject and benchmark."""
    return paired_products(*variance_vectors(fit), rows, cols)


def score_variance(layout: ScoreLayout, fit: Pooled) -> Floats:
    """Mean-field variance of η at every score."""
    return layout.products(*variance_vectors(fit))


def variance_vectors(fit: Pooled, *, both: bool = True) -> tuple[Floats, Floats]:
    """Return vectors of subjects and benchmarks whose inner product is the mean-field variance of η.

    Var η = loadings · Cov θ · loadings + E[(1, θ)(1, θ)ᵀ] : Cov φ. Without ``both`` the second moment is taken at the
    mean, which leaves out the product of both sides' variances.
    """
    second = extended(fit.theta, fit.theta_cov)[1] if both else pack_squares(with_constant(fit.theta))
    of_subjects = np.concatenate((pack(fit.theta_cov), second), axis=1)
    return of_subjects, np.concatenate((_doubled_squares(fit.phi[:, 1:]), pack_twice(fit.phi_cov)), axis=1)


def _doubled_squares(vectors: Floats) -> Floats:
    return pack_twice(vectors[:, :, None] * vectors[:, None])
