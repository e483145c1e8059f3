"""Tables of language-model runs: errors in the published form, and the distance to the world, which is no error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mensura.core.arrays import correlation, rank_correlation
from mensura.core.errors import MensuraError

if TYPE_CHECKING:
    from mensura.core.arrays import Floats
    from mensura.extrapolation.cases import Case
    from mensura.extrapolation.correction import AskingMethod
    from mensura.extrapolation.methods import Extrapolation

SEVERAL = "several"
"""The dominant dimension of an item with more than one."""


def score_answers(method: AskingMethod, cases: Sequence[Case]) -> pl.DataFrame:
    """Score the answers of a language model over all focal groups, in the form of the published table.

    Parameters
    ----------
    method
        A method that asks a language model.
    cases
        As :func:`cases_of` returns them.

    Returns
    -------
    polars.DataFrame
        model, unit, n, unread, mae, rmse, pearson, spearman: one row for single answers, uncorrected, and one for the
        mean of an item's answers. ``n`` counts what could be read, as published; ``unread`` what could not.

    Examples
    --------
    >>> from mensura.extrapolation import WholePool, score_answers
    >>> score_answers(WholePool(asker), cases)  # doctest: +SKIP

    """
    answers = pl.concat(
        method.ask(case.task)
        .answers.join(pl.DataFrame({"item": case.items, "truth": case.truth}), on="item")
        .with_columns(group=pl.lit(case.group))
        for case in cases
    )
    read = answers.drop_nulls("rate")
    means = read.group_by("group", "item", maintain_order=True).agg(pl.col("rate", "truth").mean())
    silent = answers.select("group", "item").unique().height - means.height
    units = {"answer": (read, answers.height - read.height), "mean of variants": (means, silent)}
    rows = [
        {"model": method.model, "unit": unit, "n": table.height, "unread": unread, **_errors(table)}
        for unit, (table, unread) in units.items()
    ]
    return pl.DataFrame(rows)


def _errors(table: pl.DataFrame) -> dict[str, float | None]:
    if table.is_empty():
        return dict.fromkeys(("mae", "rmse", "pearson", "spearman"))
    rate, truth = table["rate"].to_numpy(), table["truth"].to_numpy()
    gap = rate - truth
    return {"mae": float(np.abs(gap).mean()), "rmse": float(np.sqrt((gap**2).mean())), **_correlations(rate, truth)}


def _correlations(one: Floats, other: Floats) -> dict[str, float | None]:
    correlations = {"pearson": float(correlation(one, other)), "spearman": float(rank_correlation(one, other))}
    return {name: value if np.isfinite(value) else None for name, value in correlations.items()}


def measure_distance(observed: pl.DataFrame, estimates: Mapping[str, Extrapolation | pl.DataFrame]) -> pl.DataFrame:
    """Measure how far the world estimates of several methods lie from the rates observed: a distance, not an error.

    The paper prints the same figures as "calibration results", with the observed rates where a truth would stand;
    nobody knows the truth for the world, and a method that moves nothing would have none.

    Parameters
    ----------
    observed
        item, rate of the people tested.
    estimates
        By method, item and rate.

    Returns
    -------
    polars.DataFrame
        method, n, distance (mean of |world − observed|), rms_distance, shift (mean of world − observed), pearson,
        spearman.

    Raises
    ------
    MensuraError
        If a method and the observed rates share no item.

    Examples
    --------
    >>> import polars as pl
    >>> from mensura.extrapolation import measure_distance
    >>> observed = pl.DataFrame({"item": ["a", "b"], "rate": [0.5, 0.75]})
    >>> measure_distance(observed, {"half": observed.with_columns(pl.col("rate") / 2)})["shift"].item()
    -0.3125

    """
    rows = []
    for name, estimate in estimates.items():
        table = estimate if isinstance(estimate, pl.DataFrame) else estimate.table
        both = observed.select("item", observed="rate").join(table.select("item", "rate"), on="item").drop_nulls()
        if both.is_empty():
            raise MensuraError(
                f"estimates: {name!r} has no item in common with the observed rates; use the same item names"
            )
        world, tested = both["rate"].to_numpy(), both["observed"].to_numpy()
        gap = world - tested
        distances = {"distance": np.abs(gap).mean(), "rms_distance": np.sqrt((gap**2).mean()), "shift": gap.mean()}
        rows.append({"method": name, "n": both.height, **distances, **_correlations(world, tested)})
    return pl.DataFrame(rows)


def dominant_dimensions(demands: pl.DataFrame) -> pl.DataFrame:
    """Find the dimension with the highest level of each item.

    Parameters
    ----------
    demands
        item, dimension, level, as ``mensura annotate`` writes them.

    Returns
    -------
    polars.DataFrame
        item, dimension: ``several`` where the highest level is shared.

    Examples
    --------
    >>> import polars as pl
    >>> from mensura.extrapolation import dominant_dimensions
    >>> levels = pl.DataFrame({"item": ["a", "a"], "dimension": ["KNc", "MCr"], "level": [1, 3]})
    >>> dominant_dimensions(levels)["dimension"].item()
    'MCr'

    """
    top = demands.filter(pl.col("level") == pl.col("level").max().over("item"))
    only = pl.when(pl.len() == 1).then(pl.col("dimension").first()).otherwise(pl.lit(SEVERAL))
    return top.group_by("item", maintain_order=True).agg(dimension=only)
