"""The default model: a logistic factor model with partial pooling, fitted by variational Bayes.

    expected score f = chance_b + (ceiling_b − chance_b) · σ(η),    η = intercept_b + loadings_b · θ_m,
    score − f has mean 0 and variance  sampling + ρ_b (f (1 − f) + 0.01).

θ_m holds the subject's capability and a residual profile; its prior is N(Γᵀ x_m, 1), with x_m a constant, the release
date where known and the pattern of tests taken (:mod:`mensura.stitching.regressors`). Benchmark vectors (intercept,
loadings) have the prior N(mean, variance), where only the capability loading has a mean other than zero: that is what
tells capability from the residual dimensions. Γ, the means, the variances and the overdispersions ρ_b are estimated
from the data (empirical Bayes), so a dimension that does not pay shrinks away by itself.

Each sweep linearises η around the current means and updates both sides in closed form with the uncertainty of the
other (mean field). A sweep costs one pass over the scores; all blocks are K × K, so time grows in proportion to them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.linalg import svds

from mensura.stitching.laplace import ArrowPrecision, factorise, linear_variances, marginal_covariances
from mensura.stitching.layout import Floats, Ints, Layout

SMALLEST_VARIANCE = 0.01
"""Added to f(1 − f): scores near 0 or 1 err too, so that no cell is infinitely sure."""
PRIOR_WEIGHT = 4.0
"""Overdispersions and prior variances are shrunk as by this many pseudo-observations."""
WIDEST_MOVE = 4.0
"""A working response is at most this far from η, or this many standard deviations: keeps early sweeps stable."""
WIDE_SWEEPS = 15
"""Sweeps with the first, wide prior of residual dimensions: learned at once, it would shrink them away unseen."""


@dataclass(frozen=True)
class Cells:
    """The data of a fit: scores on a layout, levels per benchmark, what is known about every subject.

    ``sampling`` (scores,) is the known sampling variance of each score (0 where unknown); ``weights`` (scores,) count
    each score (bootstrap); ``x`` (subjects, q) are the prior's regressors, a constant first. ``right_or_wrong`` marks
    single answers, 0 or 1, whose variance is f (1 − f) and needs no overdispersion.
    """

    layout: Layout
    y: Floats
    chance: Floats
    ceiling: Floats
    sampling: Floats
    weights: Floats
    x: Floats
    right_or_wrong: bool = False


@dataclass(frozen=True)
class Pooled:
    """Posterior means and covariances of both sides, and the estimated prior.

    ``theta`` (subjects, K), ``phi`` (benchmarks, 1 + K): intercept, then loadings; ``gamma`` (q, K); ``phi_mean``
    (1 + K,) and ``phi_spread`` (1 + K, 1 + K) are the benchmarks' prior; ``dispersion`` (benchmarks,) is ρ. ``change``
    is the last change of any η.
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

    @property
    def dimensions(self) -> int:
        """Number of latent dimensions, capability included."""
        return int(self.theta.shape[1])


def solve_pooled(
    cells: Cells,
    dimensions: int,
    *,
    start: Pooled | None = None,
    learn: bool = True,
    pooling: float = 1.0,
    tolerance: float = 2e-3,
    max_iterations: int = 150,
) -> Pooled:
    """Fit the model with ``dimensions`` latent dimensions (capability plus residual ones).

    ``pooling`` multiplies the precision of the benchmarks' prior: above 1 pools more, below 1 less than the data say.
    With ``learn=False`` the prior and the overdispersions stay as in ``start`` (bootstrap replicates).
    """
    fit = start if start is not None else _start(cells, dimensions, pooling)
    eta = _eta(cells.layout, fit)
    warm = 0 if start is not None or dimensions > 1 else 3
    for iteration in range(1, max_iterations + 1):
        response, precision = _linearise(cells, fit, eta)
        fit = _subjects(cells, fit, response, precision)
        if learn and iteration > warm:
            fit = _subject_prior(cells, fit)
        fit = _benchmarks(cells, fit, response, precision, pooling)
        if learn and iteration > warm:
            fit = _benchmark_prior(fit)
        before, eta = eta, _eta(cells.layout, fit)
        if learn:
            fit = _dispersion(cells, fit, eta, eta_variance(fit, cells.layout.rows, cells.layout.cols))
        change = float(np.abs(eta - before).max())
        fit = replace(fit, iterations=iteration, change=change)
        if change < tolerance and iteration > warm + 5:
            break
    return fit


