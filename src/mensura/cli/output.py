"""What every command prints and writes: tables for people, ``--json`` for programs, ``--out`` for files."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from mensura.cli.paths import check_output
from mensura.folders import whole_folder

if TYPE_CHECKING:
    import polars as pl

_WRITER: ContextVar[str] = ContextVar("writer")
"""The command that is running, such as "people rates": the owner of what ``--out`` writes."""


def _note_writer(context: typer.Context, out: Path | None) -> Path | None:
    """Remember whose ``--out`` this is (the name of the program itself goes without saying); check the place."""
    _WRITER.set(context.command_path.partition(" ")[2])
    return check_output(out)


Out = Annotated[
    Path | None,
    typer.Option(
        "--out", help="Also write the tables as CSV files into this folder.", file_okay=False, callback=_note_writer
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]

_DIRECTIONS = "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"
"""Marks that turn the direction of writing or break lines unseen: a name could pass for another."""
_CONTROLS = re.compile(f"[\x00-\x1f\x7f-\x9f{_DIRECTIONS}\ud800-\udfff]")
"""Characters a terminal obeys or cannot show: C0 and C1 codes, directions, halves of a pair."""


def visible(text: str) -> str:
    """Return a text in which characters that a terminal would obey are spelled out: escape becomes backslash x1b."""
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


class PlainConsole(Console):
    """Prints texts as they are: brackets and colons are no markup, control characters are spelled out."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render anything; its line breaks stay."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment("\n".join(map(visible, segment.text.split("\n"))), segment.style)


console = PlainConsole()
notices = PlainConsole(stderr=True)


def print_json(payload: Mapping[str, object]) -> None:
    """Print one JSON object; numbers that are not finite become null."""
    text = json.dumps(_plain(payload), ensure_ascii=False, allow_nan=False)
    typer.echo(_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def print_note(text: str, *, kind: str = "note") -> None:
    """Print a remark on a result, or with another ``kind`` a warning."""
    console.print(Text.assemble((f"{kind}:", "yellow"), f" {text}"), soft_wrap=True)


def print_table(frame: pl.DataFrame, *, title: str, rows: int | None = None, digits: int = 2) -> None:
    """Print the first ``rows`` rows of a table, numbers to the right; wide cells wrap, none is cut."""
    table = Table(title=visible(title), title_justify="left", header_style="bold")
    for column, dtype in frame.schema.items():
        table.add_column(visible(column), justify="right" if dtype.is_numeric() else "left", overflow="fold")
    shown = frame if rows is None else frame.head(rows)
    for row in shown.iter_rows():
        table.add_row(*(_cell(value, digits) for value in row))
    console.print(table)
    if shown.height < frame.height:
        console.print(f"… and {frame.height - shown.height} more rows (all of them with --out or --json)")


def write_tables(folder: Path, tables: Mapping[str, pl.DataFrame], *, writer: str) -> None:
    """Write each table as ``FOLDER/NAME.csv``; together they replace what the same command wrote there before."""
    with whole_folder(folder, writer) as stage:
        for name, frame in tables.items():
            frame.write_csv(stage / f"{name}.csv")


def emit(tables: Mapping[str, pl.DataFrame], *, out: Path | None, as_json: bool, **facts: object) -> bool:
    """Serve ``--out`` and ``--json`` alike for every command; true when JSON was printed.

    The JSON object holds ``facts`` and, under its name, each table as a list of rows.
    """
    if out is not None:
        write_tables(out, tables, writer=_WRITER.get())
    if as_json:
        print_json({**facts, **{name: frame.to_dicts() for name, frame in tables.items()}})
    elif out is not None:
        written = ", ".join(f"{name}.csv" for name in tables)
        notices.print(f"wrote {written} to {out}", style="dim", soft_wrap=True)
    return as_json


def _cell(value: object, digits: int) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:.{digits}f}"
    return visible(str(value))


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
