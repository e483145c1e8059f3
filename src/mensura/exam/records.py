"""What the store keeps: its tables, a sitting, an answer, a refusal; and the codes of sittings.

Codes are random and kept as hashes only; with one a person deletes everything about the sitting.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path

from mensura.core.checksums import keep_sums
from mensura.core.errors import MensuraError
from mensura.exam.design import ExamForm
from mensura.exam.file import Exam
from mensura.exam.scoring import Given
from mensura.exam.settings import english

LONGEST_ANSWER = 5_000
"""Characters of an open answer."""
VERSION = 3
"""Version of the schema: 2 has the language of a sitting and the panel's id as it is, 3 checksums of all tables."""
CHECKED = {
    "meta": "name, value",
    "sittings": "number, person, code, panel, form, begun, about, started, finished, completion, language",
    "tokens": "token, used",
    "shown": "number, item, at, left",
    "answers": "number, item, answer, edit, at, seconds, late",
}
"""Tables with checksums, and their columns."""
SCHEMA = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE sittings (number INTEGER PRIMARY KEY AUTOINCREMENT, person TEXT NOT NULL UNIQUE, "
    "code BLOB NOT NULL UNIQUE, panel TEXT UNIQUE, form TEXT NOT NULL, begun REAL NOT NULL, about TEXT, started REAL, "
    "finished REAL, completion TEXT NOT NULL, language TEXT)",
    "CREATE TABLE tokens (token BLOB PRIMARY KEY, used REAL NOT NULL) WITHOUT ROWID",
    "CREATE TABLE shown (number INTEGER NOT NULL, item TEXT NOT NULL, at REAL NOT NULL, "
    "left INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (number, item)) WITHOUT ROWID",
    "CREATE TABLE answers (number INTEGER NOT NULL, item TEXT NOT NULL, answer TEXT NOT NULL, edit INTEGER NOT NULL, "
    "at REAL NOT NULL, seconds REAL NOT NULL, late INTEGER NOT NULL, PRIMARY KEY (number, item)) WITHOUT ROWID",
)


class RefusedError(MensuraError):
    """A taker's request that is not accepted: the key of a text, its values, and ``status`` as HTTP has it."""

    def __init__(self, key: str, status: int = 409, **values: object) -> None:
        super().__init__(english()(key, **values))
        self.key, self.status, self.values = key, status, values


@dataclass(frozen=True)
class Sitting:
    """One person's pass through the exam. ``completion`` is the code shown at the end."""

    number: int
    person: str
    form: ExamForm
    begun: float
    about: dict[str, str] | None
    started: float | None
    finished: float | None
    completion: str
    language: str | None = None


@dataclass(frozen=True)
class StoredAnswer:
    """The last answer to one item: its version ``edit``, counted from 1, and ``at``, when the person made it."""

    given: Given
    edit: int
    at: float
    seconds: float
    late: bool


class OvertakenError(RefusedError):
    """An answer whose page did not know the version that is stored; ``is_newer``: the person made that one later."""

    def __init__(self, stored: StoredAnswer, *, is_newer: bool) -> None:
        super().__init__("overtaken")
        self.stored, self.is_newer = stored, is_newer


def refuse_foreign(exam: Exam, sitting: Sitting, item: str, given: Given) -> None:
    """Refuse an answer to an item of another form, or of a shape that the item cannot have."""
    if item not in sitting.form.items:
        raise RefusedError("foreign_item", 404)
    options = len(exam.by_name[item].options)
    if isinstance(given, str):
        if options or len(given) > LONGEST_ANSWER:
            raise RefusedError("too_long", 422, n=LONGEST_ANSWER)
    elif not options or len(set(given)) < len(given) or any(not 0 <= place < options for place in given):
        raise RefusedError("no_option", 422)


# Codes

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
        keep_sums(db, CHECKED)
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
        sitting = db.execute("SELECT number FROM sittings WHERE code = ?", (hash_of(plain_code(code)),)).fetchone()
        for table in ("answers", "shown", "sittings") if sitting else ():
            db.execute(f"DELETE FROM {table} WHERE number = ?", sitting)
        if sitting:
            db.execute("UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE name = 'forgotten'")
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")
    return sitting is not None


def purge(db: sqlite3.Connection) -> bool:
    """Remove deleted text from the file and its log, without waiting; False while another program reads the file."""
    (patience,) = db.execute("PRAGMA busy_timeout").fetchone()
    db.execute("PRAGMA busy_timeout = 0")
    try:
        return bool(db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0)
    finally:
        db.execute(f"PRAGMA busy_timeout = {patience}")


def code_from(key: bytes, text: str) -> str:
    """Return the code that belongs to a text, such as a panel's id; only the key of the store makes it."""
    digest = hmac.new(key, f"code {text}".encode("utf-8", "replace"), "sha256").digest()
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in digest[:LENGTH])


def plain_code(code: str) -> str:
    """Return a code without the spaces and dashes that people add."""
    return "".join(char for char in code.upper() if char in _ALPHABET)[: 2 * LENGTH]


def hash_of(text: str) -> bytes:
    """Return the hash under which a code or token is kept."""
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).digest()
