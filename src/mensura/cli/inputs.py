"""The evidence a command works on: embedded, a folder or store of one's own, with scores added on top."""

from __future__ import annotations

from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mensura.cli.new_models import check_date, read_added, require_new
from mensura.cli.paths import check_input, check_inputs
from mensura.core.cache import recall

if TYPE_CHECKING:
    from mensura.evidence import Evidence

EvidencePath = Annotated[
    Path | None,
    typer.Option(
        "--evidence",
        help="Folder of CSV files or SQLite store to use instead of the embedded evidence.",
        metavar="PATH",
        callback=check_input,
        rich_help_panel="Evidence",
    ),
]
AddedScores = Annotated[
    list[Path] | None,
    typer.Option(
        "--add",
        help="Scores of your own: a table or evaluation log (mensura add says what is understood of it); repeatable.",
        metavar="FILE",
        callback=check_inputs,
        rich_help_panel="Evidence",
    ),
]
Released = Annotated[
    str | None,
    typer.Option(
        "--released",
        help="Release date of a new model in the added scores, such as 2026-11-01.",
        metavar="DATE",
        callback=check_date,
        rich_help_panel="Evidence",
    ),
]
ScoreUnit = Annotated[
    str | None, typer.Option("--unit", help="percent or fraction: the unit of SCORES, where it does not say.")
]


_ADDED: ContextVar[tuple[str, ...]] = ContextVar("added", default=())
_NEW: ContextVar[tuple[tuple[str, str], ...]] = ContextVar("new", default=())


def added_subjects() -> tuple[str, ...]:
    """Return the models whose scores the running command was given with ``--add``."""
    return _ADDED.get()


def new_names(kind: str) -> tuple[str, ...]:
    """Return the models or benchmarks (``kind``) that ``--add`` brought and the evidence did not know."""
    return tuple(name for of, name in _NEW.get() if of == kind)


def load_evidence(path: Path | None, added: list[Path] | None, released: str | None = None) -> Evidence:
    """Load the evidence a command was asked to work on."""
    from mensura.cli.output import note_evidence, notices
    from mensura.evidence import NewModel, load

    new_model = NewModel(released=released)
    evidence = recall("evidence", (), _read_embedded) if path is None else load(path)
    readings = []
    for file in added or []:
        reading = read_added(evidence, file, new_model)
        evidence = evidence.add(reading)
        readings.append(reading)
        for line in (f"added {reading.heading}", *(f"  {note}" for note in (*reading.notes, *reading.warnings))):
            notices.print(line, style="dim")
    require_new(new_model, readings)
    _ADDED.set(tuple(dict.fromkeys(name for reading in readings for name in reading.scores["subject"])))
    new = (row for reading in readings for row in reading.names.filter(how="new").select("kind", "id").iter_rows())
    _NEW.set(tuple(dict.fromkeys(new)))
    note_evidence(evidence.edition)
    return evidence


def _read_embedded() -> Evidence:
    """Read and check the embedded tables: they are files of this package, so a kept reading is never out of date."""
    from mensura.evidence import load

    evidence = load()
    _ = evidence.fingerprint  # kept with it
    return evidence
