"""The default model as a fit: its variational posterior, refits with other weights, joint draws, placings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from mensura.core.arrays import Floats, Ints, Mask, expit
from mensura.stitching import rosetta
from mensura.stitching.checks import Convergence
from mensura.stitching.floors import Asymptotes, choose_curve
from mensura.stitching.laplace import ArrowPrecision, draw_deviations, factorise
from mensura.stitching.layout import pack_squares, unpack, variance_shape
from mensura.stitching.leaks import Leaks, estimate_leaks, loose_leaks
from mensura.stitching.pooled import Placed, SubjectPrior, calibrated, place_subjects, solve_pooled
from mensura.stitching.positions import LEVEL, Positions, joined
from mensura.stitching.scores import ScoreSet
from mensura.stitching.surprise import Background, benchmark_weights, mixed_variance, unsure_which
from mensura.stitching.sweeps import Cells, Loose, Pooled, loose_ceilings, posterior_precision

WIDENING = 1.12
"""Factor on the spread of the default model's draws: what a Gaussian approximation at an estimated prior leaves out,
as found on simulated truth (``benchmarks/stitch_coverage.py``)."""
BEND = 1.25 / WIDENING
"""Factor by which positions are less sure than what they say of scores, found the same way. Departures of subjects from
their prior are shared by those of one era, and it takes them for independent: that bends the whole scale, while
benchmarks follow and every η stays."""
NO_DUPLICATE = 0.95
"""Least weight of a benchmark at which nothing is fitted anew: nobody would move."""
REFIT_TOLERANCE = 1e-2
"""Change of any η, in logits, below which a bootstrap replicate of the default model has arrived."""


@dataclass(frozen=True, eq=False, repr=False)
class PooledModel:
    """The default model with its variational posterior."""

    data: ScoreSet
    cells: Cells
    fitted: Pooled
    pooling: float
    floors: Asymptotes
    leaks: Leaks
    background: Background
    shares: Floats

    @classmethod
    def fit(cls, data: ScoreSet, dimensions: int, pooling: float, *, informed: bool) -> PooledModel:
        """Fit with ``dimensions`` latent dimensions.

        Floors are estimated where no chance level is given, near-duplicates share their weight, and the prior is
        ``informed`` by dates and tests taken.
        """
        shares = np.ones(len(data.benchmarks))
        solved = cls._solved(data, dimensions, pooling, informed, shares)
        if not solved.cells.right_or_wrong:
            shares = benchmark_weights(solved.cells, solved.fitted)
        if shares.min() < NO_DUPLICATE:
            solved = cls._solved(data, dimensions, pooling, informed, shares)
        if not solved.joint:
            return solved
        return replace(solved, fitted=calibrated(solved.cells, solved.fitted, pooling=pooling))

    @classmethod
    def _solved(cls, data: ScoreSet, dimensions: int, pooling: float, informed: bool, shares: Floats) -> PooledModel:
        """Estimate floors and fit, benchmarks counting by their ``shares``."""
        single = bool(np.isin(data.y, (0.0, 1.0)).all())
        weights = data.counts * shares[data.layout.cols]
        background = Background.of(data.layout, weights, data.years, informed=informed)
        plain = np.ones((len(data.subjects), 1))
        cells = Cells(data.layout, data.y, data.chance, data.ceiling, data.sampling, weights, plain, single)
        unknown, unknown_ceiling = (~given & (not single) for given in (data.chance_given, data.ceiling_given))
        first = np.nanmin(np.append(data.years, np.inf))  # tests that do not say when they came out count from there
        data = replace(data, published=np.where(np.isfinite(data.published), data.published, first))
        step, floors = choose_curve(cells, unknown, unknown_ceiling, pooling, shares)
        data = replace(data, chance=floors.chance, ceiling=floors.ceiling, step=step)
        cells = replace(cells, chance=floors.chance, ceiling=floors.ceiling, step=step)
        leaks = estimate_leaks(cells, _exposure(data) if informed else np.zeros_like(data.y), pooling, shares)
        data = replace(data, leak=leaks.rate)
        gain = data.gain(data.layout.rows, data.layout.cols)
        cells = replace(cells, x=background.x, lasting=background.lasting, gain=gain)
        fitted = solve_pooled(cells, dimensions, pooling=pooling)
        return cls(data, cells, fitted, pooling, floors, leaks, background, shares)

    @property
    def positions(self) -> Positions:
        """The estimate."""
        return Positions(self.fitted.theta[None], self.fitted.phi[None])

    @property
    def convergence(self) -> Convergence:
        """How the fit ended."""
        at = self.fitted
        return Convergence(at.converged, at.iterations, at.change, at.tolerance, "last change of any expected logit")

    @property
    def bend(self) -> float:
        """Factor on the spread of draws where positions are read off them."""
        return BEND

    @property
    def joint(self) -> bool:
        """Whether both sides are few enough to be uncertain together; else each is by itself (mean field)."""
        return posterior_precision(self.cells, self.fitted, self.pooling).factorable

    def refit(self, weights: Floats, advance: Callable[[], object] | None = None) -> tuple[Positions, Mask]:
        """Refit with every row of ``weights``; the prior and the overdispersions stay as estimated."""
        fit, parts, converged = self.fitted, [], []
        for row in weights:
            cells = replace(self.cells, weights=self.cells.weights * row)
            again = solve_pooled(
                cells, fit.dimensions, start=fit, learn=False, pooling=self.pooling, tolerance=REFIT_TOLERANCE
            )
            parts.append(Positions(again.theta[None], again.phi[None]))
            converged.append(again.converged)
            if advance is not None:
                advance()
        return joined(parts), np.array(converged, dtype=bool)

    def sample(self, n: int, rng: np.random.Generator) -> Positions:
        """Draw both sides together; when too large for that, each side by itself (mean field)."""
        fit = self.fitted
        unsure = unsure_which(self.cells, fit)
        precision = posterior_precision(self.cells, unsure, self.pooling, self._loose(unsure))
        if not precision.factorable:
            theta = _draw(fit.theta, fit.theta_cov, n, rng)
            return Positions(theta, _draw(fit.phi, fit.phi_cov, n, rng))
        drawn = draw_deviations(factorise(precision), n, rng)
        for deviations, mean in zip(drawn, (fit.theta, fit.phi), strict=True):
            deviations *= WIDENING
            deviations[:, :, : mean.shape[1]] += mean
        return Positions(drawn[0], drawn[1][:, :, : fit.phi.shape[1]])

    def _loose(self, fit: Pooled) -> list[Loose]:
        """Return what else is uncertain about benchmarks: ceilings and slow leaks where they were estimated."""
        unsure = self.floors.ceiling_error > 0
        ceilings = [loose_ceilings(self.cells, fit, unsure)] if unsure.any() else []
        return ceilings + ([loose_leaks(self.leaks, _exposure(self.data))] if self.leaks.spread else [])

    def noise(self, expected: Floats, cols: Ints) -> Floats:
        """Overdispersion of the benchmark at that expectation."""
        return np.asarray(self.fitted.dispersion[cols] * variance_shape(expected))

    def wide_variance(self, expected: Floats, cols: Ints, variance: Floats) -> Floats:
        """Return the normal variance whose 90% interval holds what it must of scores that may surprise.

        ``variance`` is that of an ordinary score. Surprising ones add their spread, with the share of the fit.
        """
        terms = self.fitted.surprise
        share = float(terms.chance.mean())
        if self.cells.right_or_wrong or share == 0:
            return variance
        chance, ceiling = self.data.chance[cols], self.data.ceiling[cols]
        slope = np.maximum((expected - chance) * (ceiling - expected) / (ceiling - chance), 0.0)
        return mixed_variance(variance, share, terms.spread * slope**2, LEVEL)

    def place(self, new: ScoreSet, phi: Floats | None = None) -> Placed:
        """Posterior of θ from what is known of new subjects (:meth:`prior_of`) and their scores.

        Without ``phi`` the benchmarks stand at their estimate, whose own error counts as noise.
        """
        at, error = (self.fitted.phi, self.fitted.phi_cov) if phi is None else (phi, None)
        cols, prior = new.layout.cols, self.prior_of(new)
        return place_subjects(new, at, lambda f: self.noise(f, cols) + new.sampling, prior, error)

    def prior_of(self, new: ScoreSet) -> SubjectPrior:
        """Prior of new subjects: as in the fit where their dates and tests are known, else the spread of all."""
        fit, n = self.fitted, len(new.subjects)
        x, known = self.background.of_new(new)
        spread = fit.theta - fit.theta.mean(axis=0)
        total = spread.T @ spread / len(spread) + fit.theta_cov.mean(axis=0)
        mean = np.where(known[:, None], x @ fit.gamma, 0.0)
        precision = np.where(known[:, None, None], np.eye(fit.dimensions), np.linalg.inv(total))
        return SubjectPrior(mean, np.broadcast_to(precision, (n, fit.dimensions, fit.dimensions)))


def _exposure(data: ScoreSet) -> Floats:
    return data.exposure(data.layout.rows, data.layout.cols)


def _draw(mean: Floats, covariance: Floats, n: int, rng: np.random.Generator) -> Floats:
    root = np.linalg.cholesky(covariance)
    return np.asarray(mean + np.einsum("mij,nmj->nmi", root, rng.standard_normal((n, *mean.shape))))


# The published model as a fit: its optimum, refits with other weights, draws around it.

CHUNK = 250
"""Replicates handed over at once, between two signs of progress."""
SMALLEST_DRAWN_SLOPE = 0.01
"""Slopes of draws of the published model stay positive, as those of its fits do."""


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
    def shares(self) -> Floats:
        """Every benchmark counts once, as published."""
        return np.ones(len(self.data.benchmarks))

    @property
    def bend(self) -> float:
        """Positions are as sure as what they say of scores."""
        return 1.0

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
        data, parts, converged = self.data, [], []
        for first in range(0, len(weights), CHUNK):
            chunk = weights[first : first + CHUNK] * data.counts
            solution = rosetta.solve_rosetta(
                data.layout, data.y, anchor=self.anchor, weights=chunk, penalty=self.penalty, start=self.solution
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
        rows, cols = data.layout.rows, data.layout.cols
        a, distance = at.slope[0][cols], at.C[0][rows] - at.D[0][cols]
        s = expit(a * distance)
        h = data.counts * (s * (1 - s)) ** 2
        on_benchmark = np.stack((-a, distance), axis=1)
        if self.anchor is not None:
            on_benchmark[cols == self.anchor, 1] = 0

        def coupling(scores: slice | Ints) -> Floats:
            return np.asarray(((h * a)[scores, None] * on_benchmark[scores])[:, None])

        subjects = data.layout.over_subjects((h * a * a)[None])[0] + self.penalty
        blocks = data.layout.over_benchmarks(h * pack_squares(on_benchmark).T)
        benchmarks = unpack(blocks.T, 2) + self.penalty * np.eye(2)
        if self.anchor is not None:
            benchmarks[self.anchor, 1, 1] = 1
        precision = ArrowPrecision(data.layout, subjects[:, None, None], benchmarks, coupling, by_kind=True)
        moved, benchmark = draw_deviations(factorise(precision), n, rng)
        if self.anchor is not None:
            benchmark[:, self.anchor, 1] = 0
        unit = np.sqrt(self.residual_variance)
        slopes = np.maximum(at.slope + unit * benchmark[:, :, 1], SMALLEST_DRAWN_SLOPE)
        difficulties = at.D + unit * benchmark[:, :, 0]
        phi = np.stack((-slopes * difficulties, slopes), axis=2)
        return Positions((at.C + unit * moved[:, :, 0])[:, :, None], phi)

    def noise(self, expected: Floats, cols: Ints) -> Floats:
        """Return the same variance everywhere, as least squares supposes."""
        return np.full_like(expected, self.residual_variance)

    def place(self, new: ScoreSet, phi: Floats | None = None) -> Placed:
        """Ridge-penalised least squares for C alone."""
        phi = self.positions.phi[0] if phi is None else phi
        variance = self.residual_variance + new.sampling
        precision = np.full((len(new.subjects), 1, 1), self.penalty / self.residual_variance)
        prior = SubjectPrior(np.zeros((len(new.subjects), 1)), precision)
        return place_subjects(new, phi, lambda _: variance, prior)


def _as_positions(solution: rosetta.Solution) -> Positions:
    phi = np.stack((-solution.slope * solution.D, solution.slope), axis=2)
    return Positions(solution.C[:, :, None], phi)


Model = PooledModel | RosettaModel
"""A fitted model. Positions come on the model's own scale; the scale is applied outside."""
