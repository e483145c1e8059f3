"""How a mapping says where the rows of a capture are."""

from __future__ import annotations

from dataclasses import dataclass

LAYOUTS = {
    "csv": (),
    "json": ("path",),
    "html": (),
    "text": ("separator", "lines", "after", "until", "numbered"),
}
"""Formats, with the settings of ``[rows]`` that each knows."""
SEPARATORS = ("tab", "spaces", "bar")


@dataclass(frozen=True)
class RowLayout:
    """Where rows are.

    ``path`` (JSON): the list of rows, such as ``leaderboards[name=Verified].results``. ``separator`` (pasted text):
    what parts the cells of a line. ``lines``: instead, the names of the lines that make up one row. ``after`` and
    ``until``: the lines between which rows stand. ``numbered``: the cell that counts rows, by which a row that lost a
    line is found.
    """

    form: str
    path: str = ""
    separator: str = ""
    lines: tuple[str, ...] = ()
    after: str = ""
    until: str = ""
    numbered: str = ""
