"""The quality of a fit in tables: of the whole (log likelihood, AIC, M2, reliability), of items and of pairs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mensura.core.arrays import Floats
from mensura.responses.irt.categories import CategoryFitted
from mensura.responses.irt.fitting import Fitted
from mensura.responses.irt.model import Items
from mensura.responses.irt.model_fit import MOST_ITEMS, Scored, WholeFit, item_fit, pair_fit, whole_fit
from mensura.responses.irt.shards import dense
from mensura.responses.table import ResponseTable

if TYPE_CHECKING:
    from mensura.responses.result import ResponseFit

T = TypeVar("T", bound=Any)
Tested: TypeAlias = tuple[pl.DataFrame, pl.DataFrame, WholeFit | None]
"""Items, pairs of items and the fit of the whole."""
NODES = np.linspace(-5.0, 5.0, 101)
"""Abilities, in standard deviations of the first group, at which the information is taken."""
_SHOWN_PAIRS = 200
_MOST_CELLS = 20_000_000
"""Subjects × items up to which items and pairs are tested."""


def criteria(
    model: str, estimation: str, subjects: int, items: int, parameters: int, likelihood: float
) -> dict[str, Any]:
    """Return model, sizes, log likelihood and the information criteria of a fit."""
    row: dict[str, Any] = {"model": model, "estimation": estimation, "subjects": subjects, "items": items}
    costs = {"aic": 2.0, "bic": np.log(subjects), "sabic": np.log((subjects + 2.0) / 24.0)}
    criterion = {name: cost * parameters - 2.0 * likelihood for name, cost in costs.items()}
    return row | {"parameters": parameters, "log_likelihood": likelihood} | criterion


def _with_quality(result: T, tested: Tested, parameters: int, information: Floats, first: int) -> T:
    """Return a fit with its items and pairs as they were tested, and one row about the whole.

    ``information``: at :data:`NODES` standard deviations of the first group, in its units: it gives the marginal
    reliability. ``first``: subjects of that group.
    """
    items, pairs, whole = tested
    sizes = result.subjects.height, items.height, parameters
    row = criteria(result.model, result.estimation, *sizes, result.log_likelihood)
    row |= {"log_posterior": result.log_posterior, "groups": result.groups.height}
    row |= dict.fromkeys(WholeFit._fields) if whole is None else whole._asdict()
    weight = np.exp(-0.5 * NODES**2)
    ability, error = (result.subjects[name].to_numpy()[:first] for name in ("ability", "se"))
    spread = float(np.var(ability))
    row["reliability_marginal"] = float(np.sum(weight * information / (information + 1.0)) / weight.sum())
    row["reliability_empirical"] = spread / max(spread + float(np.mean(error**2)), 1e-12)
    quality = pl.DataFrame([row], schema_overrides=dict.fromkeys(WholeFit._fields, pl.Float64))
    return replace(result, items=items, pairs=pairs, quality=quality)


def with_item_fit(items: pl.DataFrame, answers: NDArray[np.int64], p: Items, ability: Floats) -> Tested:
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
    p, unit, sd = fitted.parameters, fitted.parameters.unit, float(fitted.parameters.sd[0])
    tested: Tested = result.items, result.pairs, None
    cells = first * result.items.height
    if table is not None and cells <= _MOST_CELLS and (table.trials is None or int(table.trials.max()) <= 1):
        right = dense(table.right[:first]).astype(np.float64)
        if np.all(right % 1.0 == 0.0):
            taken = np.ones_like(right) if table.trials is None else dense(table.trials[:first])
            answers = np.where(taken > 0, right, -1).astype(np.int64)
            ability = result.subjects["ability"].to_numpy()[:first]
            tested = with_item_fit(result.items, answers, p, ability * unit)
    information = p.information(float(p.mean[0]) + NODES * sd).sum(axis=0) * sd**2
    known = 0 if p.fixed is None else int(p.fixed.sum()) * p.of_item
    return _with_quality(result, tested, len(p.flat()) - known, information, first)


def rated_quality(result: T, fitted: CategoryFitted, answers: pl.DataFrame, first: int) -> T:
    """Return a fit of ratings with its quality; ``answers``: row of the subject, item's and category's place."""
    p = fitted.parameters
    own = answers.filter(pl.col("at").is_not_null())
    table = np.full((first, len(p.sizes)), -1, dtype=np.int64)
    table[own["row"].to_numpy(), own["at"].to_numpy().astype(int)] = own["place"].to_numpy()
    tested = with_item_fit(result.items, table, p, result.subjects["ability"].to_numpy()[:first])
    information = p.information(NODES).sum(axis=0)
    return _with_quality(result, tested, p.count + len(p.free), information, first)
