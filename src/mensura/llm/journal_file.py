"""The file of a journal: tables, packed texts with checksums, the lock of the process that asks, and recovery."""

import hashlib
import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

import zstandard

from mensura.core.checksums import replaced_store
from mensura.core.errors import MensuraError
from mensura.llm.protocol import KEY_BYTES

_APPLICATION = 0x4D4A524E  # "MJRN", in the header of the file
_FORMAT = 2
_LOCK_SECONDS = 120.0
_CACHE_KIB = 65_536
_TEXTS_REMEMBERED = 10_000
_CALLS = """
  id INTEGER PRIMARY KEY, key BLOB NOT NULL {unique}, state INTEGER NOT NULL,
  settings INTEGER NOT NULL, system INTEGER NOT NULL, schema INTEGER NOT NULL, question BLOB NOT NULL,
  answer BLOB, value TEXT, error TEXT, tokens_in INTEGER, tokens_out INTEGER, cost REAL, seconds REAL,
  attempts INTEGER, asked REAL NOT NULL, answered REAL, checksum INTEGER
"""
_TABLES = f"""
CREATE TABLE texts (id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, body BLOB NOT NULL);
CREATE TABLE calls ({_CALLS.format(unique="UNIQUE")});
CREATE INDEX calls_open ON calls (state) WHERE state <> 1;
CREATE TABLE replaced ({_CALLS.format(unique="")});
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_FORMAT}
"""
_MOST_CHECKED = 64 * 2**20
"""Bytes of a journal whose pages are checked when it is opened: larger ones would take seconds."""
CHECKED = "settings, system, schema, value, error, tokens_in, tokens_out, cost, seconds, attempts"
"""Columns that a row's checksum covers, after its key."""

Redact: TypeAlias = Callable[[str], str]


class DamagedError(MensuraError):
    """A part of a journal whose checksum differs from its content."""


