"""Tables of language-model runs: errors in the published form, and the distance to the world, which is no error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mensura.core.errors import MensuraError
from mensura.extrapolation.validation.metrics import pearson, spearman

if TYPE_CHECKING:
    from mensura.core.arrays import Floats
    from mensura.extrapolation.asking.item_by_item import ItemByItem
    from mensura.extrapolation.asking.whole_pool import WholePool
    from mensura.extrapolation.protocol import Extrapolation
    from mensura.extrapolation.validation.cases import Case

SEVERAL = "several"
"""The dominant dimension of an item with more than one."""


def score_answers(method: ItemByItem | WholePool, cases: Sequence[Case]) -> pl.DataFrame:
    """Return model, unit, n, unread, mae, rmse, pearson, spearman over all focal groups: the published table's form.

    One row per answer, uncorrected, and one for the mean of an item's answers. ``n`` counts what could be read, as
    published; ``unread`` what could not.
    """
    parts = []
    for case in cases:
        truth = pl.DataFrame({"item": case.items, "truth": case.truth}, schema={"item": pl.String, "truth": pl.Float64})
        parts.append(method.answers(case.task).join(truth, on="item").with_columns(group=pl.lit(case.group)))
    answers = pl.concat(parts)
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
    found = {"pearson": float(pearson(one, other)), "spearman": float(spearman(one, other))}
    return {name: value if np.isfinite(value) else None for name, value in found.items()}


def measure_distance(observed: pl.DataFrame, estimates: Mapping[str, Extrapolation | pl.DataFrame]) -> pl.DataFrame:
    """Return how far the world estimates of several methods lie from the rates observed: a distance, not an error.

    ``observed``: item, rate of the people tested. ``estimates``: by method, item and rate. Columns: method, n,
    distance (mean of |world − observed|), rms_distance, shift (mean of world − observed), pearson, spearman. The paper
    prints the same figures as "calibration results", with the observed rates where a truth would stand; nobody
    knows the truth for the world, and a method that moves nothing would have none.
    """
    rows = []
    for name, found in estimates.items():
        table = found if isinstance(found, pl.DataFrame) else found.table
        both = observed.select("item", observed="rate").join(table.select("item", "rate"), on="item").drop_nulls()
        if both.is_empty():
            raise MensuraError(
                f"estimates: {name!r} has no item in common with the observed rates; use the same item names"
            )
        world, seen = both["rate"].to_numpy(), both["observed"].to_numpy()
        gap = world - seen
        distances = {"distance": np.abs(gap).mean(), "rms_distance": np.sqrt((gap**2).mean()), "shift": gap.mean()}
        plain = {key: float(value) for key, value in distances.items()}
        rows.append({"method": name, "n": both.height, **plain, **_correlations(world, seen)})
    return pl.DataFrame(rows)


def dominant_dimensions(demands: pl.DataFrame) -> pl.DataFrame:
    """Return item, dimension: the one with the highest level, ``several`` where the highest is shared.

    ``demands``: item, dimension, level, as ``mensura annotate`` writes them.
    """
    top = demands.filter(pl.col("level") == pl.col("level").max().over("item"))
    alone = pl.when(pl.len() == 1).then(pl.col("dimension").first()).otherwise(pl.lit(SEVERAL))
    return top.group_by("item", maintain_order=True).agg(dimension=alone)
