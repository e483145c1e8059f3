"""Rates of people: of each item and of the whole exam, weighted or not.

Items are fixed and people are a sample. With weights every count is replaced by its effective number (Kish).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl
import scipy

from mensura.core.arrays import Floats, Mask
from mensura.core.errors import MensuraError

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
    known = outcomes.filter(pl.col("score").is_not_null())
    for person, item, value in known.select("subject", "item", "score").iter_rows():
        if person in rows and item in columns:
            scores[rows[person], columns[item]], given[rows[person], columns[item]] = value, True
    return AnswerMatrix(scores, given, np.array(list(weights.values()), dtype=np.float64))


def item_rates(answers: AnswerMatrix) -> tuple[Floats, Floats, Floats, Floats]:
    """Return rate, low, high (Jeffreys) and effective number of every item; not a number where nobody answered."""
    weight = answers.weight[:, None] * answers.given
    mass = weight.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = (weight * answers.score).sum(axis=0) / mass
        effective = mass**2 / (weight**2).sum(axis=0)
        low, high = jeffreys(rate * effective, effective)
    return rate, low, high, np.nan_to_num(effective)


def rates_by_regression(answers: AnswerMatrix) -> tuple[Floats, Floats]:
    """Return rate and effective number of every item as if all people had answered it (regression estimator).

    Each person's rate on the other items, relative to those items' means, predicts the answer. One slope serves all
    items. What it explains of the variance is known for all people, so an answer counts for more.
    """
    rate, _, _, n = item_rates(answers)
    given, weight = answers.given, answers.weight[:, None]
    apart = np.where(given, answers.score - np.nan_to_num(rate), 0.0)
    others = (apart.sum(axis=1, keepdims=True) - apart) / np.maximum(given.sum(axis=1, keepdims=True) - given, 1)
    mass = weight * given
    with np.errstate(invalid="ignore", divide="ignore"):
        found = (mass * others).sum(axis=0) / mass.sum(axis=0)
    spread = np.where(given, others - np.nan_to_num(found), 0.0)
    joint, own, theirs = ((mass * one).sum() for one in (spread * apart, spread**2, apart**2))
    if own <= 0.0 or theirs <= 0.0:
        return rate, n
    everybody = (weight * others).sum(axis=0) / weight.sum()
    explained = joint**2 / (own * theirs) * (1.0 - n * (weight**2).sum() / weight.sum() ** 2)
    return np.clip(rate - joint / own * (found - everybody), 0.0, 1.0), n / (1.0 - explained)


def jeffreys(right: Floats, n: Floats) -> tuple[Floats, Floats]:
    """Return the 90% interval of a rate, ``right`` of ``n`` (Jeffreys); it reaches 0 and 1 where all were alike."""
    tail = (1.0 - LEVEL) / 2.0
    low = scipy.stats.beta.ppf(tail, right + 0.5, n - right + 0.5)
    high = scipy.stats.beta.ppf(1.0 - tail, right + 0.5, n - right + 0.5)
    return np.where(right <= 0, 0.0, low), np.where(right >= n, 1.0, high)


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
    unbiased = np.sqrt(
        effective / np.maximum(effective - 1.0, 1e-9)
    )  # a rate is nearer to its own answers than the truth
    influence = (weight * (score - rate) / mass * unbiased).sum(axis=1) / len(mass)
    people = int(given.any(axis=1).sum())
    if people < 2:
        return MeanRate(float(rate.mean()), 0.0, 1.0, float("nan"), people)
    se = float(np.sqrt((influence**2).sum()))
    half = float(scipy.stats.t.ppf(1.0 - (1.0 - LEVEL) / 2.0, people - 1)) * se
    middle = float(rate.mean())
    return MeanRate(middle, max(0.0, middle - half), min(1.0, middle + half), se, people)