def storable(text: str) -> str:
    """Return a text that every file and table can contain: halves of characters become U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _damaged_text(reason: object) -> DamagedError:
    return DamagedError(f"a text is damaged ({reason})")


def split_answer(joined: str) -> tuple[str, str]:
    """Return the text and the rationale that were joined; raises :class:`DamagedError` where they were not."""
    length, _, rest = joined.partition(":")
    if not length.isdecimal():
        raise _damaged_text("no length before it")
    return rest[: int(length)], rest[int(length) :]


def row_checksum(key: bytes, *cells: object) -> int:
    """Return a checksum of the cells of an answer that are not packed; packed texts carry their own."""
    return zlib.crc32(repr((key, *cells)).encode("utf-8"))


class TextStore:
    """The texts of one journal, for one thread at a time; keys are hidden before a text is packed."""

    def __init__(self, connection: sqlite3.Connection, redact: Redact) -> None:
        self._connection = connection
        self._redact = redact
        self._numbers: dict[str, int] = {}
        self._compress = zstandard.ZstdCompressor(level=3, write_checksum=True).compress
        self._decompress = zstandard.ZstdDecompressor().decompress

    def forget(self) -> None:
        """Forget the numbers of shared texts, after a rollback."""
        self._numbers.clear()

    def pack(self, text: str) -> bytes:
        """Return a text compressed, with a checksum."""
        return self._compress(storable(self._redact(text)).encode("utf-8"))

    def unpack(self, blob: bytes) -> str:
        """Return a packed text; raises :class:`DamagedError` where its checksum differs."""
        try:
            return self._decompress(blob).decode("utf-8")
        except (zstandard.ZstdError, UnicodeDecodeError, TypeError) as fault:
            raise _damaged_text(fault) from None

    def keep(self, text: str) -> int:
        """Return the number of a text that many questions share; it is kept once."""
        if text not in self._numbers:
            if len(self._numbers) >= _TEXTS_REMEMBERED:
                self._numbers.clear()
            digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=KEY_BYTES).digest()
            insert = "INSERT INTO texts (digest, body) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING"
            self._connection.execute(insert, (digest, self.pack(text)))
            row = self._connection.execute("SELECT id FROM texts WHERE digest = ?", (digest,)).fetchone()
            self._numbers[text] = row[0]
        return self._numbers[text]


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
        with ExitStack() as on_a_fault:
            on_a_fault.callback(connection.close)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
            connection.execute("BEGIN IMMEDIATE")
            _prepare(connection, path)
            connection.execute("COMMIT")
            on_a_fault.pop_all()
    except (sqlite3.Error, UnicodeDecodeError) as fault:
        raise MensuraError(f"{path}: no readable journal ({fault}); check the path. {recovery_hint(path)}") from fault
    return connection


def recovery_hint(path: Path | None) -> str:
    """Return the sentence that names the command for damaged journals."""
    return f"If the journal is damaged, run: mensura llm status {path} --recover"


def _prepare(connection: sqlite3.Connection, path: Path | None) -> None:
    """Make the tables of a new file; refuse another database and a journal of another format."""
    if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
        for statement in _TABLES.strip().split(";\n"):
            connection.execute(statement)
        return
    names = ("application_id", "user_version")
    if tuple(connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names) != (_APPLICATION, _FORMAT):
        raise MensuraError(f"{path}: a database, but not a journal of format {_FORMAT}; choose another file")
    if path is not None and path.stat().st_size <= _MOST_CHECKED:
        verdict = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if verdict != "ok":
            raise sqlite3.DatabaseError(f"damaged pages; expected ok, got {verdict}")


# One process asks with a journal at a time; any number may read it

_guard = threading.Lock()
_locks: dict[Path, tuple[sqlite3.Connection, int]] = {}
"""The locks of this process, and how many journals share each."""


def lock(path: Path) -> None:
    """Take a journal for this process; the system gives up the lock of a process that ends, however it ends."""
    path = path.resolve()
    with _guard:
        if path not in _locks:
            beside = sqlite3.connect(f"{path}.lock", timeout=0, isolation_level=None, check_same_thread=False)
            try:
                beside.execute("BEGIN EXCLUSIVE")
            except sqlite3.Error as fault:
                beside.close()
                raise MensuraError(
                    f"{path}: another process is using the journal. Wait for it or stop it, or give another journal"
                ) from fault
            _locks[path] = beside, 0
        beside, users = _locks[path]
        _locks[path] = beside, users + 1


def unlock(path: Path) -> None:
    """Give a journal back that was taken with :func:`lock`."""
    path = path.resolve()
    with _guard:
        beside, users = _locks[path]
        _locks[path] = beside, users - 1
        if users == 1:
            del _locks[path]
            beside.close()


# Recovery of a damaged journal: everything that can still be read, and whose checksums agree, in a new file

_MISSING_IN_A_ROW = 20_000
"""Numbers without a readable row, one after the other, that show the end of a table."""
_COLUMNS = {
    "texts": "id, digest, body",
    **dict.fromkeys(("calls", "replaced"), f"id, key, state, question, answer, asked, answered, checksum, {CHECKED}"),
}
"""Columns of each table that are taken over."""


def recover_journal(path: str | Path) -> str:
    """Replace a damaged journal by one with everything that can still be read and whose checksums agree.

    Parameters
    ----------
    path : path
        The journal; the damaged file is kept beside it.

    Returns
    -------
    str
        The number of answers kept and of calls lost, and the place of the damaged file, in words.

    Raises
    ------
    MensuraError
        If there is no such file, another process uses it, or nothing can be read from it.

    Examples
    --------
    >>> import tempfile
    >>> from mensura.llm import Journal, recover_journal
    >>> path = tempfile.mkdtemp() + "/journal.sqlite"
    >>> Journal(path).close()
    >>> recover_journal(path).split(".")[0]
    '0 answers recovered; no call was lost'

    """
    path = Path(path)
    if not path.is_file():
        raise MensuraError(f"{path}: no such journal; check the name of the journal")
    lock(path)
    try:
        with (
            replaced_store(path) as (copy, fresh, damaged),
            closing(sqlite3.connect(copy, isolation_level=None)) as old,
            closing(connect(fresh, create=True)) as new,
        ):
            answers, lost = _salvage(old, new)
            new.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        rest = f"{lost:,} calls could not be read and will be asked again" if lost else "no call was lost"
        return f"{answers:,} answers recovered; {rest}. The damaged file is kept as {damaged}"
    finally:
        unlock(path)


def _salvage(old: sqlite3.Connection, new: sqlite3.Connection) -> tuple[int, int]:
    """Copy what can be read; return the number of answers kept, and of calls lost."""
    store = TextStore(new, str)
    old.execute("SELECT count(*) FROM sqlite_master").fetchall()  # raises for a file that is no database
    new.execute("BEGIN IMMEDIATE")
    texts: set[int] = set()
    lost = answers = 0
    for table, names in _COLUMNS.items():
        insert = f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({', '.join('?' * (names.count(',') + 1))})"
        for row in _rows(old, table, names):
            if row is not None and _is_whole(row, table, store, texts):
                new.execute(insert, row)
                if table == "texts":
                    texts.add(row[0])
                answers += table == "calls" and row[2] == 1
            else:
                lost += table in ("calls", "replaced")
    new.execute("COMMIT")
    return answers, lost


def _is_whole(row: tuple[Any, ...], table: str, store: TextStore, texts: set[int]) -> bool:
    """Return whether a text or a call can be read whole and its checksum agrees."""
    try:
        if table == "texts":
            store.unpack(row[2])
            return True
        _, key, state, question, answer, _, _, checksum, *cells = row
        store.unpack(question)
        if answer is not None:
            split_answer(store.unpack(answer))
        has_texts = state in range(4) and set(cells[:3]) <= texts
        return has_texts and (answer is None or checksum == row_checksum(key, *cells))
    except (DamagedError, TypeError, ValueError, AttributeError):
        return False


def _rows(connection: sqlite3.Connection, table: str, columns: str) -> Iterator[Any]:
    """Yield the rows of a table in the order of their numbers; None for each that cannot be read."""
    missing = 0
    for number in count(1):
        if missing == _MISSING_IN_A_ROW:
            return
        try:
            row = connection.execute(f"SELECT {columns} FROM {table} WHERE id = ?", (number,)).fetchone()
        except sqlite3.Error:
            missing += 1
            yield None
            continue
        missing = missing + 1 if row is None else 0
        if row is not None:
            yield row
