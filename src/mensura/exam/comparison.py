"""People and models compared: rates on the same items, one scale, place among people, errors in common, effort.

People who took the exam in different languages: rates by item, and items that favour a language beyond ability.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import scipy

from mensura.core.arrays import Floats, Mask, just_below
from mensura.core.errors import MensuraError
from mensura.exam.adaptive import FEWEST, expected_rates, moments_of, place_takers
from mensura.exam.file import Exam
from mensura.exam.rates import AnswerMatrix, MeanRate, answer_matrix, item_rates, mean_rate, shared_variance
from mensura.exam.scoring import MODELS, NO_ANSWER, PEOPLE
from mensura.exam.weights import LEAST_SHOWN, count_people
from mensura.responses import (
    Aim,
    CountRules,
    FitOptions,
    ResponseFit,
    fit_responses,
    place_among,
    read_responses,
    score_new,
)
from mensura.responses.irt.differences import empty_dif
from mensura.scale import Z90, rate_interval

_COMPARISON = {
    "subject": pl.String,
    "kind": pl.String,
    **dict.fromkeys(("rate", "low", "high"), pl.Float64),
    "n": pl.Int64,
    **dict.fromkeys(("people_rate", "difference", "difference_low", "difference_high"), pl.Float64),
    **dict.fromkeys(("percentile", "percentile_low", "percentile_high", "one_in"), pl.Float64),
    "at_least": pl.Boolean,
    **dict.fromkeys(("spread", "no_answer", "error_agreement", "cost_per_right", "seconds_per_right"), pl.Float64),
}


def compare(
    exam: Exam, scored: pl.DataFrame, answers: AnswerMatrix, people: MeanRate | None, scaled: ExamScale
) -> pl.DataFrame:
    """Return one row for people and one per model."""
    rows = [_people_row(exam, scored, people)] if people else []
    for (model,), own in scored.filter(pl.col("kind") == MODELS).group_by("subject", maintain_order=True):
        place = scaled.among.filter(subject=model).to_dicts()
        rows.append(_model_row(exam, own, answers, place[0] if place else {}))
    if exam.is_adaptive:
        rows = [row | _expected(exam, row["subject"], people, scaled) for row in rows]
    return pl.DataFrame(rows, schema=_COMPARISON, orient="row").fill_nan(None)


def _expected(exam: Exam, subject: str, people: MeanRate | None, scaled: ExamScale) -> dict[str, Any]:
    """Return a model's rate on all items, as its ability predicts it: takers of an adaptive exam get other items."""
    placed = pl.DataFrame() if scaled.fit is None else scaled.fit.subjects.filter(subject=subject, group=MODELS)
    if not placed.height:
        return {}
    ability = list(placed.select("ability", "low", "high").row(0))
    rate, low, high = (float(one) for one in expected_rates(exam.bank, ability))
    row = {"rate": rate, "low": low, "high": high}
    if people is None:
        return row
    half = float(np.sqrt(((high - low) / 2.0) ** 2 + (Z90 * people.se) ** 2))
    gap = rate - people.rate
    ends = {"difference_low": gap - half, "difference_high": gap + half}
    return row | {"people_rate": people.rate, "difference": gap, **ends}


def _people_row(exam: Exam, scored: pl.DataFrame, people: MeanRate) -> dict[str, Any]:
    own = scored.filter(pl.col("kind") == PEOPLE)
    right, seconds = float(own["score"].sum()), float(own["seconds"].sum())
    pay = exam.settings.study.pay_per_hour
    silent = own.filter(pl.col("outcome").is_in(["blank", "late"])).height / max(1, own.height)
    per_right = seconds / right if right else None
    return {
        "subject": PEOPLE,
        "kind": PEOPLE,
        "no_answer": silent,
        "rate": people.rate,
        "low": people.low,
        "high": people.high,
        "n": people.n,
        "seconds_per_right": per_right,
        "cost_per_right": None if pay is None or per_right is None else pay * per_right / 3600.0,
    }


def _model_row(exam: Exam, own: pl.DataFrame, answers: AnswerMatrix, place: dict[str, Any]) -> dict[str, Any]:
    scored = own.drop_nulls("score")
    by_item: dict[str, float] = dict(scored.group_by("item").agg(pl.col("score").mean()).iter_rows())
    score = np.array([by_item.get(item.item, np.nan) for item in exam.scored])
    taken = np.isfinite(score)
    n = int(taken.sum())
    rate = float(np.mean(score[taken])) if n else float("nan")
    low, high = rate_interval(rate * n, n)
    repeats = scored.group_by("repeat").agg(pl.col("score").mean())["score"]
    right = float(own["score"].sum())
    costs, seconds = own["cost"].drop_nulls(), own["seconds"].drop_nulls()
    row: dict[str, Any] = {
        "subject": own["subject"][0],
        "kind": MODELS,
        "rate": rate,
        "low": float(low),
        "high": float(high),
        "n": n,
        "spread": repeats.std() if repeats.len() > 1 else None,
        "no_answer": own.filter(pl.col("outcome").is_in(NO_ANSWER)).height / max(1, own.height),
        "error_agreement": error_agreement(np.nan_to_num(score), taken, answers.score, answers.given),
        "cost_per_right": float(costs.sum()) / right if right and costs.len() else None,
        "seconds_per_right": float(seconds.sum()) / right if right and seconds.len() else None,
    }
    if place and place["percentile"] is not None:
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
    shared = shared_variance(people.se, rate[common], n[common]) if np.isfinite(people.se) else 0.0
    se = float(np.sqrt(gap.var(ddof=1) / len(gap) + shared))
    half = float(scipy.special.stdtrit(len(gap) - 1, 0.95)) * se
    middle = float(gap.mean())
    ends = {"difference_low": middle - half, "difference_high": middle + half}
    return {"people_rate": people.rate, "difference": middle, **ends}


