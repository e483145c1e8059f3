"""What every command prints and writes: texts and bars for people, ``--json`` for programs, ``--out`` for files."""

from __future__ import annotations

import json
import math
import os
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from mensura import __version__
from mensura.core.checksums import note_sums
from mensura.core.folders import whole_folder

if TYPE_CHECKING:
    import polars as pl
    from rich.progress import Progress, ProgressColumn

    from mensura.core.results import Result

SILENCE = 1.0
"""Seconds without output after which a terminal shows that the command still works; its start takes up to one more."""


class Waiting:
    """A moving bar with the time so far. It appears when a command is silent, and goes before the next output."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._woken = threading.Condition(self._lock)
        self._pauses = 1
        self._bar: Progress | None = None

    @contextmanager
    def during(self, label: str) -> Iterator[None]:
        """Watch one command: show ``label`` and a bar whenever it is silent for long; in a pipe do nothing."""
        console = Console(stderr=True)
        if not console.is_terminal:
            yield
            return
        ended = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(label, console, ended), daemon=True)
        with self._lock:
            self._pauses -= 1
        watcher.start()
        try:
            yield
        finally:
            with self._lock:
                ended.set()
                self._pauses += 1
                self._hide()
            watcher.join()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Show no such bar meanwhile: the command prints, shows another bar, asks the user or runs a server."""
        with self._lock:
            self._pauses += 1
            self._hide()
        try:
            yield
        finally:
            with self._lock:
                self._pauses -= 1
                self._woken.notify_all()

    def _hide(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
        self._woken.notify_all()

    def _watch(self, label: str, console: Console, ended: threading.Event) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        bar = Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
        bar.add_task(label, total=None)
        with self._lock:
            while not ended.is_set():
                if not self._woken.wait(timeout=SILENCE) and not self._pauses and self._bar is None:
                    self._bar = bar
                    bar.start()


waiting = Waiting()
"""The bar of the running command."""


@contextmanager
def terminal_bar(*columns: ProgressColumn) -> Iterator[Progress]:
    """Open a bar of these columns on the stream of errors; it is cleared in the end, and silent in a pipe."""
    from rich.progress import Progress

    console = Console(stderr=True)
    shown = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    with waiting.paused(), shown as progress:
        yield progress


@contextmanager
def progress_bar(label: str, total: int) -> Iterator[Callable[[], None]]:
    """Yield ``advance()``, to be called once per finished unit of ``total``."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with terminal_bar(*columns) as progress:
        task = progress.add_task(label, total=total)
        yield lambda: progress.advance(task)


_WRITER: ContextVar[str] = ContextVar("writer")
"""The command that is running, such as "people rates": the owner of what ``--out`` writes."""
_CONTEXT: ContextVar[typer.Context | None] = ContextVar("context", default=None)
_EVIDENCE: ContextVar[Mapping[str, object] | None] = ContextVar("evidence", default=None)
_SETTINGS: ContextVar[Mapping[str, object]] = ContextVar("settings")
"""The call that is running, its rarer settings and the edition of its evidence: the origin in every JSON object."""
_ABOUT_OUTPUT = ("out", "target", "as_json", "settings")


def note_command(context: typer.Context) -> None:
    """Remember the command that is running; the name of the program itself goes without saying."""
    names: list[str] = []
    inner: Any = context
    while inner.parent is not None:
        names.append(inner.info_name or "")
        inner = inner.parent
    _WRITER.set(" ".join(reversed(names)))
    _CONTEXT.set(context)
    _EVIDENCE.set(None)
    _SETTINGS.set({})


def given_options() -> list[str]:
    """Return the options that the running call gives, by the names of their parameters."""
    context = _CONTEXT.get()
    names = () if context is None else context.params
    return [name for name in names if str(context.get_parameter_source(name)).endswith("COMMANDLINE")]  # type: ignore[union-attr]


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
    used = {name: _setting(value) for name, value in sorted(settings.items()) if name not in _ABOUT_OUTPUT}
    return {"mensura": __version__, "command": _WRITER.get(""), "settings": used, "evidence": _EVIDENCE.get()}


def _setting(value: object) -> object:
    if isinstance(value, list | tuple):
        return [_setting(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


READER_GONE = 141
"""Exit code when nobody reads the output any more: what a shell reports of ``cat`` and its like (128 + SIGPIPE)."""
_DIRECTIONS = "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"
"""Marks that turn the direction of writing or break lines unseen: a name could pass for another."""
_CONTROLS = re.compile(f"[\x00-\x1f\x7f-\x9f{_DIRECTIONS}\ud800-\udfff]")
"""Characters a terminal obeys or cannot show: C0 and C1 codes, directions, halves of a pair."""


def visible(text: str) -> str:
    """Return a text in which characters that a terminal would obey are spelled out: escape becomes backslash x1b."""
    return _CONTROLS.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


class PlainConsole(Console):
    """Prints texts as they are: brackets and colons are no markup, control characters are spelled out.

    A line stays a line, however narrow the terminal: a path or name in it is copied whole.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False, soft_wrap=True)

    def print(self, *objects: Any, **settings: Any) -> None:
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
            typer.echo(_CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text))
    except BrokenPipeError:
        console.on_broken_pipe()


def print_note(text: str, *, kind: str = "note") -> None:
    """Print a remark on a result, or with another ``kind`` a warning."""
    console.print(Text.assemble((f"{kind}:", "yellow"), f" {text}"))


def print_notes(texts: Iterable[str], kind: str = "note") -> None:
    """Print several remarks on a result."""
    for text in texts:
        print_note(text, kind=kind)


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
        origin = json.dumps(_plain(provenance()), ensure_ascii=False, indent=1, allow_nan=False)
        (stage / f"{writer.replace(' ', '-')}.settings.json").write_text(origin + "\n", encoding="utf-8")
        note_sums(stage, writer)


def emit(tables: Mapping[str, pl.DataFrame] | Result, *, texts: Any = None, **facts: object) -> None:
    """Serve ``--out`` and ``--json`` of the running command; a command that prints JSON ends here.

    ``texts``: further files for ``--out``, texts by name. The JSON object contains ``facts`` (of a result its warnings
    too), each table as a list of rows under its name, and ``provenance``.
    """
    context = _CONTEXT.get()
    given = {} if context is None else context.params
    out = given.get("out")
    if not isinstance(tables, Mapping):
        facts = {**facts, "warnings": list(getattr(tables, "warnings", ()))}
        tables = tables.tables()
    if out is not None:
        write_tables(out, tables, writer=_WRITER.get(), texts=texts)
    if given.get("as_json"):
        rows = {name: frame.to_dicts() for name, frame in tables.items()}
        print_json({**facts, **rows, "provenance": provenance()})
        raise typer.Exit
    if out is not None:
        files = [*(f"{name}.csv" for name in tables), *(texts or ())]
        notices.print(f"wrote {', '.join(files)} to {out}", style="dim")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, date | Path):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
