"""``mensura evidence``: what is known, whether it is sound, importing and exporting; and the way new evidence takes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from mensura.cli import evidence_in, evidence_log
from mensura.cli.findings import say_evidence, say_models
from mensura.cli.inputs import AddedScores, EvidencePath, Released, load_evidence
from mensura.cli.output import Json, Out, console, emit
from mensura.cli.paths import check_input, check_output
from mensura.cli.tables import print_table
from mensura.core.errors import counted

app = typer.Typer(
    help="What was observed: coverage, checks, import and export.", no_args_is_help=True, rich_markup_mode="rich"
)


@app.command(epilog="Example: mensura evidence summary --json")
def summary(
    evidence: EvidencePath = None,
    add: AddedScores = None,
    released: Released = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Show how far the evidence reaches: tables, benchmarks, sources, and how sources disagree."""
    from mensura.evidence import benchmark_coverage, source_coverage, source_disagreement

    loaded = load_evidence(evidence, add, released)
    tables = {
        "tables": loaded.summary(),
        "benchmark_coverage": benchmark_coverage(loaded),
        "source_coverage": source_coverage(loaded),
        "source_disagreement": source_disagreement(loaded),
    }
    counts = {name: getattr(loaded, name).height for name in ("models", "benchmarks", "scores")}
    if emit(tables, out=out, as_json=as_json, **counts, primary_scores=loaded.primary_scores.height):
        return
    print_table(tables["tables"], title=f"Evidence ({loaded.origin})")
    print_table(
        tables["benchmark_coverage"], title="Benchmarks: models with a score", spare=("first", "last", "second_sources")
    )
    print_table(tables["source_coverage"], title="Sources")
    print_table(tables["source_disagreement"], title="How far second sources lie from the primary score")
    told = (counts["models"], counts["benchmarks"], loaded.primary_scores, tables["source_disagreement"])
    console.print(say_evidence(*told))


@app.command(epilog="Example: mensura evidence models --provider Anthropic")
def models(
    provider: Annotated[str | None, typer.Option(help="Only models of this provider.")] = None,
    evidence: EvidencePath = None,
    add: AddedScores = None,
    released: Released = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """List the models, newest first, with the number of benchmarks each was scored on."""
    import polars as pl

    loaded = load_evidence(evidence, add, released)
    scored = loaded.primary_scores.group_by("subject").agg(pl.len().alias("benchmarks"))
    listed = (
        loaded.models.join(scored, on="subject", how="left")
        .select("subject", "name", "provider", "released", "reasoning", "input_price", "output_price", "benchmarks")
        .with_columns(pl.col("benchmarks").fill_null(0))
        .sort("released", "subject", descending=[True, False])
    )
    if provider is not None:
        listed = listed.filter(pl.col("provider").str.to_lowercase() == provider.lower())
    if not emit({"models": listed}, out=out, as_json=as_json):
        print_table(listed, title="Models (prices: US dollars per million tokens)")
        console.print(say_models(listed))


@app.command(epilog="Example: mensura evidence check my-evidence/")
def check(
    path: Annotated[Path, typer.Argument(help="Folder of CSV files or SQLite store.", callback=check_input)],
) -> None:
    """Check a folder or store; every fault is listed with file, row, column, value and what was expected.

    A store with a history is also checked against it: every entry must lead to the cells it left. Scores far below
    those of the model before in the same line are listed, because a version or a mode may have been mixed up.
    """
    from mensura.evidence import far_below_predecessor, load
    from mensura.ledger import has_history, open_ledger

    loaded = load(path)
    if has_history(path):
        open_ledger(path).verify()
    print_table(loaded.summary(), title=f"Tables of {path}")
    odd = far_below_predecessor(loaded)
    if odd.height:
        print_table(odd, title="Look again: far below the model before. Is it another version of the test or mode?")
    again = f"; look again at {counted(odd.height, 'score')}" if odd.height else ""
    console.print(f"{path}: no fault found{again}.")


@app.command(epilog="Example: mensura evidence export evidence.sqlite --add mine.csv")
def export(
    path: Annotated[Path, typer.Argument(help="Folder, or a file ending in .sqlite, to write.", callback=check_output)],
    evidence: EvidencePath = None,
    add: AddedScores = None,
    released: Released = None,
) -> None:
    """Write the evidence, with scores of your own added, to a folder or SQLite store.

    A store with a history (--evidence FILE) is written to a folder with all of it: entries, updates, captures.
    """
    from mensura.evidence.store import STORE_SUFFIXES
    from mensura.ledger import export_ledger, has_history, open_ledger

    if evidence is not None and has_history(evidence) and not add and path.suffix.lower() not in STORE_SUFFIXES:
        ledger = open_ledger(evidence)
        export_ledger(ledger, path)
        console.print(f"wrote {path} with {ledger.version().entry + 1} entries of history")
        return
    loaded = load_evidence(evidence, add, released)
    loaded.save(path)
    console.print(f"wrote {loaded.scores.height} scores of {loaded.models.height} models to {path}")


@app.command(epilog="Example: mensura evidence schema scores")
def schema(
    table: Annotated[str | None, typer.Argument(help="One table; all when not given.")] = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Show the columns of the evidence tables: what each means and may hold."""
    import polars as pl

    from mensura.core.errors import MensuraError
    from mensura.evidence import TABLES

    if table is not None and table not in TABLES:
        raise MensuraError(f"table: {table!r} is unknown; expected one of {', '.join(TABLES)}")
    rows = [
        (name, column.name, column.required, column.expected, column.about)
        for name, shape in TABLES.items()
        for column in shape.columns
        if table in (None, name)
    ]
    frame = pl.DataFrame(rows, schema=["table", "column", "required", "holds", "meaning"], orient="row")
    if not emit({"schema": frame}, out=out, as_json=as_json):
        print_table(frame, title="Evidence tables")
        console.print(f"{counted(frame.height, 'column')} of {counted(frame['table'].n_unique(), 'table')}.")


_MOVING: tuple[tuple[Callable[..., None], str], ...] = (
    (evidence_in.init, "mensura evidence init"),
    (evidence_in.capture, "mensura evidence capture swe_marathon board.html --address https://swe-marathon.com"),
    (evidence_in.extract, "mensura evidence extract 3f2a9c --file update.toml"),
    (evidence_log.preview, "mensura evidence preview update.toml"),
    (evidence_in.apply, "mensura evidence apply update.toml"),
    (evidence_in.undo, "mensura evidence undo 3"),
    (evidence_in.pending, "mensura evidence pending"),
    (evidence_in.discard, "mensura evidence discard 9b41e0"),
    (evidence_in.mappings, "mensura evidence mappings swe_marathon"),
    (evidence_log.log, "mensura evidence log gpt-5.5"),
    (evidence_log.diff, "mensura evidence diff 0 3 --effects"),
    (evidence_log.policy, "mensura evidence policy gpt-5 --set display=hide --reason 'superseded'"),
)
for _command, _example in _MOVING:
    app.command(epilog=f"Example: {_example}")(_command)
