"""Where each score sits: subjects and benchmarks as index arrays, with fast sums over both sides."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.floating[Any]]
Mask = NDArray[np.bool_]
Ints = NDArray[np.intp]


@dataclass(frozen=True)
class Layout:
    """The pattern of a sparse score matrix: score ``i`` is subject ``rows[i]`` on benchmark ``cols[i]``.

    ``rows`` must be sorted, and every subject and benchmark must have at least one score: then the sum over each
    subject is one ``reduceat``. All sums take arrays of shape ``(replicates, scores)``.
    """

    rows: Ints
    cols: Ints
    n_subjects: int
    n_benchmarks: int

    @classmethod
    def of(cls, rows: ArrayLike, cols: ArrayLike) -> Layout:
        """Check and wrap two index arrays of equal length, sorted by subject."""
        r, c = np.asarray(rows, dtype=np.intp), np.asarray(cols, dtype=np.intp)
        if r.shape != c.shape or r.ndim != 1 or r.size == 0:
            raise ValueError("rows and cols must be non-empty one-dimensional arrays of equal length")
        if np.any(np.diff(r) < 0):
            raise ValueError("rows must be sorted by subject")
        subjects, benchmarks = int(r[-1]) + 1, int(c.max()) + 1
        if np.bincount(r).min() == 0 or np.bincount(c).min() == 0:
            raise ValueError("every subject and every benchmark needs at least one score")
        return cls(r, c, subjects, benchmarks)

    @property
    def n_scores(self) -> int:
        """Number of scores."""
        return self.rows.size

    @cached_property
    def subject_starts(self) -> Ints:
        """Position of each subject's first score."""
        return np.searchsorted(self.rows, np.arange(self.n_subjects)).astype(np.intp)

    @cached_property
    def by_benchmark(self) -> Ints:
        """Positions of the scores ordered by benchmark."""
        return np.argsort(self.cols, kind="stable").astype(np.intp)

    @cached_property
    def benchmark_starts(self) -> Ints:
        """Position of each benchmark's first score in ``by_benchmark``."""
        return np.searchsorted(self.cols[self.by_benchmark], np.arange(self.n_benchmarks)).astype(np.intp)

    @cached_property
    def cells(self) -> Ints:
        """Flat position of each score in the dense subjects × benchmarks matrix."""
        return self.rows * self.n_benchmarks + self.cols

    def over_subjects(self, x: Floats) -> Floats:
        """Sum ``x`` (replicates, scores) over the scores of each subject."""
        if x.shape[0] == 1:
            return np.asarray(np.bincount(self.rows, x[0], self.n_subjects)[None], dtype=float)
        return np.add.reduceat(x, self.subject_starts, axis=1)

    def over_benchmarks(self, x: Floats) -> Floats:
        """Sum ``x`` (replicates, scores) over the scores of each benchmark."""
        if x.shape[0] == 1:
            return np.asarray(np.bincount(self.cols, x[0], self.n_benchmarks)[None], dtype=float)
        return np.add.reduceat(np.take(x, self.by_benchmark, axis=1), self.benchmark_starts, axis=1)
