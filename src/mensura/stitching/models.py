"""The two fitted models behind one door: estimate, refit with other weights, draw from the posterior."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from mensura.stitching import pooled, rosetta
from mensura.stitching.laplace import LARGEST_COUPLING, ArrowPrecision, draw_deviations, factorise
from mensura.stitching.layout import Floats, Ints
from mensura.stitching.positions import Positions, joined
from mensura.stitching.scores import ScoreSet

CHUNK = 250
"""Replicates handed over at once, between two signs of progress."""
WIDENING = 1.12
"""Factor on the spread of the default model's draws: what a Gaussian approximation at an estimated prior leaves out,
as found on simulated truth (``benchmarks/stitch_coverage.py``)."""


class Model(Protocol):
    """What a result needs of a fitted model. Positions come on the model's own scale, the scale is applied outside."""

    @property
    def data(self) -> ScoreSet:
        """The scores it was fitted to."""

    @property
    def positions(self) -> Positions:
        """The estimate (one draw)."""

    def refit(self, weights: Floats, advance: Callable[[], object] | None = None) -> Positions:
        """Refit with every row of ``weights`` (replicates, scores), starting from the estimate."""

    def sample(self, n: int, rng: np.random.Generator) -> Positions:
        """Draw from the Gaussian approximation of the posterior."""

    def noise(self, expected: Floats, cols: Ints) -> Floats:
        """Variance of a new score around its expectation."""

    def place(self, new: ScoreSet, phi: Floats) -> tuple[Floats, Floats]:
        """Mean (S, K) and covariance (S, K, K) of new subjects' θ, the benchmarks held at ``phi`` (B, 1 + K)."""


@dataclass(frozen=True)
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
    def residual_variance(self) -> float:
        """Squared error per degree of freedom."""
        data = self.data
        expected = 1 / (1 + np.exp(-self.positions.eta(data.layout.rows, data.layout.cols)[0]))
        free = data.counts.sum() - len(data.subjects) - 2 * len(data.benchmarks)
        return float((data.counts * (data.y - expected) ** 2).sum() / max(free, 1.0))

    def refit(self, weights: Floats, advance: Callable[[], object] | None = None) -> Positions:
        """Refit with every row of ``weights``, some replicates at a time."""
        parts = []
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
            for _ in range(len(chunk) if advance else 0):
                advance()  # type: ignore[misc]
        return joined(parts)

    def sample(self, n: int, rng: np.random.Generator) -> Positions:
        """Draw from N(optimum, s² H⁻¹), H the Gauss-Newton matrix of the penalised objective."""
        data, at = self.data, self.solution
        b = len(data.benchmarks)
        slope, distance = at.slope[0], at.C[0][data.layout.rows] - at.D[0][data.layout.cols]
        a = slope[data.layout.cols]
        s = 1 / (1 + np.exp(-a * distance))
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
            side[held, held] = 1e12
        moved, benchmark = draw_deviations(factorise(ArrowPrecision(subject[:, None, None], coupling, side)), n, rng)
        unit = np.sqrt(self.residual_variance)
        drawn = rosetta.Solution(
            at.C + unit * moved[:, :, 0],
            at.D + unit * benchmark[:, :b],
            np.maximum(at.slope + unit * benchmark[:, b:], 0.01),
            at.cost,
            at.gradient,
            0,
        )
        return _as_positions(drawn)

    def noise(self, expected: Floats, cols: Ints) -> Floats:
        """Return the same variance everywhere, as least squares supposes."""
        return np.full_like(expected, self.residual_variance)

    def place(self, new: ScoreSet, phi: Floats) -> tuple[Floats, Floats]:
        """Ridge-penalised least squares for C alone."""
        variance = self.residual_variance + new.sampling
        prior = np.full((1, 1), self.penalty / self.residual_variance)
        return _place(new, phi, lambda _: variance, prior)


