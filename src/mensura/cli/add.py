"""``mensura add``: what is understood of scores that somebody brings, and those scores in the form of the evidence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mensura.cli.findings import say_counts
from mensura.cli.inputs import EvidencePath, Released
from mensura.cli.new_models import read_added, require_new
from mensura.cli.output import Json, console, emit, print_note
from mensura.cli.paths import check_input, check_output
from mensura.cli.tables import print_table
from mensura.core.errors import MensuraError, listed_names

if TYPE_CHECKING:
    import polars as pl

    from mensura.evidence import Evidence, ScoreReading

_REASONS = 12  # printed; of many scores --json has them all
EXAMPLES = """\
[bold]Examples[/]

  mensura add mine.csv
  mensura add leaderboard.csv --unit percent --accept-near --out mine.csv
  mensura add results.json --out my-evidence/
  mensura add run.eval --out mine.csv && mensura iq my-model --add mine.csv
  mensura add --people my_baseline.csv --out my-evidence/
"""


def add(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="CSV, TSV, Parquet or JSON (one row per score, or one row per model and one column per benchmark), "
            "results of lm-evaluation-harness, or an Inspect log.",
            metavar="FILE",
            callback=check_input,
        ),
    ] = None,
    people: Annotated[
        Path | None,
        typer.Option(
            help="Instead of FILE: human baselines, CSV with benchmark, group, score (n, unit, conditions, source).",
            metavar="FILE",
            callback=check_input,
        ),
    ] = None,
    unit: Annotated[
        str | None, typer.Option(help="percent or fraction, for shares that could be either.", metavar="UNIT")
    ] = None,
    accept_near: Annotated[bool, typer.Option("--accept-near", help="Take the nearest name where none fits.")] = False,
    new: Annotated[
        list[str] | None, typer.Option(help="A benchmark that is new, as the file writes it; repeatable.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Write what was understood: a .csv for --add, or a folder or .sqlite with all the evidence.",
            callback=check_output,
        ),
    ] = None,
    evidence: EvidencePath = None,
    released: Released = None,
    name: Annotated[
        str | None, typer.Option(help="What tables and pages call the new model.", rich_help_panel="Evidence")
    ] = None,
    maker: Annotated[str | None, typer.Option(help="Who makes the new model.", rich_help_panel="Evidence")] = None,
    as_json: Json = False,
) -> None:
    """Say what is understood of a file of scores: names, units, rows left out, what is assumed. Nothing is guessed."""
    from mensura.evidence import NewModel, load
    from mensura.study import say_uses

    known = load(evidence)
    if people is not None:
        _add_people(known, people, out, as_json=as_json)
        return
    if file is None:
        raise MensuraError("add: FILE is missing; give a file of scores, or --people FILE with human baselines")
    new_model = NewModel(released=released, display_name=name, provider=maker)
    reading = read_added(known, file, new_model, unit=unit, accept_near=accept_near, new=new or ())
    require_new(new_model, [reading])
    added = known.add(reading)
    scores = say_uses(added, reading.scores)
    if out is not None:
        if out.suffix.lower() == ".csv":
            _write_table(reading, out)
        else:
            added.save(out)
    if emit(
        reading.tables() | {"scores": scores},
        out=None,
        as_json=as_json,
        heading=reading.heading,
        notes=list(reading.notes),
        warnings=list(reading.warnings),
    ):
        return
    _print(reading, scores)
    if out is not None:
        console.print(f"wrote {out}")


def _add_people(evidence: Evidence, file: Path, out: Path | None, *, as_json: bool) -> None:
    """Add a user's human baselines to the evidence, and say which benchmarks are unknown."""
    from mensura.baseline import read_own, with_people

    own = read_own(file)
    added, unknown = with_people(evidence, own, f"user: {file.name}")
    taken = own.height - unknown.height
    if out is not None:
        if out.suffix.lower() == ".csv":
            raise MensuraError(
                f"{out}: human baselines go into an evidence of your own; give a folder or a .sqlite file"
            )
        added.save(out)
    if emit({"people": own, "unknown": unknown}, out=None, as_json=as_json, added=taken):
        return
    print_table(
        own.select("benchmark", "part", "group", "score", "unit", "n", "source"), title="Human baselines", rows=20
    )
    told = f"{taken} human baseline{'' if taken == 1 else 's'} understood"
    console.print(told + (f"; wrote {out}" if out is not None else ""))
    if unknown.height:
        names = listed_names(unknown["benchmark"].unique(maintain_order=True).to_list())
        print_note(
            f"left out {unknown.height} of {own.height} rows: the evidence has no benchmark {names} in this unit. "
            f"First add scores of models on it: mensura add SCORES.csv --out mine && mensura add --people {file} "
            "--evidence mine --out with-people"
        )
    if out is not None and taken:
        first = own.join(unknown, on=["benchmark", "group"], how="anti", maintain_order="left")["benchmark"][0]
        console.print(f'next: mensura baseline "{first}" --evidence {out}', style="dim")


def _write_table(reading: ScoreReading, out: Path) -> None:
    """Write the scores as every ``--add`` takes them, what is new declared as new; no file is replaced."""
    import polars as pl

    from mensura.core.files import write_csv
    from mensura.evidence.additions import KIND

    if out.exists():
        raise MensuraError(f"{out}: exists; choose another name, or move it away first")
    table, new = reading.scores.drop("row"), reading.names.filter(kind="benchmark", how="new")["id"]
    if new.len():
        said = pl.col("kind") if "kind" in table.columns else pl.lit(None, pl.String)
        declared = pl.when(pl.col("benchmark").is_in(new.implode())).then(said.fill_null(KIND)).otherwise(said)
        table = table.with_columns(kind=declared)
    write_csv(table, out)


def _print(reading: ScoreReading, scores: pl.DataFrame) -> None:
    console.print(reading.heading)
    for note in reading.notes:
        print_note(note)
    for warning in reading.warnings:
        print_note(warning, kind="assumed")
    print_table(reading.names, title="Names, and what they stand for")
    if reading.dropped.height:
        print_table(reading.dropped, title="Left out", rows=20)
    counted = scores.select("row", "subject", "benchmark", "score", "unit", "counts_for")
    print_table(counted, title="Scores, and what each counts for", rows=20)
    reasons = scores.select("benchmark", "counts_for", "because").unique(maintain_order=True)
    for benchmark, use, reason in reasons.head(_REASONS).iter_rows():
        console.print(f"{benchmark} counts for {use}: {reason}", style="dim")
    if reasons.height > _REASONS:
        console.print(f"… and {reasons.height - _REASONS} more reasons (all of them with --json)", style="dim")
    console.print(say_counts(scores))
