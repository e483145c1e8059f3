"""Options that describe a model that is new: of every command that takes scores, defined once.

Evaluation logs have no column for a release date; ``--released``, ``--name`` and ``--maker`` stand for such columns.
"""

from __future__ import annotations

import shlex
import sys
from contextvars import ContextVar
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from mensura.cli.progress import waiting
from mensura.core.errors import MensuraError, listed_names

if TYPE_CHECKING:
    from mensura.evidence import Evidence, ScoreReading

_SAID: ContextVar[dict[str, str | None]] = ContextVar("said")
_OPTIONS = {
    "released": ("--released", "DATE", "Release date of the new model in the scores, such as 2026-11-01."),
    "display_name": ("--name", "TEXT", "What tables and pages call the new model."),
    "provider": ("--maker", "TEXT", "Who makes the new model."),
}
"""Options by the column they stand for."""


def offer_options(command: Any) -> None:  # noqa: ANN401
    """Give a command that reads scores, and those of a group, the options for a new model."""
    from typer.core import TyperOption

    for inner in getattr(command, "commands", {}).values():
        offer_options(inner)
    places = [at for at, one in enumerate(command.params) if "--add" in one.opts]
    if not places and command.name != "add":
        return
    made = [
        TyperOption(
            param_decls=[f"new_{column}", option],
            metavar=metavar,
            help=text,
            expose_value=False,
            callback=_note,
            rich_help_panel="Evidence",
        )
        for column, (option, metavar, text) in _OPTIONS.items()
    ]
    at = places[0] + 1 if places else 1
    command.params[at:at] = made


def _note(context: Any, option: Any, value: str | None) -> None:  # noqa: ANN401
    """Remember what was said of a new model; a release date is checked at once."""
    column = option.name.removeprefix("new_")
    if column == "released" and value is not None:
        _check_date(value, "--released")
    _SAID.set({**_SAID.get({}), column: value})


def _check_date(value: str, where: str) -> None:
    try:
        date.fromisoformat(value)
    except ValueError:
        raise MensuraError(f"{where}: {value!r} is no date; expected year-month-day, such as 2026-11-01") from None


def read_added(evidence: Evidence, file: Path, **allowed: Any) -> ScoreReading:  # noqa: ANN401
    """Read scores that a user brings, new models as the options describe them.

    Without a release date a terminal asks for it; elsewhere the refusal ends with the command that helps.
    """
    from mensura.evidence import EvidenceError, NewModel

    said = NewModel(**_SAID.get({}))
    try:
        return evidence.read_scores(file, new_model=said, **allowed)
    except EvidenceError as refused:
        if not allowed and (tests := [fault.value for fault in refused.faults if fault.column == "benchmark"]):
            first = shlex.join(["mensura", "add", str(file), *_said_options(), "--new", str(tests[0])])
            told = f"Settle the names first, here or with --accept-near:\n  {first} --out settled.csv"
            raise MensuraError(f"{refused}\n{told}\nThen give --add settled.csv") from None
        unknown = list(dict.fromkeys(fault.value for fault in refused.faults if fault.column == "model"))
        if not unknown or said.released is not None:
            raise
        if len(unknown) < len(refused.faults) or not (sys.stdin.isatty() and sys.stdout.isatty()):
            new = f"{listed_names(unknown)} {'is' if len(unknown) == 1 else 'are'} new"
            again = shlex.join(["mensura", *sys.argv[1:], "--released"])
            raise MensuraError(f"{refused}\nIf {new}, give the release date:\n  {again} YYYY-MM-DD") from None
    with waiting.paused():
        asked = _ask(unknown, said)
    return evidence.read_scores(file, new_model=asked, **allowed)


def _said_options() -> list[str]:
    """Return what was said of a new model as words of a command."""
    given = {_OPTIONS[column][0]: value for column, value in _SAID.get({}).items() if value is not None}
    return [word for pair in given.items() for word in pair]


def require_new(readings: list[ScoreReading]) -> None:
    """Refuse a description of a new model where no file has one: a typing error would go unseen."""
    given = [_OPTIONS[column][0] for column, value in _SAID.get({}).items() if value is not None]
    if given and not any("new" in reading.names.filter(kind="model")["how"] for reading in readings):
        files = listed_names([reading.name for reading in readings]) or "no --add FILE"
        raise MensuraError(f"{', '.join(given)}: {files} has no model that is new; leave the option out")


def _ask(unknown: list[str], said: Any) -> Any:  # noqa: ANN401
    """Ask for the release date of models that are not known, and for the name and maker of a single one."""
    released = typer.prompt(f"{listed_names(unknown)}: not known yet. Release date (YYYY-MM-DD)")
    _check_date(released, "release date")
    name, maker = said.display_name, said.provider
    if len(unknown) == 1 and name is None:
        name = typer.prompt("Name for tables and pages", default=unknown[0])
    if maker is None:
        maker = typer.prompt("Maker", default="user")
    return said._replace(released=released, display_name=name, provider=maker)
