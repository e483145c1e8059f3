"""The report on an exam: people and models on the same items, one scale, and what a reader must know."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.core.errors import MensuraError
from mensura.core.results import Result
from mensura.exam.adaptive import expected_rates
from mensura.exam.comparison import ExamScale, agreement_among, compare, compare_languages, scale
from mensura.exam.file import Exam
from mensura.exam.gathering import attrition, count_outcomes
from mensura.exam.items import read_number
from mensura.exam.rates import AnswerMatrix, CombinedRates, MeanRate, answer_matrix, combine, item_rates, mean_rate
from mensura.exam.scoring import MODELS, PEOPLE, grading_agreement
from mensura.exam.weights import RakedWeights, count_people, exclude, hidden_groups, rake, shared_weights
from mensura.scale import Z90


@dataclass(frozen=True, eq=False, repr=False)
class ExamReport(Result):
    """Report on people and models who took one exam.

    Attributes
    ----------
    comparison : pl.DataFrame
        People, then each model: rate with interval, the people's rate on the same items, the difference, percentile
        and rarity among these people, agreement of errors, cost and seconds per right answer.
    takers, items, groups, exclusions, outcomes, anchors, margins : pl.DataFrame
        One row per taker, item, group of people, person left out, outcome, item with answers, and answer weighted to.
    attrition, languages, ratings, grading : pl.DataFrame
        People at each step from the first page to the analysis; rates by item and language; answers to ratings;
        agreement of keys and graders with a person who graded answers by hand.
    responses : pl.DataFrame
        subject, group, item, correct: for ``mensura responses``.
    facts : dict[str, Any]
        Single numbers for the checklist.
    warnings : tuple of str
        What a reader must know.

    """

    TABLES: ClassVar[tuple[str, ...]] = (
        *("comparison", "takers", "items", "groups", "exclusions", "outcomes", "anchors", "margins"),
        *("attrition", "languages", "ratings", "grading"),
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
    attrition: pl.DataFrame
    languages: pl.DataFrame
    ratings: pl.DataFrame
    grading: pl.DataFrame
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
    steps: Mapping[str, int] | None = None,
    notes: Sequence[str] = (),
) -> ExamReport:
    """Analyse the outcomes of people and models together.

    Parameters
    ----------
    exam : Exam
        The exam.
    outcomes, takers : pl.DataFrame
        As :mod:`mensura.exam.gathering` makes them.
    margins : pl.DataFrame, optional
        question, answer, share: weight people to a population.
    estimates : pl.DataFrame, optional
        item, rate: estimates of people's rates, made before, are combined with their answers.
    steps : Mapping[str, int], optional
        People at each step before the first item (:func:`mensura.exam.gathering.count_steps`).
    notes : Sequence[str]
        Become warnings of the report.

    Returns
    -------
    ExamReport
        The tables.

    Raises
    ------
    MensuraError
        If no answer can be scored, or a table lacks something.

    Examples
    --------
    >>> report = report_exam(exam, people_outcomes(exam, store), takers)  # doctest: +SKIP

    """
    names = [item.item for item in exam.scored]
    scored = outcomes.filter(pl.col("item").is_in(names))
    if not scored["score"].drop_nulls().len():
        raise MensuraError("exam: no answer to score. Run mensura exam serve or mensura exam sit first")
    everybody = answer_matrix(scored, names, dict.fromkeys(takers["subject"], 1.0))
    out = exclude(takers, exam.settings.exclude)
    kept = takers.filter(~pl.col("subject").is_in(out["subject"].to_list()))
    raked = rake(kept, margins)
    scored = scored.filter((pl.col("kind") == MODELS) | pl.col("subject").is_in(kept["subject"].to_list()))
    answers = answer_matrix(scored.filter(pl.col("kind") == PEOPLE), names, raked.weights)
    scaled = scale(scored, raked.weights, exam)
    combined = _combined(answers, names, estimates, is_adaptive=exam.is_adaptive)
    languages, language_notes = compare_languages(exam, kept, scored, raked.weights)
    grading = grading_agreement(exam, outcomes)
    agreed = map(_agreement_note, grading.to_dicts())
    people = _expected_mean(exam, scaled, raked.weights) if exam.is_adaptive else _mean_or_none(answers)
    facts: dict[str, Any] = {
        "people": kept.height,
        "design_effect": raked.design_effect,
        "people_rate": people,
        "rate_with_everybody": people if exam.is_adaptive else _mean_or_none(everybody),
        "agreement_among_people": agreement_among(answers.score, answers.given) if people else float("nan"),
        "combined": combined.mean if combined else None,
        "departure": combined.spread if combined else None,
    }
    return ExamReport(
        exam,
        compare(exam, scored, answers, people, scaled),
        _takers(exam, scored, raked, scaled),
        _items(exam, scored, answers, scaled, combined),
        _groups(exam, kept, scored, raked, scaled),
        out,
        count_outcomes(scored),
        _anchors(names, answers),
        raked.margins,
        attrition(exam, takers, steps or {}),
        languages,
        count_ratings(exam, outcomes, kept["subject"].to_list()),
        grading,
        scored.select("subject", pl.col("kind").alias("group"), "item", pl.col("score").alias("correct")),
        facts,
        (*notes, *language_notes, *_findings(exam, scored, scaled, out, kept.height), *agreed),
    )


def _mean_or_none(answers: AnswerMatrix) -> MeanRate | None:
    """Return the mean rate over items; None where nobody answered."""
    return mean_rate(answers) if answers.given.any() else None


def _expected_mean(exam: Exam, scaled: ExamScale, weights: Mapping[str, float]) -> MeanRate | None:
    """Return the mean rate of people on all items of the bank, as their abilities predict it; people are the sample."""
    own = pl.DataFrame() if scaled.fit is None else scaled.fit.subjects.filter(pl.col("subject").is_in(list(weights)))
    if own.height < 2:
        return None
    weight = np.array([weights[subject] for subject in own["subject"]])
    rate, low, high = (expected_rates(exam.bank, own[name].to_numpy()) for name in ("ability", "low", "high"))
    mean = float(np.average(rate, weights=weight))
    of_ability = ((high - low) / (2.0 * Z90)) ** 2
    variance = float(np.average((rate - mean) ** 2 + of_ability, weights=weight))
    se = float(np.sqrt(variance * (weight**2).sum())) / float(weight.sum())
    return MeanRate(mean, max(0.0, mean - Z90 * se), min(1.0, mean + Z90 * se), se, own.height)


def _combined(
    answers: AnswerMatrix, names: list[str], estimates: pl.DataFrame | None, *, is_adaptive: bool
) -> CombinedRates | None:
    if estimates is None:
        return None
    if is_adaptive:
        raise MensuraError("estimates: not with an adaptive exam, whose items depend on the answers. Leave them out")
    rates = dict(estimates.select(pl.col("item").cast(pl.String), pl.col("rate").cast(pl.Float64)).iter_rows())
    missing = [name for name in names if rates.get(name) is None]
    if missing:
        raise MensuraError(f"estimates: no rate for item {missing[0]!r} ({len(missing)} such); add it")
    return combine(answers, np.array([rates[name] for name in names]))


def _takers(exam: Exam, scored: pl.DataFrame, raked: RakedWeights, scaled: ExamScale) -> pl.DataFrame:
    """Return one row per person and model: pseudonymous, without people's answers about themselves."""
    worth = pl.col("item").replace_strict({item.item: item.points for item in exam.scored}, return_dtype=pl.Float64)
    table = scored.group_by("subject", "kind", maintain_order=True).agg(
        n=pl.col("item").n_unique(),
        rate=pl.col("score").mean(),
        seconds=pl.col("seconds").sum(),
        cost=pl.when(pl.col("kind").first() == MODELS).then(pl.col("cost").sum()),
    )
    by_item = scored.drop_nulls("score").group_by("subject", "item").agg(pl.col("score").mean())
    points = by_item.group_by("subject").agg(points=(pl.col("score") * worth).sum())
    among = scaled.among.select(
        *("subject", "ability", "percentile", "one_in", "at_least"),
        percentile_low=pl.min_horizontal(100.0 * (1.0 - pl.col("high")), "percentile"),
        percentile_high=100.0 * (1.0 - pl.col("low")),
    )
    ends = {"subject": pl.String, "low": pl.Float64, "high": pl.Float64}
    abilities = pl.DataFrame(schema=ends) if scaled.fit is None else scaled.fit.subjects.select(*ends)
    if exam.is_adaptive and scaled.fit is not None:
        expected = scaled.fit.subjects.select("subject", "rate")
        table = table.drop("rate").join(expected, on="subject", how="left", maintain_order="left")
    shown = list(shared_weights(raked.weights).items())
    weights = pl.DataFrame(shown, schema={"subject": pl.String, "weight": pl.Float64}, orient="row")
    for part in (points, among, abilities, weights):
        table = table.join(part, on="subject", how="left", maintain_order="left")
    return table.select(
        *("subject", "kind", "n", "points", "rate", "ability", "low", "high"),
        *("percentile", "percentile_low", "percentile_high", "one_in", "at_least", "seconds", "cost", "weight"),
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


def _groups(
    exam: Exam, kept: pl.DataFrame, scored: pl.DataFrame, raked: RakedWeights, scaled: ExamScale
) -> pl.DataFrame:
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
            weights = {person: raked.weights[person] for person in members}
            expected = _expected_mean(exam, scaled, weights) if exam.is_adaptive else None
            rate = None if answer in hidden else expected or _mean_or_none(answer_matrix(scored, names, weights))
            n = None if answer in hidden else len(members)
            rows.append((question.name, answer or "declined", n, *(rate[:3] if rate else (None, None, None))))
    schema = {"question": pl.String, "answer": pl.String, "n": pl.Int64}
    return pl.DataFrame(rows, schema=schema | dict.fromkeys(("rate", "low", "high"), pl.Float64), orient="row")


def _anchors(names: list[str], answers: AnswerMatrix) -> pl.DataFrame:
    rate, _, _, n = item_rates(answers)
    return pl.DataFrame({"item": names, "rate": rate, "n": np.round(n).astype(np.int64)}).filter(pl.col("n") > 0)


def count_ratings(exam: Exam, outcomes: pl.DataFrame, kept: list[str]) -> pl.DataFrame:
    """Return item, subject, answer, n, share and mean place of ratings: people together, each model alone."""
    own = outcomes.filter((pl.col("outcome") == "rated") & ((pl.col("kind") == MODELS) | pl.col("subject").is_in(kept)))
    own = own.filter(pl.col("item").is_in([item.item for item in exam.ratings]))
    subject = pl.when(pl.col("kind") == PEOPLE).then(pl.lit(PEOPLE)).otherwise("subject")
    value = [_place(exam, item, answer) for item, answer in own.select("item", "answer").iter_rows()]
    named = own.with_columns(subject=subject, value=pl.Series(value, dtype=pl.Float64))
    counted = named.group_by("item", "subject", "answer").agg(n=pl.len(), value=pl.col("value").first())
    group = ["item", "subject"]
    mean = ((pl.col("value") * pl.col("n")).sum() / pl.col("n").sum()).over(group)
    shares = counted.with_columns(share=pl.col("n") / pl.col("n").sum().over(group), mean=mean)
    return shares.sort("item", "subject", "value", "answer").select("item", "subject", "answer", "n", "share", "mean")


def _place(exam: Exam, item: str, answer: str) -> float | None:
    """Return the place of a rating, counted from 1, or the number of a slider."""
    options = exam.by_name[item].options
    return float(options.index(answer) + 1) if answer in options else read_number(answer or "")


def _findings(exam: Exam, scored: pl.DataFrame, scaled: ExamScale, out: pl.DataFrame, n: int) -> tuple[str, ...]:
    """Return what a reader of the report must know; ``n`` people count."""
    warnings = list(scaled.warnings)
    if out.height:
        rules = out.group_by("rule", maintain_order=True).agg(n=pl.len())
        reasons = ", ".join(f"{rule} ({n})" for rule, n in rules.iter_rows())
        warnings.append(f"left out by the rules of [exclude] in exam.toml: {reasons}; exclusions.csv names each")
    ungraded = scored.filter(pl.col("outcome") == "ungraded")["kind"].to_list()
    if ungraded:
        can_be = MODELS in ungraded or exam.settings.consent.model_grading
        advice = "give --grader NAME" if can_be else "consent.model_grading is not set"
        warnings.append(f"{len(ungraded)} answers to items with a rubric are ungraded and left out; {advice}")
    if 0 < n < 30:
        warnings.append(f"a report on {count_people(n)} has wide intervals and a rough scale")
    return tuple(warnings)


def _agreement_note(row: dict[str, Any]) -> str:
    few, ends = (", too few for an interval", "") if row["low"] is None else ("", " ({low:.2f} to {high:.2f}, 90%)")
    text = "the {graded_by} and a person agree at kappa {agreement:.2f}" + ends + " on {n} answers" + few
    return text.format(**row) + "; grading.csv has more"
