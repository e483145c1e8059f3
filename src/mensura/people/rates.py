"""Success rates of every subgroup, from a persons × items table of 0/1 answers in one pass.

Each person belongs to one *cell*, the crossing of all the covariates asked for. Answers are counted once per
cell and item; every subgroup (one covariate, or any crossing of them) is a sum of cells, so the cost hardly
depends on how many subgroups there are. A person whose covariate is unknown stays in ``all`` and in the
subgroups of the other covariates, and is left out only where the unknown covariate is needed.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mensura.errors import MensuraError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ALL = "all"
RATE_COLUMNS = ("item", "covariate", "group", "n", "correct", "rate", "se")

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


def tabulate(
    responses: pl.DataFrame,
    covariates: pl.DataFrame | None = None,
    *,
    by: Iterable[str | Sequence[str]] = (),
    weight: str | None = None,
) -> pl.DataFrame:
    """Return the rate table of ``all`` and of every group that ``by`` asks for.

    ``responses``: column ``person`` and one column per item, holding 1 (right), 0 (wrong) or null (not
    given or not reached). ``covariates``: one row per row of ``responses``, in its order. ``by``: names of
    covariates; a sequence of names is a crossing, labelled as in ``country_sex=AUS_female``. ``weight``:
    the covariate that holds survey weights.

    Columns: item, covariate, group, n (answers), correct, rate, se. Unweighted, ``rate = correct / n`` and
    ``se = √(rate (1 − rate) / n)``. Weighted, ``rate = Σwx / Σw``, the standard error uses Kish's effective
    number ``(Σw)² / Σw²``, and ``correct`` stays the plain count.
    """
    if responses.is_empty():
        raise MensuraError("responses: no persons; there is nothing to count")
    crossings = [(name,) if isinstance(name, str) else tuple(name) for name in by]
    names = list(dict.fromkeys(name for crossing in crossings for name in crossing))
    frame = covariates if covariates is not None else pl.DataFrame()
    missing = [name for name in [*names, *([weight] if weight else [])] if name not in frame.columns]
    if missing:
        have = ", ".join(frame.columns) or "none"
        raise MensuraError(f"no covariate {', '.join(map(repr, missing))} in persons; there are: {have}")
    cells, levels = _cells(frame, names, responses.height)
    items = [column for column in responses.columns if column != "person"]
    weights = None if weight is None else _weights(frame[weight])
    counts = _count(responses, items, cells, levels.height, weights)
    tables = [_group_table(ALL, np.zeros(levels.height, dtype=np.int64), [ALL], items, counts)]
    for crossing in crossings:
        groups, labels = _group_of_cells(levels, crossing)
        tables.append(_group_table("_".join(crossing), groups, labels, items, counts))
    return pl.concat(tables)


def all_crossings(names: Sequence[str], depth: int | None = None) -> list[tuple[str, ...]]:
    """Return every crossing of up to ``depth`` covariates (of all of them, when not given)."""
    deepest = len(names) if depth is None else depth
    return [crossing for size in range(1, deepest + 1) for crossing in combinations(names, size)]


def _cells(frame: pl.DataFrame, names: list[str], height: int) -> tuple[Codes, pl.DataFrame]:
    """Return each person's cell and, per cell, its level of each covariate (as text; null: unknown)."""
    if not names:
        return np.zeros(height, dtype=np.int64), pl.DataFrame({"cell": [0]})
    code = np.zeros(height, dtype=np.int64)
    levels: list[pl.Series] = []
    for name in names:
        column = frame[name].cast(pl.String)
        level = column.unique(maintain_order=True).sort(nulls_last=True)
        lookup = pl.DataFrame({name: level, "code": np.arange(level.len())})
        codes = column.to_frame().join(lookup, on=name, how="left", nulls_equal=True, maintain_order="left")
        code = code * level.len() + codes["code"].to_numpy()
        levels.append(level)
    used, cells = np.unique(code, return_inverse=True)
    columns: dict[str, Any] = {}
    for name, level in zip(reversed(names), reversed(levels), strict=True):
        columns[name] = level.gather(used % level.len())
        used = used // level.len()
    return cells.astype(np.int64), pl.DataFrame(columns).select(names)


