"""Abilities on covariates of subjects, and difficulties on demands of items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mensura.core.arguments import check_arguments
from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError, listed_names
from mensura.core.frames import require_columns
from mensura.core.results import Result
from mensura.intake.tables import as_frame
from mensura.responses.categories import CategoryFit
from mensura.responses.dimensions import DimensionFit
from mensura.responses.irt.dimension_errors import observed_information
from mensura.responses.irt.dimension_latent import PlacedLikelihoods
from mensura.responses.irt.dimension_nodes import Places
from mensura.responses.irt.latent import AbilityLikelihoods, LatentRegression, Likelihoods, draw_values, regress
from mensura.responses.irt.model import Parameters
from mensura.responses.irt.namespace import Namespace, namespace
from mensura.responses.irt.sandwich import replicate_factor
from mensura.responses.irt.shards import Shard
from mensura.responses.regression_tables import AbilityRegression, dimension_regression, estimates_table
from mensura.responses.result import ResponseFit
from mensura.responses.survey import Survey
from mensura.responses.table import ResponseTable

FEWEST = 20
"""Subjects that a regression needs."""


@check_arguments
def regress_abilities(
    fit: ResponseFit | CategoryFit | DimensionFit,
    table: ResponseTable | None,
    people: Any,  # noqa: ANN401
    *,
    on: Sequence[str],
    survey: Survey | None = None,
    draws: int = 10,
    seed: int = 0,
) -> AbilityRegression:
    """Regress abilities on columns of ``people`` (with ``subject``), at the items of ``fit``.

    ``table``: the responses that were fitted; None for items with several categories and for several dimensions, whose
    fits contain them. Several dimensions give a :class:`DimensionRegression`. Numbers enter as they are; words enter as
    one term per value but the most common. Subjects with a blank are left out. ``survey``: weights, and clusters or
    replicates for the errors. ``draws``: plausible values per subject.
    """
    frame = as_frame(people, name="people")
    require_columns(frame, ["subject", *on], name="people")
    in_order = fit.answers.data.subjects if isinstance(fit, DimensionFit) else fit.subjects
    subjects = in_order if table is None else table.subjects
    rows = subjects.select("subject").join(
        frame.with_columns(pl.col("subject").cast(pl.String)), on="subject", how="left", maintain_order="left"
    )
    kept = rows.select(pl.all_horizontal(pl.col(list(on)).is_not_null())).to_series()
    if int(kept.sum()) < FEWEST:
        raise MensuraError(
            f"regress: {int(kept.sum())} subjects have all of {', '.join(on)}; expected at least {FEWEST}"
        )
    terms, x = _design(rows.filter(kept), on)
    places = np.flatnonzero(kept.to_numpy())
    space = namespace(double=True)
    known = _likelihoods(space, fit, table, places)
    names = subjects["subject"].filter(kept)
    sample = None if survey is None else survey.of(names)
    weights = np.ones(len(places)) if sample is None or sample.weights is None else sample.column(sample.weights)
    abilities = fit.answers.items.slopes.shape[1] if isinstance(fit, DimensionFit) else 1
    found = regress(space, known, x, weights, abilities=abilities)
    if isinstance(known, PlacedLikelihoods) and isinstance(fit, DimensionFit):
        known = known.around(found.mean, found.variance)  # nodes under the posteriors that the covariates give
        found = regress(space, known, x, weights, found.values, abilities)
        covariance = _with_items(fit, known, x, weights, found, places, sample)
    else:
        covariance = _covariance(space, known, x, found, sample)
    drawn = draw_values(space, known, x, found, covariance, draws=draws, rng=np.random.default_rng(seed))
    along = np.atleast_2d(np.cov((x @ found.coefficients).T, aweights=weights))
    errors = np.sqrt(np.diag(covariance))[: found.coefficients.size].reshape(found.coefficients.shape)
    left = found.covariance
    explained = float(np.trace(along) / np.trace(along + left))
    values = {f"pv{one + 1}": drawn[:, :, one] for one in range(draws)}
    if not isinstance(fit, DimensionFit):
        plausible = pl.DataFrame({"subject": names, **{name: one[:, 0] for name, one in values.items()}})
        effects = estimates_table(terms, found.coefficients[:, 0], errors[:, 0])
        return AbilityRegression(effects, plausible, float(np.sqrt(left[0, 0])), explained)
    return dimension_regression(
        fit.items["dimension"].unique(maintain_order=True).to_list(),
        terms,
        (found.coefficients, errors),
        names,
        values,
        left,
        explained,
    )


def _likelihoods(
    space: Namespace, fit: ResponseFit | CategoryFit | DimensionFit, table: ResponseTable | None, kept: NDArray[np.intp]
) -> AbilityLikelihoods | PlacedLikelihoods:
    """Return the likelihoods of the subjects at the places ``kept``."""
    if isinstance(fit, DimensionFit):
        data, items, found = fit.answers
        if len(items.structure.shared) < items.slopes.shape[1]:
            raise MensuraError(
                "regress: got a bifactor fit; expected correlated or exploratory dimensions. Leave one out"
            )
        trials = None if data.trials is None else data.trials[kept]
        return PlacedLikelihoods.of(data.right[kept], trials, items, Places(found.mean[kept], found.covariance[kept]))
    if isinstance(fit, CategoryFit):
        return AbilityLikelihoods.of_categories(space, fit.answers.counts[kept], fit.answers.items)
    if table is None:
        raise MensuraError("table: got None; expected the responses that were fitted. Give what read_responses returns")
    trials = None if table.trials is None else table.trials[kept]
    return AbilityLikelihoods.of_answers(space, Shard(table.right[kept], trials, 0), _items(fit, table))


def _items(fit: ResponseFit, table: ResponseTable) -> Parameters:
    """Return the items of a table as a fit has them."""
    if table.items["item"].to_list() != fit.items["item"].to_list():
        raise MensuraError("regress: the fit has other items than the table; give the table that was fitted")
    slope = fit.items["discrimination"].to_numpy()
    guess = np.clip(fit.items["guessing"].to_numpy(), 1e-9, None)
    model = "3pl" if bool((fit.items["guessing"] > 0.0).any()) else "2pl"
    odds = np.log(guess / (1.0 - guess))
    return Parameters(model, slope, -slope * fit.items["difficulty"].to_numpy(), odds, np.zeros(1), np.ones(1))


def _design(rows: pl.DataFrame, on: Sequence[str]) -> tuple[list[str], Floats]:
    """Return the terms of a regression and their columns: numbers as they are, words one column per value."""
    terms, columns = ["intercept"], [np.ones(rows.height)]
    for name in on:
        if rows[name].dtype.is_numeric() or rows[name].dtype == pl.Boolean:
            terms.append(name)
            columns.append(rows[name].cast(pl.Float64).to_numpy())
            continue
        counts = rows[name].cast(pl.String).value_counts(sort=True)
        for value in sorted(counts[name].to_list()[1:]):
            terms.append(f"{name}: {value}")
            columns.append((rows[name].cast(pl.String) == value).cast(pl.Float64).to_numpy())
    x = np.column_stack(columns)
    if np.linalg.matrix_rank(x) < x.shape[1]:
        raise MensuraError(f"regress: {listed_names(list(on))} repeat one another or never vary; leave one out")
    return terms, x


def _covariance(
    space: Any,  # noqa: ANN401
    known: Likelihoods,
    x: Floats,
    found: LatentRegression,
    survey: Survey | None,
) -> Floats:
    """Return the covariance of coefficients and spread: of the model, of clusters, or of replicates."""
    inverse: Floats = np.asarray(np.linalg.inv(found.information), dtype=np.float64)
    if survey is None:
        return inverse
    columns = survey.replicate_columns
    if columns:
        count = found.coefficients.shape[1]
        fits = [regress(space, known, x, survey.column(name), found.values, count) for name in columns]
        again = [one.values - found.values for one in fits]
        return replicate_factor(survey.replication, len(columns)) * np.array(again).T @ np.array(again)
    return _sandwich(inverse, found.scores, survey.clusters)


def _with_items(
    fit: DimensionFit,
    known: PlacedLikelihoods,
    x: Floats,
    weights: Floats,
    found: LatentRegression,
    kept: NDArray[np.intp],
    survey: Survey | None,
) -> Floats:
    """Return the covariance of coefficients and spread with the errors of the items, from scores of subjects."""
    if survey is not None and survey.replicate_columns:
        raise MensuraError("regress: several dimensions take no replicate weights; give clusters, or fit one dimension")
    data, items, fitted = fit.answers
    information, scores = observed_information(data.right, data.trials, items, fitted)
    changes = known.item_changes(x, weights, found)
    both = scores @ np.linalg.inv(information)[:, : changes.shape[1]] @ changes.T
    both[kept] += found.scores
    clusters = np.arange(len(both))
    if survey is not None:
        both, clusters = both[kept], survey.clusters
    return _sandwich(np.asarray(np.linalg.inv(found.information), dtype=np.float64), both, clusters)


def _sandwich(inverse: Floats, scores: Floats, clusters: NDArray[np.int64]) -> Floats:
    """Return the covariance that the scores of clusters give."""
    count = int(clusters.max()) + 1
    sums = np.zeros((count, len(inverse)))
    np.add.at(sums, clusters, scores)
    sums -= sums.mean(axis=0)
    return np.asarray(inverse @ (sums.T @ sums) @ inverse * (count / (count - 1.0)), dtype=np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class ItemExplanation(Result):
    """``explained``: term, estimate, se, low, high (90%) of difficulties on demands; ``sd`` of what they leave."""

    TABLES: ClassVar[tuple[str, ...]] = ("explained",)

    explained: pl.DataFrame
    sd: float
    share: float
    items: int

    @property
    def heading(self) -> str:
        """How much the demands explain."""
        return (
            f"Difficulties of {self.items} items on demands: {self.share:.0%} of the variance, {self.sd:.2f} left (sd)"
        )


@check_arguments
def explain_items(fit: ResponseFit, demands: Any, *, on: Sequence[str] = ()) -> ItemExplanation:  # noqa: ANN401
    """Regress difficulties on columns of ``demands`` (with ``item``; by default all that are numbers).

    Each difficulty counts by its own error and by the spread that demands leave (maximum likelihood).
    """
    frame = as_frame(demands, name="demands")
    require_columns(frame, ["item", *on], name="demands")
    numbers = [name for name, dtype in frame.schema.items() if dtype.is_numeric() and name != "item"]
    chosen = list(on) or numbers
    rows = fit.items.select("item", "difficulty", "se_difficulty").join(
        frame.with_columns(pl.col("item").cast(pl.String)).select("item", *chosen), on="item", maintain_order="left"
    )
    rows = rows.filter(pl.all_horizontal(pl.col(chosen).is_not_null()) & pl.col("se_difficulty").is_finite())
    if not chosen or rows.height < len(chosen) + 3:
        raise MensuraError(
            f"demands: {rows.height} items have {listed_names(chosen) or 'no columns'}; expected columns of numbers "
            f"and at least {len(chosen) + 3} items of the fit"
        )
    terms, x = _design(rows, chosen)
    y, variance = rows["difficulty"].to_numpy(), rows["se_difficulty"].to_numpy() ** 2
    spread, values, covariance = fit_spread(y, x, variance)
    alone = fit_spread(y, np.ones((len(y), 1)), variance)[0]
    share = max(0.0, 1.0 - spread / alone) if alone > 0.0 else 0.0
    table = estimates_table(terms, values, np.sqrt(np.diag(covariance)))
    return ItemExplanation(table, float(np.sqrt(spread)), share, rows.height)


def fit_spread(y: Floats, x: Floats, variance: Floats) -> tuple[float, Floats, Floats]:
    """Return the variance that a line leaves beside known errors (restricted likelihood), its values and covariance."""
    from scipy.optimize import minimize_scalar

    def solve(spread: float) -> tuple[float, Floats, Floats]:
        weight = 1.0 / (variance + spread)
        information = (x * weight[:, None]).T @ x
        values: Floats = np.asarray(np.linalg.solve(information, (x * weight[:, None]).T @ y), dtype=np.float64)
        off = y - x @ values
        loss = -np.sum(np.log(weight)) + weight @ off**2 + np.linalg.slogdet(information)[1]
        return float(loss), np.asarray(values), np.asarray(np.linalg.inv(information), dtype=np.float64)

    best = minimize_scalar(
        lambda root: solve(root**2)[0], bounds=(0.0, 2.0 * float(np.std(y)) + 1e-6), method="bounded"
    )
    spread = 0.0 if solve(0.0)[0] <= best.fun else float(best.x**2)
    return (spread, *solve(spread)[1:])
