"""``mensura responses compare`` and ``compare-subjects``: fits of the same answers, subjects on the same items."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from mensura import responses
from mensura.cli.options import Json, Out, inarg, infile, opt
from mensura.cli.output import console, emit, print_notes
from mensura.cli.tables import print_table


def compare(
    fits: Annotated[list[Path], inarg("Folders that mensura responses fit --out wrote, two or more.")],
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Compare fits of the same answers: AIC, BIC, M2, likelihood-ratio tests of nested models."""
    result = responses.compare_fits(fits)
    emit(result, out, as_json)
    print_table(result.fits, title="Fits, the one with the fewest parameters first", digits=3)
    if result.tests.height:
        print_table(result.tests, title="Likelihood-ratio tests of nested fits", digits=4)
    print_notes(result.warnings, "warning")
    console.print(f"{result.heading}.")


def compare_subjects(
    files: Annotated[list[Path], inarg("Answers: tables, logs or folders of logs.")],
    subject: Annotated[list[str] | None, opt("Subject to compare; repeatable (default: all, pair by pair).")] = None,
    items: Annotated[Path | None, infile("Table of item and the column of --cluster.")] = None,
    cluster: Annotated[str | None, opt("Column of what items have in common, such as a passage.")] = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Compare subjects, such as two models, on the same items: paired difference, tests, items needed."""
    result = responses.compare_subjects(list(files), subject, items=items, cluster=cluster)
    emit(result, out, as_json)
    title = "Differences on common items (90% intervals; p_holm: over all pairs)"
    print_table(result.pairs, title=title, rows=20, digits=3)
    console.print(f"{result.heading}.")
