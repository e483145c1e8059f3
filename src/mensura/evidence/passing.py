"""Who was passed: which models score above a group of people on a test, and how surely.

One rule for every page, table and command. A group was passed by the first model by release whose chance of scoring
above it is 95% or more, by the errors of both scores. Groups whose figure cannot be compared with the models' have a
reason and no verdict.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from math import erfc, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import polars as pl

from mensura.core.arrays import Floats, just_above, just_below
from mensura.core.frames import read_csv
from mensura.evidence.evidence import Evidence
from mensura.evidence.measurements import used_scores, with_tries
from mensura.intake.figures import RATE_UNITS
from mensura.scale import Z90

if TYPE_CHECKING:
    from datetime import date

SURELY = 0.95
"""Chance of scoring above a group from which a model counts as having passed it."""
PASSED, UNSURE, NOT_PASSED, UNKNOWN = "passed", "cannot be told", "not passed", "not known"
MODEL_ERROR = 0.02
"""Least standard error of a model's score: two runs of one model on one test differ by about as much."""
ASSUMED_ERROR = 0.05
"""Standard error taken for a group's score where the source gives neither range nor number of people or items."""
PRIOR_TRIALS = 20
"""The rate behind a binomial error of people is drawn towards ½ by one success and one failure beside so many trials,
so that a perfect score still errs."""
RANGE_ERRORS = 2 * 1.645
"""Standard errors in a source's range, read as a central 90% interval of a normal distribution."""
ABOUT_ZERO = 0.02
"""A judged score of "about zero" says: at most this."""


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


class Above(NamedTuple):
    """The models that took a test beside a group of people.

    ``above`` counts the models that passed the group, ``first`` is the earliest released of them, ``passed`` the day.
    """

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
    """Say which models (subject, released, score, variance) passed a group on one test."""
    chances = [chance_over(own, variance, score, stderr) for own, variance in models.select("score", "variance").rows()]
    rated = models.with_columns(chance=pl.Series(chances, dtype=pl.Float64))
    over = rated.filter(pl.col("chance") >= just_below(SURELY)).sort("released", "subject", nulls_last=True)
    first = over.drop_nulls("released").select("subject", "released").head(1).rows()
    best = rated.sort("score", "subject", descending=[True, False]).row(0, named=True)
    name, day = first[0] if first else (None, None)
    return Above(models.height, over.height, name, day, best["subject"], best["score"], best["chance"])


def verdict_of(chance: float | None) -> str:
    """Say whether people were passed, by the chance of scoring above them: no more surely than both errors allow."""
    if chance is None:
        return UNKNOWN
    if chance >= just_below(SURELY):
        return PASSED
    return NOT_PASSED if chance <= just_above(1 - SURELY) else UNSURE


@cache
def comparable_people() -> pl.DataFrame:
    """Return benchmark, group, comparable, reason: who is no match for a test's metric or was never meant to take it.

    A group that is not listed is comparable.
    """
    table = read_csv(Path(__file__).parent / "comparable_people.csv")
    return table.with_columns(comparable=pl.col("comparable") == "yes")


def why_not_comparable() -> dict[tuple[str, str], str]:
    """Return the reason why a group on a test is compared with no model, by benchmark and group."""
    rows = comparable_people().filter(~pl.col("comparable")).select("benchmark", "group", "reason").iter_rows()
    return {(benchmark, group): reason for benchmark, group, reason in rows}


def say_passed(verdicts: Sequence[str]) -> str:
    """Say how many measured groups of people were passed, from the verdict on each."""
    if not verdicts:
        return "No measured group of people took a test that a model took too."
    passed, groups = map(number_word, (verdicts.count(PASSED), len(verdicts)))
    return f"AI has passed {passed} of the {groups} groups of people who were measured on a test it took too."


def say_solid(grades: Sequence[str | None]) -> str:
    """Say how many results of groups that were passed have a grade from A to C, from the grade of each."""
    solid = sum(grade in SOLID for grade in grades)
    return (
        f"{number_word(solid).capitalize()} of those passed {'has' if solid == 1 else 'have'} a result of grade A to C."
    )


def number_word(count: int) -> str:
    """Return a small number as a word."""
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def chance_over(own: float, variance: float, score: float, stderr: float) -> float:
    """Probability that a true score is above another, ``own`` known with a variance, ``score`` with a standard error.

    The former is never known better than two runs of a model agree.
    """
    ahead = float(own - score) / sqrt(max(variance, MODEL_ERROR**2) + stderr**2)
    return 0.5 * erfc(-ahead / sqrt(2))  # exact in both tails


