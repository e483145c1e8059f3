"""Many tests at once: the false discovery rate."""

from __future__ import annotations

import numpy as np

from mensura.core.arrays import Floats


def discovery_rates(p_values: Floats) -> Floats:
    """Return q-values (Benjamini and Hochberg): the least false discovery rate at which each test is a discovery."""
    order, count = np.argsort(p_values)[::-1], len(p_values)
    q = np.empty(count)
    q[order] = np.minimum.accumulate(p_values[order] * count / np.arange(count, 0, -1))
    return q
