"""The journal: one row per question in SQLite, written before and after each call.

A row is claimed (durably) before its question is sent and answered (durably) before the answer is reported. One process
asks at a time, so that claims which an earlier one left are free. The first answer is the record. Only ``reopen`` sets
it aside, and keeps it in the table ``replaced``.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

from mensura.llm.journal_file import (
    CHECKED,
    DamagedError,
    Redact,
    TextStore,
    connect,
    lock,
    recovery_hint,
    row_checksum,
    split_answer,
    storable,
    unlock,
)
from mensura.llm.protocol import Question, schema_text

_KEYS_PER_READ = 512
_INSERT = """
INSERT INTO calls (key, state, settings, system, schema, question, asked) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (key) DO NOTHING
"""
_FINISH = """
UPDATE calls SET state = ?, answer = ?, value = ?, error = ?, tokens_in = ?, tokens_out = ?, cost = ?,
seconds = ?, attempts = ?, answered = ?, checksum = ? WHERE key = ? AND state <> 1
"""
_ROW = f"key, answer, checksum, {CHECKED}"
_QUESTIONS = f"""
SELECT question, texts.body, forms.body, {", ".join(f"calls.{name.strip()}" for name in _ROW.split(","))}
FROM calls LEFT JOIN texts ON texts.id = calls.system LEFT JOIN texts forms ON forms.id = calls.schema
WHERE state = 1 ORDER BY calls.id
"""


class Entry(NamedTuple):
    """The journal's record of one answer; ``value`` is JSON, ``cost`` None where no price is known."""

    text: str
    value: str = "null"
    rationale: str = ""
    error: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None
    seconds: float = 0.0
    attempts: int = 1


encoded = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
"""Return JSON as the journal keeps it: letters as they are, no NaN."""


class State(IntEnum):
    """The state of a question."""

    CLAIMED = 0
    ANSWERED = 1
    FAILED = 2
    BATCHED = 3


