"""The evidence a command works on: embedded, a folder or store of one's own, with scores added on top."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

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
    ),
]
AddedScores = Annotated[
    list[Path] | None,
    typer.Option(
        "--add",
        help="Scores of your own: a table or evaluation log (mensura add says what is understood of it); repeatable.",
        metavar="FILE",
        callback=check_inputs,
    ),
]

ScoreUnit = Annotated[
    str | None, typer.Option("--unit", help="percent or fraction: the unit of SCORES, where it does not say.")
]


def load_evidence(path: Path | None, added: list[Path] | None) -> Evidence:
    """Load the evidence a command was asked to work on."""
    from mensura.cli.output import note_evidence, notices
    from mensura.evidence import load

    evidence = recall("evidence", (), _read_embedded) if path is None else load(path)
    for file in added or []:
        reading = evidence.read_scores(file)
        evidence = evidence.add(reading)
        for line in (f"added {reading.heading}", *(f"  {note}" for note in (*reading.notes, *reading.warnings))):
            notices.print(line, style="dim")
    note_evidence(evidence.edition)
    return evidence


def _read_embedded() -> Evidence:
    """Read and check the embedded tables: they are files of this package, so a kept reading is never out of date."""
    from mensura.evidence import load

    evidence = load()
    _ = evidence.fingerprint  # kept with it
    return evidence
