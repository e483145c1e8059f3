"""The default model as a fit: its variational posterior, refits with other weights, joint draws, placings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from mensura.core.arrays import Floats, Ints, Mask
from mensura.stitching.convergence import Convergence
from mensura.stitching.draws import LEVEL
from mensura.stitching.floors import Asymptotes
from mensura.stitching.laplace import draw_deviations, factorise
from mensura.stitching.placing import Placed, SubjectPrior, place_subjects
from mensura.stitching.pooled import calibrated, solve_pooled
from mensura.stitching.positions import Positions, joined
from mensura.stitching.posterior import Cells, Pooled
from mensura.stitching.redundancy import benchmark_weights
from mensura.stitching.regressors import Background
from mensura.stitching.response import variance_shape
from mensura.stitching.scores import ScoreSet
from mensura.stitching.steps import choose_curve
from mensura.stitching.surprise import mixed_variance, unsure_which
from mensura.stitching.sweeps import posterior_precision

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
    background: Background
    shares: Floats

    @classmethod
    def fit(cls, data: ScoreSet, dimensions: int, pooling: float, *, informed: bool) -> PooledModel:
        """Fit with ``dimensions`` latent dimensions.

        Floors are estimated where no chance level is given, near-duplicates share their weight, and the prior is
        ``informed`` by dates and tests taken.
        """
        shares = np.ones(len(data.benchmarks))
        found = cls._solved(data, dimensions, pooling, informed, shares)
        if not found.cells.right_or_wrong:
            shares = benchmark_weights(found.cells, found.fitted)
        if shares.min() < NO_DUPLICATE:
            found = cls._solved(data, dimensions, pooling, informed, shares)
        if not found.joint:
            return found
        return replace(found, fitted=calibrated(found.cells, found.fitted, pooling=pooling))

    @classmethod
    def _solved(cls, data: ScoreSet, dimensions: int, pooling: float, informed: bool, shares: Floats) -> PooledModel:
        """Estimate floors and fit, benchmarks counting by their ``shares``."""
        single = bool(np.isin(data.y, (0.0, 1.0)).all())
        weights = data.counts * shares[data.layout.cols]
        background = Background.of(data.layout, weights, data.years, informed=informed)
        plain = np.ones((len(data.subjects), 1))
        cells = Cells(data.layout, data.y, data.chance, data.ceiling, data.sampling, weights, plain, single)
        unknown, unknown_ceiling = (~given & (not single) for given in (data.chance_given, data.ceiling_given))
        step, floors = choose_curve(cells, unknown, unknown_ceiling, pooling, shares)
        data = replace(data, chance=floors.chance, ceiling=floors.ceiling, step=step)
        cells = replace(cells, chance=floors.chance, ceiling=floors.ceiling, step=step)
        cells = replace(cells, x=background.x, lasting=background.lasting)
        fitted = solve_pooled(cells, dimensions, pooling=pooling)
        return cls(data, cells, fitted, pooling, floors, background, shares)

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
        fit = self.fitted
        unsure = unsure_which(self.cells, fit)
        precision = posterior_precision(self.cells, unsure, self.pooling, self.floors.ceiling_error > 0)
        if not precision.factorable:
            theta = _draw(fit.theta, fit.theta_cov, n, rng)
            return Positions(theta, _draw(fit.phi, fit.phi_cov, n, rng))
        drawn = draw_deviations(factorise(precision), n, rng)
        for deviations, mean in zip(drawn, (fit.theta, fit.phi), strict=True):
            deviations *= WIDENING
            deviations[:, :, : mean.shape[1]] += mean
        return Positions(drawn[0], drawn[1][:, :, : fit.phi.shape[1]])

    def noise(self, expected: Floats, cols: Ints) -> Floats:
        """Overdispersion of the benchmark at that expectation."""
        return np.asarray(self.fitted.dispersion[cols] * variance_shape(expected))

    def wide_variance(self, expected: Floats, cols: Ints, variance: Floats) -> Floats:
        """Return the normal variance whose 90% interval holds what it must of scores that may surprise.

        ``variance`` is that of an ordinary score. Surprising ones add their spread, with the share of the fit.
        """
        found = self.fitted.surprise
        share = float(found.chance.mean())
        if self.cells.right_or_wrong or share == 0:
            return variance
        chance, ceiling = self.data.chance[cols], self.data.ceiling[cols]
        slope = np.maximum((expected - chance) * (ceiling - expected) / (ceiling - chance), 0.0)
        return mixed_variance(variance, share, found.spread * slope**2, LEVEL)

    def place(self, new: ScoreSet, phi: Floats | None = None) -> Placed:
        """Posterior of θ from what is known of new subjects (:meth:`prior_of`) and their scores.

        Without ``phi`` the benchmarks stand at their estimate, whose own error counts as noise.
        """
        cols = new.layout.cols

        def variance(f: Floats) -> Floats:
            return self.noise(f, cols) + new.sampling

        if phi is not None:
            return place_subjects(new, phi, variance, self.prior_of(new))
        return place_subjects(new, self.fitted.phi, variance, self.prior_of(new), self.fitted.phi_cov)

    def prior_of(self, new: ScoreSet) -> SubjectPrior:
        """Prior of new subjects: as in the fit where their dates and tests are known, else the spread of all."""
        fit, n = self.fitted, len(new.subjects)
        x, known = self.background.of_new(new)
        spread = fit.theta - fit.theta.mean(axis=0)
        total = spread.T @ spread / len(spread) + fit.theta_cov.mean(axis=0)
        mean = np.where(known[:, None], x @ fit.gamma, 0.0)
        precision = np.where(known[:, None, None], np.eye(fit.dimensions), np.linalg.inv(total))
        return SubjectPrior(mean, np.broadcast_to(precision, (n, fit.dimensions, fit.dimensions)))


def _draw(mean: Floats, covariance: Floats, n: int, rng: np.random.Generator) -> Floats:
    root = np.linalg.cholesky(covariance)
    return np.asarray(mean + np.einsum("mij,nmj->nmi", root, rng.standard_normal((n, *mean.shape))))
