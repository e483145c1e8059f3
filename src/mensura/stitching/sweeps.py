"""The default model's data and posterior: means and covariances of both sides, and what they say of any pair."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mensura.core.arrays import Floats, Ints, Mask
from mensura.stitching.laplace import ArrowPrecision
from mensura.stitching.layout import (
    ScoreLayout,
    bounded,
    invert,
    levels,
    pack,
    pack_squares,
    pack_twice,
    paired_products,
    unpack,
    variance_shape,
)


@dataclass(frozen=True, eq=False)
class Cells:
    """The data of a fit: scores on a layout, levels per benchmark, what is known about every subject.

    ``sampling`` (scores,) is the known sampling variance of each score (0 where unknown); ``weights`` (scores,) count
    each score (bootstrap); ``x`` (subjects, q) are the prior's regressors, a constant first, of which the first
    ``lasting`` inform the residual dimensions too (default all). ``right_or_wrong`` marks single answers, 0 or 1, whose
    variance is f (1 − f) and needs no overdispersion. ``step`` is the shape of the curve (:mod:`.floors`), ``gain``
    (scores,) what a slow leak adds to η.
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
    gain: Floats | float = 0.0

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """Chance and ceiling at every score."""
        return self.chance[self.layout.cols], self.ceiling[self.layout.cols]


class Surprise(NamedTuple):
    """Scores that neither the fit nor ordinary noise explains.

    ``chance`` (scores,) is the probability of that for each score, ``trust`` (scores,) the factor on its precision,
    ``share`` (subjects,) the share of such scores of each subject, and ``spread`` their variance in logits.
    ``change`` (scores,) is the last change of ``trust``, and ``turns`` (scores,) how often its direction changed.
    """

    chance: Floats
    trust: Floats
    share: Floats
    spread: float
    change: Floats
    turns: Floats


NO_SURPRISE = Surprise(np.zeros(1), np.ones(1), np.zeros(1), 0.0, np.zeros(1), np.zeros(1))
"""Every score is ordinary and counts in full."""


@dataclass(frozen=True, eq=False)
class Pooled:
    """Posterior means and covariances of both sides, and the estimated prior.

    ``theta`` (subjects, K), ``phi`` (benchmarks, 1 + K): intercept, then loadings; ``gamma`` (q, K); ``phi_mean``
    (1 + K,) and ``phi_spread`` (1 + K, 1 + K) are the benchmarks' prior; ``dispersion`` (benchmarks,) is ρ.
    ``surprise`` says how much each score counts, and why (:mod:`mensura.stitching.surprise`).
    ``length`` and ``theta_length`` are the part of its steps that each benchmark and each subject takes
    (:mod:`mensura.stitching.pooled`).
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
    theta_length: Floats = field(default_factory=lambda: np.ones(1))
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
    """What a fit expects of every score: η without the gain of a leak, the score f and its derivative in η."""

    eta: Floats
    f: Floats
    slope: Floats


def expect(cells: Cells, fit: Pooled) -> Expected:
    """Return η, expected score and its derivative of every score at the posterior means."""
    eta = fitted_eta(cells.layout, fit)
    return Expected(eta, *levels(*cells.bounds, eta + cells.gain, cells.step))


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
    loadings = pack_twice(fit.phi[:, 1:, None] * fit.phi[:, None, 1:])
    return of_subjects, np.concatenate((loadings, pack_twice(fit.phi_cov)), axis=1)


# One sweep of the default model in closed form: each side given the other, then the prior and the overdispersions.
#
# A sweep linearises η around the current means (working responses z with precisions w) and updates both sides with the
# uncertainty of the other (mean field). All blocks are K × K, so a sweep costs one pass over the scores.

PRIOR_WEIGHT = 4.0
"""Overdispersions and prior variances are shrunk as by this many pseudo-observations."""
SMALLEST_SLOPE = 1e-4
"""Least derivative of a score in η taken in a working response: beyond, a score says nothing about η."""
SMALLEST_SPREAD = 1e-6
"""Floor of prior variances and overdispersions, so that every precision stays finite."""
CEILING_SPREAD = 0.05
"""Prior standard deviation of a ceiling that nobody states, in scores, when its error is carried into draws."""
SLIGHT_RIDGE = 1e-6
"""Keeps the regression of θ solvable when regressors coincide."""


def linearise(cells: Cells, fit: Pooled, at: Expected) -> tuple[Floats, Floats]:
    """Return working responses z and precisions w, so that score ≈ f + f'·(z − η) with z ~ N(η, 1/w)."""
    slope = np.maximum(at.slope, SMALLEST_SLOPE)
    variance = cells.sampling + fit.dispersion[cells.layout.cols] * variance_shape(at.f)
    precision = cells.weights * fit.surprise.trust * slope**2 / variance
    return at.eta + bounded(cells.y - at.f, slope, variance), precision


