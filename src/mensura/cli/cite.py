"""``mensura cite``: how to cite the package and the evidence behind a number."""

from __future__ import annotations

from typing import Annotated

import typer

from mensura import __version__
from mensura.cli.inputs import AddedScores, EvidencePath, Released, load_evidence
from mensura.cli.output import Json, console, emit
from mensura.core.errors import MensuraError

EXAMPLES = """
[bold]Examples[/]

  mensura cite
  mensura cite --format bibtex > mensura.bib
  mensura cite --evidence mine/ --json
"""
AUTHOR, YEAR = "The Mensura founders", 2026
TITLE = "Mensura: human-anchored scales for AI models, benchmarks, test items and groups of people"
FORMATS = ("bibtex", "apa")


def cite(
    style: Annotated[
        str | None, typer.Option("--format", help="Print only this form: bibtex or apa.", metavar="NAME")
    ] = None,
    evidence: EvidencePath = None,
    add: AddedScores = None,
    released: Released = None,
    as_json: Json = False,
) -> None:
    """Print how to cite Mensura: BibTeX, APA, and the version, edition and fingerprint of the evidence."""
    from mensura.iq import IQ_SCALES

    if style is not None and style not in FORMATS:
        raise MensuraError(f"--format {style}: not known; expected {' or '.join(FORMATS)}")
    found = load_evidence(evidence, add, released).edition
    scale = next(reversed(IQ_SCALES))
    edition = f"evidence edition {found['edition']}" if found["edition"] else "evidence of one's own"
    base = f"{edition}, fingerprint {found['fingerprint']}"
    note = f"Version {__version__}, {base}"
    told = {
        "bibtex": "\n".join(
            [
                "@software{mensura,",
                f"  author = {{{{{AUTHOR}}}}},",
                f"  title = {{{{{TITLE}}}}},",
                f"  year = {{{YEAR}}},",
                f"  version = {{{__version__}}},",
                f"  note = {{{note}}}",
                "}",
            ]
        ),
        "apa": f"{AUTHOR}. ({YEAR}). {TITLE} (Version {__version__}) [Computer software]. {base.capitalize()}.",
    }
    if emit({}, out=None, as_json=as_json, **told, version=__version__, **found, scale=scale):
        return
    if style is not None:
        print(told[style])  # as it is: a file of references is no prose to wrap
        return
    for text in told.values():
        print(text, end="\n\n")
    console.print(f"{note}; newest frozen scale {scale} (mensura iq --scale {scale} gives numbers that stay the same).")
