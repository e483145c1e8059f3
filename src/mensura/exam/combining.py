"""People's answers together with estimates of their rates that were made beforehand.

The logit of an item's rate is a line in the logit of its estimate plus a normal departure. The answers tell the line
and the spread of departures. An item with many answers keeps its own rate; one with few, or none, leans on the line.
People's other answers correct for an item that abler people happened to get.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy

from mensura.core.arrays import Floats, Mask, logit
from mensura.core.errors import MensuraError
from mensura.exam.rates import AnswerMatrix, MeanRate, item_rates, mean_rate, rates_by_regression

FEWEST = 5
"""Items with answers below which there is no line."""
_Z = 1.6448536269514722
_SPREADS = np.linspace(0.06, 1.86, 19)
_GRID = np.linspace(-7.0, 7.0, 141)
_DRAWS = 400
_STEP = 1e-3


class CombinedRates(NamedTuple):
    """Rates from answers and estimates: of every item, their mean, and the spread of departures in logits."""

    rate: Floats
    low: Floats
    high: Floats
    mean: MeanRate
    spread: float


class _Seen(NamedTuple):
    """Items with answers: their rows of the line, and the log likelihood of their answers, items × grid."""

    line: Floats
    likelihood: Floats


def combine(answers: AnswerMatrix, estimates: Floats, *, seed: int = 0) -> CombinedRates:
    """Return the rates of all items, also of those that nobody answered; ``estimates`` follow the items."""
    rate, n = rates_by_regression(answers)
    known = n > 0
    if known.sum() < FEWEST:
        raise MensuraError(
            f"estimates: {int(known.sum())} items have answers; expected at least {FEWEST}. Collect more"
        )
    line = np.column_stack([np.ones(len(estimates)), logit(np.clip(estimates, 0.01, 0.99))])
    right = (rate * n)[known][:, None]
    likelihood = right * scipy.special.log_expit(_GRID) + (n[known][:, None] - right) * scipy.special.log_expit(-_GRID)
    drawn = _draw(np.random.default_rng(seed), line, known, _Seen(line[known], likelihood))
    low, high = np.quantile(drawn.rates, [0.05, 0.95], axis=0)
    return CombinedRates(drawn.rates.mean(axis=0), low, high, _mean_of(answers, drawn.rates), drawn.spread)


class _Drawn(NamedTuple):
    rates: Floats
    spread: float


def _draw(rng: np.random.Generator, line: Floats, known: Mask, seen: _Seen) -> _Drawn:
    """Return draws × items of the rates, over what is uncertain: spread, line and departures."""
    fits = [_fit_line(seen, spread) for spread in _SPREADS]
    height = np.array([fit[0] for fit in fits]) - 0.5 * _SPREADS**2
    share = np.exp(height - height.max())
    share /= share.sum()
    rates = np.empty((8 * _DRAWS, len(line)))
    for block, place in enumerate(rng.choice(len(_SPREADS), _DRAWS, p=share)):
        spread, (_, coefficients, covariance) = _SPREADS[place], fits[place]
        middle = line @ rng.multivariate_normal(coefficients, covariance, method="eigh")
        logits = middle + spread * rng.normal(size=(8, len(line)))
        logits[:, known] = _sample(rng, seen.likelihood, middle[known], spread)
        rates[8 * block : 8 * block + 8] = scipy.special.expit(logits)
    return _Drawn(rates, float(share @ _SPREADS))


def _sample(rng: np.random.Generator, likelihood: Floats, middle: Floats, spread: float) -> Floats:
    """Return eight draws of the logit rate of every item with answers, given the line and the spread."""
    height = likelihood - 0.5 * ((_GRID - middle[:, None]) / spread) ** 2
    mass = np.exp(height - height.max(axis=1, keepdims=True)).cumsum(axis=1)
    wanted = rng.random((8, len(middle))) * mass[:, -1]
    place = (mass[None] < wanted[:, :, None]).sum(axis=2)
    jitter = (_GRID[1] - _GRID[0]) * (rng.random(place.shape) - 0.5)
    return np.asarray(_GRID[place] + jitter, dtype=np.float64)


def _fit_line(seen: _Seen, spread: float) -> tuple[float, Floats, Floats]:
    """Return log marginal likelihood, coefficients and their covariance at one spread of departures (Laplace)."""

    def loss(x: Floats) -> float:
        gap = (_GRID - (seen.line @ x)[:, None]) / spread
        found = scipy.special.logsumexp(seen.likelihood - 0.5 * gap**2, axis=1) - np.log(spread)
        return -float(found.sum()) + 0.5 * float(x @ (x / np.array([4.0, 1.0]))) - float(x[1])

    best = scipy.optimize.minimize(loss, np.array([0.0, 1.0]), method="BFGS")
    curvature = _curvature(loss, best.x)
    covariance = np.asarray(np.linalg.inv(curvature), dtype=np.float64)
    return -float(best.fun) - 0.5 * float(np.linalg.slogdet(curvature)[1]), best.x, covariance


def _curvature(loss: Callable[[Floats], float], x: Floats) -> Floats:
    """Return the second derivatives of a function of two numbers, by central differences."""
    step = _STEP * np.eye(2)
    found = np.empty((2, 2))
    for i in range(2):
        for j in range(2):
            both, apart = step[i] + step[j], step[i] - step[j]
            corners = loss(x + both) - loss(x + apart) - loss(x - apart) + loss(x - both)
            found[i, j] = corners / (4.0 * _STEP**2)
    return found


def _mean_of(answers: AnswerMatrix, rates: Floats) -> MeanRate:
    """Return the mean over items; what people share (an able sample) is added, for the draws do not contain it."""
    alone = mean_rate(answers)
    rate, _, _, n = item_rates(answers)
    seen = n > 0
    apart = float((rate[seen] * (1.0 - rate[seen]) / n[seen]).sum()) / int(seen.sum()) ** 2
    shared = max(0.0, alone.se**2 - apart)
    means = rates.mean(axis=1)
    se = float(np.sqrt(means.var() + shared))
    middle = float(means.mean())
    return MeanRate(middle, max(0.0, middle - _Z * se), min(1.0, middle + _Z * se), se, alone.n)
