"""Answers from long to wide: one row per answer in, one row per person and one column per item out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from mensura.core.errors import MensuraError
from mensura.core.frames import require_columns

BATCH = 2_000_000
"""Rows taken at a time."""
NO_ANSWER, UNSET = 2, 3
"""In the matrix of answers beside 1 and 0: the field is empty; there is no row."""


def widen(answers: pl.DataFrame | pl.LazyFrame, items: Sequence[str], *, name: str) -> pl.DataFrame:
    """Turn one row per answer into one row per person and one Int8 column per item (1, 0, null).

    Columns come in the order of ``items``, then those unknown to it; persons in order of appearance. Rows are
    taken a few million at a time, so that a lazy table is never in memory as a whole.
    """
    lazy = answers.lazy()
    require_columns(lazy.head(0).collect(), ["person", "item", "correct"], name=name)
    lazy = lazy.select(
        "person", pl.col("item") if _is_text(lazy, "item") else pl.col("item").cast(pl.String), "correct"
    )
    height = lazy.select(pl.len()).collect().item()
    batches = [(start, min(BATCH, height - start)) for start in range(0, height, BATCH)]
    persons, seen = _ids(lazy, batches, name)
    present = pl.concat([pl.Series("item", items, dtype=pl.String), seen]).unique(maintain_order=True)
    present = present.filter(present.is_in(seen.implode()))
    matrix = np.full((present.len(), persons.len()), UNSET, dtype=np.int8)
    for batch in batches:
        table = lazy.slice(*batch).collect()
        values = _outcomes(table, name)
        matrix[_codes(table["item"], present), _codes(table["person"], persons)] = values
    if np.count_nonzero(matrix != UNSET) != height:
        twice = lazy.filter(pl.struct("person", "item").is_duplicated()).head(1).collect().row(0)
        raise MensuraError(f"{name}: person {twice[0]} answers item {twice[1]!r} more than once; keep one row")
    columns = [pl.Series(item, matrix[index]) for index, item in enumerate(present)]
    return pl.DataFrame([persons, *(column.set(column >= NO_ANSWER, None) for column in columns)])


def _ids(lazy: pl.LazyFrame, batches: list[tuple[int, int]], name: str) -> tuple[pl.Series, pl.Series]:
    """Return the persons and items that occur, in order of appearance."""
    found: dict[str, list[pl.Series]] = {"person": [], "item": []}
    for batch in batches:
        table = lazy.slice(*batch).select("person", "item").collect()
        for column, parts in found.items():
            if table[column].null_count():
                raise MensuraError(f"{name}: {table[column].null_count()} rows without {column}; fill in the column")
            parts.append(table[column].unique(maintain_order=True))
    if not batches:
        raise MensuraError(f"{name}: no rows; add at least one answer")
    persons, items = (pl.concat(parts).unique(maintain_order=True) for parts in found.values())
    return persons, items.cast(pl.String)


def _is_text(lazy: pl.LazyFrame, column: str) -> bool:
    return lazy.collect_schema()[column] in (pl.String, pl.Categorical, pl.Enum)


def _outcomes(answers: pl.DataFrame, name: str) -> np.ndarray:
    """Return 1, 0 or, for an empty field, NO_ANSWER; refuse anything else."""
    values = answers["correct"].cast(pl.Float64, strict=False)
    wrong = answers.filter(answers["correct"].is_not_null() & ~values.is_in([0.0, 1.0]).fill_null(False))
    if wrong.height:
        raise MensuraError(
            f"{name}: column 'correct' must be 0, 1 or empty, got {wrong['correct'][0]!r} "
            f"(person {wrong['person'][0]}, item {wrong['item'][0]!r}); "
            "score choices and points with `mensura people import`"
        )
    return values.fill_null(NO_ANSWER).cast(pl.Int8).to_numpy()


def _codes(values: pl.Series, levels: pl.Series) -> np.ndarray:
    """Return the place of each value among the levels."""
    if levels.dtype == pl.String:
        return values.cast(pl.Enum(levels)).to_physical().to_numpy()
    lookup = pl.DataFrame({"level": levels, "code": np.arange(levels.len(), dtype=np.int64)})
    return (
        pl.DataFrame({"level": values}).join(lookup, on="level", how="left", maintain_order="left")["code"].to_numpy()
    )
