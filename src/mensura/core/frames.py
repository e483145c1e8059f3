"""Tables at the public edge: polars inside, pandas, Arrow, mappings and files accepted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from mensura.core.errors import MensuraError
from mensura.core.tables import read_table, refuse_twice, without_quotes

_ACCEPTED = "a polars, pandas or Arrow table, a mapping of columns, or a path to a CSV or Parquet file"
_FORMULA = r"^'*[=+\-@\t\r]"
"""Cells a spreadsheet would compute."""
_NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"
_ONE_LENGTH = "every column needs as many values, all of one kind"


def as_frame(table: Any, *, name: str = "table") -> pl.DataFrame:  # noqa: ANN401
    """Return ``table`` as a polars data frame; ``name`` is the argument named in errors."""
    if isinstance(table, pl.DataFrame):
        return table
    if isinstance(table, pl.LazyFrame):
        return table.collect()
    if isinstance(table, str | Path):
        return read_table(Path(table))
    if isinstance(table, Mapping):
        return _from_mapping(table, name)
    if hasattr(table, "iloc") and hasattr(table, "columns"):
        return _from_pandas(table, name)
    if hasattr(table, "__arrow_c_stream__"):
        return _from_arrow(table, name)
    raise MensuraError(f"{name}: cannot read {type(table).__name__}; expected {_ACCEPTED}")


def _from_arrow(table: Any, name: str) -> pl.DataFrame:  # noqa: ANN401
    """Read what lends itself as Arrow does; a single column does too, and is no table."""
    try:
        return pl.DataFrame(table)
    except pl.exceptions.PolarsError as fault:
        raise MensuraError(f"{name}: cannot read {type(table).__name__}; expected {_ACCEPTED}") from fault


def _from_mapping(table: Mapping[str, Any], name: str) -> pl.DataFrame:
    """Read columns of plain values; whole numbers and fractions may be mixed, lengths may not."""
    try:
        return pl.DataFrame({str(title): values for title, values in table.items()}, strict=False)
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError) as fault:
        raise MensuraError(f"{name}: these columns do not make a table ({fault}); {_ONE_LENGTH}") from fault


def _from_pandas(table: Any, name: str) -> pl.DataFrame:  # noqa: ANN401
    """Read a pandas table column by column: its own way to Arrow, and polars', need pyarrow installed.

    Missing values (NaN, NaT, None, pandas.NA) become null; an index that is not a plain count becomes a column.
    """
    if any(label is not None for label in table.index.names):
        table = table.reset_index()
    titles = [str(title) for title in table.columns]
    refuse_twice(titles, name)
    return pl.DataFrame([_series(title, table.iloc[:, place]) for place, title in enumerate(titles)])


def _series(title: str, column: Any) -> pl.Series:  # noqa: ANN401
    missing = column.isna().to_numpy()
    values = column.to_numpy()
    if values.dtype.kind in "iufb" and not missing.any():
        return pl.Series(title, values)
    kept = [None if gone else _python(value) for value, gone in zip(values.tolist(), missing, strict=True)]
    if values.dtype.kind == "M":
        kept = [None if gone else value.to_pydatetime() for value, gone in zip(column, missing, strict=True)]
    return pl.Series(title, kept, strict=False)


def _python(value: Any) -> Any:  # noqa: ANN401
    """Return a scalar of numpy as Python's own."""
    return value.item() if hasattr(value, "item") else value


def read_frame(path: Path) -> pl.DataFrame:
    """Read one CSV or Parquet file as users bring it (:mod:`mensura.core.tables`)."""
    return read_table(path)


def read_csv(path: Path | bytes, **options: Any) -> pl.DataFrame:  # noqa: ANN401
    """Read a CSV file of this package (or its bytes); :func:`read_frame` reads what users bring."""
    return without_quotes(pl.read_csv(path, glob=False, **options))


def neutral_cells(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table in whose text cells no spreadsheet finds a formula.

    An apostrophe goes before = + - @, tab and return; numbers stay as they are. :func:`read_csv` takes it away again,
    so that written tables read back the same.
    """
    cells = pl.col(pl.String)
    risky = cells.str.contains(_FORMULA) & cells.cast(pl.Float64, strict=False).is_null()
    return frame.with_columns(pl.when(risky).then(pl.lit("'") + cells).otherwise(cells).name.keep())


def neutral_text(text: str) -> str:
    """Return one cell by the rule of :func:`neutral_cells`."""
    return f"'{text}" if re.match(_FORMULA, text) and not re.fullmatch(_NUMBER, text) else text


def require_columns(frame: pl.DataFrame, columns: Sequence[str], *, name: str) -> None:
    """Refuse a table that lacks a column, naming all that are missing and all that are there."""
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise MensuraError(
            f"{name}: missing column {', '.join(map(repr, missing))}; it has {', '.join(frame.columns) or 'none'}. Add "
            "or rename it"
        )


def text_table(frame: pl.DataFrame, *, rows: int = 10, digits: int = 3) -> str:
    """Return the first ``rows`` rows as plain aligned text, for results that print themselves."""
    with pl.Config(
        tbl_formatting="NOTHING",
        tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True,
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_width_chars=200,
        fmt_str_lengths=60,
        float_precision=digits,
    ):
        shown = str(frame.head(rows))
    more = frame.height - rows
    return f"{shown}\n … and {more} more rows" if more > 0 else shown
