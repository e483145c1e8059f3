"""The two fitted models behind one door: estimate, refit with other weights, draw from the posterior."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from mensura.arrays import Floats, Ints, Mask, expit
from mensura.stitching import rosetta
from mensura.stitching.convergence import Convergence
from mensura.stitching.laplace import LARGEST_COUPLING, ArrowPrecision, draw_deviations, factorise
from mensura.stitching.pooled import calibrated, solve_pooled
from mensura.stitching.positions import Positions, joined
from mensura.stitching.posterior import Cells, Pooled
from mensura.stitching.response import bounded, levels, variance_shape
from mensura.stitching.scores import ScoreSet
from mensura.stitching.sweeps import posterior_precision, sums, symmetric_sums

CHUNK = 250
"""Replicates handed over at once, between two signs of progress."""
WIDENING = 1.12
"""Factor on the spread of the default model's draws: what a Gaussian approximation at an estimated prior leaves out,
as found on simulated truth (``benchmarks/stitch_coverage.py``)."""
REFIT_TOLERANCE = 1e-2
"""Change of any η, in logits, below which a bootstrap replicate of the default model has arrived."""
SMALLEST_DRAWN_SLOPE = 0.01
"""Slopes of draws of the published model stay positive, as those of its fits do."""
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


class Model(Protocol):
    """What a result needs of a fitted model. Positions come on the model's own scale, the scale is applied outside."""

    @property
    def data(self) -> ScoreSet:
        """The scores it was fitted to."""

    @property
    def positions(self) -> Positions:
        """The estimate (one draw)."""

    @property
    def convergence(self) -> Convergence:
        """How the fit ended."""

    def refit(self, weights: Floats, advance: Callable[[], object] | None = None) -> tuple[Positions, Mask]:
        """Refit with every row of ``weights`` (replicates, scores) from the estimate; say which ones arrived."""

    def sample(self, n: int, rng: np.random.Generator) -> Positions:
        """Draw from the Gaussian approximation of the posterior."""

    def noise(self, expected: Floats, cols: Ints) -> Floats:
        """Variance of a new score around its expectation."""

    def place(self, new: ScoreSet, phi: Floats) -> Placed:
        """Place new subjects, the benchmarks held at ``phi`` (B, 1 + K)."""