class Journal:
    """Keep questions and answers in a file. Use it in one thread at a time; close it, or use it in a ``with`` block.

    Any number of processes may read a journal; one process at a time may claim questions.

    Parameters
    ----------
    path : path, optional
        The file, made if there is none; None keeps the journal in memory.
    create : bool
        False refuses a file that does not exist.
    redact : callable
        Hides keys in a text before it is stored.

    Raises
    ------
    MensuraError
        If the file is no journal, or is damaged.

    """

    def __init__(self, path: str | Path | None, *, create: bool = True, redact: Redact = str) -> None:
        self.path = None if path is None else Path(path)
        self._locked = False
        self.connection = connect(self.path, create)
        self.texts = TextStore(self.connection, redact)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the lock back, and close the file."""
        self.connection.close()
        if self._locked and self.path is not None:
            unlock(self.path)
            self._locked = False

    def lock(self) -> None:
        """Take the journal for this process, until it is closed; raises where another process has it."""
        if not self._locked and self.path is not None:
            lock(self.path)
            self._locked = True

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write everything in the block or nothing; on leaving it is on the disk."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.texts.forget()
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")

    # Reading

    def verify(self) -> None:
        """Read every answer once; raises where one is damaged or leads to a text that is not there."""
        for _ in self.questions():
            pass

    def questions(self) -> Iterator[tuple[Question, Entry]]:
        """Yield answered questions with their entries, in the order they were first asked."""
        for body, system, schema, *row in self.rows(_QUESTIONS):
            try:
                prompt, repeat, about = json.loads(self.texts.unpack(body))
                form = self.texts.unpack(schema)
                schema = json.loads(form) if form else None
                question = Question(prompt, self.texts.unpack(system), schema, repeat, about)
            except (DamagedError, ValueError) as fault:
                raise self._damaged(fault) from None
            yield question, self._entry(row)

    def _damaged(self, fault: Exception) -> DamagedError:
        return DamagedError(f"{self.path}: {fault}. {recovery_hint(self.path)}")

    def rows(self, statement: str, values: Sequence[object] = ()) -> Iterator[Any]:
        """Yield the rows of a statement; a file whose pages cannot be read is a damaged one."""
        try:
            yield from self.connection.execute(statement, values)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as fault:
            raise self._damaged(fault) from fault

    def answered(self, keys: Sequence[bytes]) -> set[bytes]:
        """Return the keys of the answered questions among these."""
        return {key for key, _ in self._answered(keys, "key, state")}

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Entry]:
        """Return the entries of the answered questions among these; raises where one is damaged."""
        return {row[0]: self._entry(row) for row in self._answered(keys, _ROW)}

    def _answered(self, keys: Sequence[bytes], columns: str) -> list[Sequence[Any]]:
        rows: list[Sequence[Any]] = []
        for start in range(0, len(keys), _KEYS_PER_READ):
            part = keys[start : start + _KEYS_PER_READ]
            marks = ",".join("?" * len(part))
            statement = f"SELECT {columns} FROM calls WHERE key IN ({marks}) AND state = 1"
            rows += self.rows(statement, list(part))
        return rows

    def _entry(self, row: Sequence[Any]) -> Entry:
        """Open a row with the columns of :data:`_ROW`, and check it."""
        key, answer, checksum, *cells = row
        try:
            if checksum != row_checksum(key, *cells):
                raise DamagedError("a stored answer is damaged (its checksum differs)")
            text, rationale = split_answer(self.texts.unpack(answer))
        except DamagedError as fault:
            raise self._damaged(fault) from None
        _, _, _, value, error, tokens_in, tokens_out, cost, seconds, attempts = cells
        return Entry(text, value, rationale, error, tokens_in, tokens_out, cost, seconds, attempts)

    # Writing; inside a transaction

    def claim(
        self, key: bytes, question: Question, settings: str, *, batch: bool = False, again: bool = False
    ) -> State | Entry:
        """Take one question for asking; return its answer where there is one, else ``CLAIMED``.

        ``settings`` as :meth:`Settings.text` gives them. ``batch``: the question will be sent in a batch. ``BATCHED``
        comes back, unless ``again``, where an earlier run sent it in a batch and ended before the answer came.
        """
        self.lock()
        body = encoded([question.prompt, question.repeat, dict(question.about)])
        texts = (settings, question.system, schema_text(question.schema))
        state = State.BATCHED if batch else State.CLAIMED
        row = (key, state, *map(self.texts.keep, texts), self.texts.pack(body), time.time())
        if self.connection.execute(_INSERT, row).rowcount:
            return State.CLAIMED
        (before,) = self.connection.execute("SELECT state FROM calls WHERE key = ?", (key,)).fetchone()
        if before == State.ANSWERED:
            return self.find([key])[key]
        if before == State.BATCHED and not again:
            return State.BATCHED
        update = "UPDATE calls SET state = ?, error = NULL, asked = ? WHERE key = ?"
        self.connection.execute(update, (state, time.time(), key))
        return State.CLAIMED

    def answer(self, key: bytes, entry: Entry) -> Entry:
        """Record an answer, and return the record: the first answer."""
        if self._finish(State.ANSWERED, key, entry):
            return entry
        return self.find([key]).get(key, entry)

    def fail(self, key: bytes, entry: Entry) -> None:
        """Record a question without an answer; it may be asked again."""
        self._finish(State.FAILED, key, entry)

    def reread(self, key: bytes, value: str, rationale: str, error: str) -> None:
        """Record what a reader now takes from a stored answer; the text stays."""
        stored = self.find([key])
        if key not in stored:
            return
        entry = stored[key]._replace(value=value, rationale=rationale, error=error)
        (answered,) = self.connection.execute("SELECT answered FROM calls WHERE key = ?", (key,)).fetchone()
        self.connection.execute("UPDATE calls SET state = 2 WHERE key = ?", (key,))
        self._finish(State.ANSWERED, key, entry, answered)

    def reopen(self, keys: Sequence[bytes]) -> None:
        """Set answers aside, so that their questions may be asked again; the table ``replaced`` keeps them."""
        columns = f"key, state, question, answer, asked, answered, checksum, {CHECKED}"
        for key in keys:
            self.connection.execute(
                f"INSERT INTO replaced ({columns}) SELECT {columns} FROM calls WHERE key = ? AND state = 1", (key,)
            )
            self.connection.execute("UPDATE calls SET state = 2 WHERE key = ? AND state = 1", (key,))

    def _finish(self, state: State, key: bytes, entry: Entry, answered: float | None = None) -> bool:
        """Write the outcome of a question that has no answer yet; false where it has one."""
        # text and rationale are packed as one string: the rationale often repeats the text
        shared = self.connection.execute("SELECT settings, system, schema FROM calls WHERE key = ?", (key,)).fetchone()
        if shared is None:
            return False
        cost = None if entry.cost is None else float(entry.cost)
        value, error = storable(entry.value), storable(entry.error)
        cells = (value, error, entry.tokens_in, entry.tokens_out, cost, round(float(entry.seconds), 3), entry.attempts)
        text = storable(entry.text)
        packed = self.texts.pack(f"{len(text)}:{text}{entry.rationale}") if state == State.ANSWERED else None
        checksum = row_checksum(key, *shared, *cells) if state == State.ANSWERED else None
        done = self.connection.execute(_FINISH, (state, packed, *cells, answered or time.time(), checksum, key))
        return done.rowcount == 1
