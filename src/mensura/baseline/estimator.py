"""Turn pooled estimates into human rates with intervals: learned errors, a shift per pool, an error per item.

All items of one pool share a few normal unknowns: the learned effects, the pool's shift and slope, the shift of far
people. Each item adds an error of its own. Anchors (human rates on some items, a known mean) update both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mensura.baseline.learned import GROUPS, Learned
from mensura.baseline.pooling import Z90, PooledEstimates
from mensura.core.arrays import Floats, expit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

STUDY = 50
"""People in the study that an interval speaks of: it holds what such a study would find."""
_STEPS = 12  # of Newton's method for a known mean


@dataclass(frozen=True, eq=False)
class PoolEstimate:
    """The joint normal distribution of the logits of a pool's items.

    ``columns`` (items × unknowns) times the shared unknowns (``mean``, ``covariance``), plus each item's own error
    (``own_mean``, ``own_variance``).
    """

    columns: Floats
    mean: Floats
    covariance: Floats
    own_mean: Floats
    own_variance: Floats

    @property
    def centre(self) -> Floats:
        """Median logit of each item."""
        return self.columns @ self.mean + self.own_mean

    @property
    def variance(self) -> Floats:
        """Variance of each item's logit."""
        shared: Floats = np.einsum("ij,jk,ik->i", self.columns, self.covariance, self.columns)
        return shared + self.own_variance

    @property
    def rate(self) -> Floats:
        """Median rate of each item."""
        return expit(self.centre)

    def interval(self, study: int = STUDY) -> tuple[Floats, Floats]:
        """Return the ends of 90% intervals for the share that a study of so many people would find.

        Where most such studies would find everybody right (or nobody), the end is 1 (or 0).
        """
        rate = np.clip(self.rate, 1e-6, 1 - 1e-6)
        half = Z90 * np.sqrt(self.variance + 1 / (study * rate * (1 - rate)))
        low, high = expit(self.centre - half), expit(self.centre + half)
        edge = 0.5 ** (1 / study)
        return np.where(low <= 1 - edge, 0.0, low), np.where(high >= edge, 1.0, high)

    def draws(self, count: int, rng: np.random.Generator) -> Floats:
        """Return draws × items of rates."""
        values, vectors = np.linalg.eigh(self.covariance)
        root = vectors * np.sqrt(np.clip(values, 0, None))
        shared = self.mean + rng.standard_normal((count, self.mean.size)) @ root.T
        own = rng.standard_normal((count, self.own_mean.size)) * np.sqrt(self.own_variance)
        return expit(self.own_mean + shared @ self.columns.T + own)

    def anchored(self, places: Sequence[int] | np.ndarray, truth: Floats, noise: Floats) -> PoolEstimate:
        """Return the estimate after human rates on some items: logits and their sampling variances.

        Given the shared unknowns, an anchored item is a weighted mean of them and of its own rate.
        """
        at = np.asarray(places, dtype=np.int64)
        columns, own = self.columns[at], self.own_variance[at]
        gap = truth - self.own_mean[at]
        weight = 1 / (own + noise)
        precision = np.linalg.inv(self.covariance) + columns.T @ (columns * weight[:, None])
        pull = np.linalg.solve(self.covariance, self.mean) + columns.T @ (weight * gap)
        covariance: Floats = np.linalg.inv(precision).astype(np.float64)
        believed = own * weight
        shared, own_mean, own_variance = self.columns.copy(), self.own_mean.copy(), self.own_variance.copy()
        shared[at] *= (1 - believed)[:, None]
        own_mean[at] += believed * gap
        own_variance[at] = own * noise * weight
        return PoolEstimate(shared, covariance @ pull, covariance, own_mean, own_variance)

    def with_mean(self, mean: float, variance: float) -> PoolEstimate:
        """Return the estimate after the mean rate of the pool became known, with its sampling variance.

        The mean of rates is nearly linear in the logits, so that the update is normal; a few steps settle it.
        """
        at = self
        for _ in range(_STEPS):
            slope = at.rate * (1 - at.rate) / at.own_mean.size
            row, own = slope @ self.columns, slope**2 @ self.own_variance
            expected = at.rate.mean() + slope @ (self.centre - at.centre)
            spread = row @ self.covariance @ row + own + variance
            gain = (mean - expected) / spread
            at = replace(
                self,
                mean=self.mean + self.covariance @ row * gain,
                own_mean=self.own_mean + self.own_variance * slope * gain,
            )
        shrunk = self.covariance - np.outer(self.covariance @ row, row @ self.covariance) / spread
        return replace(at, covariance=shrunk)


def estimate_pool(
    pooled: PooledEstimates, levels: Mapping[str, Sequence[str]], distance: float, learned: Learned
) -> PoolEstimate:
    """Return the estimate of a new pool. ``levels``: by group of effects, the kind of each item ('' where unknown)."""
    size = pooled.logit.size
    slope = pooled.logit - learned.centre
    places = {name: place for place, name in enumerate(learned.names)}
    known = np.zeros((size, len(places)))
    known[:, places["one"]], known[:, places["slope"]] = 1.0, slope
    unknown = np.zeros((size, len(GROUPS)))
    for at, group in enumerate(GROUPS):
        for item, kind in enumerate(levels[group]):
            place = places.get(f"{group}:{kind}")
            if place is None:
                unknown[item, at] = 1.0
            else:
                known[item, place] = 1.0
    new = np.stack([np.ones(size), slope, np.full(size, distance)], axis=1)
    spreads = learned.spreads
    shift = np.hypot(spreads["pool"], spreads["group"])
    extra = [shift, *(spreads[name] for name in ("pool_slope", "far", *GROUPS))]
    covariance = np.zeros((len(places) + len(extra),) * 2)
    covariance[: len(places), : len(places)] = learned.covariance
    covariance[len(places) :, len(places) :] = np.diag(np.square(extra))
    share = pooled.share_of_error(learned.runs, learned.models)
    own = (spreads["item"] ** 2 + (spreads["stated"] * pooled.spread) ** 2) * share
    return PoolEstimate(
        np.hstack([known, new, unknown]),
        np.concatenate([learned.mean, np.zeros(len(extra))]),
        covariance,
        np.zeros(size),
        own,
    )
