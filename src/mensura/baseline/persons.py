"""From item rates to the scores of persons: how far people differ, and where a score stands among them.

An item's success rises with ability on the logit scale. The spread of ability and of the slopes was learned on pools
with the answers of persons. The level of each item follows from its rate.

How many people and items would halve the interval of a baseline, and what a panel would cost.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy.special import bdtrc, ndtri

from mensura.core.arrays import Floats, expit, logit
from mensura.core.errors import MensuraError
from mensura.scale import Z90

if TYPE_CHECKING:
    from mensura.baseline.estimator import PoolEstimate

QUANTILES = {
    "median": 0.5,
    "top_10": 0.9,
    "top_1": 0.99,
    "top_01": 0.999,
    "best_of_10": 0.5 ** (1 / 10),
    "best_of_100": 0.5 ** (1 / 100),
}
"""Names of the percentiles of persons' scores, and the share of people below each; the best of n: its median."""
ABILITIES = ndtri((np.arange(61) + 0.5) / 61)
"""Equally likely abilities of people, in standard deviations."""
_MOST_ITEMS = 2000  # enough to draw the curve of the mean score
_NARROWING = np.pi / 8  # of a logistic curve averaged over normal ability
_PERSONS = 4000


@dataclass(frozen=True)
class PersonSpread:
    """Learned spreads: logarithm of the SD of ability in logits (mean, SD over pools), SD of the log slopes."""

    log_sd: float
    log_sd_spread: float
    log_slope_spread: float


@dataclass(frozen=True, eq=False)
class PersonScores:
    """Draws × persons of scores between 0 and 1, each row sorted: one row is one possible crowd of people."""

    scores: Floats

    def quantiles(self, share: float) -> tuple[float, float, float]:
        """Return the score that a share of people stays below: median and 90% interval over the draws."""
        low, mid, high = np.quantile(np.quantile(self.scores, share, axis=1), [0.05, 0.5, 0.95])
        return float(mid), float(low), float(high)

    def share_below(self, score: float) -> tuple[float, float, float]:
        """Return the share of people who score less, ties counted half: median and 90% interval."""
        crowd = self.scores.shape[1]
        below = [
            (np.searchsorted(row, score - 1e-9) + np.searchsorted(row, score + 1e-9)) / 2 / crowd for row in self.scores
        ]
        low, mid, high = np.quantile(below, [0.05, 0.5, 0.95])
        return float(mid), float(low), float(high)


