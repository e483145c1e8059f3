"""Make, open, upgrade and recover the file of a journal."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import zstandard

from mensura.core.errors import MensuraError
from mensura.llm.owners import living_owners
from mensura.llm.text_store import DamagedError, TextStore, row_checksum, split_answer

_APPLICATION = 0x4D4A524E  # "MJRN", in the header of the file
_FORMAT = 2
_LOCK_SECONDS = 120.0
_AT_ONCE = 1000
_CACHE_KIB = 65_536
_UNREADABLE_IN_A_ROW = 20_000

_CALLS = """
  id INTEGER PRIMARY KEY, key BLOB NOT NULL {unique}, state INTEGER NOT NULL, owner INTEGER, batch INTEGER,
  settings INTEGER NOT NULL, system INTEGER NOT NULL, schema INTEGER NOT NULL, question BLOB NOT NULL,
  answer BLOB, value TEXT, error TEXT, tokens_in INTEGER, tokens_out INTEGER, cost REAL, seconds REAL,
  attempts INTEGER, asked REAL NOT NULL, answered REAL, checksum INTEGER
"""
_TABLES = f"""
CREATE TABLE texts (id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, body BLOB NOT NULL);
CREATE TABLE batches (
  id INTEGER PRIMARY KEY AUTOINCREMENT, reference TEXT NOT NULL UNIQUE, model TEXT NOT NULL, endpoint TEXT NOT NULL,
  remote TEXT NOT NULL DEFAULT '', state TEXT NOT NULL, calls INTEGER NOT NULL, made REAL NOT NULL, owner INTEGER
);
CREATE TABLE calls ({_CALLS.format(unique="UNIQUE")});
CREATE INDEX calls_open ON calls (state) WHERE state <> 1;
CREATE TABLE replaced ({_CALLS.format(unique="")});
"""
CHECKED = "settings, system, schema, value, error, tokens_in, tokens_out, cost, seconds, attempts"
"""Columns that a row's checksum covers, after its key."""

Unpack: TypeAlias = Callable[[bytes], str]


def connect(path: Path | None, create: bool) -> sqlite3.Connection:
    """Open a journal's file, new where there is none (None: in memory); a commit is on the disk when it returns."""
    if path is not None and path.is_dir():
        raise MensuraError(f"{path}: a folder; give the file of a journal, such as journal.sqlite")
    if path is not None and not path.exists():
        if not create:
            raise MensuraError(f"{path}: no such journal; check the name of the journal")
        path.parent.mkdir(parents=True, exist_ok=True)
    try:
        connection = sqlite3.connect(
            ":memory:" if path is None else path, timeout=_LOCK_SECONDS, isolation_level=None, check_same_thread=False
        )
        with contextlib.ExitStack() as on_a_fault:
            on_a_fault.callback(connection.close)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
            connection.execute("BEGIN IMMEDIATE")
            _prepare(connection, path)
            connection.execute("COMMIT")
            on_a_fault.pop_all()
    except sqlite3.Error as fault:
        raise MensuraError(
            f"{path}: not a readable journal ({fault}); check the path. {recovery_hint(path)}"
        ) from fault
    except DamagedError as fault:
        raise MensuraError(f"{path}: {fault}. {recovery_hint(path)}") from fault
    return connection


def recovery_hint(path: Path | None) -> str:
    """Return the sentence that names the command for damaged journals."""
    return f"If the journal is damaged, run: mensura llm recover {path}"


def _prepare(connection: sqlite3.Connection, path: Path | None) -> None:
    """Make the tables of a new file and upgrade those of format 1; refuse any other file."""
    if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
        make_tables(connection)
        return
    version = _format_of(connection)
    if version == 1:
        _upgrade(connection)
    elif version != _FORMAT:
        raise MensuraError(f"{path}: a database, but not a journal of format {_FORMAT}; choose another file")


def _format_of(connection: sqlite3.Connection) -> int | None:
    """Return the format of a journal, None for another database."""
    kind = connection.execute("PRAGMA application_id").fetchone()[0]
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    return version if kind == _APPLICATION else None


