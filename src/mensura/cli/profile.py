"""``mensura profile``: abilities of AI systems and people in each dimension, and where they stand among people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mensura.cli.options import ColumnMap
from mensura.cli.output import Json, Out, console, emit, print_note
from mensura.cli.paths import check_inputs
from mensura.cli.tables import print_table
from mensura.core.errors import MensuraError

if TYPE_CHECKING:
    from mensura.calibration import ProfileResult

MOST_NAMED = 6
EXAMPLES = """
[bold]Examples[/]

  mensura profile gpt4o                                              from the embedded counts
  mensura profile gpt4o o1_re=low --calibration published --out out
  mensura profile --pool open gpt-4 "candidates of Brazil's national exam"
  mensura profile my-model --outcomes outcomes.csv --demands demands.csv
  mensura profile --outcomes run.eval --demands demands.csv --method adele
"""


def profile(
    subjects: Annotated[
        list[str] | None, typer.Argument(help="Models or groups of people; all when left out.", metavar="SUBJECT")
    ] = None,
    outcomes: Annotated[
        list[Path] | None,
        typer.Option(
            help="Table (subject, item, correct[, options]), Inspect .eval or harness samples .jsonl; repeatable.",
            metavar="FILE",
            callback=check_inputs,
        ),
    ] = None,
    demands: Annotated[
        list[Path] | None,
        typer.Option(
            help="Levels of the items: demands.csv or a filled sheet; repeatable.",
            metavar="FILE",
            callback=check_inputs,
        ),
    ] = None,
    pool: Annotated[
        str | None, typer.Option(help="Instead of files: open, AI systems and people on the embedded items.")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(help="joint (every demand must be met; default item by item) or adele (published recipe)."),
    ] = None,
    calibration: Annotated[
        str | None,
        typer.Option(help="published (default), open or a file, as for mensura scale.", metavar="FILE"),
    ] = None,
    draws: Annotated[int, typer.Option(help="Draws behind the intervals of the published recipe.", min=1)] = 200,
    seed: Annotated[int, typer.Option(help="Seed of the draws.")] = 0,
    columns: ColumnMap = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Find abilities per dimension, and place them among the people of the world."""
    from mensura.calibration import calibration_name, chosen_lines, say_quality
    from mensura.calibration.profile import profile as profile_of

    lines = chosen_lines(calibration)
    wanted = list(subjects or [])
    if pool is None and not outcomes:
        if demands or columns:
            option = "--demands" if demands else "--map"
            raise MensuraError(f"profile: {option} goes with --outcomes; give both, or neither for the embedded counts")
        if method not in (None, "adele"):
            raise MensuraError(
                f"method: {method!r} needs outcomes item by item; the embedded counts by level know adele alone "
                "(or give --outcomes and --demands, or --pool open)"
            )
        result = _counted(wanted, calibration=lines, draws=draws, seed=seed)
    else:
        table, levels = _inputs(wanted, outcomes, demands, pool, columns)
        result = profile_of(table, levels, method=method or "joint", calibration=lines, draws=draws, seed=seed)
    facts = {"method": result.method, "warnings": list(result.warnings)}
    if emit(result.tables(), out=out, as_json=as_json, **facts):
        return
    _print(result)
    other = "published" if calibration_name(lines) == "open" else "open"
    console.print(f"{say_quality(lines)} Compare with --calibration {other}.", style="dim")


def _counted(wanted: list[str], **settings: object) -> ProfileResult:
    from mensura.calibration.outcomes import pick_subjects
    from mensura.calibration.profile import profile_counts
    from mensura.evidence import load

    return profile_counts(pick_subjects(load().demand_outcomes, wanted), **settings)  # type: ignore[arg-type]


def _inputs(
    wanted: list[str], outcomes: list[Path] | None, demands: list[Path] | None, pool: str | None, columns: str | None
) -> tuple[object, object]:
    """Return outcomes and demands of files, or of the open pool."""
    import polars as pl

    from mensura.calibration import open_demands, open_outcomes
    from mensura.calibration.outcomes import match_items, pick_subjects, read_outcomes
    from mensura.demands import combine, read_demands

    if pool is not None:
        if outcomes or demands:
            raise MensuraError("profile: give --pool open, or --outcomes and --demands, not both")
        if pool != "open":
            raise MensuraError(f"pool: {pool!r} is not known; expected open")
        return pick_subjects(open_outcomes(), wanted), open_demands()
    if not outcomes or not demands:
        raise MensuraError("profile: --outcomes needs --demands, the levels of the same items")
    readings = [read_demands(path, columns=columns) for path in demands]
    levels = readings[0] if len(readings) == 1 else combine(readings)
    name = wanted[0] if len(wanted) == 1 else None
    tables = [match_items(read_outcomes(path, subject=name, columns=columns), levels["item"]) for path in outcomes]
    return pick_subjects(pl.concat(tables, how="diagonal_relaxed"), wanted), levels


def _print(result: ProfileResult) -> None:
    shown = result.profile.join(
        result.positions.select("subject", "dimension", "at_least", "percentile_low", "percentile_high"),
        on=["subject", "dimension"],
        maintain_order="left",
    ).rename({"percentile_low": "from", "percentile_high": "to"})
    shown = shown.drop("world_rate")  # one over it stands beside it
    print_table(shown.drop("subject") if result.statements.height == 1 else shown, title=result.heading)
    for row in result.statements.iter_rows(named=True):
        console.print(f"{row['subject']}: {row['statement']}.")
    noted: dict[str, list[str]] = {}
    for row in result.positions.filter(result.positions["note"] != "").iter_rows(named=True):
        noted.setdefault(row["note"], []).append(f"{row['subject']} {row['dimension']}")
    for note, where in noted.items():
        more = f" and {len(where) - MOST_NAMED} more" if len(where) > MOST_NAMED else ""
        print_note(f"{', '.join(where[:MOST_NAMED])}{more}: {note}")
    for warning in result.warnings:
        print_note(warning, kind="warning")
    console.print(
        "ability: level with its 90% interval; percentile from–to: 90%, with the error of the calibrated line.",
        style="dim",
    )
