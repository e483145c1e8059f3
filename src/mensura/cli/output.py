"""What every command prints and writes: tables for people, ``--json`` for programs, ``--out`` for files."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from mensura.files import write_csv

if TYPE_CHECKING:
    import polars as pl

Out = Annotated[
    Path | None,
    typer.Option("--out", help="Also write the tables as CSV files into this folder.", file_okay=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]

console = Console()


def print_json(payload: Mapping[str, object]) -> None:
    """Print one JSON object; numbers that are not finite become null."""
    typer.echo(json.dumps(_plain(payload), ensure_ascii=False, allow_nan=False))


def print_table(frame: pl.DataFrame, *, title: str, rows: int | None = None, digits: int = 2) -> None:
    """Print the first ``rows`` rows of a table, numbers to the right; wide cells wrap, none is cut."""
    table = Table(title=title, title_justify="left", header_style="bold")
    for column, dtype in frame.schema.items():
        table.add_column(column, justify="right" if dtype.is_numeric() else "left", overflow="fold")
    shown = frame if rows is None else frame.head(rows)
    for row in shown.iter_rows():
        table.add_row(*(_cell(value, digits) for value in row))
    console.print(table)
    if shown.height < frame.height:
        console.print(f"… and {frame.height - shown.height} more rows (all of them with --out or --json)")


def write_tables(folder: Path, tables: Mapping[str, pl.DataFrame]) -> None:
    """Write each table as ``FOLDER/NAME.csv``, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in tables.items():
        write_csv(frame, folder / f"{name}.csv")


def emit(tables: Mapping[str, pl.DataFrame], *, out: Path | None, as_json: bool, **facts: object) -> bool:
    """Serve ``--out`` and ``--json`` alike for every command; true when JSON was printed.

    The JSON object holds ``facts`` and, under its name, each table as a list of rows.
    """
    if out is not None:
        write_tables(out, tables)
    if as_json:
        print_json({**facts, **{name: frame.to_dicts() for name, frame in tables.items()}})
    elif out is not None:
        written = ", ".join(f"{name}.csv" for name in tables)
        Console(stderr=True).print(f"wrote {written} to {out}", style="dim")
    return as_json


def _cell(value: object, digits: int) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:.{digits}f}"
    return str(value)


def _plain(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, date | Path):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
