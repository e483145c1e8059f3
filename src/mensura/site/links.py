"""Links out of the report: only addresses that a browser may open."""

from __future__ import annotations


def first_link(text: str | None) -> str:
    """Return the first web address at the start of a source's note, nothing where there is none."""
    first = (text or "").split(" ")[0].rstrip(";")
    return first if first.startswith(("https://", "http://")) else ""
