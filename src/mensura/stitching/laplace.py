"""PositionDraws from the Gaussian approximation of a two-sided posterior, both sides uncertain together.

The precision matrix has one K × K block per subject, one square block for the benchmark side and a coupling; the
subject side is eliminated, so that only the benchmark side needs a factorisation:

    benchmark side ~ N(φ, S⁻¹),  S = P − Σ_m E_mᵀ A_m⁻¹ E_m,      θ_m | φ' ~ N(θ_m − A_m⁻¹ E_m (φ' − φ), A_m⁻¹).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from mensura.arrays import Floats, Ints

SMALLEST_SHARE = 1e-10
"""Eigenvalues of a precision below this share of the largest are lifted to it."""
LARGEST_COUPLING = 20_000_000
"""Numbers in the dense coupling beyond which a joint factorisation is not tried."""


@dataclass(frozen=True)
class ArrowPrecision:
    """``subjects`` (M, K, K), ``coupling`` (M, K, J), ``benchmarks`` (J, J): the posterior precision."""

    subjects: Floats
    coupling: Floats
    benchmarks: Floats


@dataclass(frozen=True)
class Factors:
    """Cholesky factors: ``root`` of every subject block, ``half`` = root⁻¹ E, ``schur`` of the benchmark side."""

    root: Floats
    half: Floats
    schur: Floats


def factorise(precision: ArrowPrecision) -> Factors:
    """Eliminate the subject side and factorise what remains."""
    m, k, j = precision.coupling.shape
    root: Floats = np.linalg.cholesky(precision.subjects).astype(float)
    half: Floats = np.linalg.solve(root, precision.coupling).astype(float)
    flat = half.reshape(m * k, j)
    schur = np.linalg.cholesky(_positive(precision.benchmarks - flat.T @ flat))
    return Factors(root, half, schur.astype(float))


def draw_deviations(factors: Factors, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return ``n`` draws of the deviations from the mean: subjects (n, M, K) and benchmark side (n, J)."""
    m, k, j = factors.half.shape
    side = solve_triangular(factors.schur, rng.standard_normal((j, n)), lower=True, trans="T")
    own = rng.standard_normal((m, k, n)) - (factors.half.reshape(m * k, j) @ side).reshape(m, k, n)
    subject = np.linalg.solve(factors.root.transpose(0, 2, 1), own)
    return np.ascontiguousarray(subject.transpose(2, 0, 1)), np.ascontiguousarray(side.T)


def linear_variances(factors: Factors, subject: Ints, on_subject: Floats, on_side: Floats) -> Floats:
    """Posterior variances of linear functions on_subject · θ_subject + on_side · φ, one per row.

    ``on_subject`` is (rows, K), ``on_side`` (rows, J).
    """
    own = np.linalg.solve(factors.root[subject], on_subject[:, :, None])[:, :, 0]
    carried = on_side - np.einsum("ik,ikj->ij", own, factors.half[subject])
    return np.asarray((own**2).sum(axis=1) + (solve_triangular(factors.schur, carried.T, lower=True) ** 2).sum(axis=0))


def marginal_covariances(factors: Factors) -> tuple[Floats, Floats]:
    """Marginal covariances of every subject (M, K, K) and of the whole benchmark side (J, J)."""
    m, k, j = factors.half.shape
    inverse = np.linalg.inv(factors.root)
    carried = solve_triangular(factors.schur, factors.half.reshape(m * k, j).T, lower=True).T.reshape(m, k, j)
    inner = np.eye(k) + carried @ carried.transpose(0, 2, 1)
    side = solve_triangular(factors.schur, np.eye(j), lower=True)
    return inverse.transpose(0, 2, 1) @ inner @ inverse, side.T @ side


def _positive(matrix: Floats) -> Floats:
    """Lift eigenvalues that rounding or a negative curvature left too small; a definite matrix comes back as it is."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    smallest = SMALLEST_SHARE * max(values[-1], np.finfo(float).tiny)
    if values[0] > smallest:
        return matrix
    return np.asarray((vectors * np.maximum(values, smallest)) @ vectors.T)
