"""Draws from the Gaussian approximation of a two-sided posterior, both sides uncertain together.

The precision matrix has one K × K block per subject, one square block for the benchmark side and a coupling; the
subject side is eliminated, so that only the benchmark side needs a factorisation:

    benchmark side ~ N(φ, S⁻¹),  S = P − Σ_m E_mᵀ A_m⁻¹ E_m,      θ_m | φ' ~ N(θ_m − A_m⁻¹ E_m (φ' − φ), A_m⁻¹).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from mensura.stitching.layout import Floats

LARGEST_COUPLING = 20_000_000
"""Numbers in the dense coupling beyond which a joint factorisation is not tried."""


@dataclass(frozen=True)
class ArrowPrecision:
    """``subjects`` (M, K, K), ``coupling`` (M, K, J), ``benchmarks`` (J, J): the posterior precision."""

    subjects: Floats
    coupling: Floats
    benchmarks: Floats


def draw_deviations(precision: ArrowPrecision, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return ``n`` draws of the deviations from the mean: subjects (n, M, K) and benchmark side (n, J)."""
    m, k, j = precision.coupling.shape
    root = np.linalg.cholesky(precision.subjects)
    half = np.linalg.solve(root, precision.coupling)
    flat = half.reshape(m * k, j)
    schur = np.linalg.cholesky(_positive(precision.benchmarks - flat.T @ flat))
    side = solve_triangular(schur.T, rng.standard_normal((j, n)), lower=False)
    own = rng.standard_normal((m, k, n)) - (flat @ side).reshape(m, k, n)
    subject = np.linalg.solve(root.transpose(0, 2, 1), own)
    return np.ascontiguousarray(subject.transpose(2, 0, 1)), np.ascontiguousarray(side.T)


def _positive(matrix: Floats) -> Floats:
    """Lift eigenvalues that rounding or a negative curvature left too small; a definite matrix comes back as it is."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    smallest = 1e-10 * max(values[-1], 1e-300)
    if values[0] > smallest:
        return matrix
    return np.asarray((vectors * np.maximum(values, smallest)) @ vectors.T)
