"""Opening the store's SQLite file: one transaction per visit, faults of the disk in words."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from mensura.core.errors import MensuraError
from mensura.core.files import atomic_path
from mensura.evidence.schema import TABLES
from mensura.evidence.store import SCHEMA

_PATIENCE = 20.0  # seconds to wait for another writer, who needs a fraction of one

BACKUP = "a backup, or make the store again from an exported folder (mensura evidence init --from FOLDER)"
"""What to restore in place of a damaged store."""
_WORDS = {
    sqlite3.SQLITE_FULL: "the disk is full (or a quota is); make room and try again",
    sqlite3.SQLITE_READONLY: "the file or its folder cannot be written; copy the store to where you may write",
    sqlite3.SQLITE_PERM: "the file or its folder cannot be written; copy the store to where you may write",
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened, or its folder cannot be written",
    sqlite3.SQLITE_BUSY: "another program holds the store for long; try again when it is done",
    sqlite3.SQLITE_IOERR: "the disk failed or took no more",
    sqlite3.SQLITE_CORRUPT: f"the file is damaged; restore {BACKUP}",
    sqlite3.SQLITE_NOTADB: "this is no SQLite file; expected a store made by mensura evidence init",
}
_PRIMARY = 0xFF  # the low byte of a result code is its kind


class ConflictError(MensuraError):
    """A change that collides with another one; nothing was changed. The message names what stands in the way."""


@contextmanager
def transaction(path: Path, *, writing: bool) -> Iterator[sqlite3.Connection]:
    """Yield a connection inside one transaction: all of it is kept, or on any fault nothing.

    A writer holds the only write lock from the first line on, so that what it reads is what it changes. Readers see
    one state throughout. A store that a killed writer left is rolled back by whoever opens it first.
    """
    if not path.is_file():
        raise MensuraError(f"{path}: no such store; mensura evidence init --store {path} makes one")
    try:
        store = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
    except sqlite3.Error as fault:
        raise in_words(fault, path) from fault
    try:
        store.execute("PRAGMA synchronous = EXTRA" if writing else "PRAGMA query_only = ON")
        store.execute("BEGIN IMMEDIATE" if writing else "BEGIN")
        yield store
        store.execute("COMMIT" if writing else "ROLLBACK")
    except sqlite3.Error as fault:
        raise in_words(fault, path) from fault
    finally:
        store.close()  # rolls back what was not committed


def in_words(fault: sqlite3.Error, path: Path) -> MensuraError:
    """Return a fault of SQLite as a refusal that says what to do."""
    code = getattr(fault, "sqlite_errorcode", None)
    words = _WORDS.get(code & _PRIMARY) if code is not None else None
    message = f"{path}: {words or fault}; nothing was changed"
    return MensuraError(f"{message} ({fault})" if words else f"{message}. Run mensura evidence check on the store")


# The tables of a store beside the evidence itself, their version, and the way up from older ones.
#
# Schema 0 is a plain store: the evidence tables, as ``Evidence.save`` writes them. Schema 1 adds the ledger.

LEDGER_TABLES: dict[str, tuple[str, ...]] = {
    "ledger_entries": (
        *("entry INTEGER PRIMARY KEY", "kind TEXT NOT NULL", "title TEXT NOT NULL", "update_id TEXT", "undoes INTEGER"),
        *("by TEXT NOT NULL", "time TEXT NOT NULL", "fingerprint TEXT NOT NULL"),
    ),
    "ledger_cells": (
        *("entry INTEGER NOT NULL", "place INTEGER NOT NULL", "table_name TEXT NOT NULL", "row_key TEXT NOT NULL"),
        *("field TEXT NOT NULL", "old TEXT", "new TEXT", "line INTEGER"),
    ),
    "ledger_updates": (
        *("update_id TEXT PRIMARY KEY", "text TEXT NOT NULL", "by TEXT NOT NULL", "time TEXT NOT NULL"),
        "pending INTEGER NOT NULL",
    ),
    "ledger_captures": (
        *("capture TEXT PRIMARY KEY", "source TEXT NOT NULL", "address TEXT NOT NULL", "by TEXT NOT NULL"),
        *("time TEXT NOT NULL", "format TEXT", "data BLOB NOT NULL"),
    ),
}
_INDEX = "CREATE INDEX ledger_cells_of ON ledger_cells (table_name, row_key, field)"


def create_tables(store: sqlite3.Connection, tables: Mapping[str, pl.DataFrame]) -> None:
    """Make the tables of a store of this schema: the evidence given (cells as text), and an empty ledger."""
    for table in TABLES.values():
        columns = [column.name for column in table.columns]
        quoted = ", ".join(f'"{column}" TEXT' for column in columns)
        key = ", ".join(f'"{column}"' for column in table.key)
        store.execute(f'DROP TABLE IF EXISTS "{table.name}"')
        store.execute(f'CREATE TABLE "{table.name}" ({quoted})')
        store.execute(f'CREATE UNIQUE INDEX "{table.name}_key" ON "{table.name}" ({key})')
        frame = tables[table.name]
        cells = frame.select(frame[name] if name in frame.columns else pl.lit(None).alias(name) for name in columns)
        rows = (
            [None if cell is None or not cell.strip() else cell.strip() for cell in row] for row in cells.iter_rows()
        )
        store.executemany(f'INSERT INTO "{table.name}" VALUES ({", ".join("?" * len(columns))})', rows)
    for name, columns_of in LEDGER_TABLES.items():
        store.execute(f"CREATE TABLE {name} ({', '.join(columns_of)})")
    store.execute(_INDEX)
    store.execute(f"PRAGMA user_version = {SCHEMA}")


def schema_of(store: sqlite3.Connection) -> int:
    """Return the version of a store's tables."""
    return int(store.execute("PRAGMA user_version").fetchone()[0])


