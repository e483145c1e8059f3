"""Where each score sits: subjects and benchmarks as index arrays, with fast sums over both sides."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import scipy
from numpy.typing import ArrayLike

from mensura.core.arrays import Floats, Ints, expit
from mensura.core.errors import MensuraError

EMPTY_PER_SCORE = 4
"""Up to so many cells per score the whole matrix is multiplied at once, which is then faster than score by score."""
EMPTY_PER_PRODUCT = 32
"""Up to so many cells per score all products of both sides are formed: gathering two vectors costs as much as that."""
PAIRS_AT_ONCE = 1 << 16
"""Pairs whose products are formed together: few enough to stay in the processor's cache."""


@dataclass(frozen=True, eq=False, repr=False)
class ScoreLayout:
    """The pattern of a sparse score matrix: score ``i`` is subject ``rows[i]`` on benchmark ``cols[i]``.

    ``rows`` are sorted and all indices lie inside the counts (checked); then the sum over each subject is one
    ``reduceat``. A subject or benchmark without scores sums to 0. ``over_subjects`` and ``over_benchmarks`` sum many
    replicates of one number per score; ``matrix`` and ``products`` are
    what every sweep of the default model is made of.
    """

    rows: Ints
    cols: Ints
    n_subjects: int
    n_benchmarks: int

    def __post_init__(self) -> None:
        rows, cols = self.rows, self.cols
        if rows.shape != cols.shape or rows.ndim != 1 or rows.size == 0:
            raise MensuraError("rows and cols: non-empty one-dimensional arrays of equal length are expected")
        if np.any(np.diff(rows) < 0):
            raise MensuraError("rows: must be sorted by subject; sort the scores first")
        for name, index, count in (("rows", rows, self.n_subjects), ("cols", cols, self.n_benchmarks)):
            if index.min() < 0 or index.max() >= count:
                raise MensuraError(
                    f"{name}: indices from 0 to {count - 1} are expected, got {index.min()} to {index.max()}"
                )

    @classmethod
    def of(cls, rows: ArrayLike, cols: ArrayLike) -> ScoreLayout:
        """Wrap two index arrays of equal length, sorted by subject, in which every index up to the largest occurs."""
        r, c = np.asarray(rows, dtype=np.int64), np.asarray(cols, dtype=np.int64)
        layout = cls(r, c, int(r.max(initial=-1)) + 1, int(c.max(initial=-1)) + 1)
        if np.bincount(r).min() == 0 or np.bincount(c).min() == 0:
            raise MensuraError("rows and cols: every subject and every benchmark needs at least one score")
        return layout

    def __repr__(self) -> str:
        return f"<{self.n_scores} scores of {self.n_subjects} subjects on {self.n_benchmarks} benchmarks>"

    @property
    def n_scores(self) -> int:
        """Number of scores."""
        return self.rows.size

    @cached_property
    def subject_starts(self) -> Ints:
        """Position of each subject's first score."""
        return np.searchsorted(self.rows, np.arange(self.n_subjects)).astype(np.int64)

    @cached_property
    def by_benchmark(self) -> Ints:
        """Positions of the scores ordered by benchmark."""
        return np.argsort(self.cols, kind="stable").astype(np.int64)

    @cached_property
    def benchmark_starts(self) -> Ints:
        """Position of each benchmark's first score in ``by_benchmark``."""
        return np.searchsorted(self.cols[self.by_benchmark], np.arange(self.n_benchmarks)).astype(np.int64)

    def over_subjects(self, x: Floats) -> Floats:
        """Sum ``x`` (replicates, scores) over the scores of each subject."""
        if x.shape[0] == 1:
            return np.asarray(np.bincount(self.rows, x[0], self.n_subjects)[None], dtype=float)
        return _sums_of_runs(x, self.subject_starts)

    def over_benchmarks(self, x: Floats) -> Floats:
        """Sum ``x`` (replicates, scores) over the scores of each benchmark."""
        if x.shape[0] == 1:
            return np.asarray(np.bincount(self.cols, x[0], self.n_benchmarks)[None], dtype=float)
        return _sums_of_runs(np.take(x, self.by_benchmark, axis=1), self.benchmark_starts)

    @cached_property
    def filled(self) -> bool:
        """Whether so many cells hold a score that the whole matrix is multiplied."""
        return self.n_subjects * self.n_benchmarks <= EMPTY_PER_SCORE * self.n_scores

    @cached_property
    def cells(self) -> Ints:
        """Position of every score in the whole matrix, subject after subject."""
        return self.rows * self.n_benchmarks + self.cols

    def matrix(self, weights: Floats) -> Floats | scipy.sparse.csr_array:
        """Return the matrix (subjects, benchmarks) of one number per score, dense where that is faster."""
        shape = (self.n_subjects, self.n_benchmarks)
        if self.filled:
            return np.asarray(np.bincount(self.cells, weights, shape[0] * shape[1]), dtype=float).reshape(shape)
        starts = np.append(self.subject_starts, self.n_scores)
        return scipy.sparse.csr_array((weights, self.cols, starts), shape=shape)

    def products(self, of_subjects: Floats, of_benchmarks: Floats) -> Floats:
        """Return the inner product of both sides' vectors (subjects, r) and (benchmarks, r) at every score."""
        if self.n_subjects * self.n_benchmarks > EMPTY_PER_PRODUCT * self.n_scores:
            return paired_products(of_subjects, of_benchmarks, self.rows, self.cols)
        out = np.empty(self.n_scores)
        ends = np.append(self.subject_starts, self.n_scores)
        step = max(1, PAIRS_AT_ONCE // self.n_benchmarks)
        for start in range(0, self.n_subjects, step):
            stop = min(start + step, self.n_subjects)
            scores = slice(int(ends[start]), int(ends[stop]))
            every = of_subjects[start:stop] @ of_benchmarks.T
            out[scores] = np.take(every, self.cells[scores] - start * self.n_benchmarks)
        return out


def paired_products(left: Floats, right: Floats, rows: Ints, cols: Ints) -> Floats:
    """Return left[rows] · right[cols] for every pair, some pairs at a time."""
    out = np.empty(rows.size)
    for start in range(0, rows.size, PAIRS_AT_ONCE):
        some = slice(start, start + PAIRS_AT_ONCE)
        np.einsum("ij,ij->i", left[rows[some]], right[cols[some]], out=out[some])
    return out


def _sums_of_runs(x: Floats, starts: Ints) -> Floats:
    """Sum each run of columns from one start to the next; ``reduceat`` knows no empty runs, which sum to 0 here."""
    filled = np.diff(starts, append=x.shape[1]) > 0
    if filled.all():
        return np.asarray(np.add.reduceat(x, starts, axis=1))
    sums = np.zeros((x.shape[0], starts.size))
    sums[:, filled] = np.add.reduceat(x, starts[filled], axis=1)
    return sums


# Symmetric matrices as rows of their upper triangle, so that many of them are summed or multiplied as one table.


def pack(matrices: Floats) -> Floats:
    """Return the upper triangles (n, k(k + 1)/2) of symmetric matrices (n, k, k)."""
    i, j = _upper(matrices.shape[-1])
    return np.asarray(matrices[:, i, j])


def unpack(packed: Floats, k: int) -> Floats:
    """Return the symmetric matrices (n, k, k) of upper triangles."""
    i, j = _upper(k)
    out = np.empty((len(packed), k, k))
    out[:, i, j] = packed
    out[:, j, i] = packed
    return out


def pack_squares(vectors: Floats) -> Floats:
    """Return the upper triangles of v vᵀ for vectors (n, k)."""
    i, j = _upper(vectors.shape[1])
    return np.asarray(vectors[:, i] * vectors[:, j])


def pack_twice(matrices: Floats) -> Floats:
    """Return upper triangles with doubled off-diagonals: their product with a packed matrix is the trace of both."""
    i, j = _upper(matrices.shape[-1])
    return np.asarray(matrices[:, i, j] * np.where(i == j, 1.0, 2.0))


def invert(matrices: Floats) -> Floats:
    """Return the inverses of many small positive definite matrices (n, k, k).

    Gauss and Jordan's elimination, one pivot of all matrices at a time: for matrices of a few rows that is several
    times faster than a library call for each. Positive definite ones need no exchange of rows.
    """
    work = np.array(matrices.transpose(1, 2, 0), order="C")
    for i in range(len(work)):
        pivot = 1 / work[i, i]
        column, row = work[:, i].copy(), work[i] * pivot
        work -= column[:, None] * row
        work[i], work[:, i] = row, -column * pivot
        work[i, i] = pivot
    return np.ascontiguousarray(work.transpose(2, 0, 1))


@cache
def _upper(k: int) -> tuple[Ints, Ints]:
    """Rows and columns of the upper triangle: asked for in every step of every sweep."""
    return np.triu_indices(k)


# What a score says: its expectation and its variance, given the position η of subject against benchmark.

SMALLEST_VARIANCE = 0.01
"""Added to f(1 − f): scores near 0 or 1 err too, so that no cell is infinitely sure."""
WIDEST_MOVE = 4.0
"""A working response is at most this far from η, or this many standard deviations: keeps early sweeps stable."""


def levels(chance: Floats, ceiling: Floats, eta: Floats, step: float = 0.0) -> tuple[Floats, Floats]:
    """Return the expected score chance + (ceiling − chance) σ(η) and its derivative in η.

    With a ``step`` success rises twice, at η = ±step: σ(η) becomes the mean of σ(η − step) and σ(η + step).
    """
    s = expit(eta) if not step else expit(eta - step)
    steep = s * (1 - s)
    if step:
        second = expit(eta + step)
        s, steep = (s + second) / 2, (steep + second * (1 - second)) / 2
    return chance + (ceiling - chance) * s, (ceiling - chance) * steep


def straighten(score: Floats, chance: Floats, ceiling: Floats, step: float) -> Floats:
    """Return the score that the curve of one step has where the curve with this ``step`` has ``score``."""
    if not step:
        return score
    share = np.clip((score - chance) / (ceiling - chance), 0.0, 1.0)
    lean = 2 * (share - 0.5) * np.cosh(step)
    odds = (lean + np.sqrt(lean**2 + 4 * share * (1 - share))) / 2
    return np.asarray(chance + (ceiling - chance) * odds / (odds + 1 - share))


def variance_shape(f: Floats) -> Floats:
    """Shape of the overdispersion: ρ times this is its variance."""
    return np.asarray(f * (1 - f) + SMALLEST_VARIANCE)


def bounded(residual: Floats, slope: Floats, variance: Floats) -> Floats:
    """Return the step in η that would explain a residual, bounded by what its noise makes plausible."""
    widest = WIDEST_MOVE * np.maximum(1, np.sqrt(variance) / slope)
    return np.asarray(np.clip(residual / slope, -widest, widest))
