"""The quality of a fit in tables: of the whole (log likelihood, AIC, M2, reliability), of items and of pairs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mensura.core.arrays import Floats
from mensura.responses.irt.abilities import answer_information
from mensura.responses.irt.categories import CategoryFitted
from mensura.responses.irt.category_curves import CategoryItems, category_curves
from mensura.responses.irt.fitting import Fitted
from mensura.responses.irt.model import Parameters
from mensura.responses.irt.model_fit import MOST_ITEMS, Scored, WholeFit, item_fit, pair_fit, whole_fit
from mensura.responses.irt.shards import dense
from mensura.responses.table import ResponseTable

if TYPE_CHECKING:
    from mensura.responses.result import ResponseFit

T = TypeVar("T", bound=Any)
_Z = np.linspace(-5.0, 5.0, 101)
_SHOWN_PAIRS = 200
_MOST_CELLS = 20_000_000
"""Subjects × items up to which items and pairs are tested."""


def reliabilities(information: Floats, ability: Floats, error: Floats) -> dict[str, float]:
    """Return the marginal reliability, from the information at abilities of the first group, and the empirical one.

    ``information``: at :data:`NODES` standard deviations of the first group, in its units.
    """
    weight = np.exp(-0.5 * _Z**2)
    marginal = float(np.sum(weight * information / (information + 1.0)) / weight.sum())
    spread = float(np.var(ability))
    return {
        "reliability_marginal": marginal,
        "reliability_empirical": spread / max(spread + float(np.mean(error**2)), 1e-12),
    }


NODES = _Z
"""Abilities, in standard deviations of the first group, at which :func:`reliabilities` wants the information."""


def quality_table(
    model: str,
    estimation: str,
    subjects: int,
    items: int,
    parameters: int,
    heights: tuple[float, float],
    whole: WholeFit | None,
    reliability: dict[str, float],
) -> pl.DataFrame:
    """Return one row about the whole fit; ``heights``: log likelihood and log posterior."""
    likelihood = heights[0]
    row: dict[str, Any] = {"model": model, "estimation": estimation, "subjects": subjects, "items": items}
    row |= {"parameters": parameters, "log_likelihood": likelihood, "log_posterior": heights[1]}
    row |= {
        "aic": 2.0 * (parameters - likelihood),
        "bic": parameters * np.log(subjects) - 2.0 * likelihood,
        "sabic": parameters * np.log((subjects + 2.0) / 24.0) - 2.0 * likelihood,
    }
    empty = dict.fromkeys(WholeFit._fields)
    row |= empty if whole is None else whole._asdict()
    schema = dict.fromkeys(WholeFit._fields, pl.Float64)
    return pl.DataFrame([row | reliability], schema_overrides=schema)


def with_item_fit(
    items: pl.DataFrame, answers: NDArray[np.int64], p: Parameters | CategoryItems, ability: Floats
) -> tuple[pl.DataFrame, pl.DataFrame, WholeFit | None]:
    """Return items with S-X², infit and outfit, the pairs of items that depend most, and the fit of the whole."""
    scored = Scored(answers, p)
    fits = item_fit(scored, ability)
    columns = {"s_x2": fits.x2, "s_x2_df": fits.df, "s_x2_p": fits.p, "infit": fits.infit, "outfit": fits.outfit}
    table = items.with_columns(pl.Series(name, values).fill_nan(None) for name, values in columns.items())
    schema = {"item": pl.String, "other": pl.String, **dict.fromkeys(("q3", "x2", "p"), pl.Float64)}
    names = items["item"].to_list()
    rows = pair_fit(scored, ability) if len(names) <= MOST_ITEMS else []
    rows.sort(key=lambda row: (-abs(row[2]), row[0], row[1]))
    named = [(names[one], names[other], *rest) for one, other, *rest in rows[:_SHOWN_PAIRS]]
    return table, pl.DataFrame(named, schema=schema, orient="row"), whole_fit(scored)


def right_quality(result: ResponseFit, fitted: Fitted, table: ResponseTable | None, first: int) -> ResponseFit:
    """Return a fit of right and wrong answers with its quality; ``first``: subjects of the first group.

    Items and pairs are tested where ``table`` has one answer per subject and item.
    """
    p = fitted.parameters
    ability, error = (result.subjects[name].to_numpy()[:first] for name in ("ability", "se"))
    items, pairs, whole = result.items, result.pairs, None
    cells = first * items.height
    if table is not None and cells <= _MOST_CELLS and (table.trials is None or int(table.trials.max()) <= 1):
        right = dense(table.right[:first]).astype(np.float64)
        if np.all(right % 1.0 == 0.0):
            taken = np.ones_like(right) if table.trials is None else dense(table.trials[:first])
            answers = np.where(taken > 0, right, -1).astype(np.int64)
            items, pairs, whole = with_item_fit(items, answers, p, ability * float(p.sd[0]))
    unit = float(p.sd[0])
    information = answer_information(p, NODES * unit).sum(axis=0) * unit**2
    sizes = result.subjects.height, items.height, len(p.flat())
    heights = result.log_likelihood, result.log_posterior
    reliability = reliabilities(information, ability, error)
    quality = quality_table(result.model, result.estimation, *sizes, heights, whole, reliability)
    return replace(result, items=items, pairs=pairs, quality=quality)


def rated_quality(result: T, fitted: CategoryFitted, answers: pl.DataFrame, first: int) -> T:
    """Return a fit of ratings with its quality; ``answers``: row of the subject, item's and category's place."""
    p = fitted.items
    ability, error = (result.subjects[name].to_numpy()[:first] for name in ("ability", "se"))
    own = answers.filter(pl.col("at").is_not_null())
    table = np.full((first, len(p.sizes)), -1, dtype=np.int64)
    table[own["row"].to_numpy(), own["at"].to_numpy().astype(int)] = own["place"].to_numpy()
    items, pairs, whole = with_item_fit(result.items, table, p, ability)
    log_p, _, slope = category_curves(p, NODES)
    here = (np.arange(p.most) < p.sizes[:, None])[:, :, None]
    information = np.einsum("jkq,jkq->q", np.exp(log_p) * here, slope**2)
    sizes = result.subjects.height, items.height, int(p.used.sum()) + len(p.free)
    heights = result.log_likelihood, result.log_posterior
    reliability = reliabilities(information, ability, error)
    quality = quality_table(result.model, result.estimation, *sizes, heights, whole, reliability)
    return replace(result, items=items, pairs=pairs, quality=quality)
