"""``mensura where``: where one model stands."""

from __future__ import annotations

from typing import Annotated

import typer

from mensura.cli.inputs import AddedScores, EvidencePath, load_evidence
from mensura.cli.output import Json, Out, console, emit, print_table

EXAMPLES = "Examples: mensura where gpt-5.5  ·  mensura where my-model --add mine.csv  ·  mensura where gpt-5.5 --json"


def where(
    model: Annotated[str, typer.Argument(help="The model, by its id or name.", metavar="MODEL")],
    evidence: EvidencePath = None,
    add: AddedScores = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Say where a model stands: IQ and what it rests on, neighbours, people passed, price, what to measure next."""
    from mensura.evidence import require_subject
    from mensura.site import Study, find_whereabouts

    loaded = load_evidence(evidence, add)
    subject = require_subject(loaded, model)
    found = find_whereabouts(Study.open(loaded), subject)
    if emit(found.tables(), out=out, as_json=as_json, heading=found.heading):
        return
    row = found.standing.row(0, named=True)
    console.print(found.heading, soft_wrap=True)
    if row["capability"] is not None:
        low, high = row["capability_low"], row["capability_high"]
        console.print(f"Capability on the stitched scale: {row['capability']:.2f} ({low:.2f} to {high:.2f})")
    titles = {
        "neighbours": "Neighbours by IQ, and the chance that it is above them",
        "dimensions": "Dimensions, strongest first",
        "people": "People on tests it took, and the chance that it scores above them",
        "prices": "Models about as good, cheapest first (US dollars: a million tokens in, a million out)",
        "next": "What would tell most next: share of the IQ's variance that measuring it takes away",
    }
    for name, title in titles.items():
        print_table(found.tables()[name], title=title, rows=12)
