"""``mensura where``: where one model stands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mensura.cli.frozen_iq import Scale, place
from mensura.cli.inputs import AddedScores, EvidencePath, Released, load_evidence
from mensura.cli.output import Json, Out, console, emit
from mensura.cli.tables import print_table
from mensura.cli.trust import print_trust
from mensura.core.errors import listed_names

if TYPE_CHECKING:
    import polars as pl

    from mensura.evidence import Evidence

_ROWS = 12  # of each table, the model itself always among them
_DRAWS = 1000  # behind the intervals, as those of the study
EXAMPLES = """
[bold]Examples[/]

  mensura where gpt-5.5
  mensura where my-model --add mine.csv
  mensura where gpt-5.5 --json
"""


def where(
    model: Annotated[str, typer.Argument(help="The model, by its id or name.", metavar="MODEL")],
    scale: Scale = None,
    evidence: EvidencePath = None,
    add: AddedScores = None,
    released: Released = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Say where a model stands: IQ and what it rests on, neighbours, people passed, price, what to measure next."""
    from mensura.evidence import require_subject
    from mensura.study import Study, find_whereabouts

    loaded = load_evidence(evidence, add, released)
    subject = require_subject(loaded, model)
    if scale is not None:
        _on_frozen(loaded, subject, scale, out, as_json)
        return
    found = find_whereabouts(Study.open(loaded), subject)
    if emit(found.tables(), out=out, as_json=as_json, heading=found.heading):
        return
    row = found.standing.row(0, named=True)
    console.print(found.heading)
    if row["capability"] is not None:
        low, high = row["capability_low"], row["capability_high"]
        console.print(f"Capability on the stitched scale: {row['capability']:.2f} ({low:.2f} to {high:.2f})")
    titles = {
        "neighbours": "Neighbours by IQ, and the chance that it is above them",
        "dimensions": "Dimensions, strongest first",
        "people": "People on tests it took, and the chance that it scores above them",
        "prices": "Models about as good, cheapest first (US dollars: a million tokens in, a million out)",
        "next": "Best next benchmarks: share of the IQ's variance that a score on each would remove",
    }
    if row["iq"] is None:
        console.print(
            "Needed: one score on a benchmark that counts gives an IQ with a wide interval; more make it narrow enough "
            "for a rank. mensura benchmarks lists them."
        )
    for use, names in _outside_composite(loaded, subject).items():
        console.print(f"No part of the IQ: its scores on {listed_names(names)}; they count for {use}")
    for name, title in titles.items():
        if found.tables()[name].height:
            digits = 1 if name in ("neighbours", "dimensions") else 2
            print_table(told_for_people(found.tables()[name], subject), title=title, rows=_ROWS, digits=digits)
    if found.tables()["next"].height:
        best = found.tables()["next"].row(0, named=True)
        console.print(
            f"The best next benchmark is {best['name']}: a score on it would remove {best['variance_explained']:.0%} "
            "of the variance of the IQ."
        )
    if row["iq"] is not None:
        print_trust("iq")


def _outside_composite(evidence: Evidence, subject: str) -> dict[str, list[str]]:
    """Return the scores of a model that are no part of the IQ by their use: who brought them looks for them."""
    import polars as pl

    from mensura.study import say_uses
    from mensura.study.standing import CAPABILITY, FEW, NEITHER

    outside = evidence.benchmarks.filter(~pl.col("in_composite"))["benchmark"]
    mine = (pl.col("subject") == subject) & pl.col("benchmark").is_in(outside.implode())
    used = say_uses(evidence, evidence.primary_scores.filter(mine).select("subject", "benchmark"))
    words = {
        FEW: "the capability, and are read for the IQ",
        CAPABILITY: "the capability",
        NEITHER: "neither IQ nor capability",
    }
    found: dict[str, list[str]] = {}
    for benchmark, use in used.select("benchmark", "counts_for").iter_rows():
        found.setdefault(words[use], []).append(benchmark)
    return found


def told_for_people(table: pl.DataFrame, subject: str) -> pl.DataFrame:
    """Return a table as people read it: chances in words, the model itself among the rows that are printed."""
    import polars as pl

    from mensura.study.units import chance

    if "chance_above" in table.columns:
        said = ["–" if value is None else chance(value) for value in table["chance_above"]]
        table = table.with_columns(chance_above=pl.Series(said))
    if "sticker_price" not in table.columns or subject in table["subject"].head(_ROWS):
        return table
    own = pl.col("subject") == subject
    return pl.concat([table.filter(~own).head(_ROWS - 1), table.filter(own), table.filter(~own).slice(_ROWS - 1)])


def _on_frozen(evidence: Evidence, subject: str, scale: str, out: Path | None, as_json: bool) -> None:
    """Say where a model stands on scales that stand still: IQ and dimensions, neighbours, capability."""
    import polars as pl

    from mensura.core.frames import sort_highest
    from mensura.stitching import load_scale

    mine = pl.col("subject") == subject
    placed = place(evidence, scale, draws=_DRAWS, seed=0, only=[subject])
    alone = replace(evidence, scores=evidence.scores.filter(mine))
    tables = {
        "standing": placed.composites.filter(mine).drop("exact", "scored_dimensions", "missing"),
        "capability": load_scale(scale).place(alone).filter(mine),
        "dimensions": sort_highest(placed.dimensions.filter(mine).drop("subject", "place"), "iq", "dimension"),
    }
    if tables["standing"]["iq"][0] is not None:
        tables["neighbours"] = placed.neighbours_of(subject)
    if emit(tables, out=out, as_json=as_json, scale=scale, heading=placed.heading):
        return
    console.print(placed.heading)
    for name, table in ((name, table) for name, table in tables.items() if table.height):
        print_table(table, title=f"{name.capitalize()} on the scale {scale}", digits=1 if name != "capability" else 2)
