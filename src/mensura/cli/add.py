"""``mensura add`` and ``benchmarks``: how Mensura reads scores that a user brings, and what each counts for."""

from pathlib import Path
from typing import Annotated

import polars as pl

from mensura import study
from mensura.cli.findings import say_counts
from mensura.cli.inputs import accepted_names, check_date, load_evidence, read_added, require_new
from mensura.cli.options import AcceptedNames, AddedScores, EvidencePath, Json, Out, arg, infile, opt, outfile
from mensura.cli.output import console, emit, print_note, print_notes
from mensura.cli.tables import show
from mensura.core.errors import MensuraError, counted, listed_names
from mensura.evidence import Evidence, NewModel, ScoreReading, load

_REASONS = 12  # printed; of many scores --json has them all


def add(
    files: Annotated[list[str] | None, arg("Tables, logs, records; folders and patterns.", metavar="FILE…")] = None,
    people: Annotated[Path | None, infile("Instead of FILE: human scores, CSV with benchmark, group, score.")] = None,
    unit: Annotated[str | None, opt("percent or fraction, for shares that could be either.", metavar="UNIT")] = None,
    metric: Annotated[str | None, opt("The figure that counts, where a log has several: acc_norm.")] = None,
    accept_near: AcceptedNames = None,
    new: Annotated[list[str] | None, opt("Accept this name in the file as a new benchmark; repeatable.")] = None,
    target: Annotated[Path | None, outfile("File to write: .csv for --add, or all evidence.", "--out")] = None,
    evidence: EvidencePath = None,
    released: Annotated[str | None, opt("Release date of a new model: 2026-11-01.", callback=check_date)] = None,
    name: Annotated[str | None, opt("What tables and pages call the new model.")] = None,
    maker: Annotated[str | None, opt("Who makes the new model.")] = None,
    as_json: Json = False,
) -> None:
    """Check a file of scores and show how Mensura reads it: names, units, rows left out, assumptions.

    FILE is a table (CSV, TSV, Parquet or JSON; one row per score, or one row per model and one column per benchmark),
    results of lm-evaluation-harness, HELM or Inspect, a record of Every Eval Ever, or results of Hugging Face. A log of
    people becomes a human baseline. The file of --people has benchmark, group and score, perhaps n, unit, conditions
    and source. --out writes a .csv for --add, or a folder with all the evidence.
    """
    from mensura.intake.people_logs import is_people_log
    from mensura.intake.several import find_sources

    present = load(evidence)
    if people is not None:
        _add_people(present, [people], target)
        return
    if not files:
        raise MensuraError("add: FILE is missing; give a file of scores, or --people FILE with human baselines")
    sources, searched = find_sources(files)
    if logs := [path for path in sources if is_people_log(path)]:
        if len(logs) < len(sources) and not searched:
            raise MensuraError(f"add: {logs[0]} is of people, {listed_names(files)} are not all; add them apart")
        if len(logs) == len(sources):
            _add_people(present, logs, target)
            return
    new_model = NewModel(released=released, display_name=name, provider=maker)
    allowed = {"unit": unit, "new": new or (), "metric": metric}
    reading = read_added(present, files, new_model, accepted_names(accept_near), **allowed, skip_unknown=searched)
    require_new(new_model, reading)
    added = present.add(reading)
    scores = study.say_uses(added, reading.scores)
    if target is not None:
        if target.suffix.lower() == ".csv":
            _write_table(reading, target)
        else:
            added.save(target)
    facts = {name: list(getattr(reading, name)) for name in ("notes", "warnings")}
    emit(reading.tables() | {"scores": scores}, heading=reading.heading, **facts)
    _print(reading, scores)
    if target is not None:
        console.print(f"wrote {target}")


