"""Recovery of a damaged journal: everything that can still be read, and whose checksums agree, in a new file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from mensura.core.checksums import replaced_store
from mensura.core.errors import MensuraError
from mensura.llm.journal_file import (
    CHECKED,
    DamagedError,
    TextStore,
    connect,
    lock,
    row_checksum,
    split_answer,
    unlock,
)

_MISSING_IN_A_ROW = 20_000
"""Numbers without a readable row, one after the other, that show the end of a table."""
_COLUMNS = {
    "texts": "id, digest, body",
    **dict.fromkeys(("calls", "replaced"), f"id, key, state, question, answer, asked, answered, checksum, {CHECKED}"),
}
"""Columns of each table that are taken over."""


@dataclass(frozen=True)
class Recovery:
    """Report the outcome of a recovery.

    Attributes
    ----------
    answers : int
        Answers kept.
    lost : int
        Calls that could not be read; they will be asked again.
    damaged : Path
        The place of the damaged file.

    """

    answers: int
    lost: int
    damaged: Path

    def __str__(self) -> str:
        rest = "no call was lost" if not self.lost else f"{self.lost:,} calls could not be read and will be asked again"
        return f"{self.answers:,} answers recovered; {rest}. The damaged file is kept as {self.damaged}"


def recover_journal(path: str | Path) -> Recovery:
    """Replace a damaged journal by one with everything that can still be read and whose checksums agree.

    Parameters
    ----------
    path : path
        The journal; the damaged file is kept beside it.

    Returns
    -------
    Recovery
        Answers kept, calls lost, and the place of the damaged file.

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
    >>> recover_journal(path).lost
    0

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
        return Recovery(answers, lost, damaged)
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
