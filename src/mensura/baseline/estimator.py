"""Pool the estimates of several runs and models for an item into one logit and one stated spread.

Turn pooled estimates into human rates with intervals: learned errors, a shift per pool, an error per item.

All items of one pool share a few normal unknowns: the learned effects, the pool's shift and slope, the shift of far
people. Each item adds an error of its own. Anchors (human rates on some items, a known mean) update both, and show
whether the items of this pool err more or less than the models stated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mensura.baseline.recordings import GROUPS, RATING, TRAIT, Learned
from mensura.core.arrays import Floats, expit, logit
from mensura.scale import Z90

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NEAREST = 0.005
"""Estimates nearer to 0 or 1 count as this near: nobody tells 0.999 from 0.9999 by judgement."""
NARROWEST = 0.05
"""Least stated spread in logits: an interval without width is a slip, not knowledge."""


@dataclass(frozen=True, eq=False)
class PooledEstimates:
    """One entry per item: mean logit, stated spread (SD in logits), number of runs and of models."""

    items: tuple[str, ...]
    logit: Floats
    spread: Floats
    runs: Floats
    models: Floats

    def share_of_error(self, between_runs: float, between_models: float) -> Floats:
        """Return the variance of the mean's error as a share of one run's, by the correlations of errors.

        ``between_runs``: correlation of two runs of one model; ``between_models``: of two models.
        """
        one_model = between_runs + (1 - between_runs) / (self.runs / self.models)
        between = min(between_models, between_runs)
        shared: Floats = np.where(self.models > 1, between + (one_model - between) / self.models, one_model)
        return shared


def pool_estimates(table: pl.DataFrame, usual_spread: float) -> PooledEstimates:
    """Pool a table of item, rate, low, high, model, run: models count alike, and runs within a model.

    ``usual_spread``: the stated SD where an estimate has no interval. Models that disagree widen the spread.
    """
    rows = table.with_columns(
        _logit("rate").alias("at"),
        ((_logit("high") - _logit("low")) / (2 * Z90)).clip(NARROWEST).fill_null(usual_spread).alias("spread"),
    )
    by_model = rows.group_by("item", "model", maintain_order=True).agg(
        pl.col("at").mean(), (pl.col("spread") ** 2).mean(), runs=pl.len(), within=pl.col("at").var().fill_null(0.0)
    )
    pooled = by_model.group_by("item", maintain_order=True).agg(
        pl.col("at").mean(),
        (pl.col("spread").mean() + pl.col("at").var().fill_null(0.0) + pl.col("within").mean()).sqrt().alias("spread"),
        pl.col("runs").sum(),
        models=pl.len(),
    )
    numbers = (pooled[name].cast(pl.Float64).to_numpy() for name in ("at", "spread", "runs", "models"))
    return PooledEstimates(tuple(pooled["item"].to_list()), *numbers)


def _logit(name: str) -> pl.Expr:
    rate = pl.col(name).cast(pl.Float64).clip(NEAREST, 1 - NEAREST)
    return (rate / (1 - rate)).log()


def logit_rate(rate: Floats, n: Floats) -> tuple[Floats, Floats]:
    """Return a counted rate as a logit and its sampling variance; half an answer is added to each side.

    ``n``: number of people; infinite where the rate is exact. So 9 of 9 is a finite logit with a wide error.
    """
    finite = np.where(np.isfinite(n), n, 1e9)
    smooth = np.clip((rate * finite + 0.5) / (finite + 1), 1e-4, 1 - 1e-4)
    return logit(smooth), 1.0 / (finite * smooth * (1 - smooth))


STUDY = 50
"""People in the study that an interval speaks of: it holds what such a study would find."""
_ALL = 1e9  # people behind a rate that is exact
_STEPS = 12  # of Newton's method for a known mean
_SETTLING = 6  # steps of Newton's method for counted answers
_SCALES = np.linspace(-2.5, 2.5, 11)  # standard deviations of the pool's error scale that are tried


@dataclass(frozen=True, eq=False)
class PoolEstimate:
    """The joint normal distribution of the logits of a pool's items.

    ``columns`` (items × unknowns) times the shared unknowns (``mean``, ``covariance``), plus each item's own error
    (``own_mean``, ``own_variance``). ``scale``: SD between pools of the logarithm of the size of these errors.
    """

    columns: Floats
    mean: Floats
    covariance: Floats
    own_mean: Floats
    own_variance: Floats
    scale: float = 0.0

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
        return PoolEstimate(shared, covariance @ pull, covariance, own_mean, own_variance, self.scale)

    def counted(self, places: Sequence[int] | np.ndarray, rate: Floats, n: Floats) -> PoolEstimate:
        """Return the estimate after ``n`` people reached a rate on some items.

        First the counts settle the size of the pool's errors, then shift and items. The likelihood is binomial: 9 of 9
        right tells that an item is easy, and not how easy.
        """
        at, finite = np.asarray(places, dtype=np.int64), np.minimum(n, _ALL)
        return self._rescaled(at, rate, finite)._settled(at, rate, finite)[0]

    def _settled(self, at: np.ndarray, rate: Floats, n: Floats) -> tuple[PoolEstimate, Floats, Floats]:
        """Return the estimate at the mode, and the normal answers (logit, variance) that lead there."""
        logits, _ = logit_rate(rate, n)
        for _ in range(_SETTLING):
            chance = np.clip(expit(logits), 1e-6, 1 - 1e-6)
            weight = chance * (1 - chance)
            logits, noise = logits + (rate - chance) / weight, 1 / (n * weight)
            counted, after = logits, self.anchored(at, logits, noise)
            logits = after.centre[at]
        return after, counted, noise

    def _rescaled(self, at: np.ndarray, rate: Floats, n: Floats) -> PoolEstimate:
        """Return the estimate with the size of its items' errors that the counted items suggest."""
        _, counted, noise = self._settled(at, rate, n)
        gap = counted - self.centre[at]
        factor = np.exp(2 * self.scale * (_SCALES - self.scale))
        fits = [_log_likelihood(self, at, gap, self.own_variance[at] * size + noise) for size in factor]
        chance = np.exp(np.array(fits) - max(fits) - 0.5 * _SCALES**2)
        return replace(self, own_variance=self.own_variance * float(np.average(factor, weights=chance)))

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


