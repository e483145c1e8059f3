"""Read estimates that exist: what language models said of the items, one row per item, model and run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from mensura.core.arrays import MARGIN
from mensura.core.errors import MensuraError
from mensura.intake.tables import as_frame, read_table

RECORDED = "recorded/zero-shot"
COLUMNS = {
    "item": pl.String,
    "rate": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "model": pl.String,
    "run": pl.String,
    "remembered": pl.Boolean,
    "population": pl.String,
}
"""The columns of estimates; all but item and rate may be missing."""
_FILE = Path(__file__).parent / "data" / "zero_shot.csv"
_ALSO = {"id": "item"}
_TRUE = ("1", "1.0", "true", "yes")


def read_estimates(source: Any) -> pl.DataFrame:  # noqa: ANN401
    """Return estimates with all :data:`COLUMNS`, from a file, a table or ``recorded/zero-shot``; refuse wrong rates."""
    if isinstance(source, str) and source == RECORDED:
        return read_recorded().select(list(COLUMNS))
    name = str(source) if isinstance(source, str | Path) else "estimates"
    frame = read_table(Path(source)) if isinstance(source, str | Path) else as_frame(source, name=name)
    return _checked(frame, name)


def read_recorded(pool: str | None = None) -> pl.DataFrame:
    """Return the shipped recordings, of one pool or of all: the estimates alone, without texts and true rates."""
    frame = read_table(_FILE).rename({"people": "population"})
    if pool is not None:
        known = frame["pool"].unique().sort().to_list()
        if pool not in known:
            raise MensuraError(f"recorded/{pool}: no such recording; expected recorded/ and one of {', '.join(known)}")
        frame = frame.filter(pl.col("pool") == pool)
    return _checked(frame, RECORDED).with_columns(frame["pool"], frame["n_options"], frame["domain"])


def _checked(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    titles = {title: title.strip().casefold() for title in frame.columns}
    frame = frame.rename(titles)
    if "estimate" in frame.columns:  # beside it, a rate is the truth
        frame = frame.drop("rate", strict=False).rename({"estimate": "rate"})
    frame = frame.rename({old: new for old, new in _ALSO.items() if old in frame.columns and new not in frame.columns})
    missing = [column for column in ("item", "rate") if column not in frame.columns]
    if missing:
        raise MensuraError(
            f"{name}: no column {missing[0]!r}; expected item, rate, low, high (and model, run, remembered), "
            f"got {', '.join(frame.columns)}. Rename the column"
        )
    if not frame.height:
        raise MensuraError(f"{name}: no estimates; expected one row per item")
    columns = [_column(frame, column, kind) for column, kind in COLUMNS.items()]
    table = frame.select(columns)
    for column in ("rate", "low", "high"):
        _refuse_numbers(frame, table, column, name)
    swapped = table.filter((pl.col("low") > pl.col("rate") + MARGIN) | (pl.col("high") < pl.col("rate") - MARGIN))
    if swapped.height:
        row = swapped.row(0, named=True)
        raise MensuraError(
            f"{name}, item {row['item']}: the interval {row['low']} to {row['high']} does not contain the rate "
            f"{row['rate']}; expected low ≤ rate ≤ high ({swapped.height} rows). Correct them"
        )
    return table


def _column(frame: pl.DataFrame, column: str, kind: Any) -> pl.Expr:  # noqa: ANN401
    if column not in frame.columns:
        default = {"model": "unnamed", "run": "1", "remembered": False}.get(column)
        return pl.lit(default, dtype=kind).alias(column)
    if kind == pl.Boolean:
        return pl.col(column).cast(pl.String).str.to_lowercase().is_in(_TRUE).fill_null(False).alias(column)
    cell = pl.col(column).cast(kind, strict=False)
    return cell.fill_null("unnamed").alias(column) if column == "model" else cell.alias(column)


def _refuse_numbers(frame: pl.DataFrame, table: pl.DataFrame, column: str, name: str) -> None:
    """Refuse rates that are no numbers, missing or outside 0 to 1."""
    if column not in frame.columns:
        return
    given = frame[column].cast(pl.String).fill_null("")
    value = table[column]
    no_number = (value.is_null() | value.is_nan()) & (
        (given != "") if column != "rate" else pl.repeat(True, len(value), eager=True)
    )
    wrong = no_number | ~value.fill_null(0.5).fill_nan(0.5).is_between(0, 1)
    if wrong.any():
        row = int(wrong.arg_true()[0])
        percent = "; is it a percentage? Divide by 100" if (value > 1).any() else ". Correct it"
        raise MensuraError(
            f"{name}, item {table['item'][row]}, {column}: {given[row] or 'nothing'} is no rate; expected a number "
            f"from 0 to 1 ({int(wrong.sum())} such rows){percent}"
        )
