"""Fit items with several categories: rubric scores, ratings and options of a multiple-choice item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl
import scipy

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError, check_choice, listed_names
from mensura.core.results import Result
from mensura.intake.answers import AnswerLog
from mensura.responses.estimation import LEAST_PEOPLE, NOT_CONVERGED, choose_estimation
from mensura.responses.irt import categories as irt
from mensura.responses.irt.abilities import FINE, METHODS, ShardAbilities, estimate, normal_prior
from mensura.responses.irt.differences import RatedAnswers, compare_items, empty_dif
from mensura.responses.irt.namespace import Namespace, namespace
from mensura.responses.reading import owned, pieces
from mensura.responses.result import ability_table, ending, group_table, heights
from mensura.responses.survey import Survey

CATEGORY_MODELS = irt.MODELS
MOST_CATEGORIES = 20
"""Categories that an item may have; more are a measurement, not a rating."""


class CategoryTable(NamedTuple):
    """Answers in categories.

    ``answers``: subject, group, item, value and place of the category. ``codes``: item, value, place, category (its
    name), n and share of every category. ``subjects``: subject, group, n. ``groups``: their names. ``counts``: of each
    group, subjects × items and categories. ``log``: what was left out.
    """

    answers: pl.DataFrame
    codes: pl.DataFrame
    subjects: pl.DataFrame
    groups: list[str]
    counts: list[Any]
    log: AnswerLog

    @property
    def items(self) -> pl.Series:
        """The items, in the order of the counts."""
        return self.codes["item"].unique(maintain_order=True)

    @property
    def shares(self) -> list[Floats]:
        """The shares of each item's categories."""
        return [rows["share"].to_numpy() for rows in self.codes.partition_by("item", maintain_order=True)]

    @property
    def stacked(self) -> Any:  # noqa: ANN401
        """The counts of all subjects."""
        return scipy.sparse.vstack(self.counts, format="csr")


def read_categories(
    responses: Any,  # noqa: ANN401
    *,
    by: str | None = None,
    group: str | None = None,
    reference: str | None = None,
    header: bool = True,
    columns: str | None = None,
) -> CategoryTable:
    """Read tables with whole numbers as outcomes, the categories; ``reference``: the group that comes first."""
    log = AnswerLog()
    answers = _answers(responses, by, group, log, {"header": header, "columns": columns})
    groups = answers["group"].unique(maintain_order=True).to_list()
    if reference is not None:
        check_choice("reference", reference, groups)
        groups.sort(key=lambda name: name != reference)
    answers, codes = _numbered(answers, log)
    items, most = codes["item"].unique(maintain_order=True), int(codes["place"].to_numpy().max()) + 1
    subjects = _subjects(answers, groups)
    counts = [_counts(answers, subjects, name, items, most) for name in groups]
    return CategoryTable(answers, codes, subjects, groups, counts, log)


def _answers(sources: Any, by: str | None, group: str | None, log: AnswerLog, how: dict[str, Any]) -> pl.DataFrame:  # noqa: ANN401
    """Return subject, group, item and value of every answer."""
    parts: list[pl.DataFrame] = []
    for source, owner in owned(sources, group, log):
        for piece in pieces(source, by=by, group=owner, log=log, **how):
            parts += [piece] if isinstance(piece, pl.DataFrame) else piece.long()
    answers = pl.concat(parts).select("subject", "group", "item", "value")
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


