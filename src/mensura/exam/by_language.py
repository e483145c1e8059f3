"""People who took the exam in different languages: rates by item, and items that favour a language beyond ability."""

from __future__ import annotations

import polars as pl

from mensura.core.errors import MensuraError
from mensura.exam.file import Exam
from mensura.exam.rates import answer_matrix, item_rates
from mensura.exam.scoring import PEOPLE
from mensura.exam.weights import LEAST_SHOWN
from mensura.responses import CountRules, FitOptions, fit_responses
from mensura.scale import Z90

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
    by_language = {
        language: kept.filter(pl.col("sat_in") == language)["subject"].to_list() for language in exam.languages
    }
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
    differences, notes = _differences(scored, groups)
    table = pl.concat(parts).join(differences, on=["item", "language"], how="left", maintain_order="left")
    order = pl.col("item").replace_strict({name: place for place, name in enumerate(names)})
    return table.sort(order, maintain_order=True).select(*LANGUAGES).cast(pl.Schema(LANGUAGES)), notes


def _differences(scored: pl.DataFrame, groups: dict[str, list[str]]) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return how much easier each item is in each language than its people's ability says."""
    language = {person: code for code, people in groups.items() for person in people}
    own = scored.filter((pl.col("kind") == PEOPLE) & pl.col("subject").is_in(list(language))).drop_nulls("score")
    group = pl.col("subject").replace_strict(language, return_dtype=pl.String)
    answers = own.select("subject", group.alias("group"), "item", pl.col("score").alias("correct"))
    try:
        rules, options = CountRules(repeats="average"), FitOptions(checks=False)
        fit = fit_responses(answers, model="rasch", reference=next(iter(groups)), rules=rules, options=options)
    except MensuraError as fault:
        nothing = {name: LANGUAGES[name] for name in ("item", "language", "difference", "q", "flagged")}
        nothing |= dict.fromkeys(("difference_low", "difference_high"), pl.Float64)
        return pl.DataFrame(schema=nothing), (f"languages are compared by their rates alone: {fault}",)
    table = fit.dif.select(
        *("item", pl.col("group").alias("language"), "difference", "q", "flagged"),
        difference_low=pl.col("difference") - Z90 * pl.col("se"),
        difference_high=pl.col("difference") + Z90 * pl.col("se"),
    )
    return table, ()