@dataclass(frozen=True, eq=False, repr=False)
class RosettaModel:
    """The published model at its optimum (before the shift to the anchor, which is the scale's business)."""

    data: ScoreSet
    solution: rosetta.Solution
    anchor: int | None
    penalty: float

    @classmethod
    def fit(cls, data: ScoreSet, anchor: int | None, ridge: float) -> RosettaModel:
        """Solve; ``anchor`` is the benchmark whose slope is fixed at 1 and not penalised."""
        subjects, benchmarks = len(data.subjects), len(data.benchmarks)
        penalty = rosetta.penalty_weight(subjects, benchmarks, ridge=ridge, anchored=anchor is not None)
        solution = rosetta.solve_rosetta(data.layout, data.y, anchor=anchor, weights=data.counts, penalty=penalty)
        return cls(data, solution, anchor, penalty)

    @property
    def positions(self) -> Positions:
        """The estimate."""
        return _as_positions(self.solution)

    @property
    def convergence(self) -> Convergence:
        """How the fit ended."""
        at = self.solution
        measure = "largest component of the gradient"
        return Convergence(bool(at.converged[0]), at.iterations, float(at.gradient[0]), at.tolerance, measure)

    @property
    def residual_variance(self) -> float:
        """Squared error per degree of freedom."""
        data = self.data
        expected = expit(self.positions.eta(data.layout.rows, data.layout.cols)[0])
        free = data.counts.sum() - len(data.subjects) - 2 * len(data.benchmarks)
        return float((data.counts * (data.y - expected) ** 2).sum() / max(free, 1.0))

    def refit(self, weights: Floats, advance: Callable[[], object] | None = None) -> tuple[Positions, Mask]:
        """Refit with every row of ``weights``, some replicates at a time."""
        parts, converged = [], []
        for first in range(0, len(weights), CHUNK):
            chunk = weights[first : first + CHUNK] * self.data.counts
            solution = rosetta.solve_rosetta(
                self.data.layout,
                self.data.y,
                anchor=self.anchor,
                weights=chunk,
                penalty=self.penalty,
                start=self.solution,
            )
            parts.append(_as_positions(solution))
            converged.append(solution.converged)
            if advance is not None:
                for _ in chunk:
                    advance()
        return joined(parts), np.concatenate(converged)

    def sample(self, n: int, rng: np.random.Generator) -> Positions:
        """Draw from N(optimum, s² H⁻¹), H the Gauss-Newton matrix of the penalised objective."""
        data, at = self.data, self.solution
        b = len(data.benchmarks)
        slope, distance = at.slope[0], at.C[0][data.layout.rows] - at.D[0][data.layout.cols]
        a = slope[data.layout.cols]
        s = expit(a * distance)
        h = data.counts * (s * (1 - s)) ** 2
        coupling = np.zeros((len(data.subjects), 1, 2 * b))
        coupling[data.layout.rows, 0, data.layout.cols] = -h * a * a
        coupling[data.layout.rows, 0, data.layout.cols + b] = h * a * distance
        subject = np.bincount(data.layout.rows, h * a * a, len(data.subjects)) + self.penalty
        side = np.zeros((2 * b, 2 * b))
        i = np.arange(b)
        side[i, i] = np.bincount(data.layout.cols, h * a * a, b) + self.penalty
        side[i + b, i + b] = np.bincount(data.layout.cols, h * distance**2, b) + self.penalty
        side[i, i + b] = side[i + b, i] = -np.bincount(data.layout.cols, h * a * distance, b)
        if self.anchor is not None:
            held = self.anchor + b
            coupling[:, :, held] = 0
            side[held], side[:, held] = 0, 0
            side[held, held] = 1
        moved, benchmark = draw_deviations(
            factorise(ArrowPrecision(subject[:, None, None].astype(float), coupling, side)), n, rng
        )
        if self.anchor is not None:
            benchmark[:, self.anchor + b] = 0
        unit = np.sqrt(self.residual_variance)
        slopes = np.maximum(at.slope + unit * benchmark[:, b:], SMALLEST_DRAWN_SLOPE)
        difficulties = at.D + unit * benchmark[:, :b]
        phi = np.stack((-slopes * difficulties, slopes), axis=2)
        return Positions((at.C + unit * moved[:, :, 0])[:, :, None], phi)

    def noise(self, expected: Floats, cols: Ints) -> Floats:
        """Return the same variance everywhere, as least squares supposes."""
        return np.full_like(expected, self.residual_variance)

    def place(self, new: ScoreSet, phi: Floats) -> Placed:
        """Ridge-penalised least squares for C alone."""
        variance = self.residual_variance + new.sampling
        prior = np.full((1, 1), self.penalty / self.residual_variance)
        return _place(new, phi, lambda _: variance, prior)


