"""Symmetric matrices as rows of their upper triangle, so that many of them are summed or multiplied as one table."""

from __future__ import annotations

from functools import cache

import numpy as np

from mensura.core.arrays import Floats, Ints


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
