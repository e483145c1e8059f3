"""What the store keeps: its tables, a sitting, an answer, a refusal; the codes of sittings; the repair of damage.

Codes are random and kept as hashes only; with one a person deletes everything about the sitting.
"""

import hashlib
import hmac
import json
import os
import secrets
import sqlite3
import struct
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mensura.core.checksums import UNREADABLE, damaged_tables, keep_sums, replaced_store, sums_of
from mensura.core.errors import MensuraError
from mensura.exam.design import ExamForm
from mensura.exam.file import Exam
from mensura.exam.scoring import Given
from mensura.exam.settings import english

LONGEST_ANSWER = 5_000
"""Characters of an open answer."""
VERSION = 4
"""Version of the schema, and of what the digest of an exam covers."""
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
    except UNREADABLE as fault:
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


# A damaged store: is its log whole, and a new store with everything that can still be read

_WAL_HEADER, _FRAME_HEADER = 32, 24
_MAGIC = 0x377F0682  # the lowest bit states the order of bytes in checksums
_JSON = {"form", "about", "answer"}
_KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("number", "edit", "left", "late"), (int,)),
    **dict.fromkeys(("begun", "started", "finished", "at", "seconds", "used"), (int, float)),
    **dict.fromkeys(("code", "token"), (bytes,)),
}
_MAY_BE_EMPTY = {"panel", "about", "started", "finished", "language"}


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
        with closing(sqlite3.connect(copy, isolation_level=None)) as old, closing(sqlite3.connect(fresh)) as new, new:
            whole, kept = _salvage(old, new)
    counts = ", ".join(f"{kept[table]} rows of {table}" for table in ("sittings", "answers"))
    sure = f"Whole by their checksums: {', '.join(whole)}." if whole else "No table is whole by its checksum."
    return f"kept {counts}. {sure} Compare the others with a backup. The damaged file is kept as {damaged}"


def _salvage(old: sqlite3.Connection, new: sqlite3.Connection) -> tuple[list[str], dict[str, int]]:
    """Copy what can be read; return the tables that are whole, and the rows of each."""
    old.execute("PRAGMA writable_schema = ON")  # one damaged statement of the schema would hide every table
    for statement in SCHEMA:
        new.execute(statement)
        renewal = "UPDATE sqlite_master SET sql = ?1 WHERE name = ?2 AND sql IS NOT ?1"
        old.execute(renewal, (statement, statement.split()[2]))
    old.execute("PRAGMA writable_schema = RESET")
    try:
        damaged = damaged_tables(old, CHECKED)
    except UNREADABLE:
        damaged = list(CHECKED)
    kept = {}
    for table, columns in CHECKED.items():
        names = [name.strip() for name in columns.split(",")]
        marks = ", ".join("?" * len(names))
        rows = [row for row in _rows(old, table, columns) if _is_sound(dict(zip(names, row, strict=True)))]
        if table == "meta":
            rows = [row for row in rows if not row[0].startswith("checksum")]
        new.executemany(f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({marks})", rows)
        kept[table] = new.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    facts = {"forgotten": "0", "closed": "0", "opened": "0", "pepper": secrets.token_hex(32)}
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
        except UNREADABLE:
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
