"""Percentile bootstrap intervals over items."""

from __future__ import annotations

import numpy as np

from mensura.core.arrays import Floats

INTERVAL = 0.9
DRAWS = 1000


def resample_counts(items: int, draws: int, rng: np.random.Generator) -> Floats:
    """Return how often each item counts: row 0 once each, then ``draws`` resamples with replacement."""
    counts = rng.multinomial(items, np.full(items, 1 / items), size=draws)
    return np.vstack([np.ones(items), counts]).astype(float)


def value_and_interval(drawn: Floats) -> tuple[float | None, float | None, float | None]:
    """Return value, low, high from row 0 and the resamples; None where undefined, or where most resamples are."""
    if not np.isfinite(drawn[0]):
        return None, None, None
    resampled = drawn[1:][np.isfinite(drawn[1:])]
    if not resampled.size or 2 * resampled.size < drawn.size - 1:
        return float(drawn[0]), None, None
    low, high = np.quantile(resampled, [(1 - INTERVAL) / 2, (1 + INTERVAL) / 2])
    return float(drawn[0]), float(low), float(high)
