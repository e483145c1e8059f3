"""Draws and covariances of the Gaussian approximation of a two-sided posterior, both sides uncertain together.

The precision matrix is an arrow: one K × K block per subject, one L × L block per benchmark, and a K × L block for
every score that couples its subject with its benchmark. The subject side is eliminated, so that only the benchmark
side needs a factorisation:

    benchmark side ~ N(φ, S⁻¹),  S = P − Σ_m E_mᵀ A_m⁻¹ E_m,      θ_m | φ' ~ N(θ_m − A_m⁻¹ E_m (φ' − φ), A_m⁻¹).

Nothing as large as subjects × benchmarks is ever held: the subjects pass by in groups, and their couplings are formed
as they do. Where there are many more benchmarks than subjects the two sides change places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy

from mensura.core.arrays import Floats, Ints
from mensura.stitching.layout import ScoreLayout

SMALLEST_SHARE = 1e-10
"""Eigenvalues of a precision below this share of the largest are lifted to it."""
LARGEST_SIDE = 6_000
"""Unknowns of the smaller side beyond which its matrix (some 300 MB) is not factorised."""
WORTH_TURNING = 1_000
"""Unknowns of the benchmark side from which the subjects stay instead, if they have fewer."""
NUMBERS_AT_ONCE = 1 << 20
"""Numbers of a coupling that are formed together."""
SPARSE = 0.15
"""Share of cells with a score below which every subject meets its own benchmarks alone."""


@dataclass(frozen=True, eq=False, repr=False)
class ArrowPrecision:
    """``subjects`` (M, K, K), ``benchmarks`` (B, L, L) and the ``coupling`` (scores, K, L) of any scores of a layout.

    ``by_kind`` orders the benchmark side kind by kind (every first unknown, then every second) instead of benchmark by
    benchmark: the order decides which random number an unknown gets.
    """

    layout: ScoreLayout
    subjects: Floats
    benchmarks: Floats
    coupling: Callable[[slice | Ints], Floats]
    by_kind: bool = False

    @property
    def factorable(self) -> bool:
        """Whether the side that stays is small enough."""
        subjects, benchmarks = self._unknowns
        return (subjects if self.upside_down else benchmarks) <= LARGEST_SIDE

    @property
    def upside_down(self) -> bool:
        """Whether the benchmark side is the one to eliminate."""
        subjects, benchmarks = self._unknowns
        return benchmarks > WORTH_TURNING and benchmarks > subjects

    @property
    def _unknowns(self) -> tuple[int, int]:
        return int(self.subjects[:, 0].size), int(self.benchmarks[:, 0].size)

    def turned(self) -> ArrowPrecision:
        """Return the same matrix with the sides in each other's place."""
        layout, order = self.layout, self.layout.by_benchmark
        turned = ScoreLayout(layout.cols[order], layout.rows[order], layout.n_benchmarks, layout.n_subjects)
        return ArrowPrecision(
            turned, self.benchmarks, self.subjects, lambda which: self.coupling(order[which]).transpose(0, 2, 1)
        )


class Group(NamedTuple):
    """Some subjects on their way past: which, their scores, and ``half`` = root⁻¹ E (subjects of the group, K, J).

    ``unknowns`` (subjects, J) are the places on the other side of what ``half`` couples them with; None: all of it, in
    order. Score i of the group couples subject ``rows[i]`` with the ``cols[i]``-th benchmark of ``half``.
    """

    subjects: slice | Ints
    scores: slice | Ints
    rows: Ints
    cols: Ints
    half: Floats
    unknowns: Ints | None = None

    def take_from(self, schur: Floats) -> None:
        """Subtract halfᵀ half of every subject."""
        if self.unknowns is None:
            flat = self.half.reshape(-1, len(schur))
            schur -= flat.T @ flat
            return
        places = self.unknowns[:, :, None] * len(schur) + self.unknowns[:, None]
        np.subtract.at(schur.reshape(-1), places.ravel(), (self.half.transpose(0, 2, 1) @ self.half).ravel())

    def applied(self, side: Floats) -> Floats:
        """Return half times columns (J, n) of the other side."""
        (n, k, reach), places = self.half.shape, self.unknowns
        if places is None:
            return np.asarray(self.half.reshape(n * k, -1) @ side).reshape(n, k, -1)
        columns, starts = np.repeat(places, k, axis=0).ravel(), np.arange(n * k + 1) * reach
        sparse = scipy.sparse.csr_array((self.half.ravel(), columns, starts), shape=(n * k, len(side)))
        return np.asarray(sparse @ side).reshape(n, k, -1)

    def carried(self, whole: Floats) -> Floats:
        """Return half times the covariance (J, J) of the other side, where half reaches."""
        if self.unknowns is None:
            return self.applied(whole)
        return np.asarray(self.half @ whole[self.unknowns[:, :, None], self.unknowns[:, None]])


