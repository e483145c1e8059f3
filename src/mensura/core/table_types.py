"""The types of a table's columns of text: numbers, decimal commas and words for missing values."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

TEXT_COLUMNS = (
    *("subject", "model", "benchmark", "item", "covariate", "group", "text", "answer", "key", "options"),
    *("scoring", "domain", "format", "language"),
)
"""Columns that stay text: 007 is not 7."""
_TRIED = 1000  # cells of a text column that must be numbers before all of them are tried
_COMMA_NUMBER = r"^[-−+]?\d*,\d+$"
_SURE_COMMA = r"^[-−+]?(0?,\d+|\d+,(\d{1,2}|\d{4,}))$"


def typed(frame: pl.DataFrame, blank: Sequence[str]) -> tuple[pl.DataFrame, bool]:
    """Give columns of text that hold numbers their type: words for missing values and decimal commas are read."""
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String and name.casefold() not in TEXT_COLUMNS]
    cells = {name: _without_words(frame[name], blank) for name in texts}
    commas = [name for name, column in cells.items() if _all_match(column, f"{_COMMA_NUMBER}|^[-−+]?\\d+$")]
    points = any(dtype.is_float() for dtype in frame.dtypes)
    comma = not points and any(cells[name].str.contains(_SURE_COMMA).any() for name in commas)
    read = {
        name: column.str.replace(",", ".", literal=True) if comma and name in commas else column
        for name, column in cells.items()
    }
    numbers = {name: found for name, column in read.items() if (found := _as_numbers(column)) is not None}
    return frame.with_columns(numbers.values()), comma


def _without_words(column: pl.Series, blank: Sequence[str]) -> pl.Series:
    """Return the cells of a column without words for missing values."""
    return column.set(column.str.to_lowercase().is_in(blank), None)


def _all_match(column: pl.Series, pattern: str) -> bool:
    some = column.drop_nulls()
    return bool(some.len() and some.head(_TRIED).str.contains(pattern).all() and some.str.contains(pattern).all())


def _as_numbers(column: pl.Series) -> pl.Series | None:
    """Return a column of text as whole numbers, real numbers or truth values; None where it holds anything else."""
    some = column.drop_nulls()
    if some.is_empty():
        return None
    for kind in (pl.Int64, pl.Float64):
        plain = column.str.replace("−", "-", literal=True)
        if plain.drop_nulls().head(_TRIED).cast(kind, strict=False).null_count():
            continue
        found = plain.cast(kind, strict=False)
        if found.null_count() == column.null_count():
            return found
    if some.str.to_lowercase().is_in(["true", "false"]).all():
        return column.str.to_lowercase() == "true"
    return None