# The error of a rate, and what guessing explains.

Number = TypeVar("Number", float, Floats, pl.Expr)


def score_variance(rate: Number, n: Number | float) -> Number:
    """Return the variance of a model's rate on ``n`` tries, numbers, arrays or expressions alike.

    It is binomial, the rate drawn towards ½ by one success and one failure.
    """
    p = (rate * n + 1) / (n + 2)
    return p * (1 - p) / n


def guess_limit(chance: Number, n: Number) -> Number:
    """Return the highest rate on ``n`` tries that guessing explains: 95 of 100 who guess stay below it.

    The low end of the 90% interval of that rate is chance.
    """
    limit: Number = chance + Z90 * (chance * (1 - chance) / n) ** 0.5
    return limit


def beyond_guessing(evidence: Evidence) -> pl.DataFrame:
    """Return the scores that instruments use without those that guessing explains."""
    scores = with_tries(evidence, evidence.primary_scores)
    size = pl.col("unit").replace_strict(RATE_UNITS, default=None)
    chances = evidence.benchmarks.select("benchmark", "chance", size=size)
    chance = pl.col("chance") / pl.col("size")
    guessed = (pl.col("score") / pl.col("size") <= guess_limit(chance, pl.col("tries"))) & (chance > 0)
    joined = scores.join(chances, on="benchmark", how="left", maintain_order="left")
    return joined.filter(~guessed.fill_null(False)).select(scores.columns)


# How well a human result was obtained: its kind, and a grade from A to E by one short rule.

KINDS = ("measured", "threshold", "quoted", "estimated")
"""Measured: in its source. Threshold: a pass mark, or by construction. Quoted: second-hand. Estimated: judged."""
_GRADES = tomllib.loads((Path(__file__).parent / "grades.toml").read_text(encoding="utf-8"))
GRADES: dict[str, str] = {letter: words["rule"] for letter, words in _GRADES.items()}
"""What each letter says; thresholds have none and count nowhere."""
SOLID = ("A", "B", "C")
"""Grades whose result was read where it was first reported."""
_PUBLISHED = r"(?i)published csv|data file|released .*data|human dataset|answers published"
_SECOND_HAND = r"(?i)quoted|leaderboard table|public comparisons|as audited|tabulated in|tables after"


def with_grades(people: pl.DataFrame) -> pl.DataFrame:
    """Add ``kind``, ``grade`` and ``raised_by`` to human results (status, n, source and seen).

    The rule is that of ``GRADES``. ``raised_by`` says what would give the next better letter.
    """
    status, source = pl.col("status"), pl.col("source").fill_null("")
    second_hand = (pl.col("seen") == "catalogue").fill_null(False) | source.str.contains(_SECOND_HAND)
    kind = (
        pl.when(status.is_in(["threshold", "constructed"]))
        .then(pl.lit("threshold"))
        .when(status.is_in(["judged", "estimated"]))
        .then(pl.lit("estimated"))
        .when(second_hand)
        .then(pl.lit("quoted"))
        .otherwise(pl.lit("measured"))
    )
    n = pl.col("n").cast(pl.Int64, strict=False).fill_null(0)
    letter = (
        pl.when(pl.col("kind") == "threshold")
        .then(pl.lit(None, pl.String))
        .when(pl.col("kind") == "estimated")
        .then(pl.lit("E"))
        .when(pl.col("kind") == "quoted")
        .then(pl.lit("D"))
        .when((n >= 30) & source.str.contains(_PUBLISHED))
        .then(pl.lit("A"))
        .when(n >= 10)
        .then(pl.lit("B"))
        .otherwise(pl.lit("C"))
    )
    graded = people.with_columns(kind=kind).with_columns(grade=letter)
    ways = {grade: words["raised_by"] for grade, words in _GRADES.items()}
    no_mark = "a score of people, not a mark that they must reach"
    return graded.with_columns(raised_by=pl.col("grade").replace_strict(ways, default=no_mark))


def count_grades(graded: pl.DataFrame) -> str:
    """Say how many results have each letter, and how many are thresholds."""
    counts = dict(graded["grade"].value_counts().iter_rows())
    letters = ", ".join(f"{letter} {counts.get(letter, 0)}" for letter in GRADES)
    marks = graded.filter(kind="threshold").height
    return f"{letters}" + (f"; {marks} threshold{'s' * (marks != 1)} without a letter" if marks else "")