def make_tables(connection: sqlite3.Connection) -> None:
    """Make the tables of a new journal."""
    for statement in _TABLES.strip().split(";\n"):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
    connection.execute(f"PRAGMA user_version = {_FORMAT}")


# Format 1: texts packed with dictionaries kept in the file, no checksums, owners in a table


def _upgrade(connection: sqlite3.Connection) -> None:
    """Pack every text of a journal of format 1 again, with checksums; one transaction."""
    unpack, store = _unpacker_1(connection), TextStore(connection, str)
    connection.execute("ALTER TABLE calls ADD COLUMN checksum INTEGER")
    for number, body in connection.execute("SELECT id, body FROM texts").fetchall():
        connection.execute("UPDATE texts SET body = ? WHERE id = ?", (store.pack(unpack(body)), number))
    last = connection.execute("SELECT max(id) FROM calls").fetchone()[0] or 0
    for start in range(0, last + 1, _AT_ONCE):
        statement = f"SELECT id, question, answer, key, {CHECKED} FROM calls WHERE id >= ? AND id < ?"
        for number, question, answer, *cells in connection.execute(statement, (start, start + _AT_ONCE)).fetchall():
            packed = None if answer is None else store.pack(unpack(answer))
            checksum = None if answer is None else row_checksum(*cells)
            values = (store.pack(unpack(question)), packed, checksum, number)
            connection.execute("UPDATE calls SET question = ?, answer = ?, checksum = ? WHERE id = ?", values)
    connection.execute("UPDATE calls SET owner = NULL")
    connection.execute("UPDATE batches SET owner = NULL")
    connection.execute("DROP TABLE owners")
    connection.execute("DROP TABLE dictionaries")
    connection.execute(f"CREATE TABLE replaced ({_CALLS.format(unique='')})")
    connection.execute(f"PRAGMA user_version = {_FORMAT}")


def _unpacker_1(connection: sqlite3.Connection) -> Unpack:
    """Return the reader of texts in format 1: a byte that names the dictionary, then Zstandard or DEFLATE."""
    dictionaries = {255: b"", 0: b""} | dict(connection.execute("SELECT id, data FROM dictionaries"))
    kind = zstandard.DICT_TYPE_RAWCONTENT
    readers = {
        number: zstandard.ZstdDecompressor(
            dict_data=zstandard.ZstdCompressionDict(data, dict_type=kind) if data else None
        )
        for number, data in dictionaries.items()
    }

    def unpack(blob: bytes) -> str:
        try:
            if blob.startswith(zstandard.FRAME_HEADER, 1):
                return readers[blob[0]].decompress(blob[1:]).decode("utf-8")
            return zlib.decompressobj(-zlib.MAX_WBITS, zdict=dictionaries[blob[0]]).decompress(blob[1:]).decode("utf-8")
        except (zstandard.ZstdError, zlib.error, KeyError, IndexError, UnicodeDecodeError) as fault:
            raise DamagedError(f"a text is damaged ({fault})") from None

    return unpack


# Recovery


@dataclass(frozen=True)
class Recovery:
    """The outcome of a recovery: ``answers`` kept, ``lost`` calls, and the place of the damaged file."""

    answers: int
    lost: int
    damaged: Path

    def __str__(self) -> str:
        rest = "no call was lost" if not self.lost else f"{self.lost:,} calls could not be read and will be asked again"
        return f"{self.answers:,} answers recovered; {rest}. The damaged file is kept as {self.damaged}"


def recover_journal(path: str | Path) -> Recovery:
    """Replace a damaged journal by one with everything that can still be read and whose checksums agree."""
    path = Path(path)
    if not path.is_file():
        raise MensuraError(f"{path}: no such journal; check the name of the journal")
    if living_owners(path):
        raise MensuraError(f"{path}: another process is using the journal. Wait for it or stop it, then run again.")
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        copy, fresh = Path(folder) / "old.sqlite", Path(folder) / "new.sqlite"
        for ending in ("", "-wal"):
            if (part := path.with_name(path.name + ending)).exists():
                shutil.copyfile(part, copy.with_name(copy.name + ending))
        with (
            contextlib.closing(sqlite3.connect(copy, isolation_level=None)) as old,
            contextlib.closing(connect(fresh, create=True)) as new,
        ):
            try:
                answers, lost = _salvage(old, new)
            except sqlite3.Error as fault:
                raise MensuraError(f"{path}: nothing can be read from it ({fault}). Restore a backup.") from fault
            new.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        damaged = _free_name(path)
        path.rename(damaged)
        for ending in ("-wal", "-shm"):
            path.with_name(path.name + ending).unlink(missing_ok=True)
        fresh.rename(path)
    return Recovery(answers, lost, damaged)


