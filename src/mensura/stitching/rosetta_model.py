"""The published model as a fit: its optimum, refits with other weights, draws around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mensura.core.arrays import Floats, Ints, Mask, expit
from mensura.stitching import rosetta
from mensura.stitching.convergence import Convergence
from mensura.stitching.laplace import ArrowPrecision, draw_deviations, factorise
from mensura.stitching.placing import Placed, SubjectPrior, place_subjects
from mensura.stitching.positions import Positions, joined
from mensura.stitching.scores import ScoreSet
from mensura.stitching.symmetric import pack_squares, unpack

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
