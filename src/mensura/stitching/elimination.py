"""The two-sided linear systems of a stitched fit, solved by eliminating the subject side.

Unknowns: one number per subject, then two per benchmark (all *first*, then all *second*). A score couples its subject
with its benchmark only, so the matrix is

    [ A   E ]      A diagonal (subjects), B made of 2 × 2 blocks (benchmarks), E sparse (one entry pair per score),
    [ Eᵀ  B ]

and the Schur complement B − Eᵀ A⁻¹ E on the benchmark side is solved: directly while it is small, by conjugate
gradients preconditioned with its 2 × 2 blocks when there are many benchmarks (every product then costs one pass over
the scores, so that time grows in proportion to them).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TypeVar

import numpy as np
import scipy

from mensura.core.arrays import Floats, Ints, Mask
from mensura.stitching.layout import ScoreLayout

DIRECT_BENCHMARKS = 200
"""Up to this many benchmarks the Schur complement is formed and solved directly."""
LOOSEST = 0.1
"""Relative residual at which conjugate gradients may stop far from the optimum."""
MOST_PRODUCTS = 500
Numbers = TypeVar("Numbers", Floats, Mask)


@dataclass(frozen=True)
class System:
    """Gradient and matrix of some replicates, one row each.

    ``gradient`` and ``diagonal`` (replicates, unknowns), ``mixed`` (replicates, benchmarks): between first and second;
    ``cross_first``, ``cross_second`` (replicates, scores): the couplings E.
    """

    gradient: Floats
    diagonal: Floats
    mixed: Floats
    cross_first: Floats
    cross_second: Floats

    def take(self, which: Mask) -> System:
        """Keep some replicates."""
        return System(*(getattr(self, field.name)[which] for field in fields(self)))

    def holding(self, layout: ScoreLayout, fixed: Mask) -> System:
        """Hold some unknowns (replicates, unknowns) where they are: no gradient, no coupling, unit diagonal."""
        subjects, firsts, seconds = split_unknowns(layout, ~fixed)
        moving = np.take(subjects, layout.rows, axis=1)
        return System(
            np.where(fixed, 0.0, self.gradient),
            np.where(fixed, 1.0, self.diagonal),
            self.mixed * (firsts & seconds),
            self.cross_first * (moving & np.take(firsts, layout.cols, axis=1)),
            self.cross_second * (moving & np.take(seconds, layout.cols, axis=1)),
        )


def split_unknowns(layout: ScoreLayout, x: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Return the subjects, firsts and seconds of (replicates, unknowns), as views."""
    m, b = layout.n_subjects, layout.n_benchmarks
    return x[:, :m], x[:, m : m + b], x[:, m + b :]


def solve_system(layout: ScoreLayout, system: System) -> tuple[Floats, Mask]:
    """Return the step −H⁻¹g (replicates, unknowns), and for which replicates it descends."""
    subjects, *_ = split_unknowns(layout, system.diagonal)
    positive = subjects.min(axis=1) > 0
    root = np.sqrt(np.where(positive[:, None], subjects, 1.0))
    solve = _direct if layout.n_benchmarks <= DIRECT_BENCHMARKS else _iterative
    step = solve(layout, system, root)
    return step, positive & (np.einsum("ij,ij->i", system.gradient, step) < 0)


def _direct(layout: ScoreLayout, system: System, root: Floats) -> Floats:
    """Form the Schur complement as a dense matrix and solve it by Cholesky; where it is not definite, NaN."""
    (replicates, m), n = root.shape, layout.n_benchmarks
    share = np.take(1 / root, layout.rows, axis=1)
    scaled = np.zeros((replicates, m, 2 * n))
    where = 2 * n * layout.rows + layout.cols
    flat = scaled.reshape(replicates, -1)
    flat[:, where] = system.cross_first * share
    flat[:, where + n] = system.cross_second * share
    own, benchmarks = system.gradient[:, :m] / root, system.gradient[:, m:]
    step, i = np.empty_like(system.gradient), np.arange(n)
    for replicate, coupling in enumerate(scaled):
        matrix = np.zeros((2 * n, 2 * n), order="F")
        np.fill_diagonal(matrix, system.diagonal[replicate, m:])
        matrix[i + n, i] = system.mixed[replicate]
        matrix = scipy.linalg.blas.dsyrk(-1.0, coupling.T, beta=1.0, c=matrix, lower=True, overwrite_c=True)
        right = own[replicate] @ coupling - benchmarks[replicate]
        _, side, fault = scipy.linalg.lapack.dposv(matrix, right, lower=True, overwrite_a=True)
        step[replicate, m:] = np.nan if fault else side
        step[replicate, :m] = -(own[replicate] + coupling @ step[replicate, m:]) / root[replicate]
    return step


def _iterative(layout: ScoreLayout, system: System, root: Floats) -> Floats:
    """Solve every replicate by conjugate gradients."""
    parts = (system.gradient, system.diagonal, system.mixed, system.cross_first, system.cross_second)
    return np.stack([_conjugate_step(layout, *row) for row in zip(root**2, *parts, strict=True)])


