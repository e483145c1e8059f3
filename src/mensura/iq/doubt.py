"""How much a score tells of its model: little if it has few answers, or lies at an end of its test.

The joint model reads scores as log odds θ. A score of k right answers of n tells of θ by its binomial likelihood. The
rate in it stays above the test's chance, which guessing reaches, and below its ceiling, which faulty items set. At an
end the likelihood is flat on one side: the score says "at least" or "at most". A normal likelihood takes its place, the
one that changes what the model's other scores predict to the same mean and variance (moment matching).

The scatter of a test contains the error of its usual scores. Only a score that errs by more is doubtful, and only by
what its error exceeds the usual one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mensura.core.arrays import Floats, Ints, Mask, expit, logit
from mensura.evidence.passing import guess_limit
from mensura.iq.ladders import Metric

_USUAL = 1.5
"""A usual score errs by up to this many times the median variance of the scores on its test."""
_WIDE = 4.0  # squared logits: what is predicted before anything is known, so wide that a flat side shows
_LEAP = 1.0  # logits past all others from which on a score adds less
_GRID = np.linspace(-6.0, 6.0, 121)  # standard deviations around a prediction, and around the score
_FLAT = 0.05  # precision below which a score tells nothing
_END = 1e-9  # rates stay this far from 0 and 1, where no likelihood is finite


@dataclass(frozen=True, eq=False)
class Doubt:
    """What each score tells, models × benchmarks, with the ends of every test as success rates."""

    odds: Floats  # log odds, NaN where there is no score
    rates: Floats
    tries: Floats  # answers that stand for the error beyond the usual one, NaN for usual scores
    guessed: Mask  # whether guessing explains the score
    floor: Floats  # per benchmark
    top: Floats

    @property
    def doubtful(self) -> Mask:
        """Which scores err by more than usual ones."""
        return ~np.isnan(self.tries)

    def of(self, columns: Ints) -> Doubt:
        """Return what is said of some of the benchmarks."""
        odds, rates, tries = (part[:, columns] for part in (self.odds, self.rates, self.tries))
        return Doubt(odds, rates, tries, self.guessed[:, columns], self.floor[columns], self.top[columns])

    def among(self, measured: Mask) -> Doubt:
        """Return what is said of some of the scores; the others are gone."""
        odds, rates, tries = (np.where(measured, part, np.nan) for part in (self.odds, self.rates, self.tries))
        return Doubt(odds, rates, tries, self.guessed & measured, self.floor, self.top)

    def match(self, mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
        """Return mean and variance of the normal likelihood of each doubtful score, by row and column.

        ``mean`` and ``variance`` are those of its log odds as predicted without it.
        """
        rows, columns = np.nonzero(self.doubtful)
        ends = self.floor[columns, None], self.top[columns, None]
        return _match(self.rates[rows, columns], self.tries[rows, columns], ends, mean, variance)


def weigh_scores(
    scores: Floats,
    tries: Floats,
    metrics: Sequence[Metric],
    chance: Sequence[float | None],
    ceiling: Sequence[float | None],
) -> Doubt:
    """Return what scores tell (models × benchmarks).

    ``tries`` are the answers behind each score, NaN where nobody knows; ``chance`` and ``ceiling`` are the scores that
    guessing reaches and that nobody exceeds, None where nobody knows.
    """
    odds, rates = (
        np.column_stack([getattr(metric, name)(scores[:, j]) for j, metric in enumerate(metrics)])
        for name in ("log_odds", "rate")
    )
    ends = [
        [
            end if limit is None else float(metric.rate(np.array(limit)))
            for metric, limit in zip(metrics, limits, strict=True)
        ]
        for limits, end in ((chance, 0.0), (ceiling, 1.0))
    ]
    floor, top = np.array(ends)
    beyond = np.full_like(odds, np.nan)
    for column in range(odds.shape[1]):
        rows = np.flatnonzero(~np.isnan(odds[:, column] + tries[:, column]))
        if rows.size:
            one, answers = rates[rows, column], tries[rows, column]
            prior = np.full(rows.size, odds[rows, column].mean()), np.full(rows.size, _WIDE)
            _, error = _match(one, answers, (floor[column], top[column]), *prior)
            more = error - _USUAL * np.median(error)
            with np.errstate(divide="ignore"):
                beyond[rows, column] = np.where(more > 0, answers * error / np.maximum(more, 0.0), np.nan)
    lucky = guess_limit(floor, np.where(np.isnan(tries), np.inf, tries))
    return Doubt(odds, rates, beyond, (floor > 0) & (rates <= lucky), floor, top)


def shorten(odds: Floats) -> Floats:
    """Return log odds (models × benchmarks) with leaps past all other scores on a test shortened.

    A score far past all others may be a leak or a misprint. It still tells, and a higher one tells of a better model.
    But twice the leap is less than twice the news.
    """
    shortened = odds.copy()
    for column in range(odds.shape[1]):
        order = np.argsort(odds[:, column], kind="stable")[: int((~np.isnan(odds[:, column])).sum())]
        for end, near in ((order[0], order[1]), (order[-1], order[-2])) if order.size > 1 else ():
            leap = odds[end, column] - odds[near, column]
            shortened[end, column] = odds[near, column] + np.sign(leap) * _LEAP * np.log1p(abs(leap) / _LEAP)
    return shortened


def _match(
    rates: Floats, tries: Floats, ends: tuple[Floats, Floats], mean: Floats, variance: Floats
) -> tuple[Floats, Floats]:
    """Return mean and variance of the normal likelihood that stands for each binomial one under N(mean, variance)."""
    p = (rates * tries + 0.5) / (tries + 1)
    own = logit(p)[:, None] + (tries * p * (1 - p))[:, None] ** -0.5 * _GRID
    theta = np.sort(np.concatenate([mean[:, None] + np.sqrt(variance)[:, None] * _GRID, own], axis=1), axis=1)
    p = np.clip(np.clip(expit(theta), *ends), _END, 1 - _END)
    successes = (rates * tries)[:, None]
    weight = successes * np.log(p) + (tries[:, None] - successes) * np.log1p(-p)
    weight -= (theta - mean[:, None]) ** 2 / (2 * variance[:, None])
    weight = np.exp(weight - weight.max(axis=1, keepdims=True)) * np.gradient(theta, axis=1)
    weight /= weight.sum(axis=1, keepdims=True)
    after = (weight * theta).sum(axis=1)
    width = (weight * (theta - after[:, None]) ** 2).sum(axis=1)
    precision = 1 / width - 1 / variance
    flat = precision < _FLAT
    precision = np.where(flat, _FLAT, precision)
    return np.where(flat, after, (after / width - mean / variance) / precision), 1 / precision
