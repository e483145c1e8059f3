"""The depth of every item: what its rate and its demands say of it together, and how far items lie off their demands.

The depth η = −log10 q of an item (q: the share that can solve it) is normal around what its demands say; its rate adds
a likelihood of its own, with guessing and counting, that is not normal. Here are the moments of the two together.

Guessing: the level a rate shows when some of those who cannot solve an item tick the right option.

With a floor c the rate is p = c + (1 − c) q, q the share that can solve the item. In depths η = −log10 q (empirical
level less ½) the shown depth is h(η) = −log10(c + (1 − c) 10^−η), with slope h′ = (1 − c) q / p between 0 and 1:
near the floor a rate says little about q.

Integrating over what is not known about spreads: a grid of variances, each with an exact Gaussian posterior.

The working model of :mod:`mensura.calibration.hierarchical` is linear and normal once three spreads are fixed: of
pools' shifts (τ_u), of pools' slopes (τ_s), of dimensions' slopes around their common mean (τ_m). Everything needed is
in the moment sums of each pool, G = XᵀWX, b = XᵀWz, c = zᵀWz, so that a point of the grid costs the same for a hundred
items and for a hundred thousand. How far items lie off their demands is not learned here: working responses stand in
for likelihoods that are not normal, and those of items near their guessing floor lie far out without being wrong, so
that their squares would ask for weights two to four times too small. σ has a likelihood of its own (:mod:`depths`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mensura.calibration.items import RatedItems
from mensura.core.arrays import Floats, Ints


def shown_depth(depth: Floats, floor: Floats) -> tuple[Floats, Floats]:
    """Return h(η) and its slope h′(η)."""
    solved = (1.0 - floor) * np.power(10.0, -depth)
    rate = floor + solved
    return -np.log10(rate), solved / rate


def plain_depth(rate: Floats, floor: Floats) -> Floats:
    """Return η of a rate without error; a rate at or near its floor is read as a tenth above it."""
    return np.asarray(-np.log10(np.maximum((rate - floor) / (1.0 - floor), 0.1 * rate)))


LEAST_ERROR = 0.005
"""No rate is surer than this, in log10: one percent of itself."""
MOST_KEPT = 0.999
"""Share of the prior variance above which an item's rate is taken to say nothing: no likelihood is negative."""
USUAL_RESIDUAL, USUAL_WEIGHT = 0.2, 5.0
"""A residual as real pools have it, in empirical levels, and the items it counts for."""
MOST_LEVERAGE = 0.9
"""No item is taken to be followed more closely than this by the coefficients: few items would let σ grow for ever."""
_OWN_NODES, _PRIOR_NODES = np.linspace(-6, 6, 13)[:, None], np.linspace(-5, 5, 13)[:, None]
"""Places of the quadrature in standard deviations: around what the rate alone says, and around what the demands say."""
_DEEPEST = 300.0  # whose share a number can still state
_LEAST_SLOPE = 0.05
"""Least slope of the shown depth for the width of a rate's own likelihood."""


@dataclass(frozen=True, eq=False)
class Depths:
    """Where the iteration stands: each item's depth, what the demands say of it; σ².

    ``extra``: what errors in levels add to the variance of each item, Σ m² Var(x | w).
    """

    depth: Floats
    fitted: Floats
    extra: Floats
    shown: Floats
    error: Floats
    variance: float
    used: float

    @classmethod
    def start(cls, items: RatedItems) -> Depths:
        """Begin at the depths that rates without error would show."""
        shown = -np.log10(items.rate)
        error = np.maximum(items.se / (items.rate * np.log(10.0)), LEAST_ERROR)
        depth = plain_depth(items.rate, items.floor)
        variance = max(float(depth.var()) / 2, LEAST_ERROR)
        return cls(depth, depth, np.zeros_like(depth), shown, error, variance, 1.0 + len(items.dimensions))


