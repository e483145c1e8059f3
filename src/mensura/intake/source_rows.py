"""A row of a source, whatever its format, and the limits every reader keeps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from mensura.core.errors import MensuraError
from mensura.intake.score_columns import LONGEST_CELL

MOST_ROWS = 20_000
MOST_COLUMNS = 500
MOST_CELLS = 1_000_000
"""Cells of one source over all its tables; a leaderboard has some thousands."""
_STRAY = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
"""Characters that show as nothing, turn the direction of writing, or are halves of a pair."""


class SourceRow(NamedTuple):
    """One row: the line of the capture it begins on, and its cells by column; blank ones are absent."""

    line: int
    cells: Mapping[str, str]


def clean_text(text: str) -> str:
    """Return a cell on one line, without characters that cannot be seen; spaces of any kind become one."""
    return " ".join(_STRAY.sub(" ", text).split())


def checked_rows(rows: list[SourceRow], name: str) -> list[SourceRow]:
    """Refuse what is no leaderboard: no rows, too many, or a cell of a book's length."""
    if not rows:
        raise MensuraError(f"{name}: no rows found; check that the mapping fits this capture")
    if len(rows) > MOST_ROWS:
        raise MensuraError(f"{name}: {len(rows):,} rows; at most {MOST_ROWS:,} are read")
    for row in rows:
        if len(row.cells) > MOST_COLUMNS:
            raise MensuraError(f"{name}, line {row.line}: {len(row.cells):,} columns; at most {MOST_COLUMNS} are read")
        longest = max(map(len, row.cells.values()), default=0)
        if longest > LONGEST_CELL:
            raise MensuraError(f"{name}, line {row.line}: a cell of {longest:,} characters (at most {LONGEST_CELL:,})")
    return rows


def titled(header: list[str], cells: list[str]) -> dict[str, str]:
    """Return cells by the title of their column; blank ones, and those without a title, are left out."""
    return {title: cell for title, cell in zip(header, cells, strict=False) if title and cell}


def refuse_twins(header: list[str], wanted: frozenset[str], name: str) -> None:
    """Refuse a header that has a column the mapping reads more than once."""
    twins = sorted({title for title in header if title in wanted and header.count(title) > 1})
    if twins:
        raise MensuraError(f"{name}: column {', '.join(map(repr, twins))} occurs more than once; rename the others")


# How a mapping says where the rows of a capture are.

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
