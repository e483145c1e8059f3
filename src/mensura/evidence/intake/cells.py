"""Tables as their users wrote them: any encoding and separator, frames of any library, evaluation logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mensura.core.errors import MensuraError
from mensura.evidence.intake.logs import LOG_SUFFIXES, LogRows, read_log
from mensura.intake.packed import suffix_of
from mensura.intake.tables import as_frame, read_noted
from mensura.intake.text import plain_cell

MOST_BYTES = 64 * 2**20
"""A table of scores larger than this is something else; nothing is read of it."""
LONGEST_CELL = 10_000
_ROW = "\0row of the file"


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
    size, suffix = path.stat().st_size, suffix_of(path)
    if size > MOST_BYTES:
        raise MensuraError(f"{path}: {size / 2**20:.0f} MB is no table of scores (at most {MOST_BYTES // 2**20} MB)")
    if suffix in LOG_SUFFIXES:
        return _from_log(read_log(path), str(path))
    read = read_noted(path, infer=False, row=_ROW, most=MOST_BYTES)
    return _from_frame(read.frame, str(path), read.notes)


def _from_frame(source: Any, name: str, notes: tuple[str, ...] = ()) -> CellTable:  # noqa: ANN401
    frame = as_frame(source, name=name)
    numbers = tuple(frame[_ROW]) if _ROW in frame.columns else tuple(range(1, frame.height + 1))
    frame = frame.drop(_ROW, strict=False)
    rows = tuple(tuple(plain_cell(value) for value in row) for row in frame.iter_rows())
    return _checked(CellTable(name, tuple(frame.columns), rows, numbers, notes))


def _from_log(found: LogRows, name: str) -> CellTable:
    rows = tuple(tuple(plain_cell(value) for value in row) for row in found.rows)
    return CellTable(name, found.header, rows, tuple(range(1, len(rows) + 1)), found.notes)


def _checked(cells: CellTable) -> CellTable:
    """Refuse a table that holds no rows, or cells and rows of a length that no score has."""
    if not cells.rows:
        raise MensuraError(f"{cells.name}: no rows; expected a header and one row per score (or one row per model)")
    for number, row in zip(cells.numbers, cells.rows, strict=True):
        _refuse_long(cells.name, number, row)
    return cells


def _refuse_long(name: str, number: int, row: Sequence[str | None]) -> None:
    longest = max((len(cell) for cell in row if cell), default=0)
    if longest > LONGEST_CELL:
        raise MensuraError(
            f"{name}, row {number}: a cell of {longest:,} characters; expected a table of scores. Remove the long text"
        )
    whole = sum(len(cell or "") for cell in row) + len(row) - 1
    if whole > LONGEST_CELL * 10:
        raise MensuraError(
            f"{name}, row {number}: a line of {whole:,} characters; expected a table of scores. Remove the long text"
        )
