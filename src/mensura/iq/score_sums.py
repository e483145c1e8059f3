"""What the scores say of every model and every benchmark, in sums: all that a sweep of the joint model reads of them.

Each sum is a product of a matrix that never changes (which scores are there, or what they are, 0 where there is none)
with a few columns per chain. An array of chains × models × benchmarks, nearly all of it gaps, is never formed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mensura.core.arrays import Floats, Ints, Mask


@dataclass(frozen=True)
class KnownScores:
    """Scores on the logit scale, what each counts for, and to which dimension benchmarks belong."""

    eta: Floats  # models × benchmarks, any number where there is no score
    weights: Floats  # 1 for a usual score, less for a doubtful one, 0 where there is none
    dimension_of: Ints
    members: Floats  # benchmarks × dimensions, 1 where the benchmark belongs to it

    @cached_property
    def weighed(self) -> Floats:
        """Each score times what it counts for."""
        return np.asarray(self.weights * self.eta)

    @cached_property
    def squares(self) -> Floats:
        """The weighed sum of each benchmark's squared scores."""
        return np.asarray((self.weighed * self.eta).sum(axis=0))

    def in_own_dimension(self, sums: Floats) -> Floats:
        """Of sums for every benchmark and dimension (last two axes), return those of each benchmark's own."""
        return sums[..., np.arange(self.dimension_of.size), self.dimension_of]


@dataclass(frozen=True)
class ModelSums:
    """Sums over the scores of each model, each weighed by the precision 1/ψ of its benchmark; chains come first."""

    precision: Floats  # Σ 1/ψ in each dimension
    residual: Floats  # Σ (η − μ) / ψ in each dimension
    loadings: Floats  # Σ λ / ψ in each dimension; an axis of factors before all others
    matrix: Floats  # Σ λ λᵀ / ψ
    vector: Floats  # Σ (η − μ) λ / ψ

    @classmethod
    def of(cls, scores: KnownScores, lines: Floats, noise: Floats) -> ModelSums:
        """Sum up, given (μ, λ) and ψ of every benchmark."""
        there, eta = scores.weights, scores.weighed
        level, slopes = lines[:, :, :1], lines[:, :, 1:]
        chains, benchmarks, size = slopes.shape
        one, slope = scores.members / noise[..., None], slopes / noise[..., None]
        products = (slope[..., :, None] * slopes[..., None, :]).reshape(chains, benchmarks, size * size)
        return cls(
            precision=there @ one,
            residual=eta @ one - there @ (one * level),
            loadings=np.stack([there @ (one * slopes[:, :, k, None]) for k in range(size)]),
            matrix=(there @ products).reshape(chains, -1, size, size),
            vector=eta @ slope - there @ (slope * level),
        )


@dataclass(frozen=True)
class BenchmarkSums:
    """Sums over the models with a score on each benchmark: y is what their dimension leaves of it, x = (1, f)."""

    matrix: Floats  # Σ x xᵀ
    vector: Floats  # Σ x y
    square: Floats  # Σ y²

    @classmethod
    def of(cls, scores: KnownScores, factors: Floats, dimensions: Floats) -> BenchmarkSums:
        """Sum up, given f and u of every model."""
        there, eta, own = scores.weights.T, scores.weighed.T, scores.in_own_dimension
        design = np.concatenate([np.ones((*factors.shape[:2], 1)), factors], axis=2)
        chains, models, size = design.shape
        products = (design[..., :, None] * design[..., None, :]).reshape(chains, models, size * size)
        explained = np.stack([own(there @ (design[:, :, k, None] * dimensions)) for k in range(size)], axis=2)
        return cls(
            matrix=(there @ products).reshape(chains, -1, size, size),
            vector=eta @ design - explained,
            square=scores.squares - 2 * own(eta @ dimensions) + own(there @ dimensions**2),
        )

    def left(self, lines: Floats) -> Floats:
        """Return Σ (y − ℓ · x)² for a line ℓ = (μ, λ) of each benchmark."""
        expected = (self.matrix @ lines[..., None])[..., 0]
        return np.asarray(np.maximum(self.square + (lines * (expected - 2 * self.vector)).sum(axis=2), 0.0))


@dataclass(frozen=True)
class Descent:
    """Who follows whom, by row, and the models in two halves within which nobody follows another."""

    children: Ints
    parents: Ints
    follows: Mask
    halves: tuple[Mask, Mask]

    @classmethod
    def of(cls, parents: Ints) -> Descent:
        """Read a row's predecessor (−1 = none); predecessors form no circle."""
        follows = parents >= 0
        generation = np.zeros(parents.size, dtype=np.int64)
        for _ in range(parents.size):
            later = np.where(follows, generation[parents] + 1, 0)
            if (later == generation).all():
                break
            generation = later
        even = generation % 2 == 0
        return cls(np.flatnonzero(follows), parents[follows], follows, (even, ~even))

    def before(self, values: Floats) -> Floats:
        """Return each row's predecessor's values (last axis but one: rows), 0 where there is none."""
        sums = np.zeros_like(values)
        sums[..., self.children, :] = values[..., self.parents, :]
        return sums

    def after(self, values: Floats) -> Floats:
        """Return the sums of each row's successors' values."""
        totals = np.zeros_like(values.swapaxes(0, -2))
        np.add.at(totals, self.parents, values.swapaxes(0, -2)[self.children])
        return totals.swapaxes(0, -2)
