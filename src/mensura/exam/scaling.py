"""One scale for people and models: the item response fit of their answers, and models among the people."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl

from mensura.core.errors import MensuraError
from mensura.exam.gathering import MODELS, PEOPLE, count_people
from mensura.responses import CountRules, FitOptions, ResponseFit, fit_responses, place_among
from mensura.responses.irt.differences import empty_dif
from mensura.responses.result import Z90

ENOUGH = 200
"""People from which discriminations are estimated; with fewer all items have one."""
FEWEST = 5
"""People below which there is no scale."""
MODELS_NEEDED = 3
"""Models from which items that favour a kind are named."""
WIDE = 2.0
"""Standard deviation of the prior of a model's ability, in those of people: nearly its answers alone."""


class ExamScale(NamedTuple):
    """People's fit with the models placed on it, all subjects among people, differences of items, and remarks."""

    fit: ResponseFit | None
    among: pl.DataFrame
    dif: pl.DataFrame
    said: tuple[str, ...]


def scale(outcomes: pl.DataFrame, weights: dict[str, float]) -> ExamScale:
    """Fit people's answers, place each model on that scale by its own answers, and both among the people."""
    known = outcomes.filter(pl.col("score").is_not_null()).select(
        "subject", pl.col("kind").alias("group"), "item", pl.col("score").alias("correct")
    )
    people, models = known.filter(pl.col("group") == PEOPLE), known.filter(pl.col("group") == MODELS)
    count = people["subject"].n_unique()
    if count < FEWEST:
        return ExamScale(
            None, _nobody(), empty_dif(), (f"the report counts {count_people(count)}; a common scale needs {FEWEST}",)
        )
    shape = "2pl" if count >= ENOUGH else "rasch"
    try:
        fit = fit_responses(people, model=shape, options=FitOptions(checks=False))
    except MensuraError as fault:
        return ExamScale(None, _nobody(), empty_dif(), (f"no common scale: {fault}",))
    fit = _weighted(replace(fit, subjects=pl.concat([fit.subjects, _placed(fit, models)])), weights)
    among = place_among(fit, group=PEOPLE)
    dif, said = _differences(pl.concat([people, models]), shape)
    return ExamScale(fit, among.subjects, dif, (*fit.warnings, *among.warnings, *said))


def _placed(fit: ResponseFit, models: pl.DataFrame) -> pl.DataFrame:
    """Return models as subjects of people's fit. The mean over repeats counts as one try: repeats are much alike."""
    bank, rows = fit.bank, []
    for model in models["subject"].unique(maintain_order=True):
        own = models.filter(pl.col("subject") == model).group_by("item").agg(pl.col("correct").mean())
        known = dict(own.iter_rows())
        right = np.array([known.get(item, 0.0) for item in bank.items])
        trials = np.array([float(item in known) for item in bank.items])
        if not trials.any():
            continue
        found = bank.place(right, trials, sd=WIDE)
        ends = (found.ability - Z90 * found.se, found.ability + Z90 * found.se)
        rows.append((model, found.ability, *ends, found.n, found.se, float(right.sum() / trials.sum()), MODELS))
    return pl.DataFrame(rows, schema=fit.subjects.schema, orient="row")


def _differences(both: pl.DataFrame, shape: str) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return the items that one kind finds easier than its ability says; a few models cannot tell."""
    count = both.filter(pl.col("group") == MODELS)["subject"].n_unique()
    if count < MODELS_NEEDED:
        said = f"models that sat the exam: {count}; items that favour a kind are named from {MODELS_NEEDED} models on"
        return empty_dif(), (said,) if count else ()
    rules, options = CountRules(repeats="average"), FitOptions(checks=False)
    try:
        return fit_responses(both, model=shape, reference=PEOPLE, rules=rules, options=options).dif, ()
    except MensuraError as fault:
        return empty_dif(), (f"no items that favour people or models are named: {fault}",)


def _weighted(fit: ResponseFit, weights: dict[str, float]) -> ResponseFit:
    """Return the fit with mean and spread of the weighted people; without weights as it is."""
    own = fit.subjects.filter(pl.col("group") == PEOPLE)
    weight = np.array([weights.get(subject, 1.0) for subject in own["subject"]])
    if np.allclose(weight, 1.0):
        return fit
    ability, error = own["ability"].to_numpy(), own["se"].to_numpy()
    mean = float(np.average(ability, weights=weight))
    variance = float(np.average((ability - mean) ** 2 + error**2, weights=weight))
    n = weight.sum() ** 2 / (weight**2).sum()
    people = pl.col("group") == PEOPLE
    facts = {
        "mean": mean,
        "sd": variance**0.5,
        "se_mean": (variance / n) ** 0.5,
        "se_sd": (variance / (2.0 * n)) ** 0.5,
    }
    return replace(
        fit,
        groups=fit.groups.with_columns(
            pl.when(people).then(pl.lit(value)).otherwise(name).alias(name) for name, value in facts.items()
        ),
    )


def _nobody() -> pl.DataFrame:
    numbers = ("ability", "rate", "low", "high", "one_in", "percentile")
    words = {"subject": pl.String, "group": pl.String}
    return pl.DataFrame(schema=words | dict.fromkeys(numbers, pl.Float64) | {"at_least": pl.Boolean})
