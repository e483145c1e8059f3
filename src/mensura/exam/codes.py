"""Codes of sittings: made at random, kept as hashes only; with one a person deletes everything about the sitting."""

from __future__ import annotations

import hashlib
import secrets
import sqlite3
import time
from pathlib import Path

from mensura.core.errors import MensuraError

_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
LENGTH = 20
"""Characters of a code: 100 bits, which nobody finds by trying."""
PATIENCE = 10.0
"""Seconds for which a command tries to remove deleted text while another program reads the file."""


def new_code(length: int = LENGTH) -> str:
    """Return a random code without letters that are easily mistaken."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))


def forget_code(path: Path, code: str) -> bool:
    """Delete everything about the sitting of a code from a store; False while another program keeps its text there."""
    if not path.is_file():
        raise MensuraError(f"{path}: no such file; give the store of mensura exam serve")
    db = sqlite3.connect(path, isolation_level=None, timeout=30.0)
    try:
        if not forget_in(db, code):
            raise MensuraError("code: no answers belong to it; check the code")
        until = time.monotonic() + PATIENCE
        while not (is_purged := purge(db)) and time.monotonic() < until:
            time.sleep(0.2)
        return is_purged
    except sqlite3.DatabaseError as fault:
        raise MensuraError(f"{path}: not a store of answers ({fault}); choose another file") from fault
    finally:
        db.close()


def forget_in(db: sqlite3.Connection, code: str) -> bool:
    """Delete in an open store; False where the code is unknown."""
    db.execute("PRAGMA secure_delete = ON")
    db.execute("BEGIN IMMEDIATE")
    try:
        found = db.execute("SELECT number FROM sittings WHERE code = ?", (hash_of(plain_code(code)),)).fetchone()
        for table in ("answers", "shown", "sittings") if found else ():
            db.execute(f"DELETE FROM {table} WHERE number = ?", found)
        if found:
            db.execute("UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE name = 'forgotten'")
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")
    return found is not None


def purge(db: sqlite3.Connection) -> bool:
    """Remove deleted text from the file and its log, without waiting; False while another program reads the file."""
    (patience,) = db.execute("PRAGMA busy_timeout").fetchone()
    db.execute("PRAGMA busy_timeout = 0")
    try:
        return bool(db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0)
    finally:
        db.execute(f"PRAGMA busy_timeout = {patience}")


def plain_code(code: str) -> str:
    """Return a code without the spaces and dashes that people add."""
    return "".join(char for char in code.upper() if char in _ALPHABET)[: 2 * LENGTH]


def hash_of(text: str) -> bytes:
    """Return the hash under which a code or token is kept."""
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).digest()