def given_rates(state: Depths, items: RatedItems) -> tuple[Floats, Floats]:
    """Return mean and variance of each depth given its rate and what the demands say (normal around ``fitted``).

    By the trapezoidal rule on nodes around what the rate alone says and around ``fitted``. The nodes do not depend on
    the depths of the round before: with nodes that followed these, rounds chased each other and settled nowhere.
    """
    prior = state.variance + state.extra
    shown = plain_depth(items.rate, items.floor)
    own = state.error / np.maximum(shown_depth(shown, items.floor)[1], _LEAST_SLOPE)
    nodes = np.concatenate([shown + _OWN_NODES * own, state.fitted + _PRIOR_NODES * np.sqrt(prior)])
    nodes.sort(axis=0)
    log = _log_likelihood(nodes, state, items) - 0.5 * (nodes - state.fitted) ** 2 / prior
    ends = np.concatenate([nodes[:1], (nodes[1:] + nodes[:-1]) / 2, nodes[-1:]])
    mass = np.exp(log - log.max(axis=0)) * np.diff(ends, axis=0)
    mass /= mass.sum(axis=0)
    mean = (mass * nodes).sum(axis=0)
    return mean, np.maximum((mass * (nodes - mean) ** 2).sum(axis=0), LEAST_ERROR**2 / 2)


def _log_likelihood(depth: Floats, state: Depths, items: RatedItems) -> Floats:
    """Return the log likelihood of each item's rate at each depth (nodes × items).

    A counted rate errs as counts do (binomial), so that a rate of 0 says "deep", not how deep. One with an interval
    errs in proportion: normal in its logarithm.
    """
    solved = np.exp(-np.log(10.0) * np.clip(depth, -_DEEPEST, _DEEPEST))
    rate = items.floor + (1.0 - items.floor) * solved
    counted = np.isfinite(items.n)
    by_error: Floats = -0.5 * ((state.shown + np.log(rate) / np.log(10.0)) / state.error) ** 2
    if not counted.any():
        return by_error
    n = np.where(counted, items.n, 1.0)
    rate = np.clip(rate, 1e-12, 1.0 - 0.25 / (n + 1.0))
    by_count = n * (items.observed * np.log(rate) + (1.0 - items.observed) * np.log(1.0 - rate))
    return np.where(counted, by_count, by_error)


