"""People and models compared: rates on the same items, place among people, errors in common, effort."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import scipy

from mensura.core.arrays import Floats
from mensura.exam.agreement import error_agreement
from mensura.exam.file import Exam
from mensura.exam.gathering import MODELS, PEOPLE
from mensura.exam.rates import AnswerMatrix, MeanRate, item_rates, jeffreys, mean_rate
from mensura.exam.scaling import ExamScale
from mensura.exam.sitting import NO_ANSWER

_COMPARISON = {
    "subject": pl.String,
    "kind": pl.String,
    "rate": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
    "people_rate": pl.Float64,
    "difference": pl.Float64,
    "difference_low": pl.Float64,
    "difference_high": pl.Float64,
    "percentile": pl.Float64,
    "percentile_low": pl.Float64,
    "percentile_high": pl.Float64,
    "one_in": pl.Float64,
    "at_least": pl.Boolean,
    "spread": pl.Float64,
    "no_answer": pl.Float64,
    "error_agreement": pl.Float64,
    "cost_per_right": pl.Float64,
    "seconds_per_right": pl.Float64,
}


def compare(
    exam: Exam, scored: pl.DataFrame, answers: AnswerMatrix, people: MeanRate | None, scaled: ExamScale
) -> pl.DataFrame:
    """Return one row for people and one per model."""
    rows = [_people_row(exam, scored, people)] if people else []
    places = {row["subject"]: row for row in scaled.among.to_dicts()}
    for model in scored.filter(pl.col("kind") == MODELS)["subject"].unique(maintain_order=True):
        own = scored.filter(pl.col("subject") == model)
        rows.append(_model_row(exam, own, answers, places.get(model, {})))
    return pl.DataFrame(rows, schema=_COMPARISON, orient="row").fill_nan(None)


def _people_row(exam: Exam, scored: pl.DataFrame, people: MeanRate) -> dict[str, Any]:
    own = scored.filter(pl.col("kind") == PEOPLE)
    right, seconds = float(own["score"].sum()), float(own["seconds"].sum())
    pay = exam.settings.study.pay_per_hour
    silent = own.filter(pl.col("outcome").is_in(["blank", "late"])).height / max(1, own.height)
    per_right = seconds / right if right else None
    return {
        "subject": PEOPLE,
        "kind": PEOPLE,
        "rate": people.rate,
        "low": people.low,
        "high": people.high,
        "n": people.n,
        "no_answer": silent,
        "seconds_per_right": per_right,
        "cost_per_right": None if pay is None or per_right is None else pay * per_right / 3600.0,
    }


def _model_row(exam: Exam, own: pl.DataFrame, answers: AnswerMatrix, place: dict[str, Any]) -> dict[str, Any]:
    by_item = own.drop_nulls("score").group_by("item").agg(pl.col("score").mean())
    known: dict[str, float] = dict(by_item.iter_rows())
    score = np.array([known.get(item.item, np.nan) for item in exam.scored])
    taken = np.isfinite(score)
    n = int(taken.sum())
    rate = float(np.mean(score[taken])) if n else float("nan")
    low, high = jeffreys(np.array([rate * n]), np.array([float(n)]))
    repeats = own.drop_nulls("score").group_by("repeat").agg(pl.col("score").mean())["score"]
    right = float(own["score"].sum())
    costs, seconds = own["cost"].drop_nulls(), own["seconds"].drop_nulls()
    row: dict[str, Any] = {
        "subject": own["subject"][0],
        "kind": MODELS,
        "rate": rate,
        "low": low[0],
        "high": high[0],
        "n": n,
        "spread": repeats.std() if repeats.len() > 1 else None,
        "no_answer": own.filter(pl.col("outcome").is_in(NO_ANSWER)).height / max(1, own.height),
        "error_agreement": error_agreement(np.nan_to_num(score), taken, answers.score, answers.given),
        "cost_per_right": float(costs.sum()) / right if right and costs.len() else None,
        "seconds_per_right": float(seconds.sum()) / right if right and seconds.len() else None,
    }
    if place:
        row |= {name: place[name] for name in ("percentile", "one_in", "at_least")}
        low = min(100.0 * (1.0 - place["high"]), place["percentile"])
        row |= {"percentile_low": low, "percentile_high": 100.0 * (1.0 - place["low"])}
    return row | _difference(score, answers)


def _difference(score: Floats, answers: AnswerMatrix) -> dict[str, float]:
    """Return people's rate on the same items and the difference; items count as a sample of such items."""
    common = np.isfinite(score) & answers.given.any(axis=0)
    if common.sum() < 2:
        return {}
    rate, _, _, n = item_rates(answers)
    people = mean_rate(answers, common)
    gap = score[common] - rate[common]
    apart = float((rate[common] * (1.0 - rate[common]) / n[common]).sum()) / int(common.sum()) ** 2
    shared = max(0.0, people.se**2 - apart) if np.isfinite(people.se) else 0.0
    se = float(np.sqrt(gap.var(ddof=1) / len(gap) + shared))
    half = float(scipy.stats.t.ppf(0.95, len(gap) - 1)) * se
    middle = float(gap.mean())
    return {
        "people_rate": people.rate,
        "difference": middle,
        "difference_low": middle - half,
        "difference_high": middle + half,
    }
