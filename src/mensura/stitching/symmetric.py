"""Symmetric matrices as rows of their upper triangle, so that many of them are summed or multiplied as one table."""

from __future__ import annotations

import numpy as np

from mensura.arrays import Floats


def pack(matrices: Floats) -> Floats:
    """Return the upper triangles (n, k(k + 1)/2) of symmetric matrices (n, k, k)."""
    i, j = np.triu_indices(matrices.shape[-1])
    return np.asarray(matrices[:, i, j])


def unpack(packed: Floats, k: int) -> Floats:
    """Return the symmetric matrices (n, k, k) of upper triangles."""
    i, j = np.triu_indices(k)
    out = np.empty((len(packed), k, k))
    out[:, i, j] = packed
    out[:, j, i] = packed
    return out


def pack_squares(vectors: Floats) -> Floats:
    """Return the upper triangles of v vᵀ for vectors (n, k)."""
    i, j = np.triu_indices(vectors.shape[1])
    return np.asarray(vectors[:, i] * vectors[:, j])


def pack_twice(matrices: Floats) -> Floats:
    """Return upper triangles with doubled off-diagonals: their product with a packed matrix is the trace of both."""
    i, j = np.triu_indices(matrices.shape[-1])
    return np.asarray(matrices[:, i, j] * np.where(i == j, 1.0, 2.0))