def majority_rate(rate: Floats, votes: int) -> Floats:
    """Return how often the majority of so many people is right, from the rate of single people on each item.

    People answer independently given the item, so that its rate states how far they agree. Wrong answers count as one
    answer, which makes the result a lower bound where there are several wrong options. Ties are broken by chance.
    """
    wins: Floats = bdtrc(votes // 2, votes, rate)
    if votes % 2 == 0:
        wins = wins + 0.5 * (bdtrc(votes // 2 - 1, votes, rate) - wins)
    return wins


def score_persons(rates: Floats, spread: PersonSpread, rng: np.random.Generator) -> PersonScores:
    """Return the scores of persons for draws × items of rates; the spread of ability varies over the draws."""
    items = rates.shape[1]
    if items > _MOST_ITEMS:
        rates = rates[:, rng.choice(items, _MOST_ITEMS, replace=False)]
    sds = np.exp(spread.log_sd + spread.log_sd_spread * rng.standard_normal(rates.shape[0]))
    at = ndtri((np.arange(_PERSONS) + 0.5) / _PERSONS)
    luck = rng.standard_normal(_PERSONS)
    rows = np.empty((rates.shape[0], _PERSONS))
    for row, (rate, sd) in enumerate(zip(rates, sds, strict=True)):
        slope = sd * np.exp(spread.log_slope_spread * rng.standard_normal(rate.size))
        mean, variance = score_curve(rate, slope)
        score = np.interp(at, ABILITIES, mean) + luck * np.sqrt(np.interp(at, ABILITIES, variance) / items)
        rows[row] = np.sort(np.clip(score, 0, 1))
    return PersonScores(rows)


def score_curve(rate: Floats, slope: Floats) -> tuple[Floats, Floats]:
    """Return mean score and mean variance of an answer at each of :data:`ABILITIES`."""
    level = logit(np.clip(rate, 1e-4, 1 - 1e-4)) * np.sqrt(1 + _NARROWING * slope**2)
    chance = expit(level[:, None] + slope[:, None] * ABILITIES[None, :])
    return chance.mean(axis=0), (chance * (1 - chance)).mean(axis=0)


ITEMS = (5, 10, 20, 40, 80)
PEOPLE = (10, 20, 50, 100, 200)


@dataclass(frozen=True)
class PanelCost:
    """State what a panel costs.

    Attributes
    ----------
    hourly : float
        US dollars per person and hour.
    seconds : float
        Seconds per answer.

    """

    hourly: float = 12.0
    seconds: float = 45.0

    def __post_init__(self) -> None:
        if self.hourly < 0 or self.seconds <= 0:
            raise MensuraError(
                f"pay={self.hourly:g}, seconds={self.seconds:g}: expected pay of 0 or more and seconds above 0"
            )


def plan_panel(estimate: PoolEstimate, ability_sd: float, cost: PanelCost) -> pl.DataFrame:
    """Plan panels of people that would narrow the interval of a mean.

    Every person answers the same items, spread over the range of difficulty. People differ, so that more items do not
    replace more people.

    Parameters
    ----------
    estimate : PoolEstimate
        The estimate of one population (``baseline.parts[0].estimate``).
    ability_sd : float
        Spread of people's abilities, in logits.
    cost : PanelCost
        Pay and time.

    Returns
    -------
    polars.DataFrame
        Per size of panel the width of the 90% interval of the mean, whether it is halved, hours and cost.

    Examples
    --------
    >>> import mensura
    >>> from mensura.baseline import PanelCost, plan_panel
    >>> items = {"item": ["sum", "prime"], "question": ["2 + 2 = ?", "Is 91 a prime number?"]}
    >>> rates = {"item": ["sum", "prime"], "rate": [0.96, 0.41]}
    >>> card = mensura.estimate_baseline(items, people="world", estimates=rates)
    >>> plan_panel(card.parts[0].estimate, 1.1, PanelCost()).columns[:3]
    ['items', 'people', 'answers']

    """
    slope = estimate.rate * (1 - estimate.rate) / estimate.rate.size
    before = _width(estimate, slope)
    rows = []
    for items in [size for size in ITEMS if size <= estimate.rate.size] or [estimate.rate.size]:
        spread_out = np.linspace(0, estimate.centre.size - 1, items).round().astype(int)
        at = np.unique(np.argsort(estimate.centre, kind="stable")[spread_out])
        for people in PEOPLE:
            rate = np.clip(estimate.rate[at], 0.02, 0.98)
            after = _after_panel(estimate, at, 1 / (people * rate * (1 - rate)), ability_sd / np.sqrt(people))
            width = _width(after, slope)
            hours = people * items * cost.seconds / 3600
            rows.append((items, people, items * people, before, width, width <= before / 2, hours, hours * cost.hourly))
    columns = ["items", "people", "answers", "width_now", "width", "halved", "hours", "cost"]
    return pl.DataFrame(rows, schema=columns, orient="row").sort("cost", "width")


def _after_panel(estimate: PoolEstimate, at: np.ndarray, noise: Floats, spread: float) -> PoolEstimate:
    """Return the estimate after a panel answered some items; the people may all be better or worse by one shift.

    That shift is one more unknown of the anchored items. The items themselves do not have it, so it is taken off again.
    """
    unknowns = estimate.mean.size
    columns, covariance = np.zeros((estimate.rate.size, unknowns + 1)), np.zeros((unknowns + 1,) * 2)
    columns[:, :unknowns], columns[at, unknowns] = estimate.columns, 1.0
    covariance[:unknowns, :unknowns], covariance[unknowns, unknowns] = estimate.covariance, max(spread**2, 1e-9)
    panel = replace(estimate, columns=columns, mean=np.append(estimate.mean, 0.0), covariance=covariance)
    after = panel.anchored(at, panel.centre[at], noise)
    after.columns[at, unknowns] -= 1.0
    return after


def _width(estimate: PoolEstimate, slope: np.ndarray) -> float:
    row = slope @ estimate.columns
    variance = row @ estimate.covariance @ row + slope**2 @ estimate.own_variance
    return float(2 * Z90 * np.sqrt(variance))
