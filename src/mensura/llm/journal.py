"""The journal: one row per question in SQLite, written before and after each call, shared by processes.

A row is claimed (durably) before its question is sent and answered (durably) before the answer is reported. A claim
belongs to an owner, the process that made it; claims of dead owners are free for others. Whoever answers first is
the record; nothing overwrites an answer's text.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum, IntEnum
from pathlib import Path
from typing import Any, TypeAlias

from mensura.llm.entries import Entry, encoded, joined_answer, split_answer
from mensura.llm.journal_file import connect
from mensura.llm.owners import BEAT_SECONDS, Holder, birth_of, this_machine
from mensura.llm.protocol import Question
from mensura.llm.settings import schema_text
from mensura.llm.shelf import Redact, Shelf

_KEYS_PER_READ = 512
_INSERT = """
INSERT INTO calls (key, state, owner, settings, system, schema, question, asked) VALUES (?, 0, ?, ?, ?, ?, ?, ?)
ON CONFLICT (key) DO NOTHING
"""
_ANSWER = """
UPDATE calls SET state = ?, owner = NULL, answer = ?, value = ?, error = ?, tokens_in = ?, tokens_out = ?, cost = ?,
seconds = ?, attempts = ?, answered = ? WHERE key = ? AND state <> 1
"""
_ENTRY = "answer, value, error, tokens_in, tokens_out, cost, seconds, attempts"

_QUESTIONS = f"""
SELECT question, system.body, schema.body, key, {_ENTRY}
FROM calls JOIN texts system ON system.id = calls.system JOIN texts schema ON schema.id = calls.schema
WHERE state = 1 AND (? IS NULL OR settings = ?) ORDER BY calls.id LIMIT ?
"""


Row: TypeAlias = tuple[Any, ...]
"""A key, and the columns of :data:`_ENTRY` as they lie in the file."""


class State(IntEnum):
    """Where a question stands."""

    CLAIMED = 0
    ANSWERED = 1
    FAILED = 2
    BATCHED = 3


class Hold(Enum):
    """Who may ask a question that has no answer yet."""

    MINE = "mine"
    ANOTHER = "another process"
    BATCH = "a batch"


class Journal:
    """An open journal file. One thread at a time; several processes may each open the same file.

    ``path`` None keeps it in memory. ``create`` False refuses a file that is not there.
    """

    def __init__(self, path: str | Path | None, *, create: bool = True, redact: Redact = str) -> None:
        self.path = None if path is None else Path(path)
        self._here = this_machine()
        self._owner: int | None = None
        self._beaten = 0.0
        self.connection = connect(self.path, create)
        self.shelf = Shelf(self.connection, redact)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give up the claims that are still open, and close the file."""
        try:
            if self._owner is not None:
                with self.transaction():
                    self.connection.execute("DELETE FROM owners WHERE id = ?", (self._owner,))
                self._owner = None
        finally:
            self.connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write everything in the block or nothing; on leaving it is on the disk."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.connection.execute("ROLLBACK")
            self._forget_uncommitted()
            raise
        self.connection.execute("COMMIT")

    def rows(self, statement: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """Read rows with a statement of the caller's own."""
        yield from self.connection.execute(statement, values)

    # Reading

    def questions(self, settings: str | None = None, limit: int = -1) -> Iterator[tuple[Question, Entry]]:
        """Yield answered questions with their entries, in the order they were first asked.

        ``settings`` (as :meth:`Settings.text` gives them): only those asked so. ``limit``: no more than so many.
        """
        number = None if settings is None else self.shelf.number(settings)
        if settings is not None and number is None:
            return
        for body, system, schema, *row in self.connection.execute(_QUESTIONS, (number, number, limit)):
            prompt, repeat, about = json.loads(self.shelf.unpack(body))
            form = self.shelf.unpack(schema)
            question = Question(prompt, self.shelf.unpack(system), json.loads(form) if form else None, repeat, about)
            yield question, self.entry(tuple(row))

    def answered(self, keys: Sequence[bytes]) -> set[bytes]:
        """Return which of these questions have been answered."""
        marks = ",".join("?" * len(keys))
        rows = self.connection.execute(f"SELECT key FROM calls WHERE key IN ({marks}) AND state = 1", list(keys))
        return {key for (key,) in rows}

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Entry]:
        """Return the entries of those questions that have been answered."""
        return {row[0]: self.entry(row) for row in self.answered_rows(keys) if row is not None}

    def answered_rows(self, keys: Sequence[bytes]) -> list[Row | None]:
        """Return one row per question, None where it has not been answered; :meth:`entry` opens one.

        A run that is resumed asks in the order in which it asked before: the rows that follow the first key's are
        read in one sweep, and only keys that are not among them are looked up one by one, at twice the cost.
        """
        rows: list[Row | None] = []
        for start in range(0, len(keys), _KEYS_PER_READ):
            part = list(keys[start : start + _KEYS_PER_READ])
            swept = self._rows_after(part[0], len(part))
            if [row[0] for row in swept] == part:
                rows += swept
                continue
            found = {row[0]: row for row in swept}
            rest = [key for key in part if key not in found]
            found |= {row[0]: row for row in self._rows_of(rest)}
            rows += map(found.get, part)
        return rows

    def _rows_after(self, key: bytes, count: int) -> list[Row]:
        """Return the answered among ``count`` rows from one key's on, as they lie in the file."""
        first = self.connection.execute("SELECT id FROM calls WHERE key = ?", (key,)).fetchone()
        if first is None:
            return []
        statement = f"SELECT key, {_ENTRY} FROM calls WHERE id >= ? AND id < ? AND state = 1"
        return self.connection.execute(statement, (first[0], first[0] + count)).fetchall()

    def _rows_of(self, keys: Sequence[bytes]) -> list[Row]:
        """Return the answered rows of these keys."""
        marks = ",".join("?" * len(keys))
        statement = f"SELECT key, {_ENTRY} FROM calls WHERE key IN ({marks}) AND state = 1"
        return self.connection.execute(statement, keys).fetchall()

    # Writing; inside a transaction

    def claim(self, key: bytes, question: Question, settings: str) -> Hold | Entry:
        """Take one question for this process, or say who holds it, or return what was answered meanwhile.

        ``settings`` as :meth:`Settings.text` gives them.
        """
        owner = self.beat()
        body = encoded([question.prompt, question.repeat, dict(question.about)])
        texts = (settings, question.system, schema_text(question.schema))
        row = (key, owner, *map(self.shelf.keep, texts), self.shelf.pack(body), time.time())
        if self.connection.execute(_INSERT, row).rowcount:
            return Hold.MINE
        return self._take_over(key, owner)

    def _take_over(self, key: bytes, owner: int) -> Hold | Entry:
        statement = f"SELECT state, owner, key, {_ENTRY} FROM calls WHERE key = ?"
        state, holder, *row = self.connection.execute(statement, (key,)).fetchone()
        if state == State.ANSWERED:
            return self.entry(tuple(row))
        if state == State.BATCHED:
            return Hold.BATCH
        if state == State.CLAIMED and holder != owner and not self.is_free(holder):
            return Hold.ANOTHER
        self.connection.execute(
            "UPDATE calls SET state = 0, owner = ?, error = NULL, asked = ? WHERE key = ?", (owner, time.time(), key)
        )
        return Hold.MINE

    def answer(self, key: bytes, entry: Entry) -> Entry:
        """Record an answer, and return the one that stands: the first."""
        if not self._finish(State.ANSWERED, key, entry, self.shelf.pack_alone(joined_answer(entry))):
            return self.find([key])[key]
        return entry

    def fail(self, key: bytes, entry: Entry) -> None:
        """Record that no answer came; the question may be asked again."""
        self._finish(State.FAILED, key, entry, None)

    def reread(self, key: bytes, entry: Entry) -> None:
        """Record what a reader now takes from a stored answer; the text stays."""
        self.connection.execute(
            "UPDATE calls SET answer = ?, value = ?, error = ? WHERE key = ? AND state = 1",
            (self.shelf.pack_alone(joined_answer(entry)), entry.value, entry.error, key),
        )

    def release(self, keys: Sequence[bytes]) -> None:
        """Give back claims on questions that were not sent."""
        self.connection.executemany(
            "UPDATE calls SET owner = NULL WHERE key = ? AND state = 0 AND owner = ?", [(k, self._owner) for k in keys]
        )

    def beat(self) -> int:
        """Say that this process lives; returns its number as an owner."""
        now = time.time()
        if self._owner is None:
            values = (self._here, os.getpid(), birth_of(os.getpid()), now)
            statement = "INSERT INTO owners (host, pid, born, beat) VALUES (?, ?, ?, ?) RETURNING id"
            self._owner = int(self.connection.execute(statement, values).fetchone()[0])
            self._beaten = now
        elif now - self._beaten >= BEAT_SECONDS:
            self.connection.execute("UPDATE owners SET beat = ? WHERE id = ?", (now, self._owner))
            self._beaten = now
        return self._owner

    @property
    def beat_due(self) -> bool:
        """Whether others would soon take this process for dead."""
        return self._owner is not None and time.time() - self._beaten >= BEAT_SECONDS

    # Parts

    def _finish(self, state: State, key: bytes, entry: Entry, packed: bytes | None) -> bool:
        values = (state, packed, entry.value, entry.error, entry.tokens_in, entry.tokens_out, entry.cost)
        more = (round(entry.seconds, 3), entry.attempts, time.time(), key)
        return self.connection.execute(_ANSWER, values + more).rowcount == 1

    def entry(self, row: Row) -> Entry:
        """Open a row that was found."""
        _, answer, value, error, tokens_in, tokens_out, cost, seconds, attempts = row
        text, rationale = split_answer(self.shelf.unpack(answer))
        return Entry(text, value, rationale, error or "", tokens_in, tokens_out, cost, seconds, attempts)

    def is_free(self, owner: int | None) -> bool:
        """Return whether nobody living holds what this owner claimed."""
        if owner is None:
            return True
        found = self.connection.execute("SELECT host, pid, born, beat FROM owners WHERE id = ?", (owner,)).fetchone()
        return found is None or Holder(*found).dead(time.time(), self._here)

    def _forget_uncommitted(self) -> None:
        """Drop what is remembered of rows that a rollback took away."""
        self.shelf.refresh()
        found = self.connection.execute("SELECT 1 FROM owners WHERE id = ?", (self._owner,)).fetchone()
        self._owner = self._owner if found else None