@dataclass(frozen=True, eq=False, repr=False)
class Factors:
    """``inverse_root`` of every eliminated block, and ``schur``, the Cholesky factor of what is left to the others.

    ``turned`` is the order in which the scores pass where the sides have changed places. ``passing`` lets the
    eliminated side pass once more; where it is small it was kept from the first time.
    """

    precision: ArrowPrecision
    inverse_root: Floats
    schur: Floats
    passing: Callable[[], Iterable[Group]]
    turned: Ints | None = None

    @property
    def side_covariance(self) -> Floats:
        """Covariance S⁻¹ of the side that stays (J, J)."""
        inverse, _ = scipy.linalg.lapack.dpotri(self.schur, lower=1)
        lower = np.tril(inverse)
        return np.asarray(lower + np.tril(inverse, -1).T)


class JointCovariances(NamedTuple):
    """Covariances of every subject (M, K, K) and of every benchmark (B, L, L), both sides uncertain together.

    ``coupled`` (scores,) sums, over the K × L block of each score, precision times covariance.
    """

    subjects: Floats
    benchmarks: Floats
    coupled: Floats


def factorise(precision: ArrowPrecision) -> Factors:
    """Eliminate one side, the subjects unless the benchmarks are many more, and factorise what remains."""
    turned = precision.layout.by_benchmark if precision.upside_down else None
    precision = precision if turned is None else precision.turned()
    b, width = precision.benchmarks.shape[:2]
    inverse_root = np.linalg.inv(np.linalg.cholesky(precision.subjects)).astype(float)
    schur = np.zeros((b, width, b, width))
    i = np.arange(b)
    schur[i, :, i] = precision.benchmarks
    flat = schur.reshape(b * width, b * width)
    passing = _kept_if_small(precision, partial(_passing, precision, inverse_root))
    for group in passing():
        group.take_from(flat)
    if precision.by_kind:
        flat = flat[np.ix_(*(_kind_by_kind(precision),) * 2)]
    return Factors(precision, inverse_root, _root(flat), passing, turned)


