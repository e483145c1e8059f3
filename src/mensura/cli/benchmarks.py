"""``mensura benchmarks``: every benchmark, and what a score on it counts for."""

from __future__ import annotations

from typing import Annotated

import typer

from mensura.cli.inputs import AddedScores, EvidencePath, Released, load_evidence
from mensura.cli.output import Json, Out, console, emit
from mensura.cli.tables import print_table
from mensura.core.errors import MensuraError

EXAMPLES = """
[bold]Examples[/]

  mensura benchmarks
  mensura benchmarks --search aime
  mensura benchmarks --add mine.csv --json
"""


def benchmarks(
    search: Annotated[
        str | None, typer.Option(help="Only benchmarks with this text in their id, name or dimension.", metavar="TEXT")
    ] = None,
    evidence: EvidencePath = None,
    add: AddedScores = None,
    released: Released = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """List every benchmark and what a score on it counts for: the IQ, the capability, or neither."""
    import polars as pl

    from mensura.intake.names import spelling
    from mensura.iq import ENOUGH
    from mensura.study import list_benchmarks

    found = list_benchmarks(load_evidence(evidence, add, released))
    if search is not None:
        wanted = spelling(search)
        fits = [
            any(wanted in spelling(text or "") for text in row)
            for row in found.select("benchmark", "name", "dimension").iter_rows()
        ]
        if not any(fits):
            raise MensuraError(
                f"--search: no benchmark has {search!r} in its id, name or dimension; mensura benchmarks lists all"
            )
        found = found.filter(pl.Series(fits))
    if emit({"benchmarks": found}, out=out, as_json=as_json):
        return
    counted = found["counts_for"].value_counts()
    counts = dict(counted.iter_rows())
    heading = ", ".join(f"{counts[use]} {use}" for use in found["counts_for"].unique(maintain_order=True))
    title = f"Benchmarks, and what a score counts for ({heading})"
    print_table(found.drop("because"), title=title, spare=("name", "unit", "newest"))
    console.print(
        f"IQ: a benchmark of the IQ. IQ (few scores): read for models with fewer than {ENOUGH} scores of the IQ. "
        "Both count for the capability too. --out and --json give the reason of each.",
        style="dim",
    )