def _numbered(answers: pl.DataFrame, log: AnswerLog) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the answers with the place of their category, and item, value, place, n of every category."""
    codes = answers.group_by("item", "value", maintain_order=True).len("n")
    order = codes.group_by("item", maintain_order=True).agg(kinds=pl.len())
    many = order.filter(pl.col("kinds") > MOST_CATEGORIES)
    if many.height:
        raise MensuraError(
            f"responses: item {many['item'][0]!r} has {many['kinds'][0]} different outcomes; at most {MOST_CATEGORIES} "
            "categories are fitted. Group the outcomes into fewer categories"
        )
    single = order.filter(pl.col("kinds") == 1)["item"]
    log.note("items with one category", single.len(), "left out")
    order = order.filter(pl.col("kinds") > 1).with_row_index("at")
    if order.height < 2:
        raise MensuraError(f"responses: {order.height} items have two categories or more; a scale needs at least two")
    codes = order.join(codes, on="item", how="left").sort("at", "value")
    codes = codes.with_columns(
        place=pl.int_range(pl.len()).over("at"),
        category=pl.Series([f"{value:g}" for value in codes["value"]], dtype=pl.String),
        share=pl.col("n") / pl.col("n").sum().over("item"),
    )
    keys = codes.select("at", "item", "value", "place")
    return answers.join(keys, on=["item", "value"], maintain_order="left"), codes


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


class CategoryAnswers(NamedTuple):
    """What was fitted: counts (subjects × items and categories), subjects in the order of the fit, and the items."""

    counts: Any
    items: irt.CategoryItems


@dataclass(frozen=True, eq=False, repr=False)
class CategoryFit(Result):
    """Show a fit of items with several categories. Abilities are in standard deviations of the first group.

    Attributes
    ----------
    model
        ``graded``, ``partial-credit`` or ``nominal``.
    subjects
        subject, ability, low, high (90%), n (items answered), se, group, wle and se_wle (weighted likelihood).
    items
        item, discrimination and its standard error (none for ``nominal``), categories, n, mean.
    categories
        One row per item and category above the lowest: item, category, discrimination, intercept, difficulty with
        their standard errors, n, share.
    groups
        group, subjects, mean, sd and their standard errors.
    dif
        Differences of items between groups.
    log
        What was left out.
    log_likelihood, passes, converged
        How the fit ended.
    answers
        What was fitted, for a regression.
    warnings
        What to know before using the numbers.
    estimation
        Maximum likelihood, or which priors were used.
    log_posterior
        The log likelihood and the log density of the priors, which is what was maximised.

    """

    TABLES: ClassVar[tuple[str, ...]] = ("subjects", "items", "categories", "groups", "dif", "log")

    model: str
    subjects: pl.DataFrame
    items: pl.DataFrame
    categories: pl.DataFrame
    groups: pl.DataFrame
    dif: pl.DataFrame
    log: pl.DataFrame
    log_likelihood: float
    passes: int
    converged: bool
    answers: CategoryAnswers
    warnings: tuple[str, ...] = field(default=())
    estimation: str = ""
    log_posterior: float = float("nan")

    @property
    def reliability(self) -> float:
        """Share of the variance of abilities in the first group that the answers explain."""
        first = self.subjects.filter(pl.col("group") == self.groups["group"][0])
        return float(1.0 - np.mean(first["se"].to_numpy() ** 2))

    @property
    def heading(self) -> str:
        """The model, how much it was fitted to, and whether it converged."""
        counts = f"{self.subjects.height:,} subjects × {self.items.height:,} items"
        quality = f"{heights(self.log_likelihood, self.log_posterior)}, reliability {self.reliability:.2f}"
        return f"{self.model} by {self.estimation}, {counts}, {quality}, {ending(self.passes, self.converged)}"


def fit_categories(
    responses: Any,  # noqa: ANN401
    *,
    model: str = "graded",
    by: str | None = None,
    group: str | None = None,
    reference: str | None = None,
    header: bool = True,
    columns: str | None = None,
    prior: irt.CategoryPrior | str | Path | None = None,
    abilities: str = "eap",
    device: str = "numpy",
    survey: Survey | None = None,
) -> CategoryFit:
    """Fit items with several categories by marginal maximum likelihood.

    Parameters
    ----------
    responses
        Tables as :func:`mensura.responses.read_responses` takes them, with whole numbers as outcomes: the categories.
        Several answers of a subject to an item count as independent.
    model
        ``graded``, ``partial-credit`` or ``nominal``.
    by, group, header, columns
        How to read ``responses``; see :func:`mensura.responses.read_responses`.
    reference
        The group whose abilities have mean 0 and standard deviation 1.
    prior
        ``weak``, ``none`` (maximum likelihood), a file of parameter, mean and sd, or a :class:`CategoryPrior`. By
        default maximum likelihood from 200 subjects and 5 answers per category on, else weak priors.
    abilities
        ``eap`` (posterior mean), ``map`` (its mode), ``wle`` (weighted likelihood) or ``ml`` (maximum likelihood).
    device
        ``numpy``, or ``cpu`` or ``cuda`` of PyTorch.
    survey
        Weights, replicate weights and clusters of the subjects.

    Returns
    -------
    CategoryFit
        Abilities, items and categories with their errors.

    Raises
    ------
    MensuraError
        If outcomes are no whole numbers, an item has too many of them, or fewer than two items vary.

    Examples
    --------
    >>> from mensura.responses import fit_categories
    >>> ratings = {f"q{k}": [(row * (k + 2) + row // 3) % 4 for row in range(30)] for k in range(4)}
    >>> fit_categories({"subject": [f"p{k}" for k in range(30)], **ratings}).items["categories"].to_list()
    [4, 4, 4, 3]

    """
    space = namespace(device)
    check_choice("abilities", abilities, METHODS)
    table = read_categories(responses, by=by, group=group, reference=reference, header=header, columns=columns)
    subjects, groups = table.subjects, table.groups
    shards = [irt.CategoryCounts(space.put(own), place) for place, own in enumerate(table.counts)]
    survey = None if survey is None else survey.of(subjects["subject"])
    if survey is not None and survey.weights is not None:
        shards = survey.weighed(shards, survey.weights)
    start = irt.begin(model, table.shares, len(groups))
    words, own, fitted = _estimated(space, shards, start, prior, table.codes["n"].to_numpy())
    if survey is not None:
        fitted = survey.category_information(space, shards, fitted, own)
        table.log.note("subjects of a survey", subjects.height, survey.summary)
    places = [_abilities(space, shard, fitted, abilities) for shard in shards]
    ability, error, weighted, weighted_error = (np.concatenate(one) for one in zip(*places, strict=True))
    subjects = subjects.with_columns(wle=weighted, se_wle=weighted_error)
    dif = empty_dif()
    if survey is None and len(groups) > 1:
        dif = compare_items(RatedAnswers(space, shards, own), fitted.items, groups, table.items)
    return CategoryFit(
        model,
        ability_table(subjects, ability, error),
        _item_table(fitted, table.answers, table.items),
        _category_table(fitted, table.codes),
        group_table(fitted.items, fitted.information, groups, subjects),
        dif,
        table.log.frame(),
        fitted.evidence,
        fitted.passes,
        fitted.converged,
        CategoryAnswers(table.stacked, fitted.items),
        _warnings(fitted, table.codes),
        words,
        fitted.posterior,
    )


def _estimated(
    space: Namespace,
    shards: Sequence[irt.CategoryCounts],
    start: irt.CategoryItems,
    prior: irt.CategoryPrior | str | Path | None,
    answers: Floats,
) -> tuple[str, irt.CategoryPrior | None, irt.CategoryFitted]:
    """Choose the priors, fit with them, and say which they were; ``answers``: of every category."""
    if isinstance(prior, irt.CategoryPrior):
        return "priors as given", prior, irt.fit_categories_held(space, shards, start, prior)
    small = min(len(shard) for shard in shards) < LEAST_PEOPLE
    choice = choose_estimation(prior, start.model, sum(map(len, shards)), float(answers.min()))
    fitted = irt.fit_categories_held(space, shards, start, choice.of_categories(small))
    if choice.automatic and not fitted.converged:
        choice = NOT_CONVERGED
        fitted = irt.fit_categories_held(space, shards, start, choice.of_categories(small))
    return choice.words, choice.of_categories(small), fitted


def _abilities(space: Namespace, shard: irt.CategoryCounts, fitted: irt.CategoryFitted, method: str) -> ShardAbilities:
    """Return the abilities of a group's subjects."""
    p = fitted.items
    log_p, _, slope = irt.category_curves(p, FINE.nodes)
    values = space.get(space.score(shard.counts, space.real(log_p.reshape(-1, len(FINE.nodes)))))
    of_items = np.einsum("jkq,jkq->jq", np.exp(log_p) * (np.arange(p.most) < p.sizes[:, None])[:, :, None], slope**2)
    of_answers = np.repeat(of_items, p.most, axis=0)
    information = space.get(space.score(shard.counts, space.real(of_answers)))
    prior = normal_prior(FINE, float(p.mean[shard.group]), float(p.sd[shard.group]))
    weighted, variance = estimate("wle", values, information, FINE, prior)
    if method == "eap":
        table = space.real(irt.log_chances(p, fitted.grid.nodes).reshape(-1, len(fitted.grid.nodes)))
        posterior = irt.shard_posteriors(space, shard, p, fitted.grid, table)
        chosen = space.get(posterior.mean), space.get(posterior.variance)
    else:
        chosen = estimate(method, values, information, FINE, prior)
    return ShardAbilities(chosen[0], np.sqrt(chosen[1]), weighted, np.sqrt(variance))


def _item_table(fitted: irt.CategoryFitted, answers: pl.DataFrame, items: pl.Series) -> pl.DataFrame:
    counts = answers.group_by("item").agg(n=pl.len(), mean=pl.col("value").mean())
    slope, error = fitted.items.values[:, 0], np.sqrt(fitted.information.item_covariance()[:, 0, 0])
    if fitted.items.model == "nominal":
        slope, error = np.full((2, items.len()), np.nan)
    table = pl.DataFrame({"item": items, "categories": fitted.items.sizes}).with_columns(
        discrimination=pl.Series(slope).fill_nan(None), se_discrimination=pl.Series(error).fill_nan(None)
    )
    return table.join(counts, on="item", maintain_order="left").select(
        "item", "discrimination", "se_discrimination", "categories", "n", "mean"
    )


def _category_table(fitted: irt.CategoryFitted, codes: pl.DataFrame) -> pl.DataFrame:
    """Return the parameters of every category above the lowest, difficulties by the delta method."""
    codes = codes.filter(pl.col("place") > 0)
    covariance, values = fitted.information.item_covariance(), fitted.items.values
    nominal = fitted.items.model == "nominal"
    at, place = codes["at"].to_numpy().astype(int), codes["place"].to_numpy()
    a, d = (place - 1, fitted.items.most - 2 + place) if nominal else (0 * place, place)
    slope, intercept = values[at, a], values[at, d]
    of_slope, of_intercept, of_both = covariance[at, a, a], covariance[at, d, d], covariance[at, a, d]
    with np.errstate(divide="ignore", invalid="ignore"):
        b = np.where(np.abs(slope) > (np.inf if nominal else 1e-6), -intercept / slope, np.nan)
        of_b = (of_intercept + b**2 * of_slope + 2.0 * b * of_both) / slope**2
    numbers = {"discrimination": slope, "intercept": intercept, "difficulty": b}
    variances = {"se_discrimination": of_slope, "se_intercept": of_intercept, "se_difficulty": of_b}
    numbers |= {name: np.sqrt(np.maximum(variance, 0.0)) for name, variance in variances.items()}
    columns = [pl.Series(name, column).fill_nan(None) for name, column in numbers.items()]
    return codes.select("item", "category", *columns, "n", "share")


def _warnings(fitted: irt.CategoryFitted, codes: pl.DataFrame) -> tuple[str, ...]:
    warnings = []
    if not fitted.converged:
        warnings.append(f"not converged in {fitted.passes} passes; the numbers are those of the best one")
    rare = codes.filter(pl.col("n") < 5)["item"].unique(maintain_order=True).to_list()
    if rare:
        warnings.append(f"{len(rare)} items have a category with fewer than 5 answers: {listed_names(rare)}")
    if fitted.items.model != "nominal":
        names = codes["item"].unique(maintain_order=True).to_list()
        against = [name for name, slope in zip(names, fitted.items.values[:, 0], strict=True) if slope < 0.0]
        if against:
            warnings.append(f"{len(against)} items run against the scale (reversed?): {listed_names(against)}")
    return tuple(warnings)