@dataclass(frozen=True, eq=False, repr=False)
class PooledModel:
    """The default model with its variational posterior."""

    data: ScoreSet
    cells: Cells
    fitted: Pooled
    pooling: float

    @classmethod
    def fit(cls, data: ScoreSet, x: Floats, dimensions: int, pooling: float) -> PooledModel:
        """Fit with ``dimensions`` latent dimensions and the given prior regressors."""
        single = bool(np.isin(data.y, (0.0, 1.0)).all())
        cells = Cells(data.layout, data.y, data.chance, data.ceiling, data.sampling, data.counts, x, single)
        fitted = solve_pooled(cells, dimensions, pooling=pooling)
        if len(data.subjects) * fitted.dimensions * fitted.phi.size <= LARGEST_COUPLING:
            fitted = calibrated(cells, fitted, pooling=pooling)
        return cls(data, cells, fitted, pooling)

    @property
    def positions(self) -> Positions:
        """The estimate."""
        return Positions(self.fitted.theta[None], self.fitted.phi[None])

    @property
    def convergence(self) -> Convergence:
        """How the fit ended."""
        at = self.fitted
        measure = "last change of any expected logit"
        return Convergence(at.converged, at.iterations, at.change, at.tolerance, measure)

    def refit(self, weights: Floats, advance: Callable[[], object] | None = None) -> tuple[Positions, Mask]:
        """Refit with every row of ``weights``; the prior and the overdispersions stay as estimated."""
        parts, converged = [], []
        for row in weights:
            cells = replace(self.cells, weights=self.cells.weights * row)
            again = solve_pooled(
                cells,
                self.fitted.dimensions,
                start=self.fitted,
                learn=False,
                pooling=self.pooling,
                tolerance=REFIT_TOLERANCE,
            )
            parts.append(Positions(again.theta[None], again.phi[None]))
            converged.append(again.converged)
            if advance is not None:
                advance()
        return joined(parts), np.array(converged, dtype=bool)

    def sample(self, n: int, rng: np.random.Generator) -> Positions:
        """Draw both sides together; when too large for that, each side by itself (mean field)."""
        fit, data = self.fitted, self.data
        subjects, k, j = len(data.subjects), fit.dimensions, fit.phi.size
        if subjects * k * j > LARGEST_COUPLING:
            theta = _draw(fit.theta, fit.theta_cov, n, rng)
            return Positions(theta, _draw(fit.phi, fit.phi_cov, n, rng))
        precision = posterior_precision(self.cells, fit, self.pooling)
        moved, benchmark = draw_deviations(factorise(precision), n, rng)
        return Positions(fit.theta + WIDENING * moved, fit.phi + WIDENING * benchmark.reshape(n, *fit.phi.shape))

    def noise(self, expected: Floats, cols: Ints) -> Floats:
        """Overdispersion of the benchmark at that expectation."""
        return np.asarray(self.fitted.dispersion[cols] * variance_shape(expected))

    def place(self, new: ScoreSet, phi: Floats) -> Placed:
        """Posterior of θ given the benchmarks, with the spread of all subjects as prior."""
        spread = self.fitted.theta - self.fitted.theta.mean(axis=0)
        total = spread.T @ spread / len(spread) + self.fitted.theta_cov.mean(axis=0)
        cols = new.layout.cols
        return _place(new, phi, lambda f: self.noise(f, cols) + new.sampling, np.linalg.inv(total))


def _as_positions(solution: rosetta.Solution) -> Positions:
    phi = np.stack((-solution.slope * solution.D, solution.slope), axis=2)
    return Positions(solution.C[:, :, None], phi)


def _draw(mean: Floats, covariance: Floats, n: int, rng: np.random.Generator) -> Floats:
    root = np.linalg.cholesky(covariance)
    return np.asarray(mean + np.einsum("mij,nmj->nmi", root, rng.standard_normal((n, *mean.shape))))


def _place(new: ScoreSet, phi: Floats, variance: Callable[[Floats], Floats], prior: Floats) -> Placed:
    """Iterate linearised updates of θ with benchmarks fixed; prior mean 0, precision ``prior``.

    A subject whose step turns back on the one before shortens its steps: a score far out on a steep curve would
    otherwise send it to and fro for ever.
    """
    layout, k = new.layout, phi.shape[1] - 1
    loadings, offset = phi[layout.cols, 1:], phi[layout.cols, 0]
    theta = np.zeros((layout.n_subjects, k))
    matrix, arrived = np.zeros((layout.n_subjects, k, k)), False
    step, length = np.zeros_like(theta), np.ones((layout.n_subjects, 1))
    for _ in range(PLACING_SWEEPS):
        eta = offset + np.einsum("ij,ij->i", loadings, theta[layout.rows])
        f, slope = levels(new.chance[layout.cols], new.ceiling[layout.cols], eta)
        slope = np.maximum(slope, SMALLEST_PLACING_SLOPE)
        noise = variance(f)
        w = new.counts * slope**2 / noise
        z = eta - offset + bounded(new.y - f, slope, noise)
        matrix = symmetric_sums(layout.rows, w, loadings[:, :, None] * loadings[:, None], layout.n_subjects)
        vector = sums(layout.rows, w * z, loadings, layout.n_subjects)
        before, step = step, np.linalg.solve(matrix + prior, vector[:, :, None])[:, :, 0] - theta
        turned = (step * before).sum(axis=1, keepdims=True) < 0
        length = np.where(turned, SHORTENED * length, np.minimum(LENGTHENED * length, 1))
        theta = theta + length * step
        arrived = bool(np.abs(step).max() < PLACING_TOLERANCE)
        if arrived:
            break
    return Placed(theta, np.linalg.inv(matrix + prior).astype(float), arrived)