def calibrated(cells: Cells, fit: Pooled, *, pooling: float = 1.0, rounds: int = 12) -> Pooled:
    """Re-estimate the prior and the overdispersions with the joint posterior of both sides.

    Mean field takes each side's uncertainty by itself and so finds too little of it: it would pool too much and make
    intervals too narrow. Alternates both with a few sweeps for the means.
    """
    layout, k = cells.layout, fit.dimensions
    every = np.arange(layout.n_scores)
    for _ in range(rounds):
        factors = factorise(posterior_precision(cells, fit, pooling))
        on_side = np.zeros((layout.n_scores, layout.n_benchmarks, 1 + k))
        on_side[every, layout.cols] = extended(fit.theta, fit.theta_cov)[0][layout.rows]
        variance = linear_variances(
            factors, layout.rows, fit.phi[layout.cols, 1:], on_side.reshape(layout.n_scores, fit.phi.size)
        )
        theta_cov, side_cov = marginal_covariances(factors)
        blocks = side_cov.reshape(layout.n_benchmarks, 1 + k, layout.n_benchmarks, 1 + k)
        i = np.arange(layout.n_benchmarks)
        joint = replace(fit, theta_cov=theta_cov, phi_cov=blocks[i, :, i])
        joint = _dispersion(cells, joint, _eta(layout, joint), variance)
        joint = _benchmark_prior(_subject_prior(cells, joint))
        again = solve_pooled(cells, k, start=joint, learn=False, pooling=pooling, max_iterations=5)
        fit = replace(again, iterations=fit.iterations, change=fit.change)
    return fit


def levels(chance: Floats, ceiling: Floats, eta: Floats) -> tuple[Floats, Floats]:
    """Return the expected score and its derivative in η."""
    s = 1 / (1 + np.exp(-np.clip(eta, -40, 40)))
    return chance + (ceiling - chance) * s, (ceiling - chance) * s * (1 - s)


def variance_shape(f: Floats) -> Floats:
    """Shape of the overdispersion: ρ times this is its variance."""
    return np.asarray(f * (1 - f) + SMALLEST_VARIANCE)


def _start(cells: Cells, dimensions: int, pooling: float) -> Pooled:
    """Start one dimension from the mean scores, several from the fitted one-dimensional model.

    So capability has taken its place before the residual dimensions look for the rest, and these have taken shape
    under a wide prior before it is learned.
    """
    layout = cells.layout
    if dimensions > 1:
        one = solve_pooled(cells, 1, pooling=pooling, tolerance=0.02, max_iterations=40)
        wide = _widened(cells, one, dimensions)
        return solve_pooled(cells, dimensions, start=wide, learn=False, tolerance=0, max_iterations=WIDE_SWEEPS)
    total = np.bincount(layout.cols, cells.weights, layout.n_benchmarks)
    mean = np.bincount(layout.cols, cells.weights * cells.y, layout.n_benchmarks) / np.maximum(total, 1e-9)
    share = np.clip((mean - cells.chance) / (cells.ceiling - cells.chance), 0.05, 0.95)
    phi = np.ones((layout.n_benchmarks, 1 + dimensions))
    phi[:, 0] = np.log(share / (1 - share))
    return Pooled(
        theta=np.zeros((layout.n_subjects, dimensions)),
        theta_cov=np.tile(0.1 * np.eye(dimensions), (layout.n_subjects, 1, 1)),
        phi=phi,
        phi_cov=np.tile(0.01 * np.eye(1 + dimensions), (layout.n_benchmarks, 1, 1)),
        gamma=np.zeros((cells.x.shape[1], dimensions)),
        phi_mean=np.array([0.0, 1.0]),
        phi_spread=np.diag([4.0, 0.25]),
        dispersion=np.full(layout.n_benchmarks, 1.0 if cells.right_or_wrong else 0.03),
    )


