"""Many tests at once: the false discovery rate."""

from __future__ import annotations

import scipy

from mensura.core.arrays import Floats


def discovery_rates(p_values: Floats) -> Floats:
    """Return q-values (Benjamini and Hochberg): the least false discovery rate at which each test is a discovery."""
    q: Floats = scipy.stats.false_discovery_control(p_values)
    return q
