"""Rates of people: of each item, of the whole exam, weighted or not, alone or with estimates made beforehand.

Items are fixed and people are a sample. With weights every count is replaced by its effective number (Kish).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl
import scipy

from mensura.core.arrays import Floats, Mask, logit
from mensura.core.errors import MensuraError

LEVEL = 0.9
_Z = 1.6448536269514722
_TAUS = np.geomspace(0.05, 2.5, 40)
_DRAWS = 4000


class MeanRate(NamedTuple):
    """A rate with its 90% interval and its standard error; ``n`` people."""

    rate: float
    low: float
    high: float
    se: float
    n: int


class Answers(NamedTuple):
    """Scores of persons × items (0 to 1), where they were given, and a weight of each person."""

    score: Floats
    given: Mask
    weight: Floats


def answer_matrix(outcomes: pl.DataFrame, items: list[str], weights: dict[str, float]) -> Answers:
    """Return the scored answers of people; ``weights`` names the persons in their order."""
    rows = {person: row for row, person in enumerate(weights)}
    columns = {item: column for column, item in enumerate(items)}
    scores, given = np.zeros((len(rows), len(columns))), np.zeros((len(rows), len(columns)), dtype=bool)
    known = outcomes.filter(pl.col("score").is_not_null())
    for person, item, value in known.select("subject", "item", "score").iter_rows():
        if person in rows and item in columns:
            scores[rows[person], columns[item]], given[rows[person], columns[item]] = value, True
    return Answers(scores, given, np.array(list(weights.values()), dtype=np.float64))


def item_rates(answers: Answers) -> tuple[Floats, Floats, Floats, Floats]:
    """Return rate, low, high (Jeffreys) and effective number of every item; not a number where nobody answered."""
    weight = answers.weight[:, None] * answers.given
    mass = weight.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = (weight * answers.score).sum(axis=0) / mass
        effective = mass**2 / (weight**2).sum(axis=0)
        low, high = jeffreys(rate * effective, effective)
    return rate, low, high, np.nan_to_num(effective)


def jeffreys(right: Floats, n: Floats) -> tuple[Floats, Floats]:
    """Return the 90% interval of a rate, ``right`` of ``n`` (Jeffreys); it reaches 0 and 1 where all were alike."""
    tail = (1.0 - LEVEL) / 2.0
    low = scipy.stats.beta.ppf(tail, right + 0.5, n - right + 0.5)
    high = scipy.stats.beta.ppf(1.0 - tail, right + 0.5, n - right + 0.5)
    return np.where(right <= 0, 0.0, low), np.where(right >= n, 1.0, high)


def mean_rate(answers: Answers, among: Mask | None = None) -> MeanRate:
    """Return the mean over items of their rates; people who answered some of them are the sample (linearised).

    ``among``: the items to take; all that somebody answered where left out.
    """
    chosen = answers.given.any(axis=0) if among is None else among & answers.given.any(axis=0)
    score, given = answers.score[:, chosen], answers.given[:, chosen]
    weight = answers.weight[:, None] * given
    mass = weight.sum(axis=0)
    if not mass.size:
        raise MensuraError("exam: nobody answered any of these items; collect answers first")
    rate = (weight * score).sum(axis=0) / mass
    influence = (weight * (score - rate) / mass).sum(axis=1) / len(mass)
    people = int(given.any(axis=1).sum())
    if people < 2:
        return MeanRate(float(rate.mean()), 0.0, 1.0, float("nan"), people)
    se = float(np.sqrt((influence**2).sum() * people / (people - 1)))
    half = float(scipy.stats.t.ppf(1.0 - (1.0 - LEVEL) / 2.0, people - 1)) * se
    middle = float(rate.mean())
    return MeanRate(middle, max(0.0, middle - half), min(1.0, middle + half), se, people)


class CombinedRates(NamedTuple):
    """Rates from answers and estimates together: of every item, and their mean over all items."""

    rate: Floats
    low: Floats
    high: Floats
    mean: MeanRate
    spread: float


def combine(answers: Answers, estimates: Floats, *, seed: int = 0) -> CombinedRates:
    """Return the rates of all items, also of those that nobody answered, from answers and estimates of the rates.

    The logit of a rate is a line in the logit of its estimate plus a normal departure whose spread the answers tell
    (restricted likelihood over a grid). An item with many answers keeps its own rate; one with few leans on the line.
    """
    rate, _, _, n = item_rates(answers)
    seen = n > 0
    if seen.sum() < 5:
        raise MensuraError(f"estimates: {int(seen.sum())} items have answers; expected at least 5. Collect more")
    smooth = (np.nan_to_num(rate) * n + 0.5) / (n + 1.0)
    y, noise = logit(smooth), 1.0 / np.maximum(smooth * (1.0 - smooth) * np.maximum(n, 1e-9), 1e-9)
    line = np.column_stack([np.ones(len(estimates)), logit(np.clip(estimates, 0.01, 0.99))])
    fits = [_at_spread(line, y, noise, seen, tau) for tau in _TAUS]
    likelihood = np.array([fit[0] for fit in fits]) - 0.5 * _TAUS**2  # a weak prior: departures of about a logit
    share = np.exp(likelihood - likelihood.max())
    share /= share.sum()
    rng = np.random.default_rng(seed)
    draws = np.concatenate(
        [
            _draw(rng, line, y, noise, seen, tau, fit, round(float(part) * _DRAWS))
            for tau, fit, part in zip(_TAUS, fits, share, strict=True)
        ]
    )
    low, high = scipy.special.expit(np.quantile(draws, [0.05, 0.95], axis=0))
    rates = scipy.special.expit(draws)
    return CombinedRates(rates.mean(axis=0), low, high, _mean_of(answers, rates), float(share @ _TAUS))


def _at_spread(line: Floats, y: Floats, noise: Floats, seen: Mask, tau: float) -> tuple[float, Floats, Floats]:
    """Return restricted log likelihood, coefficients and their covariance at one spread of departures."""
    x, precision = line[seen], 1.0 / (noise[seen] + tau**2)
    information = (x.T * precision) @ x
    covariance = np.asarray(np.linalg.inv(information), dtype=np.float64)
    coefficients = covariance @ (x.T @ (precision * y[seen]))
    rest = y[seen] - x @ coefficients
    value = 0.5 * (np.log(precision).sum() - np.linalg.slogdet(information)[1] - (precision * rest**2).sum())
    return float(value), coefficients, covariance


def _draw(
    rng: np.random.Generator,
    line: Floats,
    y: Floats,
    noise: Floats,
    seen: Mask,
    tau: float,
    fit: tuple[float, Floats, Floats],
    count: int,
) -> Floats:
    """Return draws × items of the logit rates at one spread of departures."""
    coefficients = rng.multivariate_normal(fit[1], fit[2], count, method="eigh")
    middle = coefficients @ line.T
    share = np.where(seen, noise / (noise + tau**2), 1.0)
    spread = np.where(seen, np.sqrt((1.0 - share) * noise), tau)
    drawn: Floats = share * middle + (1.0 - share) * np.where(seen, y, 0.0) + spread * rng.normal(size=middle.shape)
    return drawn


def _mean_of(answers: Answers, rates: Floats) -> MeanRate:
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
