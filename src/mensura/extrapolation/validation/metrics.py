"""How well predicted rates agree with observed ones; bootstrap intervals over items.

All functions work along the last axis, so that many draws or resamples are scored at once.
"""

from __future__ import annotations

import numpy as np
import scipy

from mensura.core.arrays import Floats

METRICS = ("mae", "rmse", "bias", "pearson", "spearman", "coverage")
LEVEL = 0.9  # of the bootstrap intervals
_SMALLEST_SPREAD = 1e-12
_LARGEST_CORRELATION = 1 - 1e-9  # whose z is finite


def pearson(a: Floats, b: Floats) -> Floats:
    """Return the product-moment correlation; NaN where one side does not vary."""
    da, db = a - a.mean(axis=-1, keepdims=True), b - b.mean(axis=-1, keepdims=True)
    spread = np.sqrt((da**2).sum(axis=-1) * (db**2).sum(axis=-1))
    found: Floats = np.where(
        spread > _SMALLEST_SPREAD, (da * db).sum(axis=-1) / np.maximum(spread, _SMALLEST_SPREAD), np.nan
    )
    return found


def spearman(a: Floats, b: Floats) -> Floats:
    """Return the rank correlation, ties sharing their mean rank."""
    return pearson(*(scipy.stats.rankdata(side, axis=-1) for side in (a, b)))


def mean_correlation(values: Floats) -> float:
    """Return the mean of correlations by Fisher's z; NaN where none is defined."""
    defined = values[np.isfinite(values)]
    if not len(defined):
        return float("nan")
    return float(np.tanh(np.arctanh(np.clip(defined, -_LARGEST_CORRELATION, _LARGEST_CORRELATION)).mean()))


def agreement(predicted: Floats, observed: Floats, low: Floats, high: Floats) -> dict[str, Floats]:
    """Return mae, rmse, bias (predicted − observed), pearson, spearman and coverage."""
    error = predicted - observed
    return {
        "mae": np.abs(error).mean(axis=-1),
        "rmse": np.sqrt((error**2).mean(axis=-1)),
        "bias": error.mean(axis=-1),
        "pearson": pearson(predicted, observed),
        "spearman": spearman(predicted, observed),
        "coverage": ((observed >= low) & (observed <= high)).mean(axis=-1),
    }


def interval(values: Floats) -> tuple[float, float]:
    """Return the 90% percentile interval of resampled values, those that are not defined left out."""
    defined = values[np.isfinite(values)]
    if not len(defined):
        return float("nan"), float("nan")
    low, high = np.quantile(defined, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
