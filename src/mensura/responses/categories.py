"""Fit items with several categories: rubric scores, ratings and options of a multiple-choice item."""

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.core.errors import MensuraError, check_choice, listed_names
from mensura.responses.category_table import CategoryTable, read_categories
from mensura.responses.estimation import fit_chosen
from mensura.responses.findings import of_first_group, refuse_unlinked
from mensura.responses.irt import categories as irt, category_curves as curves
from mensura.responses.irt.abilities import FINE, METHODS, ShardAbilities, estimate, normal_prior
from mensura.responses.irt.differences import RatedAnswers, compare_items, empty_dif
from mensura.responses.irt.namespace import Namespace, namespace, sharp
from mensura.responses.irt.ties import TIED, curve_of, rater_severities, tied_items
from mensura.responses.quality import rated_quality
from mensura.responses.reading import AnswerChoice
from mensura.responses.result import ResponseFit, ability_table, ending, group_table, heights, observed_rates
from mensura.responses.survey import Survey
from mensura.scale import Z90

CATEGORY_MODELS = (*curves.MODELS, *TIED)
NO_DIFFERENCES = "items with one discrimination are not compared between groups; fit partial-credit to compare them"


@dataclass(frozen=True, eq=False, repr=False)
class CategoryFit(ResponseFit):
    """Show a fit of items with several categories. Abilities are in standard deviations of the first group.

    Its other attributes are those of :class:`ResponseFit`; there are no ``checks``.

    Attributes
    ----------
    model
        ``graded``, ``partial-credit``, ``nominal``, ``partial-credit-rasch`` or ``rating-scale``.
    items
        item, discrimination and its standard error (none for ``nominal``), categories, n, mean, and the fit of each.
    categories
        One row per item and category above the lowest: item, category, discrimination, intercept, difficulty with
        their standard errors, n, share.
    observed
        item, ability, rate, low, high, n: mean shares of the highest score at ranges of ability.
    answers
        What was fitted, for a regression: counts (subjects × items and categories), subjects in the order of the fit.
    raters
        rater, severity (in units of ability, mean 0), low, high (90%), se, n.

    """

    TABLES: ClassVar[tuple[str, ...]] = (
        *("subjects", "items", "categories", "groups", "dif", "log", "quality", "pairs"),
        "observed",
    )

    answers: Any = field(kw_only=True)
    raters: pl.DataFrame = field(default_factory=pl.DataFrame)

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return every table by its name, raters where there are any."""
        return super().tables() | ({"raters": self.raters} if self.raters.height else {})

    @property
    def reliability(self) -> float:
        """Share of the variance of abilities in the first group that the answers explain."""
        return float(self.quality["reliability_marginal"][0])

    @property
    def heading(self) -> str:
        """The model, how much it was fitted to, and whether it converged."""
        counts = f"{self.subjects.height:,} subjects × {self.items.height:,} items"
        quality = f"{heights(self.log_likelihood, self.log_posterior)}, reliability {self.reliability:.2f}"
        return f"{self.model} by {self.estimation}, {counts}, {quality}, {ending(self.passes, self.converged)}"


def fit_categories(
    responses: Any,
    *,
    model: str = "graded",
    by: str | None = None,
    group: str | None = None,
    reference: str | None = None,
    header: bool = True,
    columns: str | None = None,
    choice: AnswerChoice | None = None,
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
        ``graded``, ``partial-credit`` or ``nominal``; with one discrimination for all items
        ``partial-credit-rasch``, or ``rating-scale``, whose items also have the same steps.
    by, group, header, columns, choice
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
    check_choice("model", model, CATEGORY_MODELS)
    has_raters = choice is not None and choice.rater is not None
    if has_raters and model not in TIED:
        raise MensuraError(f"rater: {model} has no severity of raters. Choose the model {' or '.join(TIED)}")
    how: dict[str, Any] = {"header": header, "columns": columns, "choice": choice, "same": model == "rating-scale"}
    table = read_categories(responses, by=by, group=group, reference=reference, **how)
    subjects, groups = table.subjects, table.groups
    unlinked = refuse_unlinked(subjects, groups, table.taken)
    space = sharp(space, subjects.height)
    shards = [irt.CategoryCounts(space.put(own), place) for place, own in enumerate(table.counts)]
    survey = None if survey is None else survey.of(subjects["subject"])
    if survey is not None and survey.weights is not None:
        shards = survey.weighed(shards, survey.weights)
    start, codes = curves.begin(curve_of(model), table.shares, len(groups)), table.codes
    if model in TIED:
        rows = codes.unique("at", maintain_order=True)
        start = tied_items(start, model, rows["scale"].to_list(), rows["rater"].to_list() if has_raters else None)
        codes = codes.with_columns(pl.col("n").sum().over("place" if model == "rating-scale" else "scale", "value"))
    fit, fewest = partial(irt.fit_categories_held, space, shards, start), float(codes["n"].to_numpy().min())
    words, own, fitted = fit_chosen(fit, prior, start.model, list(map(len, shards)), fewest)
    if survey is not None:
        fitted = survey.category_information(space, shards, fitted, own)
        table.log.note("subjects of a survey", subjects.height, survey.summary)
    places = [_abilities(space, shard, fitted, abilities) for shard in shards]
    ability, error, weighted, weighted_error = (np.concatenate(one) for one in zip(*places, strict=True))
    subjects = subjects.with_columns(wle=weighted, se_wle=weighted_error)
    dif = empty_dif()
    if survey is None and len(groups) > 1 and model not in TIED:
        dif = compare_items(RatedAnswers(space, shards, own), fitted.parameters, groups, table.items)
    counts, steps = fitted.counts, np.arange(float(fitted.parameters.most))
    score = np.einsum("k,jkq->jq", steps, counts) / (fitted.parameters.sizes[:, None] - 1)
    of_groups = group_table(fitted.parameters, fitted.information, groups, subjects)
    untied = (NO_DIFFERENCES,) * (len(groups) > 1 and model in TIED)
    warnings = (*_warnings(fitted, codes), *of_first_group(of_groups), *unlinked, *untied)
    people, items = ability_table(subjects, ability, error), _item_table(fitted, table)
    tables = people, items, of_groups, dif, pl.DataFrame(), table.log.frame()
    rates = observed_rates(fitted.grid.nodes, score, counts.sum(axis=1), table.items)
    ended = fitted.evidence, fitted.passes, fitted.converged, warnings, words, fitted.posterior
    own_tables = {"categories": _category_table(fitted, table.codes), "answers": table.stacked}
    raters = _rater_table(fitted, table.codes) if has_raters else pl.DataFrame()
    result = CategoryFit(model, *tables, rates, *ended, **own_tables, raters=raters)
    first = subjects.filter(pl.col("group") == groups[0]).select("subject", "row")
    return rated_quality(result, fitted, table.answers.join(first, on="subject"), first.height)


def _rater_table(fitted: irt.CategoryFitted, codes: pl.DataFrame) -> pl.DataFrame:
    table = codes.group_by("rater").agg(pl.col("n").sum()).sort("rater")
    severity, error = rater_severities(fitted.parameters, fitted.information, table.height)
    low, high = severity - Z90 * error, severity + Z90 * error
    return table.with_columns(severity=severity, low=low, high=high, se=error).select(
        "rater", pl.col("severity", "low", "high", "se", "n")
    )


def _abilities(space: Namespace, shard: irt.CategoryCounts, fitted: irt.CategoryFitted, method: str) -> ShardAbilities:
    """Return the abilities of a group's subjects."""
    p = fitted.parameters
    table = curves.log_chances(p, FINE.nodes).reshape(-1, len(FINE.nodes))
    values = space.get(space.score(shard.counts, space.real(table)))
    of_answers = np.repeat(p.information(FINE.nodes), p.most, axis=0)
    information = space.get(space.score(shard.counts, space.real(of_answers)))
    prior = normal_prior(FINE, float(p.mean[shard.group]), float(p.sd[shard.group]))
    weighted, variance = estimate("wle", values, information, FINE, prior)
    if method == "eap":
        table = space.real(curves.log_chances(p, fitted.grid.nodes).reshape(-1, len(fitted.grid.nodes)))
        posterior = irt.shard_posteriors(space, shard, p, fitted.grid, table)
        chosen = space.get(posterior.mean), space.get(posterior.variance)
    else:
        chosen = estimate(method, values, information, FINE, prior)
    return ShardAbilities(chosen[0], np.sqrt(chosen[1]), weighted, np.sqrt(variance))


