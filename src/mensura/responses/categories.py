"""Fit items with several categories: rubric scores, ratings and options of a multiple-choice item."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl
import scipy

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError, listed_names
from mensura.core.results import Result
from mensura.responses.counting import CountLog, WideTable
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
from mensura.responses.sources import owned, pieces
from mensura.responses.survey import Survey

MOST_CATEGORIES = 20
"""Categories that an item may have; more are a measurement, not a rating."""
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
    log, space = CountLog(), namespace(device)
    answers = _answers(responses, by, group, header, log)
    groups = answers["group"].unique(maintain_order=True).to_list()
    if reference is not None:
        if reference not in groups:
            raise MensuraError(f"reference: got {reference!r}; expected one of {', '.join(groups)}")
        groups.sort(key=lambda name: name != reference)
    answers, codes = _numbered(answers, log)
    items, most = codes["item"].unique(maintain_order=True), int(codes["place"].to_numpy().max()) + 1
    subjects = _subjects(answers, groups)
    counts = [_counts(answers, subjects, name, items, most) for name in groups]
    shards = [CategoryCounts(space.put(own), place) for place, own in enumerate(counts)]
    survey = None if survey is None else survey.of(subjects["subject"])
    if survey is not None and survey.weights is not None:
        shards = survey.weighed(shards, survey.weights)
    shares = [rows["n"].to_numpy() / rows["n"].sum() for rows in codes.partition_by("item", maintain_order=True)]
    fitted = fit_categories_held(space, shards, begin(model, shares, len(groups)), prior)
    if survey is not None:
        fitted = survey.category_information(space, shards, fitted, prior)
        log.note("subjects of a survey", subjects.height, survey.said)
    return CategoryFit(
        model,
        _subject_table(space, shards, fitted, subjects),
        _item_table(fitted, answers, items),
        _category_table(fitted, codes),
        _group_table(fitted, groups, subjects),
        log.frame(),
        fitted.evidence,
        fitted.passes,
        fitted.converged,
        CategoryAnswers(scipy.sparse.vstack(counts, format="csr"), fitted.items),
        _warnings(fitted, codes),
    )


def _answers(sources: Any, by: str | None, group: str | None, header: bool, log: CountLog) -> pl.DataFrame:  # noqa: ANN401
    """Return subject, group, item and value of every answer."""
    found = []
    for source, owner in owned(sources, group, log):
        for piece in pieces(source, by=by, group=owner, header=header, log=log):
            if isinstance(piece, WideTable):
                log.note("missing outcomes", int(np.isnan(piece.values).sum()), "left out")
                piece = _long(piece)
            found.append(piece.select("subject", "group", "item", "value"))
    answers = pl.concat(found)
    log.note("missing outcomes", answers["value"].null_count(), "left out")
    answers = answers.drop_nulls()
    if answers.is_empty():
        raise MensuraError("responses: no outcome; add at least one")
    wrong = answers.filter(pl.col("value") % 1.0 != 0.0)
    if wrong.height:
        item, value = wrong.row(0)[2:]
        raise MensuraError(
            f"responses: item {item!r} has the outcome {value:g}; expected whole numbers, one per category. "
            "Round the outcomes, or fit the model 2pl to shares"
        )
    return answers


def _long(wide: WideTable) -> pl.DataFrame:
    row, column = np.nonzero(~np.isnan(wide.values))
    return pl.DataFrame(
        {
            "subject": wide.subjects.gather(row.astype(np.uint32)),
            "group": pl.Series(wide.groups, dtype=pl.String).gather(row.astype(np.uint32)),
            "item": pl.Series(wide.items, dtype=pl.String).gather(column.astype(np.uint32)),
            "value": wide.values[row, column].astype(np.float64),
        }
    )


def _numbered(answers: pl.DataFrame, log: CountLog) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the answers with the place of their category, and item, value, place, n of every category."""
    codes = answers.group_by("item", "value", maintain_order=True).len("n")
    order = codes.group_by("item", maintain_order=True).agg(kinds=pl.len())
    many = order.filter(pl.col("kinds") > MOST_CATEGORIES)
    if many.height:
        raise MensuraError(
            f"responses: item {many['item'][0]!r} has {many['kinds'][0]} different outcomes; at most {MOST_CATEGORIES} "
            "categories are fitted. Group the outcomes into fewer categories"
        )
    alone = order.filter(pl.col("kinds") == 1)["item"]
    log.note("items with one category", alone.len(), "left out")
    order = order.filter(pl.col("kinds") > 1).with_row_index("at")
    if order.height < 2:
        raise MensuraError(f"responses: {order.height} items have two categories or more; a scale needs at least two")
    codes = order.join(codes, on="item", how="left").sort("at", "value")
    codes = codes.with_columns(place=pl.int_range(pl.len()).over("at")).select("at", "item", "value", "place", "n")
    return answers.join(codes.drop("n"), on=["item", "value"], maintain_order="left"), codes


def _subjects(answers: pl.DataFrame, groups: list[str]) -> pl.DataFrame:
    """Return subject, group, n and the row in its group of every subject."""
    who = answers.group_by("subject", maintain_order=True).agg(
        pl.col("group").first(), pl.col("group").n_unique().alias("kinds"), pl.col("item").n_unique().alias("n")
    )
    twice = who.filter(pl.col("kinds") > 1)
    if twice.height:
        raise MensuraError(f"responses: subject {twice['subject'][0]!r} is in two groups; give each subject one group")
    rank = pl.col("group").replace_strict(groups, list(range(len(groups))), return_dtype=pl.Int32)
    who = who.drop("kinds").sort(rank, maintain_order=True)
    return who.with_columns(row=pl.int_range(pl.len()).over("group"))


def _counts(answers: pl.DataFrame, subjects: pl.DataFrame, group: str, items: pl.Series, most: int) -> Any:  # noqa: ANN401
    own = answers.filter(pl.col("group") == group).join(subjects.select("subject", "row"), on="subject")
    column = own["at"].to_numpy().astype(np.int64) * most + own["place"].to_numpy()
    shape = (subjects.filter(pl.col("group") == group).height, items.len() * most)
    return scipy.sparse.csr_array((np.ones(own.height, dtype=np.float32), (own["row"].to_numpy(), column)), shape=shape)


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
