"""Tables as their users wrote them: any encoding and separator, frames of any library, evaluation logs."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mensura.core.errors import MensuraError
from mensura.core.frames import as_frame
from mensura.evidence.intake.logs import LOG_SUFFIXES, LogRows, read_log

MOST_BYTES = 64 * 2**20
"""A table of scores larger than this is something else; nothing is read of it."""
LONGEST_CELL = 10_000
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_BLANK = {"", "-", "–", "—", "n/a", "na", "nan", "null", "none", "?", "tbd", "#n/a"}
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SPREADSHEETS = {".xlsx", ".xls", ".ods", ".numbers"}
_LOOKED_AT = 20  # records that decide on the separator
_SNIFFED = 2000  # bytes that decide on the encoding


@dataclass(frozen=True)
class CellTable:
    """A table as text: None where a cell is blank; ``numbers`` are the rows as the user's own file counts them."""

    name: str
    header: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    numbers: tuple[int, ...]
    notes: tuple[str, ...] = ()


def read_cells(source: Any, *, name: str = "scores") -> CellTable:  # noqa: ANN401
    """Read a file (CSV with any usual separator and encoding, Parquet, JSON and logs) or a frame of any library."""
    if not isinstance(source, str | Path):
        return _from_frame(source, name)
    path = Path(source)
    if not path.is_file():
        raise MensuraError(f"{path}: no such file; expected a table of scores or an evaluation log")
    size, suffix = path.stat().st_size, path.suffix.lower()
    if size > MOST_BYTES:
        raise MensuraError(f"{path}: {size / 2**20:.0f} MB is no table of scores (at most {MOST_BYTES // 2**20} MB)")
    if suffix in LOG_SUFFIXES:
        return _from_log(read_log(path), str(path))
    if suffix in {".parquet", ".pq"}:
        return _from_frame(path, str(path))
    if suffix in _SPREADSHEETS:
        raise MensuraError(f"{path}: a spreadsheet; save the sheet with the scores as CSV and give that file")
    return _from_text(path.read_bytes(), str(path))


def _from_frame(source: Any, name: str) -> CellTable:  # noqa: ANN401
    frame = as_frame(source, name=name)
    rows = tuple(tuple(plain_cell(value) for value in row) for row in frame.iter_rows())
    return _checked(CellTable(name, tuple(frame.columns), rows, tuple(range(1, frame.height + 1))))


def _from_log(found: LogRows, name: str) -> CellTable:
    rows = tuple(tuple(plain_cell(value) for value in row) for row in found.rows)
    return CellTable(name, found.header, rows, tuple(range(1, len(rows) + 1)), found.notes)


def _from_text(data: bytes, name: str) -> CellTable:
    text, encoding = decoded_text(data, name)
    longest = max(map(len, text.splitlines()), default=0)
    if longest > LONGEST_CELL * 10:
        raise MensuraError(f"{name}: a line of {longest:,} characters; this is no table of scores")
    separator = separator_of(text, name)
    records = list(_records(text, separator))
    if not records:
        raise MensuraError(f"{name}: no rows; expected a header and one row per score (or one row per model)")
    (_, header), *body = records
    width = len(header)
    for number, record in body:
        if any(cell.strip() for cell in record[width:]):
            raise MensuraError(
                f"{name}, row {number}: {len(record)} cells under a header of {width}; is a quote missing?"
            )
    rows = tuple(tuple(plain_cell(cell) for cell in [*record, *[""] * width][:width]) for _, record in body)
    notes = [] if encoding == "utf-8" else [f"read as {encoding}"]
    if separator != ",":
        notes.append(f"columns separated by {SEPARATORS[separator]}")
    return _checked(CellTable(name, tuple(map(str.strip, header)), rows, tuple(n for n, _ in body), tuple(notes)))


def decoded_text(data: bytes, name: str) -> tuple[str, str]:
    """Return the text and how it was written: by its mark, else UTF-8, else UTF-16 by its zeros, else Windows-1252."""
    marked = next((encoding for mark, encoding in _MARKS if data.startswith(mark)), None)
    zeros = data[:_SNIFFED].count(0)
    encoding = marked or ("utf-8" if not zeros else "utf-16-le" if data[1:2] == b"\0" else "utf-16-be")
    try:
        return data.decode(encoding), encoding.removesuffix("-sig")
    except UnicodeDecodeError:
        if encoding != "utf-8":
            raise MensuraError(f"{name}: not readable as {encoding}; save it as UTF-8") from None
    try:
        return data.decode("cp1252"), "Windows-1252 (it is not UTF-8)"
    except UnicodeDecodeError:
        raise MensuraError(f"{name}: neither UTF-8 nor Windows-1252; save it as UTF-8") from None


def separator_of(text: str, name: str) -> str:
    """Return what parts the columns: that which gives the header most columns and every record as many."""
    best, most = ",", 1
    for separator in SEPARATORS:
        try:
            widths = [len(record) for _, record in _first(_records(text, separator))]
        except csv.Error as fault:
            raise MensuraError(f"{name}: not a table of text ({fault})") from fault
        if widths and widths[0] > most and sum(width == widths[0] for width in widths) > len(widths) / 2:
            best, most = separator, widths[0]
    return best


def _records(text: str, separator: str) -> Iterable[tuple[int, list[str]]]:
    """Yield the records that hold anything, each with its row; empty rows are counted, as a spreadsheet does."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
    for number, record in enumerate(reader, start=1):
        if any(cell.strip() for cell in record):
            yield number, record


def _first(records: Iterable[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
    return [record for record, _ in zip(records, range(_LOOKED_AT), strict=False)]


def plain_cell(value: object) -> str | None:
    """Return a cell as text, None where it says nothing."""
    text = "" if value is None else str(value).replace("\N{NO-BREAK SPACE}", " ").strip()
    return None if text.casefold() in _BLANK else text


def _checked(cells: CellTable) -> CellTable:
    """Refuse a table whose columns cannot be told apart, or that holds no rows."""
    filled = [column for column in cells.header if column]
    twice = sorted({column for column in filled if filled.count(column) > 1})
    if twice:
        raise MensuraError(f"{cells.name}: column {', '.join(map(repr, twice))} is there twice; rename or drop one")
    if not cells.rows:
        raise MensuraError(f"{cells.name}: no rows; expected a header and one row per score (or one row per model)")
    for number, row in zip(cells.numbers, cells.rows, strict=True):
        _refuse_long(cells.name, number, row)
    return cells


def _refuse_long(name: str, number: int, row: Sequence[str | None]) -> None:
    longest = max((len(cell) for cell in row if cell), default=0)
    if longest > LONGEST_CELL:
        raise MensuraError(f"{name}, row {number}: a cell of {longest:,} characters; this is no table of scores")
