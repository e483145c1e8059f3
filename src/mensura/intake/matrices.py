"""Read a CSV with very many columns of numbers into one array: a column each would cost more than its numbers."""

import math
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mensura.intake.packed import measure, read_bytes, refuse_vast
from mensura.intake.text import TextStart, find_start, plain_cell

LEAST_COLUMNS = 2000
"""Columns from which a table is read into one array."""
_MOST_TEXTS = 20
_ZERO = ord("0")


@dataclass(frozen=True, eq=False)
class WideCsv:
    """Columns of text by their titles, and all others as one array: rows × titles, NaN where a cell is blank."""

    texts: dict[str, list[str | None]]
    titles: list[str]
    values: np.ndarray[Any, np.dtype[np.float32]]
    notes: tuple[str, ...]


def read_matrix(path: Path, *, texts: Collection[str], header: bool = True, unnamed: str = "") -> WideCsv | None:
    """Read a plain CSV of at least ``LEAST_COLUMNS`` columns; None for every table that is not such a one.

    ``texts``: titles in small letters of columns that stay text. Other columns of text are words_of in the first row. A
    quoted cell, a row of another length or a word among numbers also gives None: ``tables.read_noted``
    reads the table then, and names what is wrong. ``header`` and ``unnamed`` are those of that function.
    """
    if not _is_wide(path):
        return None
    start = find_start(read_bytes(path), str(path), None, header, unnamed)
    if b'"' in start.data or not all(start.titles):
        return None
    lines = [line for line in start.data[start.end :].splitlines() if line.strip(start.separator.encode() + b" \t")]
    refuse_vast(path, len(lines), len(start.titles))
    return _parsed(lines, start, {title.casefold() for title in texts})


def _is_wide(path: Path) -> bool:
    """Return whether the first line of a file of plain text has many cells."""
    measure(path)
    with path.open("rb") as file:
        first = file.readline()
    return b"\0" not in first and max(map(first.count, (b",", b";", b"\t", b"|"))) >= LEAST_COLUMNS


def _parsed(lines: list[bytes], start: TextStart, text_titles: set[str]) -> WideCsv | None:
    width, mark = len(start.titles), ord(start.separator)
    texts = {place for place, title in enumerate(start.titles) if title.casefold() in text_titles}
    words_of: dict[int, list[str | None]] = {}
    values = np.empty((len(lines), width), dtype=np.float32)
    numbers_of: dict[bytes, float | None] = {}
    for row, line in enumerate(lines):
        signs = np.frombuffer(line, dtype=np.uint8)
        ends = np.append(np.flatnonzero(signs == mark), len(line))
        if len(ends) != width:
            return None
        starts = np.append(0, ends[:-1] + 1)
        digits = signs[np.minimum(starts, len(line) - 1)] - _ZERO  # what is no digit wraps around to 10 or more
        plain = (ends - starts == 1) & (digits < 10)
        values[row] = np.where(plain, digits, np.nan)
        for place in np.flatnonzero(~plain & (ends > starts)):
            cell = line[starts[place] : ends[place]]
            if cell not in numbers_of:
                numbers_of[cell] = _number(cell)
            number = numbers_of[cell]
            if number is not None:
                values[row, place] = number
            elif row == 0:
                texts.add(int(place))
            elif place not in texts:
                return None
        if len(texts) > _MOST_TEXTS:
            return None
        for text in texts:
            words_of.setdefault(text, []).append(plain_cell(line[starts[text] : ends[text]].decode()))
    kept = [place for place in range(width) if place not in texts]
    if len(kept) < width:
        values = values[:, kept]
    words = {start.titles[place]: words_of.get(place, []) for place in sorted(texts)}
    return WideCsv(words, [start.titles[place] for place in kept], values, start.notes)


def _number(cell: bytes) -> float | None:
    """Return the number in a cell, NaN for a word that stands for a missing value, None for any other word."""
    text = plain_cell(cell.decode())
    if text is None:
        return math.nan
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None