def update_subjects(cells: Cells, fit: Pooled, response: Floats, precision: Floats) -> Pooled:
    """Posterior of every θ given the benchmark side's means and covariances."""
    layout, k = cells.layout, fit.dimensions
    loadings = fit.phi[:, 1:]
    second = fit.phi_cov[:, 1:, 1:] + loadings[:, :, None] * loadings[:, None]
    offset = fit.phi_cov[:, 0, 1:] + fit.phi[:, :1] * loadings
    by_precision = layout.matrix(precision) @ np.concatenate((pack(second), offset), axis=1)
    matrix = unpack(by_precision[:, :-k], k) + np.eye(k)
    vector = layout.matrix(precision * response) @ loadings - by_precision[:, -k:] + cells.x @ fit.gamma
    covariance = invert(matrix)
    return replace(fit, theta=np.einsum("mij,mj->mi", covariance, vector), theta_cov=covariance)


def update_benchmarks(cells: Cells, fit: Pooled, response: Floats, precision: Floats, pooling: float) -> Pooled:
    """Posterior of every benchmark vector given the subject side's means and covariances."""
    layout = cells.layout
    first, second = extended(fit.theta, fit.theta_cov)
    prior = pooling * np.linalg.inv(fit.phi_spread)
    matrix = unpack(layout.matrix(precision).T @ second, first.shape[1]) + prior
    vector = layout.matrix(precision * response).T @ first + prior @ fit.phi_mean
    covariance = np.linalg.inv(matrix)
    return replace(fit, phi=np.einsum("bij,bj->bi", covariance, vector), phi_cov=covariance)


def learn_subject_prior(cells: Cells, fit: Pooled) -> Pooled:
    """Estimate the prior of θ: regress it on the regressors, then choose the unit so that its variance is 1.

    A release date says how capable a subject is, not in which way: carried beyond the last date, a trend of the
    residual dimensions costs more than it gives (``benchmarks/stitch_forward.py``), so these follow the ``lasting``
    regressors only. Shifting and scaling θ while the benchmark side follows leaves every η as it is (parameter
    expansion), and spares the slow drift that plain updates would need.
    """
    x, k = cells.x, fit.dimensions
    gamma = np.zeros((x.shape[1], k))
    for used, which in ((x.shape[1], slice(0, 1)), (cells.lasting, slice(1, k))):
        part = x[:, :used]
        ridge = SLIGHT_RIDGE * np.eye(part.shape[1])
        gamma[: part.shape[1], which] = np.linalg.solve(part.T @ part + ridge, part.T @ fit.theta[:, which])
    residual = fit.theta - x @ gamma
    spread = residual**2 + np.einsum("mii->mi", fit.theta_cov)
    unit = np.sqrt((spread.sum(axis=0) + 1.0) / (len(spread) + 1.0))
    shift = gamma[0]
    gamma = gamma / unit
    gamma[0] = 0
    follow = np.eye(1 + k)
    follow[0, 1:] = shift
    follow[1:, 1:] *= unit[:, None]
    return replace(
        fit,
        theta=(fit.theta - shift) / unit,
        theta_cov=fit.theta_cov / (unit[:, None] * unit),
        gamma=gamma,
        phi=fit.phi @ follow.T,
        phi_cov=follow @ fit.phi_cov @ follow.T,
        phi_mean=follow @ fit.phi_mean,
        phi_spread=follow @ fit.phi_spread @ follow.T,
    )