def _widened(cells: Cells, fit: Pooled, dimensions: int) -> Pooled:
    """Add residual dimensions to a one-dimensional fit, begun at the leading singular vectors of its residuals."""
    more, layout = dimensions - 1, cells.layout
    shape = (layout.n_subjects, layout.n_benchmarks)
    eta = _eta(layout, fit)
    residual = coo_array((_linearise(cells, fit, eta)[0] - eta, (layout.rows, layout.cols)), shape=shape).tocsr()
    left, size, right = svds(residual, k=more, v0=np.ones(min(shape)))
    unit = np.sqrt(layout.n_subjects)
    filled = np.sqrt(layout.n_scores / (shape[0] * shape[1]))

    def padded(matrix: Floats, diagonal: float) -> Floats:
        n = matrix.shape[-1]
        out = np.zeros((*matrix.shape[:-2], n + more, n + more))
        out[..., :n, :n] = matrix
        out[..., range(n, n + more), range(n, n + more)] = diagonal
        return out

    loadings = right.T * size / (unit * filled)
    return replace(
        fit,
        theta=np.concatenate((fit.theta, left * unit), axis=1),
        theta_cov=padded(fit.theta_cov, 0.1),
        phi=np.concatenate((fit.phi, loadings), axis=1),
        phi_cov=padded(fit.phi_cov, 0.01),
        gamma=np.concatenate((fit.gamma, np.zeros((len(fit.gamma), more))), axis=1),
        phi_mean=np.concatenate((fit.phi_mean, np.zeros(more))),
        phi_spread=padded(fit.phi_spread, 0.3),
    )


def _eta(layout: Layout, fit: Pooled) -> Floats:
    phi = fit.phi[layout.cols]
    return np.asarray(phi[:, 0] + np.einsum("ij,ij->i", phi[:, 1:], fit.theta[layout.rows]))


def _linearise(cells: Cells, fit: Pooled, eta: Floats) -> tuple[Floats, Floats]:
    """Return working responses z and precisions w, so that score ≈ f + f'·(z − η) with z ~ N(η, 1/w)."""
    cols = cells.layout.cols
    f, slope = levels(cells.chance[cols], cells.ceiling[cols], eta)
    slope = np.maximum(slope, 1e-4)
    variance = cells.sampling + fit.dispersion[cols] * variance_shape(f)
    return eta + bounded(cells.y - f, slope, variance), cells.weights * slope**2 / variance


def bounded(residual: Floats, slope: Floats, variance: Floats) -> Floats:
    """Return the step in η that would explain a residual, bounded by what its noise makes plausible."""
    widest = WIDEST_MOVE * np.maximum(1, np.sqrt(variance) / slope)
    return np.asarray(np.clip(residual / slope, -widest, widest))


def _subjects(cells: Cells, fit: Pooled, response: Floats, precision: Floats) -> Pooled:
    """Posterior of every θ given the benchmark side's means and covariances."""
    layout, k = cells.layout, fit.dimensions
    loadings = fit.phi[:, 1:]
    second = fit.phi_cov[:, 1:, 1:] + loadings[:, :, None] * loadings[:, None]
    offset = fit.phi_cov[:, 0, 1:] + fit.phi[:, :1] * loadings
    matrix = symmetric_sums(layout.rows, precision, second[layout.cols], layout.n_subjects) + np.eye(k)
    right = response[:, None] * loadings[layout.cols] - offset[layout.cols]
    vector = sums(layout.rows, precision, right, layout.n_subjects) + cells.x @ fit.gamma
    covariance = np.linalg.inv(matrix)
    return replace(fit, theta=np.einsum("mij,mj->mi", covariance, vector), theta_cov=covariance)


def _benchmarks(cells: Cells, fit: Pooled, response: Floats, precision: Floats, pooling: float) -> Pooled:
    """Posterior of every benchmark vector given the subject side's means and covariances."""
    layout = cells.layout
    first, second = extended(fit.theta, fit.theta_cov)
    prior = pooling * np.linalg.inv(fit.phi_spread)
    matrix = symmetric_sums(layout.cols, precision, second[layout.rows], layout.n_benchmarks) + prior
    vector = sums(layout.cols, precision * response, first[layout.rows], layout.n_benchmarks) + prior @ fit.phi_mean
    covariance = np.linalg.inv(matrix)
    return replace(fit, phi=np.einsum("bij,bj->bi", covariance, vector), phi_cov=covariance)


