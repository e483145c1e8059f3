"""Fit items with several categories: rubric scores, ratings and options of a multiple-choice item."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.core.errors import listed_names
from mensura.core.results import Result
from mensura.responses.category_reading import read_categories
from mensura.responses.irt.categories import (
    CategoryCounts,
    CategoryFitted,
    CategoryPrior,
    fit_categories_held,
    shard_posteriors,
)
from mensura.responses.irt.category_items import MODELS, CategoryItems, begin, log_chances
from mensura.responses.irt.namespace import Namespace, namespace
from mensura.responses.result import ability_table
from mensura.responses.survey import Survey

CATEGORY_MODELS = MODELS


class CategoryAnswers(NamedTuple):
    """What was fitted: counts (subjects × items and categories), subjects in the order of the fit, and the items."""

    counts: Any
    items: CategoryItems


@dataclass(frozen=True, eq=False, repr=False)
class CategoryFit(Result):
    """A fit of items with several categories.

    ``subjects``: subject, ability, low, high (90%), n (items answered), se, group. ``items``: item, discrimination and
    its standard error (none for ``nominal``), categories, n, mean. ``categories``: one row per item and category above
    the lowest: item, category, discrimination, intercept, difficulty with their standard errors, n, share.
    ``groups``: group, subjects, mean, sd and their standard errors. ``log``: what was left out. Abilities are in
    standard deviations of the first group. ``answers``: what was fitted, for a regression.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("subjects", "items", "categories", "groups", "log")

    model: str
    subjects: pl.DataFrame
    items: pl.DataFrame
    categories: pl.DataFrame
    groups: pl.DataFrame
    log: pl.DataFrame
    log_likelihood: float
    passes: int
    converged: bool
    answers: CategoryAnswers
    warnings: tuple[str, ...] = field(default=())

    @property
    def reliability(self) -> float:
        """Share of the variance of abilities in the first group that the answers explain."""
        first = self.subjects.filter(pl.col("group") == self.groups["group"][0])
        return float(1.0 - np.mean(first["se"].to_numpy() ** 2))

    @property
    def heading(self) -> str:
        """The model, how much it was fitted to, and whether it converged."""
        ended = f"in {self.passes} passes" if self.converged else f"NOT converged in {self.passes} passes"
        counts = f"{self.subjects.height:,} subjects × {self.items.height:,} items"
        likelihood = f"log likelihood {self.log_likelihood:,.1f}"
        return f"{self.model}, {counts}, {likelihood}, reliability {self.reliability:.2f}, {ended}"


def fit_categories(
    responses: Any,  # noqa: ANN401
    *,
    model: str = "graded",
    by: str | None = None,
    group: str | None = None,
    reference: str | None = None,
    header: bool = True,
    prior: CategoryPrior | None = CategoryPrior(),  # noqa: B008
    device: str = "numpy",
    survey: Survey | None = None,
) -> CategoryFit:
    """Fit ``graded``, ``partial-credit`` or ``nominal`` items by marginal maximum likelihood.

    ``responses``: tables as :func:`mensura.responses.read_responses` takes them, with whole numbers as outcomes: the
    categories. Several answers of a subject to an item count as independent. ``reference``: the group whose abilities
    have mean 0 and standard deviation 1. ``prior``: of items, weak; None for maximum likelihood alone. ``survey``:
    weights, replicate weights and clusters of the subjects.
    """
    space = namespace(device)
    table = read_categories(responses, by=by, group=group, reference=reference, header=header)
    answers, codes, subjects, groups, log = table.answers, table.codes, table.subjects, table.groups, table.log
    shards = [CategoryCounts(space.put(own), place) for place, own in enumerate(table.counts)]
    survey = None if survey is None else survey.of(subjects["subject"])
    if survey is not None and survey.weights is not None:
        shards = survey.weighed(shards, survey.weights)
    fitted = fit_categories_held(space, shards, begin(model, table.shares, len(groups)), prior)
    if survey is not None:
        fitted = survey.category_information(space, shards, fitted, prior)
        log.note("subjects of a survey", subjects.height, survey.said)
    return CategoryFit(
        model,
        _subject_table(space, shards, fitted, subjects),
        _item_table(fitted, answers, table.items),
        _category_table(fitted, codes),
        _group_table(fitted, groups, subjects),
        log.frame(),
        fitted.evidence,
        fitted.passes,
        fitted.converged,
        CategoryAnswers(table.stacked, fitted.items),
        _warnings(fitted, codes),
    )