def _log_likelihood(estimate: PoolEstimate, at: np.ndarray, gap: Floats, variance: Floats) -> float:
    """Return the log density of gaps from the expected logits, up to a constant; ``variance``: each item's own."""
    columns = estimate.columns[at]
    weighted = columns / variance[:, None]
    precision = np.linalg.inv(estimate.covariance) + columns.T @ weighted
    pull = weighted.T @ gap
    fit = (gap**2 / variance).sum() - pull @ np.linalg.solve(precision, pull)
    return -0.5 * float(fit + np.log(variance).sum() + np.linalg.slogdet(precision)[1])


def estimate_pool(
    pooled: PooledEstimates,
    levels: Mapping[str, Sequence[str]],
    distance: float,
    learned: Learned,
    unrecorded: float = 0.0,
    traits: Sequence[str] = (),
) -> PoolEstimate:
    """Return the estimate of a new pool. ``levels``: by group of effects, the kind of each item ('' where unknown).

    ``unrecorded``: share of estimators whose errors nobody recorded. Such a one has a shift and a slope of its own, as
    large as those of a new pool of an unknown kind of people. Anchors learn them. ``traits``: of people who answer for
    a benchmark. One that no benchmark taught widens the interval; so does being such people at all.
    """
    size = pooled.logit.size
    slope = pooled.logit - learned.centre
    places = {name: place for place, name in enumerate(learned.names)}
    learned_effects = np.zeros((size, len(places)))
    learned_effects[:, places["one"]], learned_effects[:, places["slope"]] = 1.0, slope
    unknown = np.zeros((size, len(GROUPS)))
    for at, group in enumerate(GROUPS):
        for item, kind in enumerate(levels[group]):
            place = places.get(f"{group}:{kind}")
            if place is None:
                unknown[item, at] = 1.0
            else:
                learned_effects[item, place] = 1.0
    for trait in traits:
        if f"{TRAIT}:{trait}" in places:
            learned_effects[:, places[f"{TRAIT}:{trait}"]] = 1.0
    untaught = [trait for trait in traits if f"{TRAIT}:{trait}" not in places]
    rating = [np.full(size, float(bool(traits))), np.full(size, np.sqrt(len(untaught)))]
    own_bias = [np.full(size, unrecorded), slope * unrecorded]
    new = np.stack([np.ones(size), slope, np.full(size, distance), *own_bias, *rating], axis=1)
    spreads = learned.spreads
    shift = np.hypot(spreads["pool"], spreads["group"])
    own_spreads = [np.hypot(spreads["pool"], spreads["people"]), spreads["pool_slope"]]
    rater_spreads = [spreads.get(name, spreads["people"]) for name in (RATING, TRAIT)]
    extra = [
        shift,
        spreads["pool_slope"],
        spreads["far"],
        *own_spreads,
        *rater_spreads,
        *(spreads[name] for name in GROUPS),
    ]
    covariance = np.zeros((len(places) + len(extra),) * 2)
    covariance[: len(places), : len(places)] = learned.covariance
    covariance[len(places) :, len(places) :] = np.diag(np.square(extra))
    share = pooled.share_of_error(learned.runs, learned.models)
    own = (spreads["item"] ** 2 + (spreads["stated"] * pooled.spread) ** 2) * share
    return PoolEstimate(
        np.hstack([learned_effects, new, unknown]),
        np.concatenate([learned.mean, np.zeros(len(extra))]),
        covariance,
        np.zeros(size),
        own,
        spreads["scale"],
    )