def _salvage(old: sqlite3.Connection, new: sqlite3.Connection) -> tuple[int, int]:
    tables = {name for (name,) in old.execute("SELECT name FROM sqlite_master")}
    version = 1 if "dictionaries" in tables else _FORMAT
    store = TextStore(new, str)
    unpack = _unpacker_1(old) if version == 1 else store.unpack
    lost = answers = 0
    new.execute("BEGIN IMMEDIATE")
    texts = set()
    for number, digest, body in filter(None, _rows(old, "texts", "id, digest, body")):
        with contextlib.suppress(DamagedError):
            new.execute("INSERT OR IGNORE INTO texts VALUES (?, ?, ?)", (number, digest, store.pack(unpack(body))))
            texts.add(number)
    columns = "id, reference, model, endpoint, remote, state, calls, made, NULL"
    for row in filter(None, _rows(old, "batches", columns)):
        new.execute("INSERT OR IGNORE INTO batches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    for table in ("calls", "replaced"):
        if table not in tables:
            continue
        checksum = "NULL" if version == 1 else "checksum"
        names = f"id, key, state, batch, question, answer, asked, answered, {checksum}, {CHECKED}"
        for row in _rows(old, table, names):
            if row is None or not _good(row, unpack, texts, version):
                lost += 1
                continue
            number, key, state, batch, question, answer, asked, answered, _, *cells = row
            packed = None if answer is None else store.pack(unpack(answer))
            values = (number, key, state, batch, store.pack(unpack(question)), packed, asked, answered)
            marks = ", ".join("?" * (len(values) + len(cells) + 1))
            statement = (
                f"INSERT OR IGNORE INTO {table} (id, key, state, batch, question, answer, asked, answered, checksum, "
                f"{CHECKED}) VALUES ({marks})"
            )
            answers += state == 1 and table == "calls"
            new.execute(statement, (*values, None if answer is None else row_checksum(key, *cells), *cells))
    new.execute("COMMIT")
    return answers, lost


def _good(row: tuple[Any, ...], unpack: Unpack, texts: set[int], version: int) -> bool:
    """Return whether a call can be read whole and its checksum agrees."""
    _, key, state, _, question, answer, _, _, checksum, *cells = row
    try:
        if state not in range(4) or not set(cells[:3]) <= texts:
            return False
        unpack(question)
        if answer is not None:
            split_answer(unpack(answer))
        return answer is None or version == 1 or checksum == row_checksum(key, *cells)
    except (DamagedError, TypeError, ValueError, AttributeError):
        return False


def _rows(connection: sqlite3.Connection, table: str, columns: str) -> Iterator[Any]:
    """Yield the rows of a table; None for each one that cannot be read."""
    start = unreadable = 0
    while unreadable < _UNREADABLE_IN_A_ROW:
        statement = f"SELECT {columns} FROM {table} WHERE id >= ? ORDER BY id LIMIT ?"
        try:
            rows = connection.execute(statement, (start, _AT_ONCE)).fetchall()
        except sqlite3.Error:
            for number in range(start, start + _AT_ONCE):
                try:
                    found = connection.execute(f"SELECT {columns} FROM {table} WHERE id = ?", (number,)).fetchall()
                    yield from found
                    unreadable = 0 if found else unreadable
                except sqlite3.Error:
                    yield None
                    unreadable += 1
            start += _AT_ONCE
            continue
        if not rows:
            return
        yield from rows
        start, unreadable = rows[-1][0] + 1, 0


def _free_name(path: Path) -> Path:
    """Return a name for the damaged file that no other file has."""
    name = path.with_name(f"{path.name}.damaged")
    number = 1
    while name.exists():
        number += 1
        name = path.with_name(f"{path.name}.damaged-{number}")
    return name
