"""Many tests at once: the false discovery rate."""

from __future__ import annotations

import numpy as np

from mensura.core.arrays import Floats


def discovery_rates(p_values: Floats) -> Floats:
    """Return q-values (Benjamini and Hochberg): the least false discovery rate at which each test is a discovery."""
    count = len(p_values)
    order = np.argsort(p_values)
    raised = p_values[order] * count / np.arange(1, count + 1)
    q = np.empty(count)
    q[order] = np.minimum(1.0, np.minimum.accumulate(raised[::-1])[::-1])
    return q