@dataclass(frozen=True)
class PooledModel:
    """The default model with its variational posterior."""

    data: ScoreSet
    cells: pooled.Cells
    fitted: pooled.Pooled
    pooling: float

    @classmethod
    def fit(cls, data: ScoreSet, x: Floats, dimensions: int, pooling: float) -> PooledModel:
        """Fit with ``dimensions`` latent dimensions and the given prior regressors."""
        single = bool(np.isin(data.y, (0.0, 1.0)).all())
        cells = pooled.Cells(data.layout, data.y, data.chance, data.ceiling, data.sampling, data.counts, x, single)
        fitted = pooled.solve_pooled(cells, dimensions, pooling=pooling)
        if len(data.subjects) * fitted.dimensions * fitted.phi.size <= LARGEST_COUPLING:
            fitted = pooled.calibrated(cells, fitted, pooling=pooling)
        return cls(data, cells, fitted, pooling)

    @property
    def positions(self) -> Positions:
        """The estimate."""
        return Positions(self.fitted.theta[None], self.fitted.phi[None])

    def refit(self, weights: Floats, advance: Callable[[], object] | None = None) -> Positions:
        """Refit with every row of ``weights``; the prior and the overdispersions stay as estimated."""
        parts = []
        for row in weights:
            cells = replace(self.cells, weights=self.cells.weights * row)
            again = pooled.solve_pooled(
                cells, self.fitted.dimensions, start=self.fitted, learn=False, pooling=self.pooling, tolerance=1e-2
            )
            parts.append(Positions(again.theta[None], again.phi[None]))
            if advance:
                advance()
        return joined(parts)

    def sample(self, n: int, rng: np.random.Generator) -> Positions:
        """Draw both sides together; when too large for that, each side by itself (mean field)."""
        fit, data = self.fitted, self.data
        subjects, k, j = len(data.subjects), fit.dimensions, fit.phi.size
        if subjects * k * j > LARGEST_COUPLING:
            theta = _draw(fit.theta, fit.theta_cov, n, rng)
            return Positions(theta, _draw(fit.phi, fit.phi_cov, n, rng))
        precision = pooled.posterior_precision(self.cells, fit, self.pooling)
        moved, benchmark = draw_deviations(factorise(precision), n, rng)
        return Positions(fit.theta + WIDENING * moved, fit.phi + WIDENING * benchmark.reshape(n, *fit.phi.shape))

    def noise(self, expected: Floats, cols: Ints) -> Floats:
        """Overdispersion of the benchmark at that expectation."""
        return np.asarray(self.fitted.dispersion[cols] * pooled.variance_shape(expected))

    def place(self, new: ScoreSet, phi: Floats) -> tuple[Floats, Floats]:
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


def _place(
    new: ScoreSet, phi: Floats, variance: Callable[[Floats], Floats], prior: Floats, sweeps: int = 40
) -> tuple[Floats, Floats]:
    """Iterate linearised updates of θ with benchmarks fixed; prior mean 0, precision ``prior``."""
    layout, k = new.layout, phi.shape[1] - 1
    loadings, offset = phi[layout.cols, 1:], phi[layout.cols, 0]
    theta = np.zeros((layout.n_subjects, k))
    matrix = np.zeros((layout.n_subjects, k, k))
    for _ in range(sweeps):
        eta = offset + np.einsum("ij,ij->i", loadings, theta[layout.rows])
        f, slope = pooled.levels(new.chance[layout.cols], new.ceiling[layout.cols], eta)
        slope = np.maximum(slope, 1e-3)
        noise = variance(f)
        w = new.counts * slope**2 / noise
        z = eta - offset + pooled.bounded(new.y - f, slope, noise)
        matrix = pooled.symmetric_sums(layout.rows, w, loadings[:, :, None] * loadings[:, None], layout.n_subjects)
        vector = pooled.sums(layout.rows, w * z, loadings, layout.n_subjects)
        before, theta = theta, np.linalg.solve(matrix + prior, vector[:, :, None])[:, :, 0]
        if np.abs(theta - before).max() < 1e-6:
            break
    return theta, np.linalg.inv(matrix + prior)
