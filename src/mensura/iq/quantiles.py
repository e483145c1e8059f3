"""Quantiles over a varying part of the last axis, many at once."""

from __future__ import annotations

import numpy as np

from mensura.core.arrays import Floats, Mask


def masked_quantile(values: Floats, mask: Mask, percentile: float) -> Floats:
    """Return the percentile of the masked values along the last axis (linear interpolation); NaN where none is.

    ``values`` and ``mask`` are broadcast against each other; the result lacks the last axis.
    """
    ordered = np.sort(np.where(mask, values, np.inf), axis=-1)
    count = np.broadcast_to(mask, ordered.shape).sum(axis=-1)
    place = percentile / 100 * np.maximum(count - 1, 0)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(count - 1, 0))
    low = np.take_along_axis(ordered, below[..., None], axis=-1)[..., 0]
    high = np.take_along_axis(ordered, above[..., None], axis=-1)[..., 0]
    empty = count == 0
    low, high = np.where(empty, np.nan, low), np.where(empty, np.nan, high)
    return np.asarray(low + (place - below) * (high - low))


def smallest(values: Floats, count: int) -> Mask:
    """Mark the ``count`` smallest finite values along the last axis (all of them where there are fewer)."""
    if count < values.shape[-1]:
        limit = np.partition(values, count - 1, axis=-1)[..., count - 1 : count]
        return np.asarray((values <= limit) & np.isfinite(values))
    return np.isfinite(values)
