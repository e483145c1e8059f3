"""Tables of this package: read back as they were written, checked for columns, shown as text."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from mensura.core.arrays import DIGITS
from mensura.core.errors import MensuraError

_SIGNS = r"(?:[\t\r\n]|[\s\u3000]*[=+\-@＝＋－＠])"
_QUOTED = rf"^'+{_SIGNS}"
_FORMULA = rf"^'*{_SIGNS}"
"""Cells a spreadsheet would compute: a sign at the start, also full-width or after blanks, a tab or a line end."""
_RISKY, _NUMBER = re.compile(_FORMULA), re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


def without_quotes(frame: pl.DataFrame) -> pl.DataFrame:
    """Remove the apostrophes that keep spreadsheets from computing a cell (``frames.neutral_cells``)."""
    cells = pl.selectors.string()
    kept = cells.str.contains(_QUOTED)
    return frame.with_columns(pl.when(kept).then(cells.str.slice(1)).otherwise(cells).name.keep())


def read_csv(path: Path | bytes, **options: Any) -> pl.DataFrame:
    """Read a CSV file of this package (or its bytes); :func:`read_table` reads what users bring."""
    return without_quotes(pl.read_csv(path, glob=False, **options))


def neutral_cells(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table in whose text cells no spreadsheet finds a formula.

    An apostrophe goes before = + - @, also full-width or after blanks, and before tabs and line ends. Numbers stay as
    they are. :func:`read_csv` takes it away again, so that written tables read back the same.
    """
    cells = pl.col(pl.String)
    risky = cells.str.contains(_FORMULA) & cells.cast(pl.Float64, strict=False).is_null()
    return frame.with_columns(pl.when(risky).then(pl.lit("'") + cells).otherwise(cells).name.keep())


def neutral_text(text: str) -> str:
    """Return one text cell as :func:`neutral_cells` does: a frame for a few rows costs more than the rows."""
    return f"'{text}" if _RISKY.match(text) and not _NUMBER.fullmatch(text) else text


def says_yes(column: str) -> pl.Expr:
    """Return whether cells say yes: true, yes or 1 in any case; a blank does not."""
    cells = pl.col(column).cast(pl.String).str.strip_chars().str.to_lowercase()
    return cells.is_in(["true", "yes", "1", "1.0"]).fill_null(value=False)


def sort_highest(frame: pl.DataFrame, value: str | pl.Expr, *names: str) -> pl.DataFrame:
    """Sort by a computed number, highest first; rows whose numbers differ only in last bits are sorted by ``names``."""
    descending = [True, *(False for _ in names)]
    column = pl.col(value) if isinstance(value, str) else value
    rounded = column.cast(pl.Float64).round(DIGITS)
    return frame.sort(rounded, *names, descending=descending, nulls_last=True, maintain_order=True)


def first_row(frame: pl.DataFrame) -> dict[str, Any] | None:
    """Return the first row by the names of its columns, None where there is none."""
    return frame.row(0, named=True) if frame.height else None


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
