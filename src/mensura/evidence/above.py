"""Which models score above people on a test, and how surely: one rule for the errors of both, whoever asks."""

from __future__ import annotations

from math import erfc, sqrt
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import polars as pl

from mensura.core.arrays import Floats, just_above
from mensura.evidence.measurements import used_scores, with_tries
from mensura.intake.figures import RATE_UNITS

if TYPE_CHECKING:
    from datetime import date

    from mensura.evidence.evidence import Evidence

Number = TypeVar("Number", float, Floats, pl.Expr)
MODEL_ERROR = 0.02
"""Least standard error of a model's score: two runs of one model on one test differ by about as much."""
ASSUMED_ERROR = 0.05
"""Standard error taken for a group's score where the source gives neither range nor number of people or items."""
PRIOR_TRIALS = 20
"""The rate behind a binomial error of people is drawn towards ½ by one success and one failure beside so many trials,
so that a perfect score still errs."""
RANGE_ERRORS = 2 * 1.645
"""Standard errors in a source's range, read as a central 90% interval of a normal distribution."""
_GUESSES = 1.645  # standard errors above chance
ABOUT_ZERO = 0.02
"""A judged score of "about zero" says: at most this."""


class Above(NamedTuple):
    """The models that took a test beside a group of people; ``first`` is the earliest released of those above."""

    models: int
    above: int
    first: str | None
    passed: date | None
    best: str
    best_score: float
    chance: float


def people_rates(groups: pl.DataFrame) -> pl.DataFrame:
    """Return groups of people with ``bound``, ``score`` and ``stderr`` as they are compared with models.

    ``groups`` has score, low, high (as rates from 0 to 1), status, n (people) and items (of the test). The standard
    error comes from the source's range, else if measured from the people or items, else it is assumed. ``bound`` is
    "at most" for judged scores of about zero; the score is then the bound.
    """
    p = (pl.col("score") * PRIOR_TRIALS + 1) / (PRIOR_TRIALS + 2)
    binomial = pl.when(pl.col("status") == "measured").then((p * (1 - p) / pl.coalesce("n", "items")).sqrt())
    ranged = (pl.col("high") - pl.col("low")) / RANGE_ERRORS
    nearly_none = (pl.col("score") == 0) & pl.col("status").is_in(["estimated", "judged"])
    return groups.with_columns(
        bound=pl.when(nearly_none).then(pl.lit("at most")),
        score=pl.when(nearly_none).then(ABOUT_ZERO).otherwise("score"),
        stderr=pl.coalesce(ranged, binomial, pl.lit(ASSUMED_ERROR)),
    )


def score_variance(rate: Number, n: Number | float) -> Number:
    """Return the variance of a model's rate on ``n`` tries, numbers, arrays or expressions alike.

    It is binomial, the rate drawn towards ½ by one success and one failure.
    """
    p = (rate * n + 1) / (n + 2)
    return p * (1 - p) / n


def guess_limit(chance: Number, n: Number) -> Number:
    """Return the highest rate on ``n`` tries that guessing explains: 95 of 100 who guess stay below it."""
    return chance + _GUESSES * (chance * (1 - chance) / n) ** 0.5


def beyond_guessing(evidence: Evidence) -> pl.DataFrame:
    """Return the scores that instruments use without those that guessing explains."""
    scores = with_tries(evidence, evidence.primary_scores)
    chances = evidence.benchmarks.select(
        "benchmark", "chance", size=pl.col("unit").replace_strict(RATE_UNITS, default=None)
    )
    chance = pl.col("chance") / pl.col("size")
    guessed = (pl.col("score") / pl.col("size") <= guess_limit(chance, pl.col("tries"))) & (chance > 0)
    joined = scores.join(chances, on="benchmark", how="left", maintain_order="left")
    return joined.filter(~guessed.fill_null(False)).select(scores.columns)


def model_rates(evidence: Evidence) -> pl.DataFrame:
    """Return the models' rates on tests in percent: benchmark, subject, released, score (0 to 1), variance.

    Several measurements of one model on one test count as their mean.
    """
    scores = with_tries(evidence, used_scores(evidence).filter(pl.col("unit") == "percent"))
    rate = pl.col("score") / 100
    return (
        scores.with_columns(rate, variance=score_variance(rate, pl.col("tries")).fill_null(0.0))
        .group_by("benchmark", "subject")
        .agg(pl.col("score").mean(), pl.col("variance").sum() / pl.len() ** 2)
        .join(evidence.models.select("subject", "released"), on="subject", how="left")
    )


def who_is_above(models: pl.DataFrame, score: float, stderr: float) -> Above:
    """Say which models (subject, released, score, variance) score above a group on one test."""
    over = models.filter(pl.col("score") > just_above(score)).sort("released", "subject", nulls_last=True)
    first = over.drop_nulls("released").select("subject", "released").head(1).rows()
    best = models.sort("score", "subject", descending=[True, False]).row(0, named=True)
    chance = chance_over(best["score"], best["variance"], score, stderr)
    name, day = first[0] if first else (None, None)
    return Above(models.height, over.height, name, day, best["subject"], best["score"], chance)


def chance_over(own: float, variance: float, score: float, stderr: float) -> float:
    """Probability that a true score is above another, ``own`` known with a variance, ``score`` with a standard error.

    The former is never known better than two runs of a model agree.
    """
    ahead = float(own - score) / sqrt(max(variance, MODEL_ERROR**2) + stderr**2)
    return 0.5 * erfc(-ahead / sqrt(2))  # exact in both tails
