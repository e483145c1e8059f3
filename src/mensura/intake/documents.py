"""Rows of a capture: of CSV and pasted text, which are read here, of JSON and of HTML."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

from mensura.core.errors import MensuraError
from mensura.intake import source_rows
from mensura.intake.html_rows import html_rows
from mensura.intake.json_rows import json_rows
from mensura.intake.text import decoded_text, plain_cell, separator_of

_SPACES = re.compile(r" {2,}|\t+")
_RULE = re.compile(r"[|:\- ]+")


def read_rows(
    data: bytes, layout: source_rows.RowLayout, columns: frozenset[str], name: str
) -> list[source_rows.SourceRow]:
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
        raise MensuraError(f"reads: {layout.form!r} is unknown; expected one of {', '.join(source_rows.LAYOUTS)}")
    return source_rows.checked_rows(rows, name)


def csv_rows(text: str, columns: frozenset[str], name: str) -> list[source_rows.SourceRow]:
    """Read a CSV file with a header; the separator is found by itself."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator_of(text, name), skipinitialspace=True)
    try:
        records = _placed(reader)
    except csv.Error as fault:
        raise MensuraError(f"{name}: not a readable CSV file ({fault}); correct the quotes or save it again") from fault
    if not records:
        return []
    header = [source_rows.clean_text(title) for title in records[0][1]]
    _require(header, columns, name)
    rows = []
    for line, record in records[1:]:
        if any(cell.strip() for cell in record[len(header) :]):
            raise MensuraError(
                f"{name}, line {line}: {len(record)} cells under a header of {len(header)}; remove the extra cells"
            )
        rows.append(source_rows.SourceRow(line, source_rows.titled(header, [_cell(cell) for cell in record])))
    return rows


def _placed(reader: Iterator[list[str]]) -> list[tuple[int, list[str]]]:
    """Return the records that hold anything, each with the line it begins on."""
    records, line = [], 1
    for record in reader:
        if any(cell.strip() for cell in record):
            records.append((line, record))
        if len(records) > source_rows.MOST_ROWS + 1:
            raise MensuraError(
                f"more than {source_rows.MOST_ROWS:,} rows are too many for a leaderboard; keep only its rows"
            )
        line = reader.line_num + 1  # type: ignore[attr-defined]
    return records


def _cell(text: str) -> str:
    return source_rows.clean_text(plain_cell(text) or "")


def _require(header: list[str], columns: frozenset[str], name: str) -> None:
    missing = sorted(columns - set(header))
    if missing:
        present = ", ".join(header[:30])
        raise MensuraError(
            f"{name}: no column {', '.join(map(repr, missing))}; it has {present}. Change the columns of the mapping"
        )
    source_rows.refuse_twins(header, columns, name)


def pasted_rows(
    text: str, layout: source_rows.RowLayout, columns: frozenset[str], name: str
) -> list[source_rows.SourceRow]:
    """Read pasted text: one line per row, or a fixed number of lines per row."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    lines = _between(lines, layout, name)
    return _stacked(lines, layout, name) if layout.lines else _lined(lines, layout, columns, name)


def _between(lines: list[tuple[int, str]], layout: source_rows.RowLayout, name: str) -> list[tuple[int, str]]:
    """Return the lines after the one that ``after`` names and before the one that begins with ``until``."""
    plain = [source_rows.clean_text(line) for _, line in lines]
    start = 0
    if layout.after:
        if layout.after not in plain:
            raise MensuraError(f"{name}: no line {layout.after!r} before the rows; correct rows.after in the mapping")
        start = plain.index(layout.after) + 1
    end = len(lines)
    if layout.until:
        end = next((place for place in range(start, end) if plain[place].startswith(layout.until)), end)
    return lines[start:end]


def _stacked(lines: list[tuple[int, str]], layout: source_rows.RowLayout, name: str) -> list[source_rows.SourceRow]:
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
        cells = source_rows.titled(list(layout.lines), [_cell(line) for _, line in part])
        _refuse_lost(cells, layout.numbered, number, part[0][0], name)
        rows.append(source_rows.SourceRow(part[0][0], cells))
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


def _lined(
    lines: list[tuple[int, str]], layout: source_rows.RowLayout, columns: frozenset[str], name: str
) -> list[source_rows.SourceRow]:
    """Read rows of one line each, under the first line that has every column of the mapping."""
    split = [(number, _split(line, layout.separator)) for number, line in lines]
    first = next((place for place, (_, cells) in enumerate(split) if columns <= set(cells)), None)
    if first is None:
        raise MensuraError(
            f"{name}: no line contains the columns {', '.join(sorted(columns))}; correct the columns of the mapping"
        )
    header = split[first][1]
    source_rows.refuse_twins(header, columns, name)
    rows: list[source_rows.SourceRow] = []
    for line, cells in split[first + 1 :]:
        if layout.separator == "bar" and _RULE.fullmatch("".join(cells) or "-"):
            continue
        if len(cells) != len(header):
            raise MensuraError(
                f"{name}, line {line}: {len(cells)} cells under a header of {len(header)} (set rows.until in the "
                "mapping to end the table)"
            )
        row = source_rows.titled(header, [_cell(cell) for cell in cells])
        _refuse_lost(row, layout.numbered, len(rows) + 1, line, name)
        rows.append(source_rows.SourceRow(line, row))
    return rows


def _split(line: str, separator: str) -> list[str]:
    if separator == "bar":
        return [source_rows.clean_text(cell) for cell in line.strip().strip("|").split("|")]
    if separator == "spaces":
        return [source_rows.clean_text(cell) for cell in _SPACES.split(line.strip())]
    return [source_rows.clean_text(cell) for cell in line.split("\t")]
