"""Rates of people, of each item and of the whole exam: from answers, weighted or not, and from estimates as well.

Items are fixed and people are a sample. With weights every count is replaced by its effective number (Kish).
"""

from typing import NamedTuple

import numpy as np
import polars as pl
import scipy

from mensura.core.arrays import Floats, Mask, logit
from mensura.core.errors import MensuraError
from mensura.scale import Z90, rate_interval

LEVEL = 0.9


class MeanRate(NamedTuple):
    """A rate with its 90% interval and its standard error; ``n`` people."""

    rate: float
    low: float
    high: float
    se: float
    n: int


class AnswerMatrix(NamedTuple):
    """Scores of persons × items (0 to 1), where they were given, and a weight of each person."""

    score: Floats
    given: Mask
    weight: Floats


def answer_matrix(outcomes: pl.DataFrame, items: list[str], weights: dict[str, float]) -> AnswerMatrix:
    """Return the scored answers of people; ``weights`` names the persons in their order."""
    rows = {person: row for row, person in enumerate(weights)}
    columns = {item: column for column, item in enumerate(items)}
    scores, given = np.zeros((len(rows), len(columns))), np.zeros((len(rows), len(columns)), dtype=bool)
    for person, item, value in outcomes.drop_nulls("score").select("subject", "item", "score").iter_rows():
        if person in rows and item in columns:
            scores[rows[person], columns[item]], given[rows[person], columns[item]] = value, True
    return AnswerMatrix(scores, given, np.array(list(weights.values()), dtype=np.float64))


def item_rates(answers: AnswerMatrix) -> tuple[Floats, Floats, Floats, Floats]:
    """Return rate, low, high (90%) and effective number of every item; not a number where nobody answered."""
    weight = answers.weight[:, None] * answers.given
    mass = weight.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = (weight * answers.score).sum(axis=0) / mass
        effective = mass**2 / (weight**2).sum(axis=0)
        low, high = rate_interval(rate * effective, effective)
    return rate, low, high, np.nan_to_num(effective)


def rates_by_regression(answers: AnswerMatrix) -> tuple[Floats, Floats]:
    """Return rate and effective number of every item as if all people had answered it (regression estimator).

    Each person's rate on the other items, relative to those items' means, predicts the answer. One slope serves all
    items. What it explains of the variance is known for all people, so an answer counts for more.
    """
    rate, _, _, n = item_rates(answers)
    given, weight = answers.given, answers.weight[:, None]
    residual = np.where(given, answers.score - np.nan_to_num(rate), 0.0)
    others = (residual.sum(axis=1, keepdims=True) - residual) / np.maximum(given.sum(axis=1, keepdims=True) - given, 1)
    mass = weight * given
    with np.errstate(invalid="ignore", divide="ignore"):
        of_takers = (mass * others).sum(axis=0) / mass.sum(axis=0)
    spread = np.where(given, others - np.nan_to_num(of_takers), 0.0)
    joint, own, theirs = ((mass * one).sum() for one in (spread * residual, spread**2, residual**2))
    if own <= 0.0 or theirs <= 0.0:
        return rate, n
    everybody = (weight * others).sum(axis=0) / weight.sum()
    explained = joint**2 / (own * theirs) * (1.0 - n * (weight**2).sum() / weight.sum() ** 2)
    return np.clip(rate - joint / own * (of_takers - everybody), 0.0, 1.0), n / (1.0 - explained)


def mean_rate(answers: AnswerMatrix, among: Mask | None = None) -> MeanRate:
    """Return the mean over items of their rates; people who answered some of them are the sample (linearised).

    ``among``: the items to take; all that somebody answered where left out.
    """
    chosen = answers.given.any(axis=0) if among is None else among & answers.given.any(axis=0)
    score, given = answers.score[:, chosen], answers.given[:, chosen]
    weight = answers.weight[:, None] * given
    mass = weight.sum(axis=0)
    if not mass.size:
        raise MensuraError("exam: nobody answered any of these items. Run mensura exam serve first")
    rate = (weight * score).sum(axis=0) / mass
    effective = mass**2 / (weight**2).sum(axis=0)
    unbiased = np.sqrt(effective / np.maximum(effective - 1.0, 1e-9))  # a rate is nearer to its own answers
    influence = (weight * (score - rate) / mass * unbiased).sum(axis=1) / len(mass)
    people = int(given.any(axis=1).sum())
    if people < 2:
        return MeanRate(float(rate.mean()), 0.0, 1.0, float("nan"), people)
    se = float(np.sqrt((influence**2).sum()))
    half = float(scipy.special.stdtrit(people - 1, 0.5 + LEVEL / 2)) * se
    middle = float(rate.mean())
    return MeanRate(middle, max(0.0, middle - half), min(1.0, middle + half), se, people)


# People's answers together with estimates of their rates that were made beforehand.
#
# The logit of an item's rate is a line in the logit of its estimate plus a normal departure. The answers give the line
# and the spread of departures. An item with many answers keeps its own rate; one with few, or none, leans on the line.
# People's other answers correct for an item that abler people happened to get.

FEWEST = 5
"""Items with answers below which there is no line."""
_SPREADS = np.linspace(0.06, 1.86, 19)
_GRID = np.linspace(-7.0, 7.0, 141)
_DRAWS = 400


