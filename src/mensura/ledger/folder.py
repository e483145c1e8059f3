"""A ledger as a folder of text files, for git: the evidence tables, and under ``ledger/`` how they came about.

``ledger/entries.csv`` and ``cells.csv`` hold the log, ``updates.csv`` and ``updates/`` the update files,
``captures.csv`` and ``captures/`` the raw text, each file named by its hash. A folder gives back the same store.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mensura.core.errors import MensuraError
from mensura.core.folders import whole_folder
from mensura.evidence.evidence import completed, from_raw
from mensura.evidence.schema import TABLES
from mensura.evidence.store import read_raw
from mensura.ledger.book import Ledger
from mensura.ledger.captures import MOST_BYTES
from mensura.ledger.log import verify_history
from mensura.ledger.opening import new_store, open_ledger
from mensura.ledger.state import read_state
from mensura.ledger.store import LEDGER_TABLES, create_tables, transaction
from mensura.ledger.update import ID_DIGITS, MOST_TEXT

LEDGER = "ledger"
_FILES = {
    "entries": ("ledger_entries", ("entry", "kind", "title", "update_id", "undoes", "by", "time", "fingerprint")),
    "cells": ("ledger_cells", ("entry", "place", "table_name", "row_key", "field", "old", "new", "line")),
    "updates": ("ledger_updates", ("update_id", "by", "time", "pending")),
    "captures": ("ledger_captures", ("capture", "source", "address", "by", "time", "format")),
}
_ORDER = {"ledger_cells": "entry, place"}
_NUMBERS = {"entry", "undoes", "place", "line", "pending"}


def export_ledger(ledger: Ledger, folder: Path) -> None:
    """Write a store as a folder of text: all of it or nothing. Files of others are left as they are."""
    with transaction(ledger.path, writing=False) as store, whole_folder(folder, "evidence") as stage:
        (stage / LEDGER / "updates").mkdir(parents=True)
        (stage / LEDGER / "captures").mkdir()
        for table in TABLES.values():
            _write(stage / f"{table.name}.csv", store, table.name, tuple(table.dtypes), "rowid")
        for name, (table_name, columns) in _FILES.items():
            order = _ORDER.get(table_name, columns[0])
            _write(stage / LEDGER / f"{name}.csv", store, table_name, columns, order)
        for ident, text in store.execute("SELECT update_id, text FROM ledger_updates"):
            (stage / LEDGER / "updates" / f"{ident}.toml").write_text(text, encoding="utf-8", newline="")
        for ident, data in store.execute("SELECT capture, data FROM ledger_captures"):
            (stage / LEDGER / "captures" / f"{ident}.txt").write_bytes(data)


def _write(file: Path, store: sqlite3.Connection, table: str, columns: Sequence[str], order: str) -> None:
    quoted = ", ".join(f'"{column}"' for column in columns)
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(store.execute(f'SELECT {quoted} FROM "{table}" ORDER BY {order}'))


def is_ledger_folder(folder: Path) -> bool:
    """Say whether a folder holds a history beside its evidence."""
    return (folder / LEDGER / "entries.csv").is_file()


def import_ledger(path: Path, folder: Path) -> Ledger:
    """Make a store from a folder that :func:`export_ledger` wrote, with its whole history, and check it.

    A history that does not lead to the tables, or a file that is not what its name says, is refused.
    """
    if path.exists():
        raise MensuraError(f"{path}: exists; choose another name")
    raws = completed(read_raw(folder))
    from_raw(raws, origin=str(folder))
    with new_store(path) as store:
        create_tables(store, {name: raw.frame for name, raw in raws.items()})
        for name in ("entries", "cells"):
            table, columns = _FILES[name]
            _insert(store, table, _records(folder / LEDGER / f"{name}.csv", columns))
        _insert(store, "ledger_updates", [_update(folder, *row) for row in _listed(folder, "updates")])
        _insert(store, "ledger_captures", [_capture(folder, *row) for row in _listed(folder, "captures")])
        verify_history(store, read_state(store), str(folder))
    return open_ledger(path)


def _listed(folder: Path, name: str) -> list[list[Any]]:
    return _records(folder / LEDGER / f"{name}.csv", _FILES[name][1])


def _insert(store: sqlite3.Connection, table: str, rows: Sequence[Sequence[Any]]) -> None:
    try:
        store.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(LEDGER_TABLES[table]))})", rows)
    except sqlite3.IntegrityError as fault:
        raise MensuraError(
            f"{table.removeprefix('ledger_')}.csv: {fault}; expected each row once, without missing cells. Export the "
            "store again"
        ) from fault


def _records(file: Path, columns: Sequence[str]) -> list[list[Any]]:
    """Read a CSV file of the ledger exactly: an empty cell is blank, nothing is trimmed."""
    if not file.is_file():
        raise MensuraError(f"{file}: no such file; the folder is not a complete ledger. Export the store again")
    try:
        records = list(csv.reader(io.StringIO(file.read_bytes().decode("utf-8"), newline=""), strict=True))
    except (csv.Error, UnicodeDecodeError) as fault:
        raise MensuraError(
            f"{file}: not a readable UTF-8 CSV file: {fault}; save it as UTF-8 or export the store again"
        ) from fault
    if not records or tuple(records[0]) != tuple(columns):
        raise MensuraError(f"{file}: expected the columns {', '.join(columns)}")
    return [_record(file, number, record, columns) for number, record in enumerate(records[1:], start=2)]


def _record(file: Path, number: int, record: Sequence[str], columns: Sequence[str]) -> list[Any]:
    if len(record) != len(columns):
        raise MensuraError(f"{file}, record {number}: {len(record)} cells; expected {len(columns)}")
    row: list[Any] = []
    for column, cell in zip(columns, record, strict=True):
        if column in _NUMBERS and cell and not re.fullmatch(r"\d{1,15}", cell):
            raise MensuraError(f"{file}, record {number}: {column} is {cell[:40]!r}; expected a whole number")
        row.append(None if not cell else int(cell) if column in _NUMBERS else cell)
    return row


def _named_file(folder: Path, kind: str, ident: object, digits: int, suffix: str, most: int) -> bytes:
    """Read a file that is named by its hash, and check that it is what its name says."""
    if not re.fullmatch(rf"[0-9a-f]{{{digits}}}", str(ident)):
        raise MensuraError(
            f"{folder / LEDGER / kind}.csv: {str(ident)[:80]!r} is not a hash; expected {digits} hexadecimal digits. "
            "Export the store again"
        )
    file = folder / LEDGER / kind / f"{ident}{suffix}"
    if not file.is_file() or file.stat().st_size > most:
        raise MensuraError(
            f"{file}: no such file, or larger than {most:,} bytes, but {kind}.csv lists it; export the store again"
        )
    data = file.read_bytes()
    if hashlib.sha256(data).hexdigest()[:digits] != ident:
        raise MensuraError(f"{file}: the content does not match its hash; restore the file or export the store again")
    return data


def _update(folder: Path, ident: object, *facts: object) -> list[object]:
    text = _named_file(folder, "updates", ident, ID_DIGITS, ".toml", MOST_TEXT * 4)
    return [ident, text.decode("utf-8"), *facts]


def _capture(folder: Path, ident: object, *facts: object) -> list[object]:
    return [ident, *facts, _named_file(folder, "captures", ident, 64, ".txt", MOST_BYTES)]
