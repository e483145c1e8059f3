"""What every command prints and writes: tables for people, ``--json`` for programs, ``--out`` for files."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from mensura import __version__
from mensura.cli.paths import check_output
from mensura.cli.progress import waiting
from mensura.core.folders import whole_folder

if TYPE_CHECKING:
    import polars as pl

_WRITER: ContextVar[str] = ContextVar("writer")
"""The command that is running, such as "people rates": the owner of what ``--out`` writes."""
_CONTEXT: ContextVar[typer.Context | None] = ContextVar("context", default=None)
_EVIDENCE: ContextVar[Mapping[str, object] | None] = ContextVar("evidence", default=None)
_SETTINGS: ContextVar[Mapping[str, object]] = ContextVar("settings")
"""The call that is running, its rarer settings and the edition of its evidence: the origin in every JSON object."""
_ABOUT_OUTPUT = ("out", "as_json", "settings")


def _note_writer(context: typer.Context, out: Path | None) -> Path | None:
    """Remember whose ``--out`` this is (the name of the program itself goes without saying); check the place."""
    names: list[str] = []
    inner: Any = context
    while inner.parent is not None:
        names.append(inner.info_name or "")
        inner = inner.parent
    _WRITER.set(" ".join(reversed(names)))
    _CONTEXT.set(context)
    _EVIDENCE.set(None)
    _SETTINGS.set({})
    return check_output(out)


def note_evidence(edition: Mapping[str, object]) -> None:
    """Remember which evidence the running command works on."""
    _EVIDENCE.set(edition)


def note_settings(settings: Mapping[str, object]) -> None:
    """Remember the rarer settings of the running command."""
    _SETTINGS.set(settings)


def provenance() -> dict[str, object]:
    """Return what a result depends on: package, command, all its settings (defaults too), edition of the evidence."""
    context = _CONTEXT.get()
    settings = {} if context is None else {**context.params, **_SETTINGS.get({})}
    told = {name: _setting(value) for name, value in sorted(settings.items()) if name not in _ABOUT_OUTPUT}
    return {"mensura": __version__, "command": _WRITER.get(""), "settings": told, "evidence": _EVIDENCE.get()}


def _setting(value: object) -> object:
    if isinstance(value, list | tuple):
        return [_setting(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help="Also write the tables as CSV files into this folder.",
        file_okay=False,
        callback=_note_writer,
        rich_help_panel="Output",
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object instead of tables.", rich_help_panel="Output")
]

READER_GONE = 141
"""Exit code when nobody reads the output any more: what a shell reports of ``cat`` and its like (128 + SIGPIPE)."""
_DIRECTIONS = "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"
"""Marks that turn the direction of writing or break lines unseen: a name could pass for another."""
_CONTROLS = re.compile(f"[\x00-\x1f\x7f-\x9f{_DIRECTIONS}\ud800-\udfff]")
"""Characters a terminal obeys or cannot show: C0 and C1 codes, directions, halves of a pair."""


def visible(text: str) -> str:
    """Return a text in which characters that a terminal would obey are spelled out: escape becomes backslash x1b."""
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


class PlainConsole(Console):
    """Prints texts as they are: brackets and colons are no markup, control characters are spelled out.

    A line stays a line, however narrow the terminal: a path or name in it is copied whole.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False, soft_wrap=True)

    def print(self, *objects: Any, **settings: Any) -> None:  # noqa: ANN401
        """Print, after the bar of a long command is gone."""
        with waiting.paused():
            super().print(*objects, **settings)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render anything; its line breaks stay."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment("\n".join(map(visible, segment.text.split("\n"))), segment.style)

    def on_broken_pipe(self) -> None:
        """End quietly when the program that reads the output has ended, such as ``head``."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is still in the buffer goes nowhere
        raise SystemExit(READER_GONE)


console = PlainConsole()
notices = PlainConsole(stderr=True)
exit_codes: list[int] = []
"""Codes with which a command that has printed its results ends all the same; the first counts."""


def print_json(payload: Mapping[str, object]) -> None:
    """Print one JSON object; numbers that are not finite become null."""
    text = json.dumps(_plain(payload), ensure_ascii=False, allow_nan=False)
    try:
        with waiting.paused():
            typer.echo(_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text))
    except BrokenPipeError:
        console.on_broken_pipe()


def print_note(text: str, *, kind: str = "note") -> None:
    """Print a remark on a result, or with another ``kind`` a warning."""
    console.print(Text.assemble((f"{kind}:", "yellow"), f" {text}"))


def write_tables(
    folder: Path, tables: Mapping[str, pl.DataFrame], *, writer: str, texts: Mapping[str, str] | None = None
) -> None:
    """Write each table as ``FOLDER/NAME.csv``, and what they depend on as ``FOLDER/COMMAND.settings.json``.

    ``texts`` are further files by name. Together they replace what the same command wrote there before.
    """
    from mensura.core.frames import neutral_cells

    with whole_folder(folder, writer) as stage:
        for name, frame in tables.items():
            neutral_cells(frame).write_csv(stage / f"{name}.csv")
        for name, text in (texts or {}).items():
            (stage / name).write_text(text, encoding="utf-8")
        write_settings(stage, writer)


def write_settings(stage: Path, writer: str) -> None:
    """Write what the tables of a folder depend on: package, command, settings, edition of the evidence."""
    text = json.dumps(_plain(provenance()), ensure_ascii=False, indent=1, allow_nan=False)
    (stage / f"{writer.replace(' ', '-')}.settings.json").write_text(text + "\n", encoding="utf-8")


def emit(tables: Mapping[str, pl.DataFrame], *, out: Path | None, as_json: bool, **facts: object) -> bool:
    """Serve ``--out`` and ``--json`` alike for every command; true when JSON was printed.

    The JSON object holds ``facts``, each table as a list of rows under its name, and ``provenance``.
    """
    if out is not None:
        write_tables(out, tables, writer=_WRITER.get())
    if as_json:
        rows = {name: frame.to_dicts() for name, frame in tables.items()}
        print_json({**facts, **rows, "provenance": provenance()})
    elif out is not None:
        written = ", ".join(f"{name}.csv" for name in tables)
        notices.print(f"wrote {written} to {out}", style="dim")
    return as_json


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
