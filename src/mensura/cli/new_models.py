"""Scores of models that are new: what the options say of them, and what a terminal asks.

Evaluation logs have no column for a release date; ``--released``, ``--name`` and ``--maker`` stand for such columns.
"""

from __future__ import annotations

import shlex
import sys
from datetime import date
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from mensura.cli.progress import waiting
from mensura.core.errors import MensuraError, listed_names

if TYPE_CHECKING:
    from mensura.evidence import Evidence, NewModel, ScoreReading

_OPTIONS = {"released": "--released", "display_name": "--name", "provider": "--maker"}
"""Options by the column they stand for."""


def check_date(value: str | None) -> str | None:
    """Refuse what is no date."""
    try:
        if value is not None:
            date.fromisoformat(value)
    except ValueError:
        raise MensuraError(f"--released: {value!r} is no date; expected year-month-day, such as 2026-11-01") from None
    return value


def read_added(evidence: Evidence, file: Path, new_model: NewModel, **allowed: Any) -> ScoreReading:  # noqa: ANN401
    """Read scores that a user brings, new models as the options describe them.

    Without a release date a terminal asks for it; elsewhere the refusal ends with the command that helps.
    """
    from mensura.evidence import EvidenceError

    try:
        return evidence.read_scores(file, new_model=new_model, **allowed)
    except EvidenceError as refused:
        if not allowed and (tests := [fault.value for fault in refused.faults if fault.column == "benchmark"]):
            given = chain.from_iterable(_given_options(new_model).items())
            first = shlex.join(["mensura", "add", str(file), *given, "--new", str(tests[0])])
            advice = f"Settle the names first, here or with --accept-near:\n  {first} --out settled.csv"
            raise MensuraError(f"{refused}\n{advice}\nThen give --add settled.csv") from None
        unknown = list(dict.fromkeys(fault.value for fault in refused.faults if fault.column == "model"))
        if not unknown or new_model.released is not None:
            raise
        if len(unknown) < len(refused.faults) or not (sys.stdin.isatty() and sys.stdout.isatty()):
            new = f"{listed_names(unknown)} {'is' if len(unknown) == 1 else 'are'} new"
            again = shlex.join(["mensura", *sys.argv[1:], "--released"])
            raise MensuraError(f"{refused}\nIf {new}, give the release date:\n  {again} YYYY-MM-DD") from None
    with waiting.paused():
        asked = _ask(unknown, new_model)
    return evidence.read_scores(file, new_model=asked, **allowed)


def _given_options(new_model: NewModel) -> dict[str, str]:
    """Return the options that describe a new model and were given, with their values."""
    return {_OPTIONS[column]: value for column, value in new_model.columns.items()}


def require_new(new_model: NewModel, readings: list[ScoreReading]) -> None:
    """Refuse a description of a new model where no file has one: a typing error would go unseen."""
    given = _given_options(new_model)
    if given and not any("new" in reading.names.filter(kind="model")["how"] for reading in readings):
        files = listed_names([reading.name for reading in readings]) or "no --add FILE"
        raise MensuraError(f"{', '.join(given)}: {files} has no model that is new; leave the option out")


def _ask(unknown: list[str], new_model: NewModel) -> NewModel:
    """Ask for the release date of models that are not known, and for the name and maker of a single one."""
    released = typer.prompt(f"{listed_names(unknown)}: not known yet. Release date (YYYY-MM-DD)")
    check_date(released)
    name, maker = new_model.display_name, new_model.provider
    if len(unknown) == 1 and name is None:
        name = typer.prompt("Name for tables and pages", default=unknown[0])
    if maker is None:
        maker = typer.prompt("Maker", default="user")
    return new_model._replace(released=released, display_name=name, provider=maker)
