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

from dataclasses import dataclass, replace

import numpy as np
import scipy

from mensura.core.arrays import Floats, Ints, logit
from mensura.stitching.laplace import factorise, joint_covariances
from mensura.stitching.surprise import learn_surprise, unsurprised
from mensura.stitching.sweeps import (
    Cells,
    Pooled,
    expect,
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
    damping = Damping.begin(fit.phi.shape, fit.length)
    for iteration in range(1, max_iterations + 1):
        response, precision = linearise(cells, fit, at)
        fit = update_subjects(cells, fit, response, precision)
        if learn and iteration > warm:
            fit = learn_subject_prior(cells, fit)
        found = update_benchmarks(cells, fit, response, precision, pooling)
        damping = damping.after(found.phi - fit.phi)
        fit = replace(found, phi=fit.phi + damping.taken, length=damping.length)
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
    found = joint_covariances(factorise(posterior_precision(cells, fit, pooling)))
    joint = replace(fit, theta_cov=found.subjects, phi_cov=found.benchmarks)
    alone = layout.products(*variance_vectors(joint, both=False))
    together = 2 * found.coupled / np.maximum(precision, np.finfo(float).tiny)
    joint = learn_surprise(cells, joint, at, np.maximum(alone + together, 0.0))
    joint = learn_dispersion(cells, joint, at, alone + together)
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