def standing_in(state: Depths, mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """Return response and error variance of the normal likelihood that stands in for each item's own.

    It is the one that, with what the demands say of the item, gives the depth its mean and variance under the true one.
    """
    prior = state.variance + state.extra
    kept = np.minimum(variance, MOST_KEPT * prior)
    error = kept * prior / (prior - kept)
    return mean + error / prior * (mean - state.fitted), error


def residual_variance(state: Depths, mean: Floats, variance: Floats) -> float:
    """Return σ² one step of Fisher scoring nearer to where it is likeliest.

    With v = σ² + extra, an item's depth of mean a and variance s² given its rate, and f what the demands say of it, the
    log likelihood rises by Σ ((a − f)² + s² − v) / 2v², and its information is Σ (1 − s²/v)² / 2v²: an item whose rate
    says nothing (s² = v) says nothing here either. A few items' worth of a usual σ keeps it from collapsing in small
    samples. Residuals are taken as larger by what the coefficients have used up of them: of an item as much as its rate
    says, h = used · (1 − s²/v) / Σ (1 − s²/v), for coefficients follow the items that say something.
    """
    prior = state.variance + state.extra
    informed = np.maximum(1.0 - variance / prior, 0.0)
    leverage = np.minimum(state.used * informed / max(float(informed.sum()), LEAST_ERROR), MOST_LEVERAGE)
    rise = float((((mean - state.fitted) ** 2 / (1.0 - leverage) + variance - prior) / prior**2).sum())
    information = float((((prior - variance) / prior**2) ** 2).sum())
    usual = USUAL_WEIGHT / state.variance**2
    step = (rise + usual * (USUAL_RESIDUAL**2 - state.variance)) / (information + usual)
    return float(np.clip(state.variance + step, state.variance / 2.0, state.variance * 2.0))


SHIFT_SDS = np.array([0.0, 0.07, 0.15, 0.25, 0.4, 0.7])
SLOPE_SDS = np.array([0.02, 0.04, 0.065, 0.1, 0.18])
DIMENSION_SDS = np.array([0.1, 0.16, 0.3, 0.5, 0.9])
"""The grids, in empirical levels (per annotated level). Neither pools nor dimensions are taken to be
alike in their slopes: small samples would believe it too easily (published slopes scatter by 0.47).
"""
SHIFT_PRIOR, SLOPE_PRIOR, DIMENSION_PRIOR = 0.5, 0.1, 0.5
"""Scales of the half-normal priors of the three spreads, in empirical levels (per annotated level)."""
MEAN_SLOPE_SD = 1.0
"""How far from 0 the mean slope of all dimensions may lie: a base of 10 on average is one such step."""
ANYWHERE_SD = 10.0
"""Prior spread of an intercept, in empirical levels: it says nothing."""


@dataclass(frozen=True, eq=False)
class Moments:
    """Moment sums of each pool: ``gram`` pools × q × q, ``cross`` pools × q, ``square`` pools."""

    gram: Floats
    cross: Floats
    square: Floats

    @classmethod
    def of(cls, design: Floats, response: Floats, weight: Floats, pool: Ints, pools: int) -> Moments:
        """Sum over the items of each pool; the first column of the design is the intercept's."""
        q = design.shape[1]
        gram, cross, square = np.zeros((pools, q, q)), np.zeros((pools, q)), np.zeros(pools)
        order = np.argsort(pool, kind="stable")
        ends = np.searchsorted(pool[order], np.arange(pools + 1))
        for at in range(pools):
            rows = order[ends[at] : ends[at + 1]]
            weighted = design[rows] * weight[rows, None]
            gram[at] = weighted.T @ design[rows]
            cross[at] = weighted.T @ response[rows]
            square[at] = weight[rows] @ response[rows] ** 2
        return cls(gram, cross, square)


@dataclass(frozen=True, eq=False)
class Spreads:
    """One point of the grid: standard deviations of shifts, pools' slopes and dimensions' slopes."""

    shift: float
    slope: float
    dimension: float


@dataclass(frozen=True, eq=False)
class GridPosterior:
    """The posterior on the grid: ``points``, their ``chance``, and each one's ``mean`` and ``covariance``."""

    points: tuple[Spreads, ...]
    chance: Floats
    mean: Floats
    covariance: Floats

    @property
    def likeliest(self) -> Spreads:
        """The point with the highest chance."""
        return self.points[int(self.chance.argmax())]

    def averaged(self, name: str) -> float:
        """Return the posterior mean of one of the spreads."""
        return float(self.chance @ np.array([getattr(point, name) for point in self.points]))

    def drawn(self, draws: int, rng: np.random.Generator) -> Floats:
        """Return draws × q coefficients from the mixture."""
        picks = np.sort(rng.choice(len(self.points), size=draws, p=self.chance))
        steps = rng.standard_normal((draws, self.mean.shape[1]))
        drawn = np.empty_like(steps)
        for at in np.unique(picks):
            rows = picks == at
            drawn[rows] = self.mean[at] + steps[rows] @ np.linalg.cholesky(self.covariance[at]).T
        return drawn[rng.permutation(draws)]


def prior_precision(spread: float, q: int) -> Floats:
    """Return the prior precision of an intercept and q − 1 slopes that scatter around a common, unknown mean."""
    precision = np.zeros((q, q))
    precision[0, 0] = 1.0 / ANYWHERE_SD**2
    shared = 1.0 / (spread**2 * (spread**2 / MEAN_SLOPE_SD**2 + q - 1))
    precision[1:, 1:] = np.eye(q - 1) / spread**2 - shared
    return precision


def _roots(spreads: Spreads, q: int) -> Floats:
    """Return the standard deviation of a pool's departure in each coefficient."""
    roots = np.full(q, spreads.slope)
    roots[0] = spreads.shift
    return roots


def integrate(moments: Moments) -> GridPosterior:
    """Return the posterior over the whole grid."""
    q = moments.gram.shape[1]
    one_pool = len(moments.gram) == 1  # one pool says nothing of how pools differ
    shifts = SHIFT_SDS[:1] if one_pool else SHIFT_SDS
    slopes = np.zeros(1) if one_pool else SLOPE_SDS
    precisions = np.stack([prior_precision(sd, q) for sd in DIMENSION_SDS])
    prior_logdet = np.linalg.slogdet(precisions)[1]
    log_dimension = _log_prior(DIMENSION_SDS, DIMENSION_PRIOR)
    points, logs, means, covariances = [], [], [], []
    for shift, log_shift in zip(shifts, _log_prior(shifts, SHIFT_PRIOR), strict=True):
        for slope, log_slope in zip(slopes, _log_prior(slopes, SLOPE_PRIOR), strict=True):
            information, pull, constant = marginal(moments, Spreads(shift, slope, 1.0))
            precision = information + precisions
            covariance = np.linalg.inv(precision)
            mean = covariance @ pull
            explained = 0.5 * (prior_logdet - np.linalg.slogdet(precision)[1] + mean @ pull)
            points += [Spreads(shift, slope, sd) for sd in DIMENSION_SDS]
            logs.append(constant + explained + log_dimension + log_shift + log_slope)
            means.append(mean)
            covariances.append(covariance)
    log = np.concatenate(logs)
    chance = np.exp(log - log.max())
    return GridPosterior(tuple(points), chance / chance.sum(), np.concatenate(means), np.concatenate(covariances))


def _log_prior(grid: Floats, scale: float) -> Floats:
    """Return the log mass of each grid point under a half-normal prior, as wide as the way to its neighbours."""
    width = np.gradient(grid) if grid.size > 1 else np.ones(1)
    mass = np.log(width) - 0.5 * (grid / scale) ** 2
    return np.asarray(mass - np.log(np.exp(mass).sum()), dtype=np.float64)


def marginal(moments: Moments, spreads: Spreads) -> tuple[Floats, Floats, float]:
    """Return Σ A, Σ h and the constant of the log likelihood, pools' own coefficients integrated out.

    With T = diag(τ_u², τ_s², …): A = G − G T½ M⁻¹ T½ G, h = b − G T½ M⁻¹ T½ b, M = I + T½ G T½.
    """
    gram, cross, square = moments.gram, moments.cross, moments.square
    q = gram.shape[1]
    root = _roots(spreads, q)
    active = root > 0
    if not active.any():
        return gram.sum(axis=0), cross.sum(axis=0), -0.5 * float(square.sum())
    root = root[active]
    inner = np.eye(root.size) + root[:, None] * gram[:, active][:, :, active] * root
    right = np.concatenate([root[:, None] * gram[:, active], (root * cross[:, active])[..., None]], axis=2)
    solved = np.linalg.solve(inner, right)
    taken = np.einsum("pai,paj->ij", right[..., :q], solved)
    information = gram.sum(axis=0) - taken[:, :q]
    pull = cross.sum(axis=0) - taken[:, q]
    explained = np.einsum("pa,pa->", right[..., q], solved[..., q])
    constant = -0.5 * (float(np.linalg.slogdet(inner)[1].sum()) + float(square.sum()) - float(explained))
    return information, pull, constant


def pool_departures(moments: Moments, spreads: Spreads, centre: Floats) -> tuple[Floats, float]:
    """Return pools × q departures from the common coefficients, and how many coefficients they are worth."""
    q = moments.gram.shape[1]
    root = _roots(spreads, q)
    inner = np.eye(q) + root[:, None] * moments.gram * root
    pulled = root * (moments.cross - moments.gram @ centre)
    departures = root * np.linalg.solve(inner, pulled[..., None])[..., 0]
    worth = float(len(inner) * q - np.trace(np.linalg.inv(inner), axis1=1, axis2=2).sum())
    return departures, worth