def extended(theta: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """First and second moments of (1, θ)."""
    first = np.concatenate((np.ones((len(theta), 1)), theta), axis=1)
    second = first[:, :, None] * first[:, None]
    second[:, 1:, 1:] += covariance
    return first, second


def _subject_prior(cells: Cells, fit: Pooled) -> Pooled:
    """Estimate the prior of θ: regress it on the regressors, then choose the unit so that its variance is 1.

    Shifting and scaling θ while the benchmark side follows leaves every η as it is (parameter expansion), and spares
    the slow drift that plain updates would need.
    """
    x, k = cells.x, fit.dimensions
    gamma = np.linalg.solve(x.T @ x + 1e-6 * np.eye(x.shape[1]), x.T @ fit.theta)
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


def _benchmark_prior(fit: Pooled) -> Pooled:
    """Estimate the benchmark vectors' prior: means and covariance of intercept and slope, variances of the rest."""
    mean = np.zeros_like(fit.phi_mean)
    mean[:2] = fit.phi[:, :2].mean(axis=0)
    deviation = fit.phi - mean
    total = deviation.T @ deviation + fit.phi_cov.sum(axis=0)
    spread = (PRIOR_WEIGHT * fit.phi_spread + total) / (PRIOR_WEIGHT + len(deviation))
    related = np.zeros_like(spread)
    related[:2, :2] = spread[:2, :2]
    np.fill_diagonal(related, np.maximum(np.diag(spread), 1e-6))
    return replace(fit, phi_mean=mean, phi_spread=related)


def _dispersion(cells: Cells, fit: Pooled, eta: Floats, eta_var: Floats) -> Pooled:
    """One EM step for ρ: the share of each squared error that sampling does not explain, shrunk across benchmarks."""
    if cells.right_or_wrong:
        return fit
    cols = cells.layout.cols
    f, slope = levels(cells.chance[cols], cells.ceiling[cols], eta)
    squared = (cells.y - f) ** 2 + slope**2 * eta_var
    shape = variance_shape(f)
    own = fit.dispersion[cols] * shape
    share = own / (own + cells.sampling)
    excess = (share**2 * squared + own * (1 - share)) / shape
    n = np.bincount(cols, cells.weights, len(fit.phi))
    common = np.exp(np.average(np.log(fit.dispersion), weights=n))
    total = np.bincount(cols, cells.weights * excess, len(fit.phi))
    return replace(fit, dispersion=np.maximum((PRIOR_WEIGHT * common + total) / (PRIOR_WEIGHT + n), 1e-6))


def eta_variance(fit: Pooled, rows: Ints, cols: Ints) -> Floats:
    """Mean-field variance of η for pairs of subject and benchmark."""
    _, second = extended(fit.theta, fit.theta_cov)
    loadings = fit.phi[:, 1:]
    subject = np.einsum("ij,ijk,ik->i", loadings[cols], fit.theta_cov[rows], loadings[cols])
    return np.asarray(subject + np.einsum("ijk,ijk->i", fit.phi_cov[cols], second[rows]))


def posterior_precision(cells: Cells, fit: Pooled, pooling: float = 1.0) -> ArrowPrecision:
    """Joint posterior precision of both sides at the fitted means (Gauss-Newton)."""
    layout, k = cells.layout, fit.dimensions
    rows, cols = layout.rows, layout.cols
    _, w = _linearise(cells, fit, _eta(layout, fit))
    loadings, first = fit.phi[cols, 1:], extended(fit.theta, fit.theta_cov)[0][rows]
    coupling = np.zeros((layout.n_subjects, k, layout.n_benchmarks, 1 + k))
    coupling[rows, :, cols] = w[:, None, None] * loadings[:, :, None] * first[:, None]
    side = np.zeros((layout.n_benchmarks, 1 + k, layout.n_benchmarks, 1 + k))
    blocks = symmetric_sums(cols, w, first[:, :, None] * first[:, None], layout.n_benchmarks)
    i = np.arange(layout.n_benchmarks)
    side[i, :, i] = blocks + pooling * np.linalg.inv(fit.phi_spread)
    j = fit.phi.size
    subject = symmetric_sums(rows, w, loadings[:, :, None] * loadings[:, None], layout.n_subjects) + np.eye(k)
    return ArrowPrecision(subject, coupling.reshape(layout.n_subjects, k, j), side.reshape(j, j))


def sums(index: Ints, weight: Floats, values: Floats, n: int) -> Floats:
    """Weighted sums of vectors (scores, k) by index: (n, k)."""
    return np.stack([np.bincount(index, weight * column, n) for column in values.T], axis=1)


def symmetric_sums(index: Ints, weight: Floats, values: Floats, n: int) -> Floats:
    """Weighted sums of symmetric matrices (scores, k, k) by index: (n, k, k)."""
    k = values.shape[1]
    out = np.empty((n, k, k))
    for i in range(k):
        for j in range(i + 1):
            out[:, i, j] = out[:, j, i] = np.bincount(index, weight * values[:, i, j], n)
    return out
