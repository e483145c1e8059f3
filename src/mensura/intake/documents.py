"""The one door of the readers: bytes of a capture and where its rows are in, rows out."""

from __future__ import annotations

from mensura.core.errors import MensuraError
from mensura.intake.html_rows import html_rows
from mensura.intake.json_rows import json_rows
from mensura.intake.source_rows import LAYOUTS, RowLayout, SourceRow, checked_rows
from mensura.intake.text import decoded_text
from mensura.intake.text_rows import csv_rows, pasted_rows


def read_rows(data: bytes, layout: RowLayout, columns: frozenset[str], name: str) -> list[SourceRow]:
    """Return the rows of a capture; ``columns`` are those the mapping reads, by which its table is found."""
    text, _ = decoded_text(data, name)
    if layout.form == "csv":
        rows = csv_rows(text, columns, name)
    elif layout.form == "json":
        rows = json_rows(text, layout.path, columns, name)
    elif layout.form == "html":
        rows = html_rows(text, columns, name)
    elif layout.form == "text":
        rows = pasted_rows(text, layout, columns, name)
    else:
        raise MensuraError(f"reads: {layout.form!r} is unknown; expected one of {', '.join(LAYOUTS)}")
    return checked_rows(rows, name)