def draw_deviations(factors: Factors, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return ``n`` draws of the deviations from the mean: subjects (n, M, K) and benchmarks (n, B, L)."""
    precision = factors.precision
    (m, k), (b, width) = precision.subjects.shape[:2], precision.benchmarks.shape[:2]
    side = scipy.linalg.solve_triangular(factors.schur, rng.standard_normal((b * width, n)), lower=True, trans="T")
    if precision.by_kind:
        side = side[np.argsort(_kind_by_kind(precision))]
    own = np.empty((n, m, k))
    for group in factors.passing():
        free = rng.standard_normal((len(group.half), k, n)) - group.applied(side)
        back = factors.inverse_root[group.subjects].transpose(0, 2, 1)
        own[:, group.subjects] = (back @ free).transpose(2, 0, 1)
    staying = np.ascontiguousarray(side.T).reshape(n, b, width)
    return (own, staying) if factors.turned is None else (staying, own)


def joint_covariances(factors: Factors) -> JointCovariances:
    """Return the covariances within single subjects, benchmarks and scores; the others are never formed."""
    precision, layout = factors.precision, factors.precision.layout
    k, (b, width) = precision.subjects.shape[1], precision.benchmarks.shape[:2]
    whole = factors.side_covariance
    if precision.by_kind:
        whole = whole[np.ix_(*(np.argsort(_kind_by_kind(precision)),) * 2)]
    passing, coupled = np.empty_like(precision.subjects), np.empty(layout.n_scores)
    for group in factors.passing():
        inverse_root = factors.inverse_root[group.subjects]
        carried = group.carried(whole)
        inner = np.eye(k) + carried @ group.half.transpose(0, 2, 1)
        passing[group.subjects] = inverse_root.transpose(0, 2, 1) @ inner @ inverse_root
        cross = (inverse_root.transpose(0, 2, 1) @ carried).reshape(len(carried), k, -1, width)
        coupling = precision.coupling(group.scores)
        coupled[group.scores] = -np.einsum("ikl,ikl->i", cross[group.rows, :, group.cols], coupling)
    i = np.arange(b)
    staying = whole.reshape(b, width, b, width)[i, :, i]
    if factors.turned is None:
        return JointCovariances(passing, staying, coupled)
    in_place = np.empty_like(coupled)
    in_place[factors.turned] = coupled
    return JointCovariances(staying, passing, in_place)


def _kept_if_small(precision: ArrowPrecision, passing: Callable[[], Iterator[Group]]) -> Callable[[], Iterable[Group]]:
    """Keep the groups of few subjects, which pass twice in every round of a calibration; many are formed anew."""
    met = precision.layout.n_scores if _is_thin(precision) else precision.layout.n_subjects * len(precision.benchmarks)
    if met * precision.subjects.shape[1] * precision.benchmarks.shape[1] > NUMBERS_AT_ONCE:
        return passing
    groups = list(passing())
    return lambda: groups


def _is_thin(precision: ArrowPrecision) -> bool:
    """Whether so few cells hold a score that every subject meets its own benchmarks alone."""
    layout = precision.layout
    return layout.n_scores < SPARSE * layout.n_subjects * layout.n_benchmarks


def _passing(precision: ArrowPrecision, inverse_root: Floats) -> Iterator[Group]:
    """Let the subjects pass in groups that fit the memory."""
    layout, (b, width) = precision.layout, precision.benchmarks.shape[:2]
    if _is_thin(precision):
        yield from _alike(precision, inverse_root)
        return
    size = max(1, NUMBERS_AT_ONCE // (precision.subjects.shape[1] * b * width))
    ends = np.append(layout.subject_starts, layout.n_scores)
    for start in range(0, layout.n_subjects, size):
        subjects = slice(start, min(start + size, layout.n_subjects))
        scores = slice(int(ends[subjects.start]), int(ends[subjects.stop]))
        rows, cols = layout.rows[scores] - start, layout.cols[scores]
        yield Group(subjects, scores, rows, cols, _half(precision, inverse_root[subjects], scores, rows, cols, b))


def _alike(precision: ArrowPrecision, inverse_root: Floats) -> Iterator[Group]:
    """Let subjects with equally many scores pass together, each with its own benchmarks alone."""
    layout, width = precision.layout, precision.benchmarks.shape[1]
    counts = np.diff(layout.subject_starts, append=layout.n_scores)
    for count in np.unique(counts):
        who = np.flatnonzero(counts == count)
        size = max(1, NUMBERS_AT_ONCE // max(1, int(count) * width) ** 2)
        for start in range(0, who.size, size):
            subjects = who[start : start + size]
            scores = (layout.subject_starts[subjects][:, None] + np.arange(count)).ravel()
            rows, cols = np.repeat(np.arange(subjects.size), count), np.tile(np.arange(count), subjects.size)
            half = _half(precision, inverse_root[subjects], scores, rows, cols, int(count))
            unknowns = layout.cols[scores].reshape(-1, count)[:, :, None] * width + np.arange(width)
            yield Group(subjects, scores, rows, cols, half, unknowns.reshape(subjects.size, -1))


def _half(
    precision: ArrowPrecision, inverse_root: Floats, scores: slice | Ints, rows: Ints, cols: Ints, reach: int
) -> Floats:
    """Return root⁻¹ E of some subjects (subjects, K, reach × L), E zero where there is no score."""
    k, width = precision.subjects.shape[1], precision.benchmarks.shape[1]
    coupling = np.zeros((len(inverse_root), k, reach, width))
    coupling[rows, :, cols] = precision.coupling(scores)
    return np.asarray(inverse_root @ coupling.reshape(len(coupling), k, -1))


def _kind_by_kind(precision: ArrowPrecision) -> Ints:
    """Positions of the benchmark side's unknowns, every first one, then every second."""
    b, width = precision.benchmarks.shape[:2]
    return np.arange(b * width).reshape(b, width).T.ravel()


def _root(matrix: Floats) -> Floats:
    """Cholesky factor; eigenvalues that rounding or a negative curvature left too small are lifted first."""
    try:
        root: Floats = np.linalg.cholesky(matrix).astype(float)
        pivots = np.diag(root) ** 2
        if pivots.min() > SMALLEST_SHARE * np.abs(matrix).sum(axis=0).max():
            return root
    except np.linalg.LinAlgError:
        pass
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    smallest = SMALLEST_SHARE * max(values[-1], np.finfo(float).tiny)
    return np.linalg.cholesky((vectors * np.maximum(values, smallest)) @ vectors.T).astype(float)