def _weights(column: pl.Series) -> Floats:
    weights = column.cast(pl.Float64).to_numpy()
    if not np.all(np.isfinite(weights)) or np.any(weights < 0):
        raise MensuraError(f"weights {column.name!r}: every weight must be a number ≥ 0; drop or fill the others")
    return weights


def _count(
    responses: pl.DataFrame, items: list[str], cells: Codes, size: int, weights: Floats | None
) -> tuple[Floats, ...]:
    """Return cells × items arrays: answers, right answers and, weighted, Σw, Σwx, Σw²."""
    shape = (size, len(items))
    answered, right = np.zeros(shape), np.zeros(shape)
    weighted = () if weights is None else tuple(np.zeros(shape) for _ in range(3))
    base = cells * 3
    for column, item in enumerate(items):
        outcome = responses[item].fill_null(2).cast(pl.Int64).to_numpy()
        bins = base + outcome
        tally = np.bincount(bins, minlength=size * 3).reshape(size, 3)
        right[:, column] = tally[:, 1]
        answered[:, column] = tally[:, 0] + tally[:, 1]
        if weights is not None:
            mass = np.bincount(bins, weights, minlength=size * 3).reshape(size, 3)
            square = np.bincount(bins, weights**2, minlength=size * 3).reshape(size, 3)
            weighted[0][:, column] = mass[:, 0] + mass[:, 1]
            weighted[1][:, column] = mass[:, 1]
            weighted[2][:, column] = square[:, 0] + square[:, 1]
    return (answered, right, *weighted)


def _group_of_cells(levels: pl.DataFrame, crossing: tuple[str, ...]) -> tuple[Codes, list[str]]:
    """Return the group of every cell (−1: a covariate is unknown) and the groups' labels."""
    text = levels.select(pl.concat_str(crossing, separator="_").alias("label"))["label"]
    labels = text.drop_nulls().unique().sort()
    lookup = pl.DataFrame({"label": labels, "code": np.arange(labels.len())})
    codes = text.to_frame().join(lookup, on="label", how="left", maintain_order="left")["code"].fill_null(-1)
    covariate = "_".join(crossing)
    return codes.to_numpy().astype(np.int64), [f"{covariate}={label}" for label in labels]


def _group_table(
    covariate: str, groups: Codes, labels: list[str], items: list[str], counts: tuple[Floats, ...]
) -> pl.DataFrame:
    """Sum cells into groups and turn the sums into rates; a group nobody of which answered has no row."""
    inside = np.flatnonzero(groups >= 0)
    order = inside[np.argsort(groups[inside], kind="stable")]
    starts = np.searchsorted(groups[order], np.arange(len(labels)))
    n, right, *weighted = (np.add.reduceat(table[order], starts, axis=0).T.ravel() for table in counts)
    with np.errstate(invalid="ignore", divide="ignore"):
        if weighted:
            mass, mass_right, square = weighted
            rate, effective = mass_right / mass, mass**2 / square
        else:
            rate, effective = right / n, n
        error = np.sqrt(rate * (1 - rate) / effective)
    table = pl.DataFrame(
        {
            "item": pl.Series(items, dtype=pl.String).gather(np.repeat(np.arange(len(items)), len(labels))),
            "covariate": pl.repeat(covariate, n.size, eager=True, dtype=pl.String),
            "group": pl.Series(labels, dtype=pl.String).gather(np.tile(np.arange(len(labels)), len(items))),
            "n": n.astype(np.int64),
            "correct": right.astype(np.int64),
            "rate": rate,
            "se": error,
        }
    )
    return table.filter(pl.col("n") > 0)
