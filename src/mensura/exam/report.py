"""The report on an exam: people and models on the same items, one scale, and what a reader must know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.core.errors import MensuraError
from mensura.core.results import Result
from mensura.exam.agreement import agreement_among
from mensura.exam.combining import CombinedRates, combine
from mensura.exam.comparison import compare
from mensura.exam.exclusion import exclude
from mensura.exam.file import Exam
from mensura.exam.gathering import MODELS, PEOPLE, count_people
from mensura.exam.rates import AnswerMatrix, MeanRate, answer_matrix, item_rates, mean_rate
from mensura.exam.scaling import ExamScale, scale
from mensura.exam.small_groups import hidden_groups, shared_weights
from mensura.exam.weights import RakedWeights, rake


@dataclass(frozen=True, eq=False, repr=False)
class ExamReport(Result):
    """What an exam found.

    ``comparison``: people, then each model: rate with interval, the people's rate on the same items, the difference,
    percentile and rarity among these people, agreement of errors, cost and seconds per right answer. ``takers``,
    ``items``, ``groups``, ``exclusions``, ``outcomes``, ``anchors`` and ``margins`` are tables; ``facts`` are single
    numbers for the checklist.
    """

    TABLES: ClassVar[tuple[str, ...]] = (
        *("comparison", "takers", "items", "groups", "exclusions", "outcomes", "anchors", "margins"),
    )
    DIGITS: ClassVar[int] = 2

    exam: Exam
    comparison: pl.DataFrame
    takers: pl.DataFrame
    items: pl.DataFrame
    groups: pl.DataFrame
    exclusions: pl.DataFrame
    outcomes: pl.DataFrame
    anchors: pl.DataFrame
    margins: pl.DataFrame
    responses: pl.DataFrame
    facts: dict[str, Any]
    warnings: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """Who took what."""
        models = self.comparison.filter(pl.col("kind") == MODELS).height
        left = self.exclusions["subject"].n_unique()
        return (
            f"{self.exam.settings.title}: {count_people(self.facts['people'])} ({left} left out), "
            f"{models} model{'s' * (models != 1)}, {len(self.exam.scored)} items"
        )


def report_exam(
    exam: Exam,
    outcomes: pl.DataFrame,
    takers: pl.DataFrame,
    *,
    margins: pl.DataFrame | None = None,
    estimates: pl.DataFrame | None = None,
    notes: Sequence[str] = (),
) -> ExamReport:
    """Analyse the outcomes of people and models together.

    ``outcomes`` and ``takers``: see :mod:`mensura.exam.gathering`. ``margins`` (question, answer, share) weight people
    to a population. ``estimates`` (item, rate) of people's rates, made before, are combined with their answers.
    ``notes`` become warnings of the report.
    """
    checks = [item.item for item in exam.checks]
    scored = outcomes.filter(~pl.col("item").is_in(checks))
    out = exclude(takers, exam.settings.exclude)
    kept = takers.filter(~pl.col("subject").is_in(out["subject"].to_list()))
    everybody = mean_of(exam, scored, takers)
    raked = (
        rake(kept, margins)
        if margins is not None
        else RakedWeights(dict.fromkeys(kept["subject"], 1.0), _no_margins(), 1.0)
    )
    scored = scored.filter((pl.col("kind") == MODELS) | pl.col("subject").is_in(kept["subject"].to_list()))
    if not scored["score"].drop_nulls().len():
        raise MensuraError("exam: no answer to score. Run mensura exam serve or mensura exam sit first")
    names = [item.item for item in exam.scored]
    answers = answer_matrix(scored.filter(pl.col("kind") == PEOPLE), names, raked.weights)
    scaled = scale(scored, raked.weights)
    combined = _combined(answers, names, estimates)
    people = mean_rate(answers) if answers.given.any() else None
    facts: dict[str, Any] = {
        "people": kept.height,
        "design_effect": raked.design_effect,
        "people_rate": people,
        "rate_with_everybody": everybody,
        "agreement_among_people": agreement_among(answers.score, answers.given) if people else float("nan"),
        "combined": combined.mean if combined else None,
        "departure": combined.spread if combined else None,
    }
    return ExamReport(
        exam,
        compare(exam, scored, answers, people, scaled),
        _takers(exam, scored, raked, scaled),
        _items(exam, scored, answers, scaled, combined),
        _groups(exam, kept, scored, raked),
        out,
        count_outcomes(scored),
        _anchors(names, answers),
        raked.margins,
        scored.select("subject", pl.col("kind").alias("group"), "item", pl.col("score").alias("correct")),
        facts,
        (*notes, *_findings(scored, scaled, kept, out)),
    )


def mean_of(exam: Exam, outcomes: pl.DataFrame, takers: pl.DataFrame) -> MeanRate | None:
    """Return the mean rate of these people over the items that count; None where nobody answered."""
    names = [item.item for item in exam.scored]
    answers = answer_matrix(outcomes, names, dict.fromkeys(takers["subject"], 1.0))
    return mean_rate(answers) if answers.given.any() else None


def _combined(answers: AnswerMatrix, names: list[str], estimates: pl.DataFrame | None) -> CombinedRates | None:
    if estimates is None:
        return None
    known = dict(estimates.select(pl.col("item").cast(pl.String), pl.col("rate").cast(pl.Float64)).iter_rows())
    missing = [name for name in names if known.get(name) is None]
    if missing:
        raise MensuraError(f"estimates: no rate for item {missing[0]!r} ({len(missing)} such); add it")
    return combine(answers, np.array([known[name] for name in names]))


def _takers(exam: Exam, scored: pl.DataFrame, raked: RakedWeights, scaled: ExamScale) -> pl.DataFrame:
    """Return one row per person and model: pseudonymous, without what people told about themselves."""
    worth = {item.item: item.points for item in exam.scored}
    points = (
        scored.drop_nulls("score")
        .group_by("subject", "item")
        .agg(pl.col("score").mean())
        .group_by("subject")
        .agg(points=(pl.col("score") * pl.col("item").replace_strict(worth, return_dtype=pl.Float64)).sum())
    )
    found = scored.group_by("subject", "kind", maintain_order=True).agg(
        n=pl.col("item").n_unique(),
        rate=pl.col("score").mean(),
        seconds=pl.col("seconds").sum(),
        cost=pl.col("cost").sum(),
    )
    among = scaled.among.select(
        "subject",
        "ability",
        "percentile",
        "one_in",
        "at_least",
        percentile_low=pl.min_horizontal(100.0 * (1.0 - pl.col("high")), "percentile"),
        percentile_high=100.0 * (1.0 - pl.col("low")),
    )
    found = found.join(points, on="subject", how="left", maintain_order="left")
    weights = pl.DataFrame(
        list(shared_weights(raked.weights).items()),
        schema={"subject": pl.String, "weight": pl.Float64},
        orient="row",
    )
    table = found.join(among, on="subject", how="left", maintain_order="left")
    if scaled.fit is not None:
        ends = scaled.fit.subjects.select("subject", "low", "high")
        table = table.join(ends, on="subject", how="left", maintain_order="left")
    else:
        table = table.with_columns(pl.lit(None, dtype=pl.Float64).alias(name) for name in ("low", "high"))
    table = table.join(weights, on="subject", how="left", maintain_order="left")
    return table.select(
        *(
            "subject",
            "kind",
            "n",
            "points",
            "rate",
            "ability",
            "low",
            "high",
            "percentile",
            "percentile_low",
            "percentile_high",
        ),
        *("one_in", "at_least", "seconds", pl.when(pl.col("kind") == MODELS).then("cost").alias("cost"), "weight"),
    )


def _items(
    exam: Exam, scored: pl.DataFrame, answers: AnswerMatrix, scaled: ExamScale, combined: CombinedRates | None
) -> pl.DataFrame:
    rate, low, high, _ = item_rates(answers)
    models = scored.filter(pl.col("kind") == MODELS).drop_nulls("score")
    of_models = (
        models.group_by("item", "subject")
        .agg(pl.col("score").mean())
        .group_by("item")
        .agg(models=pl.len(), model_rate=pl.col("score").mean())
    )
    seconds = scored.filter(pl.col("kind") == PEOPLE).group_by("item").agg(seconds=pl.col("seconds").median())
    table = pl.DataFrame(
        {
            "item": [item.item for item in exam.scored],
            "section": [item.section for item in exam.scored],
            "graded_by": ["language model" if item.scoring == "rubric" else "key" for item in exam.scored],
            "n": answers.given.sum(axis=0).astype(np.int64),
            "rate": rate,
            "low": low,
            "high": high,
            "text": [item.text for item in exam.scored],
        }
    ).with_columns(pl.col("rate", "low", "high").fill_nan(None))
    for part in (of_models, seconds, *_fitted(scaled)):
        table = table.join(part, on="item", how="left", maintain_order="left")
    if combined is not None:
        ends = (("combined", combined.rate), ("combined_low", combined.low), ("combined_high", combined.high))
        table = table.with_columns(pl.Series(name, values) for name, values in ends)
    return table.select(*(name for name in table.columns if name != "text"), "text")


def _fitted(scaled: ExamScale) -> Sequence[pl.DataFrame]:
    """Return difficulty and fit of every item, and whether it favours people or models beyond their ability."""
    if scaled.fit is None:
        return ()
    of_items = scaled.fit.items.select("item", "difficulty", "discrimination", "fit", "fit_q")
    if not scaled.dif.height:
        return (of_items.with_columns(favours=pl.lit(None, dtype=pl.String)),)
    side = pl.when(pl.col("difference") > 0).then(pl.lit(MODELS)).otherwise(pl.lit(PEOPLE))
    dif = scaled.dif.select(
        "item", "difference", pl.col("q").alias("difference_q"), pl.when("flagged").then(side).alias("favours")
    )
    return (of_items, dif)


def _groups(exam: Exam, kept: pl.DataFrame, scored: pl.DataFrame, raked: RakedWeights) -> pl.DataFrame:
    """Return people's rate by their answers about themselves, without small groups."""
    names = [item.item for item in exam.scored]
    rows = []
    for question in exam.settings.questions:
        inside = {
            answer: kept.filter(pl.col(question.name).eq_missing(pl.lit(answer)))["subject"].to_list()
            for answer in [*question.options, None]
        }
        hidden = hidden_groups({answer: len(members) for answer, members in inside.items()})
        for answer, members in inside.items():
            shown = answer not in hidden
            found: Any = (None, None, None)
            if shown:
                answers = answer_matrix(scored, names, {person: raked.weights[person] for person in members})
                found = mean_rate(answers)[:3] if answers.given.any() else found
            rows.append((question.name, answer or "declined", len(members) if shown else None, *found))
    schema = {"question": pl.String, "answer": pl.String, "n": pl.Int64}
    return pl.DataFrame(rows, schema=schema | dict.fromkeys(("rate", "low", "high"), pl.Float64), orient="row")