class CombinedRates(NamedTuple):
    """Rates from answers and estimates: of every item, their mean, and the spread of departures in logits."""

    rate: Floats
    low: Floats
    high: Floats
    mean: MeanRate
    spread: float


def combine(answers: AnswerMatrix, estimates: Floats, *, seed: int = 0) -> CombinedRates:
    """Return the rates of all items, also of those that nobody answered; ``estimates`` follow the items."""
    rate, n = rates_by_regression(answers)
    has_answers = n > 0
    if (count := has_answers.sum()) < FEWEST:
        raise MensuraError(f"estimates: {count} items have answers; expected at least {FEWEST}. Collect more")
    line = np.column_stack([np.ones(len(estimates)), logit(np.clip(estimates, 0.01, 0.99))])
    right, trials = (rate * n)[has_answers][:, None], n[has_answers][:, None]
    likelihood = right * scipy.special.log_expit(_GRID) + (trials - right) * scipy.special.log_expit(-_GRID)
    rates, spread = _draw(np.random.default_rng(seed), line, has_answers, likelihood)
    low, high = np.quantile(rates, [0.05, 0.95], axis=0)
    return CombinedRates(rates.mean(axis=0), low, high, _mean_of(answers, rates), spread)


def _draw(rng: np.random.Generator, line: Floats, has_answers: Mask, likelihood: Floats) -> tuple[Floats, float]:
    """Return draws × items of the rates, over what is uncertain (spread, line and departures), and the mean spread.

    ``likelihood``: log likelihood of the answers to the items that have any, items × grid.
    """
    fits = [_fit_line(line[has_answers], likelihood, spread) for spread in _SPREADS]
    height = np.array([fit[0] for fit in fits]) - 0.5 * _SPREADS**2
    share = np.exp(height - height.max())
    share /= share.sum()
    rates = np.empty((8 * _DRAWS, len(line)))
    for block, place in enumerate(rng.choice(len(_SPREADS), _DRAWS, p=share)):
        spread, (_, coefficients, covariance) = _SPREADS[place], fits[place]
        middle = line @ rng.multivariate_normal(coefficients, covariance, method="eigh")
        logits = middle + spread * rng.normal(size=(8, len(line)))
        logits[:, has_answers] = _sample(rng, likelihood, middle[has_answers], spread)
        rates[8 * block : 8 * block + 8] = scipy.special.expit(logits)
    return rates, float(share @ _SPREADS)


def _sample(rng: np.random.Generator, likelihood: Floats, middle: Floats, spread: float) -> Floats:
    """Return eight draws of the logit rate of every item with answers, given the line and the spread."""
    height = likelihood - 0.5 * ((_GRID - middle[:, None]) / spread) ** 2
    mass = np.exp(height - height.max(axis=1, keepdims=True)).cumsum(axis=1)
    wanted = rng.random((8, len(middle))) * mass[:, -1]
    place = (mass[None] < wanted[:, :, None]).sum(axis=2)
    jitter = (_GRID[1] - _GRID[0]) * (rng.random(place.shape) - 0.5)
    return np.asarray(_GRID[place] + jitter, dtype=np.float64)


def _fit_line(line: Floats, likelihood: Floats, spread: float) -> tuple[float, Floats, Floats]:
    """Return log marginal likelihood, coefficients and their covariance at one spread of departures (Laplace)."""

    def loss(x: Floats) -> float:
        gap = (_GRID - (line @ x)[:, None]) / spread
        marginal = scipy.special.logsumexp(likelihood - 0.5 * gap**2, axis=1) - np.log(spread)
        return -float(marginal.sum()) + 0.5 * float(x @ (x / np.array([4.0, 1.0]))) - float(x[1])

    best = scipy.optimize.minimize(loss, np.array([0.0, 1.0]), method="BFGS")
    weight = scipy.special.softmax(likelihood - 0.5 * ((_GRID - (line @ best.x)[:, None]) / spread) ** 2, axis=1)
    variance = weight @ _GRID**2 - (weight @ _GRID) ** 2  # of each item's logit
    curvature = (line * (spread**-2.0 - variance * spread**-4.0)[:, None]).T @ line + np.diag([0.25, 1.0])
    covariance = np.asarray(np.linalg.inv(curvature), dtype=np.float64)
    return -float(best.fun) - 0.5 * float(np.linalg.slogdet(curvature)[1]), best.x, covariance


def _mean_of(answers: AnswerMatrix, rates: Floats) -> MeanRate:
    """Return the mean over items; what people share (an able sample) is added, for the draws do not contain it."""
    rate_from_answers = mean_rate(answers)
    rate, _, _, n = item_rates(answers)
    shared = shared_variance(rate_from_answers.se, rate[n > 0], n[n > 0])
    means = rates.mean(axis=1)
    se = float(np.sqrt(means.var() + shared))
    middle = float(means.mean())
    return MeanRate(middle, max(0.0, middle - Z90 * se), min(1.0, middle + Z90 * se), se, rate_from_answers.n)


def shared_variance(se: float, rate: Floats, n: Floats) -> float:
    """Return the variance of a mean rate beyond that of single answers: what people have in common over items."""
    item_variance = float((rate * (1.0 - rate) / n).sum()) / len(rate) ** 2
    return max(0.0, se**2 - item_variance)
