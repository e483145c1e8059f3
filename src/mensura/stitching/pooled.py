"""The default model: a logistic factor model with partial pooling, fitted by variational Bayes.

    expected score f = chance_b + (ceiling_b − chance_b) · σ(η),    η = intercept_b + loadings_b · θ_m,
    score − f has mean 0 and variance  sampling + ρ_b (f (1 − f) + 0.01).

θ_m holds the subject's capability and a residual profile; its prior is N(Γᵀ x_m, 1), with x_m a constant, the release
date where known and the pattern of tests taken (:mod:`mensura.stitching.surprise`). Benchmark vectors (intercept,
loadings) have the prior N(mean, variance), where only the capability loading has a mean other than zero: that is what
tells capability from the residual dimensions. Γ, the means, the variances and the overdispersions ρ_b are estimated
from the data (empirical Bayes), so a dimension that does not pay shrinks away by itself.

Each sweep linearises η around the current means and updates both sides in closed form with the uncertainty of the
other (mean field). A sweep costs one pass over the scores; all blocks are K × K, so time grows in proportion to them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy

from mensura.core.arrays import Floats, Ints, logit
from mensura.stitching.laplace import factorise, joint_covariances
from mensura.stitching.layout import bounded, levels, pack_squares, pack_twice, unpack
from mensura.stitching.scores import ScoreSet
from mensura.stitching.surprise import learn_surprise, unsurprised
from mensura.stitching.sweeps import (
    Cells,
    Pooled,
    expect,
    extended,
    fitted_eta,
    learn_benchmark_prior,
    learn_dispersion,
    learn_subject_prior,
    linearise,
    posterior_precision,
    score_variance,
    update_benchmarks,
    update_subjects,
    variance_vectors,
)

WIDE_SWEEPS = 15
"""Sweeps with the first, wide prior of residual dimensions: learned at once, it would shrink them away unseen."""
WARM_SWEEPS = 3
"""First sweeps of one dimension, from a rough start, that leave the prior as it is."""
PATIENT_SWEEPS = 5
"""Sweeps before scores can be surprising: a fit that has only begun explains none."""
FEWEST_SWEEPS = 5
"""Sweeps before a small change of η counts as arrival."""
SWEEP_TOLERANCE = 2e-3
"""Change of any η in one sweep, in logits, below which a fit has arrived."""
MOST_SWEEPS = 1000
"""Sweeps after which a fit is given up. Thin data need some 250: a residual dimension forms slowly."""
ROUND_SWEEPS = 5
ROUND_TOLERANCE = ROUND_SWEEPS * SWEEP_TOLERANCE
"""Change of any η in one round of calibration, sweeps included, below which it has arrived."""
FEWEST_ROUNDS, MOST_ROUNDS = 12, 120
FIRST_RATES = (0.05, 0.95)
"""Mean scores are drawn into this range before their logit starts an intercept."""
FIRST_DISPERSION = 0.03
FIRST_SUBJECT_VARIANCE, FIRST_BENCHMARK_VARIANCE, FIRST_RESIDUAL_SPREAD = 0.1, 0.01, 0.3
"""Posterior variances at the start, and the wide prior variance of a residual loading."""


def solve_pooled(
    cells: Cells,
    dimensions: int,
    *,
    start: Pooled | None = None,
    learn: bool = True,
    surprise: bool = True,
    pooling: float = 1.0,
    tolerance: float = SWEEP_TOLERANCE,
    max_iterations: int = MOST_SWEEPS,
) -> Pooled:
    """Fit the model with ``dimensions`` latent dimensions (capability plus residual ones).

    ``pooling`` multiplies the precision of the benchmarks' prior: above 1 pools more, below 1 less than the data say.
    With ``surprise=False`` every score counts in full. With ``learn=False`` the prior and the overdispersions stay as
    in ``start`` (bootstrap replicates).
    """
    fit = start if start is not None else _start(cells, dimensions, pooling)
    at = expect(cells, fit)
    warm = 0 if start is not None or dimensions > 1 else WARM_SWEEPS
    damping, theta_damping = Damping.begin(fit.phi.shape, fit.length), Damping.begin(fit.theta.shape, fit.theta_length)
    for iteration in range(1, max_iterations + 1):
        response, precision = linearise(cells, fit, at)
        updated = update_subjects(cells, fit, response, precision)
        theta_damping = theta_damping.after(updated.theta - fit.theta)
        fit = replace(updated, theta=fit.theta + theta_damping.taken, theta_length=theta_damping.length)
        if learn and iteration > warm:
            fit = learn_subject_prior(cells, fit)
        updated = update_benchmarks(cells, fit, response, precision, pooling)
        damping = damping.after(updated.phi - fit.phi)
        fit = replace(updated, phi=fit.phi + damping.taken, length=damping.length)
        if learn and iteration > warm:
            fit = learn_benchmark_prior(fit)
        before, at = at, expect(cells, fit)
        if learn:
            variance = score_variance(cells.layout, fit)
            if surprise and iteration > warm + PATIENT_SWEEPS:
                fit = learn_surprise(cells, fit, at, variance)
            fit = learn_dispersion(cells, fit, at, variance)
        change = float(np.abs(at.eta - before.eta).max())
        fit = replace(fit, iterations=iteration, change=change, tolerance=tolerance)
        if fit.converged and iteration > warm + FEWEST_SWEEPS:
            break
    return fit


def calibrated(cells: Cells, fit: Pooled, *, pooling: float) -> Pooled:
    """Re-estimate the prior and the overdispersions with the joint posterior of both sides.

    Mean field takes each side's uncertainty by itself and so finds too little of it: it would pool too much and make
    intervals too narrow. Alternates both with a few sweeps for the means until no η moves any more.
    """
    for done in range(1, MOST_ROUNDS + 1):
        joint = _with_joint_prior(cells, fit, pooling)
        again = solve_pooled(
            cells, fit.dimensions, start=joint, learn=False, pooling=pooling, max_iterations=ROUND_SWEEPS
        )
        change = float(np.abs(fitted_eta(cells.layout, again) - fitted_eta(cells.layout, fit)).max())
        sweeps = fit.iterations + again.iterations
        fit = replace(again, iterations=sweeps, change=change, tolerance=ROUND_TOLERANCE)
        if fit.converged and done >= FEWEST_ROUNDS:
            break
    return fit


def _with_joint_prior(cells: Cells, fit: Pooled, pooling: float) -> Pooled:
    """Estimate the prior and the overdispersions once, from the joint posterior at the current means."""
    layout = cells.layout
    at = expect(cells, fit)
    precision = linearise(cells, fit, at)[1]
    covariances = joint_covariances(factorise(posterior_precision(cells, fit, pooling)))
    joint = replace(fit, theta_cov=covariances.subjects, phi_cov=covariances.benchmarks)
    separate = layout.products(*variance_vectors(joint, both=False))
    together = 2 * covariances.coupled / np.maximum(precision, np.finfo(float).tiny)
    joint = learn_surprise(cells, joint, at, np.maximum(separate + together, 0.0))
    joint = learn_dispersion(cells, joint, at, separate + together)
    return learn_benchmark_prior(learn_subject_prior(cells, joint))


def _start(cells: Cells, dimensions: int, pooling: float) -> Pooled:
    """Start one dimension from the mean scores, several from the fitted one-dimensional model.

    So capability has taken its place before the residual dimensions look for the rest, and these have taken shape
    under a wide prior before it is learned. No score is surprising before they have.
    """
    layout = cells.layout
    if dimensions > 1:
        one = solve_pooled(cells, 1, surprise=False, pooling=pooling, tolerance=0.02, max_iterations=40)
        wide = _widened(cells, one, dimensions)
        return solve_pooled(cells, dimensions, start=wide, learn=False, tolerance=0, max_iterations=WIDE_SWEEPS)
    total = np.bincount(layout.cols, cells.weights, layout.n_benchmarks)
    mean = np.bincount(layout.cols, cells.weights * cells.y, layout.n_benchmarks) / np.maximum(total, 1e-9)
    share = np.clip((mean - cells.chance) / (cells.ceiling - cells.chance), *FIRST_RATES)
    phi = np.ones((layout.n_benchmarks, 1 + dimensions))
    phi[:, 0] = logit(share)
    return Pooled(
        theta=np.zeros((layout.n_subjects, dimensions)),
        theta_cov=np.tile(FIRST_SUBJECT_VARIANCE * np.eye(dimensions), (layout.n_subjects, 1, 1)),
        phi=phi,
        phi_cov=np.tile(FIRST_BENCHMARK_VARIANCE * np.eye(1 + dimensions), (layout.n_benchmarks, 1, 1)),
        gamma=np.zeros((cells.x.shape[1], dimensions)),
        phi_mean=np.array([0.0, 1.0]),
        phi_spread=np.diag([4.0, 0.25]),
        dispersion=np.full(layout.n_benchmarks, 1.0 if cells.right_or_wrong else FIRST_DISPERSION),
        surprise=unsurprised(layout),
    )


def _widened(cells: Cells, fit: Pooled, dimensions: int) -> Pooled:
    """Add residual dimensions to a one-dimensional fit, begun at the leading singular vectors of its residuals.

    The largest loading of each is made positive: rounding decides the sign of a singular vector, and would decide which
    random numbers a draw gets.
    """
    more, layout = dimensions - 1, cells.layout
    shape = (layout.n_subjects, layout.n_benchmarks)
    at = expect(cells, fit)
    residual = scipy.sparse.coo_array(
        (linearise(cells, fit, at)[0] - at.eta, (layout.rows, layout.cols)), shape=shape
    ).tocsr()
    left, size, right = scipy.sparse.linalg.svds(residual, k=more, v0=np.ones(min(shape)))
    turned = np.sign(right[np.arange(more), np.abs(right).argmax(axis=1)])
    left, right = left * turned, right * turned[:, None]
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
        theta_cov=padded(fit.theta_cov, FIRST_SUBJECT_VARIANCE),
        phi=np.concatenate((fit.phi, loadings), axis=1),
        phi_cov=padded(fit.phi_cov, FIRST_BENCHMARK_VARIANCE),
        gamma=np.concatenate((fit.gamma, np.zeros((len(fit.gamma), more))), axis=1),
        phi_mean=np.concatenate((fit.phi_mean, np.zeros(more))),
        phi_spread=padded(fit.phi_spread, FIRST_RESIDUAL_SPREAD),
    )


# Steps that go to and fro: shortened, so that a fit arrives where plain sweeps would swing for ever.
#
# On a benchmark whose floor hardly anybody leaves, a linearised step can overshoot by as much as it was off, and the
# next one back again. Among some benchmarks that is rare, among hundreds it is sure to happen, and one of them would
# keep a whole fit from arriving.

SHORTENED = 0.5
"""Factor on the steps of a vector that swings."""
SWINGING = 0.9
"""A step that turns back swings where it is at least this part as long as the one before: shorter ones die out."""
PATIENCE = 4
"""So many swings in a row are let pass before steps are shortened."""


@dataclass(frozen=True, eq=False)
class Damping:
    """The last full ``step`` of every vector (n, k), its ``swings`` in a row (n,) and the ``length`` of steps (n,)."""

    step: Floats
    swings: Ints
    length: Floats

    @classmethod
    def begin(cls, shape: tuple[int, ...], length: Floats) -> Damping:
        """Begin at a known length of steps, without a memory of earlier ones."""
        return cls(np.zeros(shape), np.zeros(shape[0], dtype=np.int64), np.broadcast_to(length, shape[:1]))

    def after(self, step: Floats) -> Damping:
        """Learn from the next full step."""
        before = (self.step**2).sum(axis=1)
        swings = np.where(-(step * self.step).sum(axis=1) > SWINGING * before, self.swings + 1, 0)
        tired = swings >= PATIENCE
        return Damping(step, np.where(tired, 0, swings), np.where(tired, SHORTENED, 1.0) * self.length)

    @property
    def taken(self) -> Floats:
        """The part of the last full step that is taken."""
        return np.asarray(self.length[:, None] * self.step)


# New subjects on a fit: their θ given the benchmarks, by iterated linearised updates.

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
    new: ScoreSet, phi: Floats, variance: Callable[[Floats], Floats], prior: SubjectPrior, phi_cov: Floats | None = None
) -> Placed:
    """Return the posterior of θ with the benchmarks at ``phi`` (B, 1 + K).

    ``variance`` gives the noise of every score at its expectation. ``phi_cov`` (B, 1 + K, 1 + K) is the benchmarks' own
    error: it makes a score of a benchmark that is hardly known say less. A subject whose step turns back on the one
    before shortens its steps: a score far out on a steep curve would otherwise send it to and fro for ever.
    """
    layout = new.layout
    loadings, offset, squares = phi[layout.cols, 1:], phi[layout.cols, 0], pack_squares(phi[:, 1:])
    gain = new.gain(layout.rows, layout.cols)
    theta, covariance = prior.mean.copy(), np.linalg.inv(prior.precision).astype(float)
    pull = np.einsum("mij,mj->mi", prior.precision, prior.mean)
    step, length, arrived = np.zeros_like(theta), np.ones((layout.n_subjects, 1)), False
    for _ in range(PLACING_SWEEPS):
        eta = offset + np.einsum("ij,ij->i", loadings, theta[layout.rows])
        f, slope = levels(new.chance[layout.cols], new.ceiling[layout.cols], eta + gain, new.step)
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
