"""Our calibration: every demand of every item at once, with all that is uncertain carried along.

An item is solved by those who meet each of its demands. If a level more in dimension d divides the share that can by
B_d = 10^m_d, the depth η = −log10 q of item i (q: the share that can solve it) is

    η_i = β0 + Σ_d m_d x_id + u_p + Σ_d v_pd x_id + ε_i,      y_i = h(η_i; c_i) + e_i

x: true demands (see :mod:`reliability`); u, v: what sets pool p apart, in level and slopes; ε: what the demands do not
say; h: guessing with floor c (see :mod:`guessing`); y = −log10 of the rate, e its error, known from its interval or n.
Slopes m_d scatter around a common mean with a spread that is learned (partial pooling): a dimension with little data
leans on the others, one with much does not.

Fitting: each item's own likelihood is replaced by the normal one that gives its depth the same mean and variance, until
nothing moves (expectation propagation); items near their floor then weigh little. The spreads are integrated over
(:mod:`variances`); σ is the likeliest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mensura.calibration.depths import (
    Depths,
    GridPosterior,
    Moments,
    Spreads,
    given_rates,
    integrate,
    marginal,
    pool_departures,
    prior_precision,
    residual_variance,
    standing_in,
)
from mensura.calibration.items import TOP, RatedItems
from mensura.calibration.reliability import LEAST_VARIANCE, pool_means, predicted_levels
from mensura.core.arrays import Floats

_ROUNDS, _STILL, _STILL_OF_MANY = 100, 1e-9, 1e-3
"""Rounds at most, and the change of fitted depths and of σ² below which they stay, below and from MOST_SETTLED items.