def _item_table(fitted: irt.CategoryFitted, read: CategoryTable) -> pl.DataFrame:
    items, counts = read.items, read.answers.group_by("item").agg(n=pl.len(), mean=pl.col("value").mean())
    lowest = read.codes.group_by("item").agg(lowest=pl.col("value").min())
    slope, error = fitted.parameters.values[:, 0], np.sqrt(fitted.information.item_covariance()[:, 0, 0])
    if fitted.parameters.model == "nominal":
        slope, error = np.full((2, items.len()), np.nan)
    table = pl.DataFrame({"item": items, "categories": fitted.parameters.sizes}).with_columns(
        discrimination=pl.Series(slope).fill_nan(None), se_discrimination=pl.Series(error).fill_nan(None)
    )
    return table.join(counts.join(lowest, on="item"), on="item", maintain_order="left").select(
        "item", "discrimination", "se_discrimination", "categories", "lowest", "n", "mean"
    )


def _category_table(fitted: irt.CategoryFitted, codes: pl.DataFrame) -> pl.DataFrame:
    """Return the parameters of every category above the lowest, difficulties by the delta method."""
    codes = codes.filter(pl.col("place") > 0)
    covariance, values = fitted.information.item_covariance(), fitted.parameters.values
    nominal = fitted.parameters.model == "nominal"
    at, place = codes["at"].to_numpy().astype(int), codes["place"].to_numpy()
    a, d = (place - 1, fitted.parameters.most - 2 + place) if nominal else (0 * place, place)
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
    if rare := codes.filter(pl.col("n") < 5)["item"].unique(maintain_order=True).to_list():
        warnings.append(f"{len(rare)} items have a category with fewer than 5 answers: {listed_names(rare)}")
    if fitted.parameters.model != "nominal":
        names = codes["item"].unique(maintain_order=True).to_list()
        against = [name for name, slope in zip(names, fitted.parameters.values[:, 0], strict=True) if slope < 0.0]
        if against:
            warnings.append(f"{len(against)} items run against the scale (reversed?): {listed_names(against)}")
    return tuple(warnings)