def _conjugate_step(
    layout: ScoreLayout, pivot: Floats, gradient: Floats, diagonal: Floats, mixed: Floats, first: Floats, second: Floats
) -> Floats:
    """Conjugate gradients on the Schur complement, never formed, preconditioned by its own 2 × 2 blocks.

    They end at a relative residual that tightens with the gradient, so that Newton keeps its fast end.
    """
    m, n, cols = layout.n_subjects, layout.n_benchmarks, layout.cols
    couplings, columns = (np.stack(pair, axis=1).ravel() for pair in ((first, second), (cols, cols + n)))
    starts = 2 * np.append(layout.subject_starts, layout.n_scores)
    coupling = scipy.sparse.csr_array((couplings, columns, starts), shape=(m, 2 * n))
    back, share, blocks = coupling.T.tocsr(), 1 / pivot[layout.rows], np.empty((n, 2, 2))
    taken = ((0, 0, diagonal[m : m + n], first**2), (1, 1, diagonal[m + n :], second**2), (0, 1, mixed, first * second))
    for i, j, own, product in taken:
        blocks[:, i, j] = blocks[:, j, i] = own - np.bincount(cols, product * share, n)
    unsafe = (blocks[:, 0, 0] <= 0) | (np.linalg.det(blocks) <= 0)
    blocks[unsafe] = diagonal[m:].reshape(2, n).T[unsafe, :, None] * np.eye(2)
    inverse = np.linalg.inv(blocks)

    def precondition(x: Floats) -> Floats:
        return np.asarray(np.einsum("bij,jb->ib", inverse, x.reshape(2, n))).ravel()

    def multiply(x: Floats) -> Floats:
        halves = np.concatenate((mixed * x[n:], mixed * x[:n]))
        return np.asarray(diagonal[m:] * x + halves - back @ ((coupling @ x) / pivot))

    right = back @ (gradient[:m] / pivot) - gradient[m:]
    operator, inner = (scipy.sparse.linalg.LinearOperator((2 * n, 2 * n), f) for f in (multiply, precondition))
    tolerance = min(LOOSEST, float(np.sqrt(np.linalg.norm(right))))
    side, _ = scipy.sparse.linalg.cg(operator, right, rtol=tolerance, maxiter=MOST_PRODUCTS, M=inner)
    return np.concatenate((-(gradient[:m] + coupling @ side) / pivot, side))


# One step of the published model's solver: the linear system at a point. Every array has one row per replicate.


@dataclass(frozen=True)
class Point:
    """Parameters ``x`` (replicates, C then D then slopes), expected scores there and data, one row per replicate."""

    x: Floats
    expected: Floats
    y: Floats
    weights: Floats
    penalty: Floats

    def take(self, which: Ints | Mask) -> Point:
        """Keep some replicates."""
        return Point(*(getattr(self, field.name)[which] for field in fields(self)))

    @property
    def cost(self) -> Floats:
        """Objective of every replicate; the anchor's constant share is counted too, as it cancels in comparisons."""
        rest = self.expected - self.y
        squares = np.einsum("ij,ij,ij->i", self.weights, rest, rest)
        return np.asarray(0.5 * (squares + self.penalty[:, 0] * np.einsum("ij,ij->i", self.x, self.x)))


def expected_at(layout: ScoreLayout, x: Floats) -> Floats:
    """Return the expected score σ(α(C − D)) of every score.

    In place, because half the time of a fit is spent here; the bounds keep |α(C − D)| below 200, so nothing overflows.
    """
    C, D, slope = split_unknowns(layout, x)
    distance = np.take(C, layout.rows, axis=1)
    distance -= np.take(D, layout.cols, axis=1)
    distance *= np.take(-slope, layout.cols, axis=1)
    np.exp(distance, out=distance)
    distance += 1
    return np.divide(1, distance, out=distance)


def linearise_point(layout: ScoreLayout, at: Point, damping: Floats, share: Floats) -> System:
    """Return the linear system of the next step at a point.

    With η = α(C − D), s = σ(η): first and second derivative of ½ w r² in η are g = w r s' and h = w (s'² + r s'').
    Of r s'' and the curvature of η only a ``share`` is counted (0: Gauss-Newton, 1: Newton), and the diagonal grows by
    ``damping`` (Levenberg-Marquardt).
    """
    C, D, slopes = split_unknowns(layout, at.x)
    slope = np.take(slopes, layout.cols, axis=1)
    distance = np.take(C, layout.rows, axis=1) - np.take(D, layout.cols, axis=1)
    s = at.expected
    ds = s * (1 - s)
    h = at.weights * ds
    g = h * (s - at.y)
    h *= ds
    if share.any():
        h += share[:, None] * (g * (1 - 2 * s))
    h_slope = h * slope
    h_slope2, twist = h_slope * slope, h_slope * distance
    if share.any():
        twist += share[:, None] * g
    g_slope, by_subject, by_benchmark = g * slope, layout.over_subjects, layout.over_benchmarks
    gradient = np.concatenate((by_subject(g_slope), -by_benchmark(g_slope), by_benchmark(g * distance)), axis=1)
    h *= distance
    h *= distance
    diagonal = np.concatenate((by_subject(h_slope2), by_benchmark(h_slope2), by_benchmark(h)), axis=1)
    diagonal += at.penalty
    diagonal *= 1 + damping[:, None]
    return System(gradient + at.penalty * at.x, diagonal, -by_benchmark(twist), -h_slope2, twist)
