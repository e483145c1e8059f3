"""Near-duplicates among benchmarks, and how much each benchmark adds.

Two benchmarks that err together say one thing twice: entering a benchmark a second time must not move anybody. With
r the correlation of the errors that a fit leaves to two benchmarks, over the subjects that took both (its lower
confidence limit, so that few common subjects prove nothing), a benchmark's weight is

    w_b = 1 / (1 + Σ over the others of max(0, (r² − r₀²) / (1 − r₀²)))

with r₀ what two tests may share beyond all latent dimensions: k copies weigh 1/k each, tests of one domain keep 1.
"""

from __future__ import annotations

import numpy as np

from mensura.core.arrays import Floats
from mensura.stitching.posterior import Cells, Pooled, expect

FEWEST_COMMON = 8
"""Subjects that two benchmarks need in common before they can be called duplicates."""
SHARED_CORRELATION = 0.7
"""r₀: correlation up to which two benchmarks count as two; beyond it the shared part is counted once."""
LIMIT_ERRORS = 1.645
"""Standard errors, on Fisher's scale, from a correlation down to its lower limit."""
NEARLY_ONE = 1 - 1e-9


def benchmark_weights(cells: Cells, fit: Pooled) -> Floats:
    """Return one weight in (0, 1] per benchmark: 1 unless others say the same, by the errors that a fit leaves."""
    layout = cells.layout
    error, taken = np.zeros((2, layout.n_subjects, layout.n_benchmarks))
    error[layout.rows, layout.cols] = cells.y - expect(cells, fit).f
    taken[layout.rows, layout.cols] = 1.0
    common = taken.T @ taken
    squares = (error**2).T @ taken
    with np.errstate(divide="ignore", invalid="ignore"):
        r = np.clip(error.T @ error / np.sqrt(squares * squares.T), -NEARLY_ONE, NEARLY_ONE)
        limit = np.tanh(np.arctanh(r) - LIMIT_ERRORS / np.sqrt(np.maximum(common - 3, 1)))
    limit = np.where((common >= FEWEST_COMMON) & np.isfinite(limit), np.maximum(limit, 0), 0)
    np.fill_diagonal(limit, 0)
    shared = np.maximum(limit**2 - SHARED_CORRELATION**2, 0) / (1 - SHARED_CORRELATION**2)
    return np.asarray(1 / (1 + shared.sum(axis=1)))
