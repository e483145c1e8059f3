"""What a command works on: the evidence, scores that a user adds to it, and scores with release dates."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from mensura.cli.options import check_input, inarg
from mensura.cli.output import note_evidence, notices, progress_bar, waiting
from mensura.core.cache import keep, recall
from mensura.core.errors import MensuraError, listed_names

if TYPE_CHECKING:
    import polars as pl

    from mensura.evidence import Evidence, NewModel, ScoreReading
    from mensura.iq import FrozenIq

T = TypeVar("T")
DAY = "%Y-%m-%d"
"""How commands read a day."""
ScoresFile = Annotated[Path | None, inarg("CSV with model, benchmark, score from 0 to 1 and released.")]
_OPTIONS = {"released": "--released", "display_name": "--name", "provider": "--maker"}
"""Options of ``mensura add`` by the column they stand for: evaluation logs have no such columns."""
_ADDED: ContextVar[tuple[str, ...]] = ContextVar("added", default=())
_NEW: ContextVar[tuple[tuple[str, str], ...]] = ContextVar("new", default=())


def added_subjects() -> tuple[str, ...]:
    """Return the models whose scores the running command was given with ``--add``."""
    return _ADDED.get()


def new_names(kind: str) -> tuple[str, ...]:
    """Return the models or benchmarks (``kind``) that ``--add`` brought and the evidence did not know."""
    return tuple(name for of, name in _NEW.get() if of == kind)


def accepted_names(pairs: Sequence[str] | None) -> dict[str, str]:
    """Return the ids that a user confirms for names, from NAME=ID."""
    halves = [pair.rpartition("=") for pair in pairs or ()]
    for pair, (name, _, ident) in zip(pairs or (), halves, strict=True):
        if not name.strip() or not ident.strip():
            raise MensuraError(f"--accept-near {pair}: not understood; expected NAME=ID, as in GPQA=gpqa_diamond")
    return {name.strip(): ident.strip() for name, _, ident in halves}


def load_evidence(
    path: Path | None, added: list[Path] | None = None, accept_near: Sequence[str] | None = None
) -> Evidence:
    """Load the evidence a command was asked to work on; ``accept_near``: what names in added scores mean."""
    from mensura.evidence import NewModel, load

    evidence = recall("evidence", (), _read_embedded) if path is None else load(path)
    readings, accepted = [], accepted_names(accept_near)
    if accepted and not added:
        raise MensuraError("--accept-near: says what names of --add mean; give --add FILE too")
    for file in added or []:
        reading = read_added(evidence, file, NewModel(), accepted)
        evidence = evidence.add(reading)
        readings.append(reading)
        for line in (f"added {reading.heading}", *(f"  {note}" for note in (*reading.notes, *reading.warnings))):
            notices.print(line, style="dim")
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


def check_date(value: str | None) -> str | None:
    """Refuse what is no date."""
    try:
        if value is not None:
            date.fromisoformat(value)
    except ValueError:
        raise MensuraError(f"--released: {value!r} is no date; expected year-month-day, such as 2026-11-01") from None
    return value


def read_added(
    evidence: Evidence, source: Path | list[str], new_model: NewModel, accept_near: Mapping[str, str], **allowed: Any
) -> ScoreReading:
    """Read scores that a user brings, new models as the options describe them.

    Without a release date a terminal asks for it; elsewhere the refusal ends with the command that helps.
    """
    from mensura.evidence import EvidenceError

    try:
        return evidence.read_scores(source, new_model=new_model, accept_near=accept_near, **allowed)
    except EvidenceError as refused:
        unknown = list(dict.fromkeys(fault.value for fault in refused.faults if fault.column == "model"))
        if not allowed and (tests := [fault.value for fault in refused.faults if fault.column == "benchmark"]):
            dated = ["--released", "YYYY-MM-DD"] if unknown else []
            first = shlex.join(["mensura", "add", str(source), *dated, "--new", str(tests[0])])
            advice = f"Settle the names first, here or with --accept-near NAME=ID:\n  {first} --out settled.csv"
            raise MensuraError(f"{refused}\n{advice}\nThen give --add settled.csv") from None
        if not unknown or new_model.released is not None:
            raise
        if len(unknown) < len(refused.faults) or not (sys.stdin.isatty() and sys.stdout.isatty()):
            new = f"{listed_names(unknown)} {'is' if len(unknown) == 1 else 'are'} new"
            again = sys.argv[1:] if allowed else ["add", str(source)]
            dated = [*again, "--released", "YYYY-MM-DD", *([] if allowed else ["--out", "settled.csv"])]
            then = "" if allowed else "\nThen give --add settled.csv"
            command = shlex.join(["mensura", *dated])
            raise MensuraError(f"{refused}\nIf {new}, give the release date:\n  {command}{then}") from None
    with waiting.paused():
        asked = _ask(unknown, new_model)
    return evidence.read_scores(source, new_model=asked, accept_near=accept_near, **allowed)


def require_new(new_model: NewModel, reading: ScoreReading) -> None:
    """Refuse a description of a new model where the file has none: a typing error would go unseen."""
    given = [_OPTIONS[column] for column in new_model.columns]
    if given and "new" not in reading.names.filter(kind="model")["how"]:
        raise MensuraError(f"{', '.join(given)}: {reading.name} has no model that is new; leave the option out")


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


def kept_for(name: str, data: Evidence | Path, settings: Mapping[str, object], compute: Callable[[], T]) -> T:
    """Return what a command computes of a file of scores or of the evidence; of the evidence it is kept."""
    return compute() if isinstance(data, Path) else keep(name, data, settings, compute)


def dated_scores(
    data: Evidence | Path, models: Path | None, unit: str | None = None, *, undated: bool = False
) -> pl.DataFrame:
    """Return scores of an evidence or a file, with the release date of every subject; ``undated`` may stay so."""
    from mensura.intake.own_scores import read_own_scores
    from mensura.intake.tables import read_table
    from mensura.stitching import evidence_scores, read_scores
    from mensura.trends import add_dates
    from mensura.trends.capabilities import read_dates

    if not isinstance(data, Path):
        return evidence_scores(data)[0]
    is_horizons = data.suffix == ".csv" and "p50" in (given := read_table(data)).columns
    table = given if is_horizons else read_scores(read_own_scores(data, unit=unit))
    check_input(models)
    if models is not None:
        return add_dates(table.drop("released", "release_date", strict=False), read_table(models))
    return table if undated and "released" in table.columns else read_dates(table, name=str(data))


def place_frozen(evidence: Evidence, scale: str, *, draws: int, seed: int, only: list[str] | None = None) -> FrozenIq:
    """Put the models of an evidence on a frozen scale; every scoring on the way is kept."""
    from mensura.iq.frozen import frozen_evidence, new_subjects, place_iq
    from mensura.iq.scoring import kept_scores

    new = [name for name in new_subjects(frozen_evidence(scale), evidence) if only is None or name in only]
    with progress_bar("models placed", len(new)) as advance:
        return place_iq(evidence, kept_scores(draws, seed), scale=scale, only=new, advance=advance)