def _add_people(evidence: Evidence, files: list[Path], out: Path | None) -> None:
    """Add a user's human baselines to the evidence, and say which benchmarks are unknown."""
    from mensura.baseline import read_own, with_people

    own = read_own(files[0] if len(files) == 1 else files)
    added, unknown = with_people(evidence, own, f"user: {files[0].name}")
    taken = own.height - unknown.height
    if out is not None:
        if out.suffix.lower() == ".csv":
            raise MensuraError(f"{out}: human scores go into an evidence of your own; give a folder")
        added.save(out)
    emit({"people": own, "unknown": unknown}, added=taken)
    show({"people": own}, "add people")
    console.print(f"{counted(taken, 'human baseline')} understood" + (f"; wrote {out}" if out is not None else ""))
    if unknown.height:
        names = listed_names(unknown["benchmark"].unique(maintain_order=True).to_list())
        print_note(
            f"left out {unknown.height} of {own.height} rows: the evidence has no benchmark {names} in this unit. "
            f"First add scores of models on it: mensura add SCORES.csv --out mine && mensura add --people {files[0]} "
            "--evidence mine --out with-people"
        )
    if out is not None and taken:
        first = own.join(unknown, on=["benchmark", "group"], how="anti", maintain_order="left")["benchmark"][0]
        console.print(f'next: mensura baseline "{first}" --evidence {out}', style="dim")


def _write_table(reading: ScoreReading, out: Path) -> None:
    """Write the scores as every ``--add`` takes them, what is new declared as new; no file is replaced."""
    from mensura.core.files import write_csv
    from mensura.evidence.additions import KIND

    if out.exists():
        raise MensuraError(f"{out}: exists; choose another name, or move it away first")
    table, new = reading.scores.drop("row"), reading.names.filter(kind="benchmark", how="new")["id"]
    if new.len():
        kind = pl.col("kind") if "kind" in table.columns else pl.lit(None, pl.String)
        declared = pl.when(pl.col("benchmark").is_in(new.implode())).then(kind.fill_null(KIND)).otherwise(kind)
        table = table.with_columns(kind=declared)
    write_csv(table, out)


def _print(reading: ScoreReading, scores: pl.DataFrame) -> None:
    console.print(reading.heading)
    print_notes(reading.notes)
    print_notes(reading.warnings, "assumed")
    show({"names": reading.names, "dropped": reading.dropped, "scores": scores}, "add")
    reasons = scores.select("benchmark", "counts_for", "because").unique(maintain_order=True)
    for benchmark, use, reason in reasons.head(_REASONS).iter_rows():
        console.print(f"{benchmark} counts for {use}: {reason}", style="dim")
    if reasons.height > _REASONS:
        console.print(f"… and {reasons.height - _REASONS} more reasons (all of them with --json)", style="dim")
    console.print(say_counts(scores))


def benchmarks(
    search: Annotated[str | None, opt("Only benchmarks with this text in name or dimension.")] = None,
    evidence: EvidencePath = None,
    add: AddedScores = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """List every benchmark and what a score on it counts for: the IQ, the capability, or neither."""
    from mensura.intake.names import spelling
    from mensura.iq.relatives import ENOUGH

    listed = study.list_benchmarks(load_evidence(evidence, add))
    if search is not None:
        texts = listed.select("benchmark", "name", "dimension").iter_rows()
        listed = listed.filter([any(spelling(search) in spelling(text or "") for text in row) for row in texts])
        if not listed.height:
            raise MensuraError(f"--search: no benchmark has {search!r} in its name; mensura benchmarks lists all")
    emit({"benchmarks": listed})
    counts = dict(listed["counts_for"].value_counts().iter_rows())
    heading = ", ".join(f"{counts[use]} {use}" for use in listed["counts_for"].unique(maintain_order=True))
    show({"benchmarks": listed}, "benchmarks", counts=heading)
    few = f"IQ (few scores): read for models with fewer than {ENOUGH} scores of the IQ."
    both = "Both count for the capability too. --out and --json give the reason of each."
    console.print(f"IQ: a benchmark of the IQ. {few} {both}", style="dim")