def _subject_table(
    space: Namespace, shards: list[CategoryCounts], fitted: CategoryFitted, subjects: pl.DataFrame
) -> pl.DataFrame:
    table = space.real(log_chances(fitted.items, fitted.grid.nodes).reshape(-1, len(fitted.grid.nodes)))
    found = [shard_posteriors(space, shard, fitted.items, fitted.grid, table) for shard in shards]
    ability = np.concatenate([space.get(one.mean) for one in found])
    error = np.sqrt(np.concatenate([space.get(one.variance) for one in found]))
    return ability_table(subjects, ability, error)


def _item_table(fitted: CategoryFitted, answers: pl.DataFrame, items: pl.Series) -> pl.DataFrame:
    counts = answers.group_by("item").agg(n=pl.len(), mean=pl.col("value").mean())
    slope = pl.Series("discrimination", fitted.items.values[:, 0])
    error = pl.Series("se_discrimination", np.sqrt(fitted.information.item_covariance()[:, 0, 0]))
    if fitted.items.model == "nominal":
        slope, error = (pl.Series(one.name, [None] * items.len(), dtype=pl.Float64) for one in (slope, error))
    table = pl.DataFrame({"item": items, "categories": fitted.items.sizes}).with_columns(slope, error)
    return table.join(counts, on="item", maintain_order="left").select(
        "item", "discrimination", "se_discrimination", "categories", "n", "mean"
    )


def _category_table(fitted: CategoryFitted, codes: pl.DataFrame) -> pl.DataFrame:
    """Return the parameters of every category above the lowest, difficulties by the delta method."""
    covariance, values, most = fitted.information.item_covariance(), fitted.items.values, fitted.items.most
    nominal = fitted.items.model == "nominal"
    rows = []
    total = codes.group_by("item").agg(pl.col("n").sum().alias("total"))
    for at, item, value, place, n, answered in codes.join(total, on="item", maintain_order="left").iter_rows():
        if not place:
            continue
        a, d = (place - 1, most - 2 + place) if nominal else (0, place)
        slope, intercept, block = values[at, a], values[at, d], covariance[at][np.ix_([a, d], [a, d])]
        error = np.sqrt(np.maximum(np.diag(block), 0.0))
        b = -intercept / slope if not nominal and abs(slope) > 1e-6 else None
        se_b = None if b is None else _difficulty_error(b, slope, block)
        rows.append((item, f"{value:g}", slope, intercept, b, error[0], error[1], se_b, n, n / answered))
    numbers = ("discrimination", "intercept", "difficulty", "se_discrimination", "se_intercept", "se_difficulty")
    schema = {"item": pl.String, "category": pl.String, **dict.fromkeys(numbers, pl.Float64)}
    return pl.DataFrame(rows, schema=schema | {"n": pl.Int64, "share": pl.Float64}, orient="row")


def _difficulty_error(b: float, slope: float, block: Floats) -> float:
    variance = (block[1, 1] + b**2 * block[0, 0] + 2.0 * b * block[0, 1]) / slope**2
    return float(np.sqrt(max(variance, 0.0)))


def _group_table(fitted: CategoryFitted, groups: list[str], subjects: pl.DataFrame) -> pl.DataFrame:
    p, errors = fitted.items, np.sqrt(fitted.information.group_variance())
    counts = dict(subjects.group_by("group").len().iter_rows())
    rows: list[tuple[Any, ...]] = [(groups[0], counts[groups[0]], 0.0, 1.0, None, None)]
    for place, name in enumerate(groups[1:], start=1):
        of_mean, of_log_sd = errors[2 * place - 2 : 2 * place]
        rows.append((name, counts[name], p.mean[place], p.sd[place], of_mean, of_log_sd * p.sd[place]))
    numbers = dict.fromkeys(("mean", "sd", "se_mean", "se_sd"), pl.Float64)
    return pl.DataFrame(rows, schema={"group": pl.String, "subjects": pl.Int64, **numbers}, orient="row")


def _warnings(fitted: CategoryFitted, codes: pl.DataFrame) -> tuple[str, ...]:
    said = []
    if not fitted.converged:
        said.append(f"not converged in {fitted.passes} passes; the numbers are those of the best one")
    rare = codes.filter(pl.col("n") < 5)["item"].unique(maintain_order=True).to_list()
    if rare:
        said.append(f"{len(rare)} items have a category with fewer than 5 answers: {listed_names(rare)}")
    if fitted.items.model != "nominal":
        names = codes["item"].unique(maintain_order=True).to_list()
        against = [name for name, slope in zip(names, fitted.items.values[:, 0], strict=True) if slope < 0.0]
        if against:
            said.append(f"{len(against)} items run against the scale (reversed?): {listed_names(against)}")
    return tuple(said)
