"""The file of a journal: its tables, and what makes a file one."""

from __future__ import annotations

import sqlite3
from contextlib import ExitStack
from pathlib import Path

from mensura.core.errors import MensuraError

_APPLICATION = 0x4D4A524E  # "MJRN", in the header of the file
_FORMAT = 1
_LOCK_SECONDS = 120.0

_TABLES = """
CREATE TABLE dictionaries (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE texts (id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, body BLOB NOT NULL);
CREATE TABLE owners (
  id INTEGER PRIMARY KEY AUTOINCREMENT, host TEXT NOT NULL, pid INTEGER NOT NULL, born TEXT NOT NULL, beat REAL NOT NULL
);
CREATE TABLE batches (
  id INTEGER PRIMARY KEY AUTOINCREMENT, reference TEXT NOT NULL UNIQUE, model TEXT NOT NULL, endpoint TEXT NOT NULL,
  remote TEXT NOT NULL DEFAULT '', state TEXT NOT NULL, calls INTEGER NOT NULL, made REAL NOT NULL, owner INTEGER
);
CREATE TABLE calls (
  id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, state INTEGER NOT NULL, owner INTEGER, batch INTEGER,
  settings INTEGER NOT NULL, system INTEGER NOT NULL, schema INTEGER NOT NULL, question BLOB NOT NULL,
  answer BLOB, value TEXT, error TEXT, tokens_in INTEGER, tokens_out INTEGER, cost REAL, seconds REAL,
  attempts INTEGER, asked REAL NOT NULL, answered REAL
);
CREATE INDEX calls_open ON calls (state) WHERE state <> 1;
"""


def connect(path: Path | None, create: bool) -> sqlite3.Connection:
    """Open a journal's file, made anew where there is none (or in memory); what is committed is on the disk."""
    if path is not None and path.is_dir():
        raise MensuraError(f"{path}: a folder; give the file of a journal, such as journal.sqlite")
    if path is not None and not path.exists():
        if not create:
            raise MensuraError(f"{path}: no such journal")
        path.parent.mkdir(parents=True, exist_ok=True)
    try:
        connection = sqlite3.connect(
            ":memory:" if path is None else path, timeout=_LOCK_SECONDS, isolation_level=None, check_same_thread=False
        )
        with ExitStack() as on_a_fault:
            on_a_fault.callback(connection.close)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("BEGIN IMMEDIATE")
            _check_format(connection, path)
            connection.execute("COMMIT")
            on_a_fault.pop_all()
    except sqlite3.Error as fault:
        raise MensuraError(f"{path}: not a journal, or not to be written ({fault})") from fault
    return connection


def _check_format(connection: sqlite3.Connection, path: Path | None) -> None:
    """Make the tables of a new file; refuse a database that is no journal or of a later format."""
    kind = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    if empty:
        for statement in _TABLES.strip().split(";\n"):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {_FORMAT}")
    elif kind != _APPLICATION or version != _FORMAT:
        raise MensuraError(f"{path}: a database, but not a journal of format {_FORMAT}; choose another file")