def learn_benchmark_prior(fit: Pooled) -> Pooled:
    """Estimate the benchmark vectors' prior: means and covariance of intercept and slope, variances of the rest."""
    mean = np.zeros_like(fit.phi_mean)
    mean[:2] = fit.phi[:, :2].mean(axis=0)
    deviation = fit.phi - mean
    total = deviation.T @ deviation + fit.phi_cov.sum(axis=0)
    spread = (PRIOR_WEIGHT * fit.phi_spread + total) / (PRIOR_WEIGHT + len(deviation))
    related = np.zeros_like(spread)
    related[:2, :2] = spread[:2, :2]
    np.fill_diagonal(related, np.maximum(np.diag(spread), SMALLEST_SPREAD))
    return replace(fit, phi_mean=mean, phi_spread=related)


def learn_dispersion(cells: Cells, fit: Pooled, at: Expected, eta_var: Floats) -> Pooled:
    """One EM step for ρ: the share of each squared error that sampling does not explain, shrunk across benchmarks."""
    if cells.right_or_wrong:
        return fit
    cols, shape = cells.layout.cols, variance_shape(at.f)
    own = fit.dispersion[cols] * shape
    share = own / (own + cells.sampling)
    squared = (cells.y - at.f) ** 2 + at.slope**2 * eta_var
    weights = cells.weights * (1 - fit.surprise.chance)
    excess = weights * (share**2 * squared + own * (1 - share)) / shape
    n = np.bincount(cols, weights, len(fit.phi))
    common = np.exp(np.average(np.log(fit.dispersion), weights=n))
    total = np.bincount(cols, excess, len(fit.phi))
    return replace(fit, dispersion=np.maximum((PRIOR_WEIGHT * common + total) / (PRIOR_WEIGHT + n), SMALLEST_SPREAD))


class Loose(NamedTuple):
    """One more unknown of every benchmark: what it adds to η at every score, and the precision of its prior."""

    lift: Floats
    precision: Floats


def loose_ceilings(cells: Cells, fit: Pooled, which: Mask) -> Loose:
    """Let the ceilings of some benchmarks vary."""
    at, (chance, ceiling) = expect(cells, fit), cells.bounds
    lift = (at.f - chance) / ((ceiling - chance) * np.maximum(at.slope, SMALLEST_SLOPE))
    return Loose(which[cells.layout.cols] * lift, np.full(which.size, CEILING_SPREAD**-2))


def posterior_precision(cells: Cells, fit: Pooled, pooling: float, loose: Sequence[Loose] = ()) -> ArrowPrecision:
    """Joint posterior precision of both sides at the fitted means (Gauss-Newton), with more unknowns of benchmarks."""
    layout, k, more = cells.layout, fit.dimensions, len(loose)
    _, w = linearise(cells, fit, expect(cells, fit))
    weights, loadings, first = layout.matrix(w), fit.phi[:, 1:], with_constant(fit.theta)
    subjects = unpack(weights @ pack_squares(loadings), k) + np.eye(k)
    benchmarks = np.zeros((len(fit.phi), 1 + k + more, 1 + k + more))
    benchmarks[:, : 1 + k, : 1 + k] = unpack(weights.T @ pack_squares(first), 1 + k)
    benchmarks[:, : 1 + k, : 1 + k] += pooling * np.linalg.inv(fit.phi_spread)
    lifts = np.stack([part.lift for part in loose], axis=1) if more else np.empty((layout.n_scores, 0))
    for i, part in enumerate(loose, start=1 + k):
        benchmarks[:, i, : 1 + k] = benchmarks[:, : 1 + k, i] = layout.matrix(w * part.lift).T @ first
        for j, other in enumerate(loose, start=1 + k):
            benchmarks[:, i, j] = np.bincount(layout.cols, w * part.lift * other.lift, len(benchmarks))
        benchmarks[:, i, i] += part.precision

    def coupling(scores: slice | Ints) -> Floats:
        toward = w[scores, None] * loadings[layout.cols[scores]]
        both = np.concatenate((first[layout.rows[scores]], lifts[scores]), axis=1)
        return np.asarray(toward[:, :, None] * both[:, None])

    return ArrowPrecision(layout, subjects, benchmarks, coupling)
