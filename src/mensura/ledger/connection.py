"""Opening the store's SQLite file: one transaction per visit, faults of the disk in words."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mensura.core.errors import MensuraError

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