def check_layout(store: sqlite3.Connection, path: Path) -> None:
    """Refuse a store of this schema that lacks a table, a column or its first entry."""
    expected = {name: {column.name for column in table.columns} for name, table in TABLES.items()}
    expected |= {name: {column.split()[0] for column in columns} for name, columns in LEDGER_TABLES.items()}
    for name, columns in expected.items():
        lacking = sorted(columns - {row[1] for row in store.execute(f'PRAGMA table_info("{name}")')})
        if lacking:
            what = f"the table {name}" if len(lacking) == len(columns) else f"column {lacking[0]} of the table {name}"
            raise MensuraError(f"{path}: the store is damaged, for {what} is missing; restore {BACKUP}")
    if store.execute("SELECT 1 FROM ledger_entries WHERE entry = 0").fetchone() is None:
        raise MensuraError(f"{path}: the store is damaged, for its log has no first entry; restore {BACKUP}")


def back_up(path: Path, version: int) -> Path:
    """Copy a store whole, beside it, before its tables are changed; an earlier copy is never written over."""
    copy = path.with_name(f"{path.name}.schema-{version}.bak")
    if copy.exists():
        raise MensuraError(f"{copy}: a backup stands there already; move it away, then open the store again")
    try:
        with (
            atomic_path(copy) as part,
            closing(sqlite3.connect(path)) as old,
            closing(sqlite3.connect(part)) as new,
        ):
            old.backup(new)
    except sqlite3.Error as fault:
        raise in_words(fault, path) from fault
    return copy


# Who and when, as the ledger writes them.

_LONGEST_NAME = 100


def written_time(when: datetime) -> str:
    """Return an instant as the ledger writes it: UTC, to the second."""
    if when.tzinfo is None:
        raise MensuraError("when: a time without its zone; expected an aware datetime")
    return when.astimezone(UTC).isoformat(timespec="seconds")


def signed(by: str) -> str:
    """Refuse a reviewer's name that is empty, long, or would not show as one line."""
    name = by.strip()
    if not 0 < len(name) <= _LONGEST_NAME or not name.isprintable():
        raise MensuraError(f"by: got {by[:_LONGEST_NAME]!r}; expected a name of at most {_LONGEST_NAME} characters")
    return name
