"""A damaged store of answers: is its log whole, and a new store with everything that can still be read."""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
import struct
from contextlib import closing
from pathlib import Path
from typing import Any

from mensura.core.checksums import damaged_tables, replaced_store, sums_of
from mensura.core.errors import MensuraError
from mensura.exam.records import CHECKED, SCHEMA, VERSION

_WAL_HEADER, _FRAME_HEADER = 32, 24
_MAGIC = 0x377F0682  # the lowest bit states the order of bytes in checksums
_JSON = {"form", "about", "answer"}
_KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("number", "edit", "left", "late"), (int,)),
    **dict.fromkeys(("begun", "started", "finished", "at", "seconds", "used"), (int, float)),
    **dict.fromkeys(("code", "token"), (bytes,)),
}
_MAY_BE_EMPTY = {"panel", "about", "started", "finished", "language"}
_FACTS = {"forgotten": "0", "closed": "0", "opened": "0"}


def is_log_whole(path: Path) -> bool:
    """Return whether the log beside an SQLite file has no damaged frame: SQLite would silently drop it and all after.

    A frame that a killed writer left unfinished is no damage. A frame of an earlier use of the log has other salts.
    """
    file = path.with_name(f"{path.name}-wal")
    data = file.read_bytes() if file.is_file() else b""
    if len(data) < _WAL_HEADER:
        return True
    magic, _, page, _, *salts_and_sums = struct.unpack(">8I", data[:_WAL_HEADER])
    order = ">" if magic & 1 else "<"
    sums = _wal_sums(data[:24], order, (0, 0))
    if magic & ~1 != _MAGIC or sums != tuple(salts_and_sums[2:]):
        return len(data) == _WAL_HEADER
    size = _FRAME_HEADER + page
    for start in range(_WAL_HEADER, len(data) - size + 1, size):
        head = struct.unpack(">6I", data[start : start + _FRAME_HEADER])
        same = [mine == own for mine, own in zip(head[2:4], salts_and_sums[:2], strict=True)]
        if not any(same):
            return True
        sums = _wal_sums(data[start : start + 8] + data[start + _FRAME_HEADER : start + size], order, sums)
        if not all(same) or sums != head[4:]:
            return False
    return True


def _wal_sums(data: bytes, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    """Return the running checksum of SQLite's log over more data."""
    first, second = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for place in range(0, len(words), 2):
        first = (first + words[place] + second) & 0xFFFFFFFF
        second = (second + words[place + 1] + first) & 0xFFFFFFFF
    return first, second


def repair_store(path: Path) -> str:
    """Replace a damaged store by one with every row that can be read; return what was kept, in words.

    The damaged file is kept beside it.
    """
    if not path.is_file():
        raise MensuraError(f"{path}: no such file; give the store of mensura exam serve")
    with replaced_store(path) as (copy, fresh, damaged):
        os.close(os.open(fresh, os.O_CREAT | os.O_RDWR, 0o600))
        with closing(sqlite3.connect(copy)) as old, closing(sqlite3.connect(fresh)) as new, new:
            whole, kept = _salvage(old, new)
    counts = ", ".join(f"{kept[table]} rows of {table}" for table in ("sittings", "answers"))
    sure = f"Whole by their checksums: {', '.join(whole)}." if whole else "No table is whole by its checksum."
    return f"kept {counts}. {sure} Compare the others with a backup. The damaged file is kept as {damaged}"


def _salvage(old: sqlite3.Connection, new: sqlite3.Connection) -> tuple[list[str], dict[str, int]]:
    """Copy what can be read; return the tables that are whole, and the rows of each."""
    old.execute("SELECT count(*) FROM sqlite_master").fetchall()  # raises for a file that is no database
    try:
        damaged = damaged_tables(old, CHECKED)
    except sqlite3.Error:
        damaged = list(CHECKED)
    for statement in SCHEMA:
        new.execute(statement)
    kept = {}
    for table, columns in CHECKED.items():
        names = [name.strip() for name in columns.split(",")]
        marks = ", ".join("?" * len(names))
        rows = [row for row in _rows(old, table, columns) if _is_sound(dict(zip(names, row, strict=True)))]
        if table == "meta":
            rows = [row for row in rows if not row[0].startswith("checksum")]
        new.executemany(f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({marks})", rows)
        kept[table] = new.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    facts = _FACTS | {"pepper": secrets.token_hex(32)}
    new.executemany("INSERT OR IGNORE INTO meta VALUES (?, ?)", facts.items())
    new.execute("INSERT OR REPLACE INTO meta VALUES ('version', ?)", (str(VERSION),))
    new.executemany("INSERT INTO meta VALUES (?, ?)", sums_of(new, CHECKED).items())
    return [table for table in CHECKED if table not in damaged], kept


def _rows(db: sqlite3.Connection, table: str, columns: str) -> list[tuple[Any, ...]]:
    """Return the rows of a table from both ends up to what cannot be read."""
    key = "number, item" if "item" in columns else columns.partition(",")[0]
    rows: dict[tuple[Any, ...], None] = {}
    for order in ("", " DESC"):
        by = ", ".join(f"{name.strip()}{order}" for name in key.split(","))
        try:
            for row in db.execute(f"SELECT {columns} FROM {table} ORDER BY {by}"):
                rows[tuple(row)] = None
        except sqlite3.Error:
            continue
        break
    return list(rows)


def _is_sound(row: dict[str, Any]) -> bool:
    """Return whether every cell of a row has the type of its column, and its JSON can be read."""
    for name, cell in row.items():
        if cell is None and name in _MAY_BE_EMPTY:
            continue
        if not isinstance(cell, _KINDS.get(name, (str,))):
            return False
        if name in _JSON:
            try:
                json.loads(str(cell))
            except ValueError:
                return False
    return True