def _anchors(names: list[str], answers: AnswerMatrix) -> pl.DataFrame:
    rate, _, _, n = item_rates(answers)
    table = pl.DataFrame({"item": names, "rate": rate, "n": np.round(n).astype(np.int64)})
    return table.filter(pl.col("n") > 0)


def count_outcomes(scored: pl.DataFrame) -> pl.DataFrame:
    """Return how often each outcome came: for all people together, and for each model."""
    named = scored.with_columns(
        pl.when(pl.col("kind") == PEOPLE).then(pl.lit(PEOPLE)).otherwise("subject").alias("subject")
    )
    counted = named.group_by("subject", "outcome", maintain_order=True).agg(n=pl.len())
    return counted.with_columns(share=pl.col("n") / pl.col("n").sum().over("subject"))


def _no_margins() -> pl.DataFrame:
    texts = {"question": pl.String, "answer": pl.String}
    return pl.DataFrame(schema={**texts, "share": pl.Float64, "sample": pl.Float64, "weighted": pl.Float64})


def _findings(scored: pl.DataFrame, scaled: ExamScale, kept: pl.DataFrame, out: pl.DataFrame) -> tuple[str, ...]:
    said = list(scaled.said)
    if out.height:
        rules = out.group_by("rule", maintain_order=True).agg(n=pl.len())
        reasons = ", ".join(f"{rule} ({n})" for rule, n in rules.iter_rows())
        said.append(f"left out by the rules of [exclude] in exam.toml: {reasons}; exclusions.csv names each")
    ungraded = scored.filter(pl.col("outcome") == "ungraded").height
    if ungraded:
        said.append(f"{ungraded} answers to items with a rubric are ungraded and left out; give --grader NAME")
    if 0 < kept.height < 30:
        said.append(f"a report on {count_people(kept.height)} has wide intervals and a rough scale")
    return tuple(said)
