"""Rows of a capture: the limits that every reader keeps, and how CSV and pasted text are read."""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from mensura.core.errors import MensuraError
from mensura.intake.score_columns import LONGEST_CELL
from mensura.intake.text import plain_cell, separator_of

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

LAYOUTS = {"csv": (), "json": ("path",), "html": (), "text": ("separator", "lines", "after", "until", "numbered")}
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


_SPACES = re.compile(r" {2,}|\t+")
_RULE = re.compile(r"[|:\- ]+")


def csv_rows(text: str, columns: frozenset[str], name: str) -> list[SourceRow]:
    """Read a CSV file with a header; the separator is found by itself."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator_of(text, name), skipinitialspace=True)
    try:
        records = _placed(reader)
    except csv.Error as fault:
        raise MensuraError(f"{name}: not a readable CSV file ({fault}); correct the quotes or save it again") from fault
    if not records:
        return []
    header = [clean_text(title) for title in records[0][1]]
    _require(header, columns, name)
    rows = []
    for line, record in records[1:]:
        if any(cell.strip() for cell in record[len(header) :]):
            raise MensuraError(
                f"{name}, line {line}: {len(record)} cells under a header of {len(header)}; remove the extra cells"
            )
        rows.append(SourceRow(line, titled(header, [_cell(cell) for cell in record])))
    return rows


def _placed(reader: Iterator[list[str]]) -> list[tuple[int, list[str]]]:
    """Return the records that hold anything, each with the line it begins on."""
    records, line = [], 1
    for record in reader:
        if any(cell.strip() for cell in record):
            records.append((line, record))
        if len(records) > MOST_ROWS + 1:
            raise MensuraError(f"more than {MOST_ROWS:,} rows are too many for a leaderboard; keep only its rows")
        line = reader.line_num + 1  # type: ignore[attr-defined]
    return records


def _cell(text: str) -> str:
    return clean_text(plain_cell(text) or "")


def _require(header: list[str], columns: frozenset[str], name: str) -> None:
    missing = sorted(columns - set(header))
    if missing:
        present = ", ".join(header[:30])
        raise MensuraError(
            f"{name}: no column {', '.join(map(repr, missing))}; it has {present}. Change the columns of the mapping"
        )
    refuse_twins(header, columns, name)


def pasted_rows(text: str, layout: RowLayout, columns: frozenset[str], name: str) -> list[SourceRow]:
    """Read pasted text: one line per row, or a fixed number of lines per row."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    lines = _between(lines, layout, name)
    return _stacked(lines, layout, name) if layout.lines else _lined(lines, layout, columns, name)


def _between(lines: list[tuple[int, str]], layout: RowLayout, name: str) -> list[tuple[int, str]]:
    """Return the lines after the one that ``after`` names and before the one that begins with ``until``."""
    plain = [clean_text(line) for _, line in lines]
    start = 0
    if layout.after:
        if layout.after not in plain:
            raise MensuraError(f"{name}: no line {layout.after!r} before the rows; correct rows.after in the mapping")
        start = plain.index(layout.after) + 1
    end = len(lines)
    if layout.until:
        end = next((place for place in range(start, end) if plain[place].startswith(layout.until)), end)
    return lines[start:end]


def _stacked(lines: list[tuple[int, str]], layout: RowLayout, name: str) -> list[SourceRow]:
    """Read rows that each take as many lines as the mapping names."""
    height = len(layout.lines)
    if len(lines) % height:
        raise MensuraError(
            f"{name}: {len(lines)} lines do not divide into rows of {height}; set rows.until in the mapping to end "
            "them earlier"
        )
    rows = []
    for number, start in enumerate(range(0, len(lines), height), start=1):
        part = lines[start : start + height]
        cells = titled(list(layout.lines), [_cell(line) for _, line in part])
        _refuse_lost(cells, layout.numbered, number, part[0][0], name)
        rows.append(SourceRow(part[0][0], cells))
    return rows


def _refuse_lost(cells: dict[str, str], numbered: str, number: int, line: int, name: str) -> None:
    """Refuse a row whose own count is not its number: a line before it was lost or added.

    Ranks repeat where rows tie, so a count may lag behind the number but never run ahead or be something else.
    """
    if not numbered:
        return
    count = cells.get(numbered, "").strip("#. ")
    if not re.fullmatch(r"[0-9]{1,6}", count) or not 1 <= int(count) <= number:
        raise MensuraError(
            f"{name}, line {line}: {numbered} is {count[:40]!r} in row {number}; a line was lost or added before it. "
            "Copy the text again"
        )


def _lined(lines: list[tuple[int, str]], layout: RowLayout, columns: frozenset[str], name: str) -> list[SourceRow]:
    """Read rows of one line each, under the first line that has every column of the mapping."""
    split = [(number, _split(line, layout.separator)) for number, line in lines]
    first = next((place for place, (_, cells) in enumerate(split) if columns <= set(cells)), None)
    if first is None:
        raise MensuraError(
            f"{name}: no line contains the columns {', '.join(sorted(columns))}; correct the columns of the mapping"
        )
    header = split[first][1]
    refuse_twins(header, columns, name)
    rows: list[SourceRow] = []
    for line, cells in split[first + 1 :]:
        if layout.separator == "bar" and _RULE.fullmatch("".join(cells) or "-"):
            continue
        if len(cells) != len(header):
            raise MensuraError(
                f"{name}, line {line}: {len(cells)} cells under a header of {len(header)} (set rows.until in the "
                "mapping to end the table)"
            )
        row = titled(header, [_cell(cell) for cell in cells])
        _refuse_lost(row, layout.numbered, len(rows) + 1, line, name)
        rows.append(SourceRow(line, row))
    return rows


def _split(line: str, separator: str) -> list[str]:
    if separator == "bar":
        return [clean_text(cell) for cell in line.strip().strip("|").split("|")]
    if separator == "spaces":
        return [clean_text(cell) for cell in _SPACES.split(line.strip())]
    return [clean_text(cell) for cell in line.split("\t")]
