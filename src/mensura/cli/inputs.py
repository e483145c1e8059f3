"""The evidence a command works on: embedded, a folder or store of one's own, with scores added on top."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mensura.evidence import Evidence

EvidencePath = Annotated[
    Path | None,
    typer.Option(
        "--evidence",
        help="Folder of CSV files or SQLite store to use instead of the embedded evidence.",
        metavar="PATH",
    ),
]
AddedScores = Annotated[
    list[Path] | None,
    typer.Option(
        "--add", help="CSV with scores of your own (subject, benchmark, score, …); repeatable.", metavar="CSV"
    ),
]


def load_evidence(path: Path | None, added: list[Path] | None) -> Evidence:
    """Load the evidence a command was asked to work on."""
    from mensura.cli.output import print_note
    from mensura.evidence import add_scores, load

    evidence = load(path)
    for file in added or []:
        evidence = add_scores(evidence, file)
    for text in evidence.warnings:
        print_note(text)
    return evidence