So small that last bits of the input decide nothing; many items average the rest out."""
MOST_SETTLED = 5_000
"""Items on which spreads and σ are found; with more, a random part finds them, and the whole needs few rounds."""
_FIRST = Spreads(shift=0.2, slope=0.05, dimension=0.3)  # where the search for the spreads starts


@dataclass(frozen=True, eq=False)
class Demanded:
    """The demands as the model takes them.

    ``levels``: expected true levels; ``centre``: their means; ``design``: an intercept and the levels less their
    means; ``left``: the variance that errors leave in each level.
    """

    levels: Floats
    centre: Floats
    design: Floats
    left: Floats

    @classmethod
    def of(cls, items: RatedItems, level_error: Floats) -> Demanded:
        """Arrange the levels of the items, given the error of one reading in each dimension."""
        levels, left = predicted_levels(items.levels, items.pool, items.readings, level_error)
        centre = levels.mean(axis=0)
        return cls(levels, centre, np.column_stack([np.ones(items.size), levels - centre]), left)


@dataclass(frozen=True, eq=False)
class HierarchicalFit:
    """The posterior of all lines.

    ``slope_draws``: draws × dimensions. ``intercept_draws``: of the empirical
    level at annotated level 0 on the line of each dimension, which goes through the mean of the items it decides.
    ``together_draws``, ``together_intercept_draws``: the same with the other demands moving along as they do in items.
    ``residual``, ``shift``, ``pool_slope``, ``dimension_spread``: standard deviations σ, τ_u, τ_s, τ_m.
    ``coefficients``: draws × (1 + dimensions) of ``demanded``. ``depth``: the
    most likely depth of each item. ``used``: how many coefficients the data paid for.
    """

    slope_draws: Floats
    intercept_draws: Floats
    together_draws: Floats
    together_intercept_draws: Floats
    residual: float
    shift: float
    pool_slope: float
    dimension_spread: float
    coefficients: Floats
    demanded: Demanded
    depth: Floats
    used: float


def fit_hierarchical(items: RatedItems, *, draws: int, rng: np.random.Generator) -> HierarchicalFit:
    """Fit every dimension at once and draw from the posterior."""
    demanded = Demanded.of(items, items.level_error)
    some = items if items.size <= MOST_SETTLED else items.kept(rng.permutation(items.size)[:MOST_SETTLED])
    part = demanded if some is items else Demanded.of(some, some.level_error)
    state = _settle(Depths.start(some), some, part, _FIRST)
    spreads = _posterior(state, some, part).likeliest
    if some is not items:
        state = _carried(state, some, part, items, demanded, spreads)
    state = _settle(state, items, demanded, spreads)
    posterior = _posterior(state, items, demanded)
    mean = posterior.chance @ posterior.mean
    doubt = _level_doubt(state, items, demanded, mean, posterior.likeliest)
    drawn = posterior.drawn(draws, rng)
    drawn[:, 1:] += doubt * rng.standard_normal((draws, len(items.dimensions)))
    along = _moving_along(items, demanded)
    return HierarchicalFit(
        drawn[:, 1:],
        TOP + drawn @ _line_weights(items, demanded, np.eye(len(items.dimensions))).T,
        drawn[:, 1:] @ along.T,
        TOP + drawn @ _line_weights(items, demanded, along).T,
        float(np.sqrt(state.variance)),
        posterior.averaged("shift"),
        posterior.averaged("slope"),
        posterior.averaged("dimension"),
        drawn,
        demanded,
        state.depth,
        state.used,
    )


def _carried(
    state: Depths, some: RatedItems, part: Demanded, items: RatedItems, demanded: Demanded, spreads: Spreads
) -> Depths:
    """Return where all items stand by what a part of them has settled on; the rest is few rounds."""
    moments = _settled_sums(state, some, part.design)
    common, _ = _common(moments, spreads)
    fitted = common[0] + (demanded.levels - part.centre) @ common[1:]
    return replace(
        Depths.start(items), depth=fitted, fitted=fitted, extra=demanded.left @ common[1:] ** 2, variance=state.variance
    )


def _settle(state: Depths, items: RatedItems, demanded: Demanded, spreads: Spreads) -> Depths:
    """Iterate depths and residual variance at fixed spreads until they stay."""
    if len(items.pools) == 1:
        spreads = Spreads(0.0, 0.0, spreads.dimension)
    for _ in range(_ROUNDS):
        mean, given = given_rates(state, items)
        response, error = standing_in(state, mean, given)
        moments = _summed(state, items, demanded.design, response, error)
        common, worth = _common(moments, spreads)
        departures, own = pool_departures(moments, spreads, common)
        fitted = demanded.design @ common + np.einsum("iq,iq->i", demanded.design, departures[items.pool])
        used = min(worth + own, 0.9 * items.size)
        variance = residual_variance(state, mean, given)
        extra = demanded.left @ common[1:] ** 2
        share = (variance + extra) / (variance + extra + error)
        depth = fitted + share * (response - fitted)
        moved = float(np.abs(fitted - state.fitted).mean())
        changed = abs(variance - state.variance) / variance
        state = Depths(depth, fitted, extra, state.shown, state.error, variance, used)
        if max(moved, changed) < (_STILL if items.size < MOST_SETTLED else _STILL_OF_MANY):
            break
    return state


def _summed(state: Depths, items: RatedItems, design: Floats, response: Floats, error: Floats) -> Moments:
    """Return the moment sums of working responses at this state."""
    return Moments.of(design, response, 1.0 / (state.variance + state.extra + error), items.pool, len(items.pools))


def _settled_sums(state: Depths, items: RatedItems, design: Floats) -> Moments:
    """Return the moment sums at a state that stays."""
    return _summed(state, items, design, *standing_in(state, *given_rates(state, items)))


def _common(moments: Moments, spreads: Spreads) -> tuple[Floats, float]:
    """Return the common coefficients at fixed spreads, and how many they are worth."""
    information, pull, _ = marginal(moments, spreads)
    prior = prior_precision(spreads.dimension, len(pull))
    covariance = np.linalg.inv(information + prior)
    return covariance @ pull, float(np.trace(covariance @ information))


def _posterior(state: Depths, items: RatedItems, demanded: Demanded) -> GridPosterior:
    return integrate(_settled_sums(state, items, demanded.design))


def _level_doubt(state: Depths, items: RatedItems, demanded: Demanded, mean: Floats, spreads: Spreads) -> Floats:
    """Return the standard deviation that not knowing the levels' errors exactly adds to each slope.

    It is the change of the slopes when every error is larger by as much as it is uncertain.
    """
    if not items.level_error.any():
        return np.zeros(len(items.dimensions))
    slopes = []
    for read in (demanded, Demanded.of(items, items.level_error * (1.0 + items.level_doubt))):
        moments = _settled_sums(replace(state, extra=read.left @ mean[1:] ** 2), items, read.design)
        slopes.append(_common(moments, spreads)[0][1:])
    return np.abs(slopes[1] - slopes[0])


def _moving_along(items: RatedItems, demanded: Demanded) -> Floats:
    """Return dimensions × dimensions: how far each demand rises, within pools, where one of them rises by a level.

    A demand that hardly varies moves with itself alone.
    """
    centred = demanded.levels - pool_means(demanded.levels, items.pool)[items.pool]
    covariance = centred.T @ centred
    own = np.diag(covariance)
    varied = own > LEAST_VARIANCE * len(centred)
    return np.asarray(np.where(varied[:, None], covariance / np.where(varied, own, 1.0)[:, None], np.eye(len(own))))


def _line_weights(items: RatedItems, demanded: Demanded, along: Floats) -> Floats:
    """Return dimensions × coefficients: how the intercept of each dimension's line follows from them.

    The line goes through the mean of the items that the dimension decides (where it decides none, that ask for it).
    """
    count = len(items.dimensions)
    weights = np.ones((count, count + 1))
    for at in range(count):
        rows = items.deciding[:, at]
        rows = rows if rows.any() else items.levels[:, at] > 0
        rows = rows if rows.any() else np.ones(items.size, dtype=bool)
        here = demanded.levels[rows].mean(axis=0)
        weights[at, 1:] = here - demanded.centre - along[at] * here[at]
    return weights
