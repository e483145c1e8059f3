"""``mensura report``: the product's main job."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mensura.cli.inputs import AddedScores, EvidencePath, load_evidence
from mensura.cli.output import Json, console, print_json, print_table


def report(
    out: Annotated[Path, typer.Option("--out", help="Folder to write the report into.")] = Path("report"),
    evidence: EvidencePath = None,
    add: AddedScores = None,
    as_json: Json = False,
) -> None:
    """Write the report and print its headline table."""
    from mensura.site import build_report

    headline = build_report(load_evidence(evidence, add), out)
    if as_json:
        print_json({"report": out / "index.html", "headline": headline.to_dicts()})
        return
    shown = headline.select("title", "model", "score", "unit", "human_score", "people", "human_status", "ahead")
    print_table(shown, title="The best model on each test, beside people")
    console.print(f"The report is at {out / 'index.html'}", soft_wrap=True)
