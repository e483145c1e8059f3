"""The depth of every item: what its rate and its demands say of it together, and how far items lie off their demands.

The depth η = −log10 q of an item (q: the share that can solve it) is normal around what its demands say; its rate adds
a likelihood of its own, with guessing and counting, that is not normal. Here are the moments of the two together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mensura.calibration.guessing import plain_depth, shown_depth
from mensura.calibration.rated_items import RatedItems
from mensura.core.arrays import Floats

LEAST_ERROR = 0.005
"""No rate is surer than this, in log10: one percent of itself."""
MOST_KEPT = 0.999
"""Share of the prior variance above which an item's rate is taken to say nothing: no likelihood is negative."""
USUAL_RESIDUAL, USUAL_WEIGHT = 0.2, 5.0
"""A residual as real pools have it, in empirical levels, and the items it counts for."""
MOST_LEVERAGE = 0.9
"""No item is taken to be followed more closely than this by the coefficients: few items would let σ grow for ever."""
_NODES, _MASSES = np.polynomial.hermite.hermgauss(9)


@dataclass(frozen=True, eq=False)
class Depths:
    """Where the iteration stands: each item's depth, what the demands say of it, its standard deviation; σ².

    ``extra``: what errors in levels add to the variance of each item, Σ m² Var(x | w).
    """

    depth: Floats
    fitted: Floats
    extra: Floats
    width: Floats
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
        width = np.sqrt(1.0 / (1.0 / variance + 1.0 / error**2))
        return cls(depth, depth, np.zeros_like(depth), width, shown, error, variance, 1.0 + len(items.dimensions))


def given_rates(state: Depths, items: RatedItems) -> tuple[Floats, Floats]:
    """Return mean and variance of each depth given its rate and what the demands say (normal around ``fitted``).

    By Gauss–Hermite quadrature around ``depth``.
    """
    prior = state.variance + state.extra
    nodes = state.depth + np.sqrt(2.0) * state.width * _NODES[:, None]
    log = _log_likelihood(nodes, state, items) - 0.5 * (nodes - state.fitted) ** 2 / prior + _NODES[:, None] ** 2
    mass = np.exp(log - log.max(axis=0)) * _MASSES[:, None]
    mass /= mass.sum(axis=0)
    mean = (mass * nodes).sum(axis=0)
    return mean, np.maximum((mass * (nodes - mean) ** 2).sum(axis=0), LEAST_ERROR**2 / 2)


def _log_likelihood(depth: Floats, state: Depths, items: RatedItems) -> Floats:
    """Return the log likelihood of each item's rate at each depth (nodes × items).

    A counted rate errs as counts do (binomial), so that a rate of 0 says "deep", not how deep. One with an interval
    errs in proportion: normal in its logarithm.
    """
    shown, _ = shown_depth(depth, items.floor)
    counted = np.isfinite(items.n)
    by_error: Floats = -0.5 * ((state.shown - shown) / state.error) ** 2
    if not counted.any():
        return by_error
    n = np.where(counted, items.n, 1.0)
    rate = np.clip(np.power(10.0, -shown), 1e-12, 1.0 - 0.25 / (n + 1.0))
    by_count = n * (items.observed * np.log(rate) + (1.0 - items.observed) * np.log1p(-rate))
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
    told = np.maximum(1.0 - variance / prior, 0.0)
    leverage = np.minimum(state.used * told / max(float(told.sum()), LEAST_ERROR), MOST_LEVERAGE)
    rise = float((((mean - state.fitted) ** 2 / (1.0 - leverage) + variance - prior) / prior**2).sum())
    known = float((((prior - variance) / prior**2) ** 2).sum())
    usual = USUAL_WEIGHT / state.variance**2
    step = (rise + usual * (USUAL_RESIDUAL**2 - state.variance)) / (known + usual)
    return float(np.clip(state.variance + step, state.variance / 2.0, state.variance * 2.0))
