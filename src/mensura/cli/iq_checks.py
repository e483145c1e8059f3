"""What ``mensura iq`` tells of a scoring beside its values: ladders from people, sensitivity, validation, changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mensura.cli.output import console, emit
from mensura.cli.progress import progress_bar
from mensura.cli.tables import print_table
from mensura.core.errors import counted

if TYPE_CHECKING:
    from mensura.evidence import Evidence
    from mensura.iq import IqResult


def print_derived_ladders(evidence: Evidence, curves: Path, out: Path | None, as_json: bool) -> None:
    """Derive ladders from people and print them beside the published ones."""
    from mensura.intake.tables import read_table
    from mensura.iq import derive_ladders

    table, floors = read_table(curves), curves.with_name("floors.csv")
    if floors.is_file() and "chance" not in table.columns:  # as ``mensura stitch --out`` writes both
        levels = read_table(floors)
        own = [name for name in ("chance", "ceiling") if name in levels.columns]
        table = table.join(levels.select("benchmark", *own), on="benchmark", how="left")
    found = derive_ladders(evidence, table)
    if emit(found.tables(), out=out, as_json=as_json, slope=found.slope, spread=found.spread):
        return
    print_table(found.anchors.drop("basis", strict=False), title="Human groups on the stitched scale")
    print_table(found.offsets, title="Where the average person stands, by benchmark")
    print_table(found.ladders.drop("set"), title="Ladders from people (use with --ladders FILE)")
    print_table(found.differences, title="Beside the published ladders", rows=30)


def print_sensitivity(result: IqResult, out: Path | None, as_json: bool) -> None:
    """Leave out each input in turn, move each ladder, and print how far composites move."""
    from mensura.iq import count_changes, sensitivity

    with progress_bar("changes", count_changes(result)) as advance:
        found = sensitivity(result, advance=advance)
    if not emit({"sensitivity": found.summary, "moves": found.moves}, out=out, as_json=as_json):
        print_table(found.summary, title="How far composites move, in IQ points", rows=30)
        most = found.summary.sort("largest_move", descending=True).row(0, named=True)
        console.print(
            f"The largest move: {most['mover']}, by {most['largest_move']:.1f} IQ points "
            f"({most['change']} {most['name']})."
        )


def print_validation(result: IqResult, out: Path | None, as_json: bool) -> None:
    """Hide measured scores, impute them, and print the error by step and benchmark."""
    from mensura.iq import hide_and_impute, summarise
    from mensura.iq.validation import FOLDS

    joint = result.rules.imputation.is_joint  # a fit of all scores for each single one would take many minutes
    with progress_bar("hidings", FOLDS if joint else int(result.matrix.measured.sum())) as advance:
        outcomes = hide_and_impute(result, by="fold" if joint else "score", advance=advance)
    tables = {"by_step": summarise(outcomes), "by_benchmark": summarise(outcomes, "benchmark"), "outcomes": outcomes}
    if not emit(tables, out=out, as_json=as_json):
        print_table(tables["by_step"], title="Imputed less measured, in IQ points, by step")
        print_table(tables["by_benchmark"], title="… and by benchmark")
        off = outcomes["error"].drop_nulls().to_numpy()
        console.print(
            f"Imputed IQs are off by {abs(off).mean():.1f} points on average, with a bias of {off.mean():+.1f}."
        )


def print_changes(before: IqResult, after: IqResult, model: str | None, out: Path | None, as_json: bool) -> None:
    """Print which composites moved between two scorings, and through which input."""
    import polars as pl

    from mensura.iq import compare_iq

    found = compare_iq(before, after)
    if model is not None:
        composites, inputs = (table.filter(pl.col("subject") == model) for table in (found.composites, found.inputs))
        found = replace(found, composites=composites, inputs=inputs)
    if emit({"changes": found.composites, "inputs": found.inputs}, out=out, as_json=as_json):
        return
    moved = found.shown
    print_table(moved, title="Composites that moved", rows=30)
    print_table(found.inputs, title="Through which input (contribution in points of the composite)", rows=30)
    most = f"; most {moved['subject'][0]}, by {moved['change'][0]:+.1f} points" if moved.height else ""
    console.print(f"{moved.height} of {counted(found.composites.height, 'composite')} moved{most}.")