# One scale: the item response fit of people's answers, and models among the people.

ENOUGH = 200
"""People from which discriminations are estimated; with fewer all items have one."""
MODELS_NEEDED = 3
"""Models from which items that favour a kind are named."""
WIDE = 2.0
"""Standard deviation of the prior of a model's ability, in those of people: nearly its answers alone."""


ADAPTIVE_NOTE = (
    "adaptive exam: takers got different items, so rates are those that their abilities predict for all items; "
    "rates of single items are of the people who got them"
)


class ExamScale(NamedTuple):
    """People's fit with the models placed on it, all subjects among people, differences of items, and remarks."""

    fit: ResponseFit | None
    among: pl.DataFrame
    dif: pl.DataFrame
    warnings: tuple[str, ...]


def scale(outcomes: pl.DataFrame, weights: dict[str, float], exam: Exam | None = None) -> ExamScale:
    """Fit people's answers, place each model on that scale by its own answers, and both among the people.

    The scale of an adaptive exam is that of its bank.
    """
    graded = outcomes.drop_nulls("score").select("subject", "item", group="kind", correct="score")
    people, models = graded.filter(group=PEOPLE), graded.filter(group=MODELS)
    count = people["subject"].n_unique()
    few = _no_scale(f"the report counts {count_people(count)}; a common scale needs {FEWEST}")
    if exam is not None and exam.is_adaptive:
        fit = place_takers(exam, outcomes, PEOPLE, weights)
        if count < FEWEST:
            return few._replace(fit=fit, warnings=(ADAPTIVE_NOTE, *few.warnings))
        among = place_among(fit, group=PEOPLE)
        return ExamScale(fit, among.subjects, fit.dif, (ADAPTIVE_NOTE, *among.warnings))
    if count < FEWEST:
        return few
    shape = "2pl" if count >= ENOUGH else "rasch"
    try:
        fit = fit_responses(people, model=shape, options=FitOptions(checks=False))
    except MensuraError as fault:
        return _no_scale(f"no common scale: {fault}")
    fit = _weighted(replace(fit, subjects=pl.concat([fit.subjects, _placed(fit, models)])), weights)
    dif, warnings = _differences(pl.concat([people, models]), shape)
    among = place_among(replace(fit, dif=dif), group=PEOPLE)
    return ExamScale(fit, among.subjects, dif, (*fit.warnings, *among.warnings, *warnings))


def _placed(fit: ResponseFit, models: pl.DataFrame) -> pl.DataFrame:
    """Return models as subjects of people's fit. The mean over repeats counts as one try: repeats are much alike."""
    in_bank = models.filter(pl.col("item").is_in(fit.bank.items))
    if in_bank.is_empty():
        return fit.subjects.clear()
    placed = score_new(fit, read_responses(in_bank, rules=CountRules(repeats="average")), aim=Aim(0.0, WIDE)).subjects
    return placed.select(fit.subjects.columns).cast(fit.subjects.schema)


def _differences(both: pl.DataFrame, shape: str) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return the items that one kind finds easier than its ability says; a few models cannot tell."""
    count = both.filter(group=MODELS)["subject"].n_unique()
    if count < MODELS_NEEDED:
        warning = f"models that sat the exam: {count}; items that favour a kind are named from {MODELS_NEEDED} on"
        return empty_dif(), (warning,) if count else ()
    return _dif_of(both, shape, PEOPLE, "no items that favour people or models are named")


def _dif_of(answers: pl.DataFrame, shape: str, reference: str, otherwise: str) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return how items differ between groups beyond ability; none, with the reason, where no fit tells."""
    rules, options = CountRules(repeats="average"), FitOptions(checks=False)
    try:
        return fit_responses(answers, model=shape, reference=reference, rules=rules, options=options).dif, ()
    except MensuraError as fault:
        return empty_dif(), (f"{otherwise}: {fault}",)


def _weighted(fit: ResponseFit, weights: dict[str, float]) -> ResponseFit:
    """Return the fit with mean and spread of the weighted people; without weights as it is."""
    if np.allclose(list(weights.values()), 1.0):
        return fit
    is_people, moments = pl.col("group") == PEOPLE, moments_of(fit.subjects.filter(group=PEOPLE), weights)
    columns = [pl.when(is_people).then(pl.lit(value)).otherwise(name).alias(name) for name, value in moments.items()]
    return replace(fit, groups=fit.groups.with_columns(columns))


def _no_scale(reason: str) -> ExamScale:
    numbers = ("ability", "rate", "low", "high", "one_in", "percentile")
    words = {"subject": pl.String, "group": pl.String}
    nobody = pl.DataFrame(schema=words | dict.fromkeys(numbers, pl.Float64) | {"at_least": pl.Boolean})
    return ExamScale(None, nobody, empty_dif(), (reason,))


# Do models fail where people fail? Agreement of right and wrong answers beyond what the two rates alone give.

HALF = 0.5


def error_agreement(score: Floats, taken: Mask, people: Floats, given: Mask) -> float:
    """Return Cohen's kappa of one taker with people, over all their common items; not a number without any.

    ``score`` and ``taken`` are over items, ``people`` and ``given`` persons × items. 0: errors fall independently. 1:
    the taker and people err on exactly the same items.
    """
    both = given & taken
    right, own = people >= HALF, score >= HALF
    counts = both.sum(axis=1)
    some = counts > 0
    if not some.any():
        return float("nan")
    same = ((right == own) & both).sum(axis=1)[some] / counts[some]
    theirs = (right & both).sum(axis=1)[some] / counts[some]
    ours = (own & both).sum(axis=1)[some] / counts[some]
    chance = theirs * ours + (1.0 - theirs) * (1.0 - ours)
    weight = counts[some] / counts[some].sum()
    expected = float(weight @ chance)
    return float("nan") if expected >= just_below(1.0) else float((weight @ same - expected) / (1.0 - expected))


def agreement_among(people: Floats, given: Mask) -> float:
    """Return the mean kappa of each person with all others: what a model's agreement is compared with."""
    kappas = [
        error_agreement(people[row], given[row], np.delete(people, row, axis=0), np.delete(given, row, axis=0))
        for row in range(len(people))
    ]
    finite = [kappa for kappa in kappas if np.isfinite(kappa)]
    return float(np.mean(finite)) if finite else float("nan")


LANGUAGES = {
    "item": pl.String,
    "language": pl.String,
    "n": pl.Int64,
    **dict.fromkeys(("rate", "low", "high", "difference", "difference_low", "difference_high", "q"), pl.Float64),
    "flagged": pl.Boolean,
}
"""Columns of the comparison. ``difference``: logits by which the item is easier than in the exam's own language."""


def compare_languages(
    exam: Exam, kept: pl.DataFrame, scored: pl.DataFrame, weights: dict[str, float]
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return one row per item and language, and notes; nothing for an exam that people took in one language."""
    if "sat_in" not in kept.columns:
        return pl.DataFrame(schema=LANGUAGES), ()
    by_language = {language: kept.filter(sat_in=language)["subject"].to_list() for language in exam.languages}
    groups = {language: people for language, people in by_language.items() if len(people) >= LEAST_SHOWN}
    if len(groups) < 2:
        return pl.DataFrame(schema=LANGUAGES), ()
    names, parts = [item.item for item in exam.scored], []
    for language, people in groups.items():
        answers = answer_matrix(scored, names, {person: weights[person] for person in people})
        rate, low, high, _ = item_rates(answers)
        n = answers.given.sum(axis=0)
        part = pl.DataFrame({"item": names, "n": n, "rate": rate, "low": low, "high": high}).with_columns(
            pl.lit(language).alias("language"), pl.col("rate", "low", "high").fill_nan(None), pl.col("n").cast(pl.Int64)
        )
        few = pl.col("n") < LEAST_SHOWN
        parts.append(part.with_columns(pl.when(~few).then(name).alias(name) for name in ("rate", "low", "high")))
    differences, notes = _language_differences(scored, groups)
    table = pl.concat(parts).join(differences, on=["item", "language"], how="left", maintain_order="left")
    order = pl.col("item").replace_strict({name: place for place, name in enumerate(names)})
    return table.sort(order, maintain_order=True).select(*LANGUAGES).cast(pl.Schema(LANGUAGES)), notes


def _language_differences(scored: pl.DataFrame, groups: dict[str, list[str]]) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return how much easier each item is in each language than its people's ability says."""
    language = {person: code for code, people in groups.items() for person in people}
    own = scored.filter((pl.col("kind") == PEOPLE) & pl.col("subject").is_in(list(language))).drop_nulls("score")
    group = pl.col("subject").replace_strict(language, return_dtype=pl.String)
    answers = own.select("subject", group.alias("group"), "item", pl.col("score").alias("correct"))
    dif, notes = _dif_of(answers, "rasch", next(iter(groups)), "languages are compared by their rates alone")
    table = dif.select(
        *("item", pl.col("group").alias("language"), "difference", "q", "flagged"),
        difference_low=pl.col("difference") - Z90 * pl.col("se"),
        difference_high=pl.col("difference") + Z90 * pl.col("se"),
    )
    return table, notes
