"""The journal: one row per question in SQLite, written before and after each call, shared by processes.

A row is claimed (durably) before its question is sent and answered (durably) before the answer is reported. A claim
belongs to an owner, the process that made it; claims of dead owners are free for others. Whoever answers first is
the record; nothing overwrites an answer's text.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum, IntEnum
from pathlib import Path
from typing import Any, TypeAlias

from mensura.errors import MensuraError
from mensura.llm.owners import BEAT_SECONDS, Holder, birth_of, this_machine
from mensura.llm.packing import MOST_DICTIONARIES, Packing, dictionary_of
from mensura.llm.protocol import Question
from mensura.llm.settings import KEY_BYTES, Settings, schema_text

_APPLICATION = 0x4D4A524E  # "MJRN", in the header of the file
_FORMAT = 1
_LOCK_SECONDS = 120.0
_KEYS_PER_READ = 500
_TEXTS_REMEMBERED = 10_000
_WORTH_A_DICTIONARY = 0.8
"""A new dictionary is kept when it packs texts it has not seen to this share of what the current one does."""

_TABLES = """
CREATE TABLE dictionaries (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE texts (id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, body BLOB NOT NULL);
CREATE TABLE owners (
  id INTEGER PRIMARY KEY AUTOINCREMENT, host TEXT NOT NULL, pid INTEGER NOT NULL, born TEXT NOT NULL, beat REAL NOT NULL
);
CREATE TABLE batches (
  id INTEGER PRIMARY KEY AUTOINCREMENT, reference TEXT NOT NULL UNIQUE, model TEXT NOT NULL, endpoint TEXT NOT NULL,
  remote TEXT NOT NULL DEFAULT '', state TEXT NOT NULL, calls INTEGER NOT NULL, made REAL NOT NULL
);
CREATE TABLE calls (
  id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, state INTEGER NOT NULL, owner INTEGER, batch INTEGER,
  settings INTEGER NOT NULL, system INTEGER NOT NULL, schema INTEGER NOT NULL, question BLOB NOT NULL,
  answer BLOB, value TEXT, error TEXT, tokens_in INTEGER, tokens_out INTEGER, cost REAL, seconds REAL,
  attempts INTEGER, asked REAL NOT NULL, answered REAL
);
CREATE INDEX calls_open ON calls (state) WHERE state <> 1;
"""
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
SELECT question, system.body, schema.body, {_ENTRY}
FROM calls JOIN texts system ON system.id = calls.system JOIN texts schema ON schema.id = calls.schema
WHERE state = 1 ORDER BY calls.id
"""


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


@dataclass(frozen=True, slots=True)
class Entry:
    """What the journal holds of one answered question; ``value`` is JSON, ``cost`` None where no price is known."""

    text: str
    value: str = "null"
    rationale: str = ""
    error: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None
    seconds: float = 0.0
    attempts: int = 1


@dataclass(frozen=True)
class BatchRecord:
    """One batch as the journal remembers it; ``remote`` is the provider's id, empty until it is known."""

    number: int
    reference: str
    model: str
    endpoint: str
    remote: str
    state: str
    calls: int
    made: float


Redact: TypeAlias = Callable[[str], str]


class Journal:
    """An open journal file. One thread at a time; several processes may each open the same file.

    ``path`` None keeps it in memory. ``create`` False refuses a file that is not there.
    """

    def __init__(self, path: str | Path | None, *, create: bool = True, redact: Redact = str) -> None:
        self.path = None if path is None else Path(path)
        self._redact = redact
        self._here = this_machine()
        self._owner: int | None = None
        self._beaten = 0.0
        self._text_ids: dict[str, int] = {}
        self._packings: dict[int, Packing] = {}
        self._connection = _connect(self.path, create)
        self._adopt_newest_dictionary()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give up the claims that are still open, and close the file."""
        try:
            if self._owner is not None:
                with self.transaction():
                    self._connection.execute("DELETE FROM owners WHERE id = ?", (self._owner,))
                self._owner = None
        finally:
            self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write everything in the block or nothing; on leaving it is on the disk."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            self._forget_uncommitted()
            raise
        self._connection.execute("COMMIT")

    def rows(self, statement: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """Read rows with a statement of the caller's own."""
        yield from self._connection.execute(statement, values)

    # Reading

    def questions(self) -> Iterator[tuple[Question, Entry]]:
        """Yield every answered question with its entry, in the order they were first asked."""
        for body, system, schema, *row in self._connection.execute(_QUESTIONS):
            prompt, repeat, about = json.loads(self.unpack(body))
            form = self.unpack(schema)
            question = Question(prompt, self.unpack(system), json.loads(form) if form else None, repeat, about)
            yield question, self._entry(row)

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Entry]:
        """Return the entries of those questions that have been answered."""
        found = {}
        for start in range(0, len(keys), _KEYS_PER_READ):
            part = keys[start : start + _KEYS_PER_READ]
            marks = ",".join("?" * len(part))
            statement = f"SELECT key, {_ENTRY} FROM calls WHERE key IN ({marks}) AND state = 1"
            for key, *row in self._connection.execute(statement, part):
                found[key] = self._entry(row)
        return found

    def unpack(self, blob: bytes) -> str:
        """Return a packed text."""
        return self._packing(blob[0]).unpack(blob)

    # Writing; inside a transaction

    def claim(self, key: bytes, question: Question, settings: Settings) -> Hold | Entry:
        """Take one question for this process, or say who holds it, or return what was answered meanwhile."""
        owner = self.beat()
        body = json.dumps([question.prompt, question.repeat, dict(question.about)], ensure_ascii=False)
        texts = (settings.text(), question.system, schema_text(question.schema))
        row = (key, owner, *map(self._text_id, texts), self._pack(body), time.time())
        if self._connection.execute(_INSERT, row).rowcount:
            return Hold.MINE
        return self._take_over(key, owner)

    def _take_over(self, key: bytes, owner: int) -> Hold | Entry:
        found = self._connection.execute(f"SELECT state, owner, {_ENTRY} FROM calls WHERE key = ?", (key,)).fetchone()
        state, holder, *row = found
        if state == State.ANSWERED:
            return self._entry(row)
        if state == State.BATCHED:
            return Hold.BATCH
        if state == State.CLAIMED and holder != owner and not self._dead(holder):
            return Hold.ANOTHER
        self._connection.execute(
            "UPDATE calls SET state = 0, owner = ?, error = NULL, asked = ? WHERE key = ?", (owner, time.time(), key)
        )
        return Hold.MINE

    def answer(self, key: bytes, entry: Entry) -> Entry:
        """Record an answer, and return the one that stands: the first."""
        if not self._finish(State.ANSWERED, key, entry, self._pack(json.dumps([entry.text, entry.rationale]))):
            return self.find([key])[key]
        return entry

    def fail(self, key: bytes, entry: Entry) -> None:
        """Record that no answer came; the question may be asked again."""
        self._finish(State.FAILED, key, entry, None)

    def reread(self, key: bytes, entry: Entry) -> None:
        """Record what a reader now takes from a stored answer; the text stays."""
        self._connection.execute(
            "UPDATE calls SET answer = ?, value = ?, error = ? WHERE key = ? AND state = 1",
            (self._pack(json.dumps([entry.text, entry.rationale])), entry.value, entry.error, key),
        )

    def release(self, keys: Sequence[bytes]) -> None:
        """Give back claims on questions that were not sent."""
        self._connection.executemany(
            "UPDATE calls SET owner = NULL WHERE key = ? AND state = 0 AND owner = ?", [(k, self._owner) for k in keys]
        )

    def learn(self, samples: Sequence[str]) -> None:
        """Take a dictionary from samples of what will be stored, if it packs the other half better than the present."""
        seen, unseen = samples[::2], samples[1::2]
        if not unseen:
            return
        number = int(self._connection.execute("SELECT count(*) FROM dictionaries").fetchone()[0]) + 1
        if number > MOST_DICTIONARIES:
            return
        trial = Packing(number, dictionary_of(seen))
        present = sum(len(self._pack(text)) for text in unseen)
        if sum(len(trial.pack(text)) for text in unseen) > _WORTH_A_DICTIONARY * present:
            return
        data = dictionary_of([self._redact(text) for text in samples])
        self._connection.execute("INSERT INTO dictionaries (id, data) VALUES (?, ?)", (number, data))
        self._newest = self._packings[number] = Packing(number, data)

    def beat(self) -> int:
        """Say that this process lives; returns its number as an owner."""
        now = time.time()
        if self._owner is None:
            values = (self._here, os.getpid(), birth_of(os.getpid()), now)
            statement = "INSERT INTO owners (host, pid, born, beat) VALUES (?, ?, ?, ?)"
            self._owner, self._beaten = self._connection.execute(statement, values).lastrowid, now
        elif now - self._beaten >= BEAT_SECONDS:
            self._connection.execute("UPDATE owners SET beat = ? WHERE id = ?", (now, self._owner))
            self._beaten = now
        assert self._owner is not None
        return self._owner

    @property
    def beat_due(self) -> bool:
        """Whether others would soon take this process for dead."""
        return self._owner is not None and time.time() - self._beaten >= BEAT_SECONDS

    # Batches

    def intend_batch(self, reference: str, model: str, endpoint: str, keys: Sequence[bytes]) -> int:
        """Remember a batch before it is submitted, and that these claimed questions are in it."""
        made = (reference, model, endpoint, "intended", len(keys), time.time())
        statement = "INSERT INTO batches (reference, model, endpoint, state, calls, made) VALUES (?, ?, ?, ?, ?, ?)"
        number = self._connection.execute(statement, made).lastrowid
        assert number is not None
        self._connection.executemany(
            "UPDATE calls SET state = 3, owner = NULL, batch = ? WHERE key = ?", [(number, key) for key in keys]
        )
        return number

    def mark_batch(self, number: int, state: str, remote: str = "") -> None:
        """Record where a batch stands, and the provider's id for it once known."""
        self._connection.execute(
            "UPDATE batches SET state = ?, remote = CASE WHEN ? = '' THEN remote ELSE ? END WHERE id = ?",
            (state, remote, remote, number),
        )

    def free_batch(self, number: int) -> None:
        """Let the questions of a batch that have no answer be asked again."""
        self._connection.execute("UPDATE calls SET state = 0, owner = NULL WHERE batch = ? AND state = 3", (number,))

    def batches(self, *states: str) -> list[BatchRecord]:
        """Return the batches in any of these states, oldest first; all of them when none is named."""
        records = [BatchRecord(*row) for row in self._connection.execute("SELECT * FROM batches ORDER BY id")]
        return [record for record in records if not states or record.state in states]

    # Parts

    def _finish(self, state: State, key: bytes, entry: Entry, packed: bytes | None) -> bool:
        values = (state, packed, entry.value, entry.error, entry.tokens_in, entry.tokens_out, entry.cost)
        more = (round(entry.seconds, 3), entry.attempts, time.time(), key)
        return self._connection.execute(_ANSWER, values + more).rowcount == 1

    def _entry(self, row: Sequence[Any]) -> Entry:
        answer, value, error, *numbers = row
        text, rationale = json.loads(self.unpack(answer))
        return Entry(text, value, rationale, error or "", *numbers)

    def _dead(self, owner: int | None) -> bool:
        if owner is None:
            return True
        found = self._connection.execute("SELECT host, pid, born, beat FROM owners WHERE id = ?", (owner,)).fetchone()
        return found is None or Holder(*found).dead(time.time(), self._here)

    def _pack(self, text: str) -> bytes:
        return self._newest.pack(self._redact(text))

    def _packing(self, number: int) -> Packing:
        if number not in self._packings:
            data = self._connection.execute("SELECT data FROM dictionaries WHERE id = ?", (number,)).fetchone()
            if data is None:
                raise MensuraError(f"{self.path}: dictionary {number} is missing; the journal is damaged")
            self._packings[number] = Packing(number, data[0])
        return self._packings[number]

    def _adopt_newest_dictionary(self) -> None:
        self._packings[0] = Packing(0, b"")
        newest = self._connection.execute("SELECT max(id) FROM dictionaries").fetchone()[0]
        self._newest = self._packing(newest or 0)

    def _forget_uncommitted(self) -> None:
        """Drop what is remembered of rows that a rollback took away."""
        self._text_ids.clear()
        self._packings.clear()
        self._adopt_newest_dictionary()
        found = self._connection.execute("SELECT 1 FROM owners WHERE id = ?", (self._owner,)).fetchone()
        self._owner = self._owner if found else None

    def _text_id(self, text: str) -> int:
        """Return the number under which a text that many questions share is kept once."""
        if text not in self._text_ids:
            if len(self._text_ids) >= _TEXTS_REMEMBERED:
                self._text_ids.clear()
            digest = hashlib.blake2b(text.encode("utf-8"), digest_size=KEY_BYTES).digest()
            insert = "INSERT INTO texts (digest, body) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING"
            self._connection.execute(insert, (digest, self._pack(text)))
            found = self._connection.execute("SELECT id FROM texts WHERE digest = ?", (digest,)).fetchone()
            self._text_ids[text] = found[0]
        return self._text_ids[text]


def value_text(value: object) -> str:
    """Return a value as JSON; a reader may only return what JSON can hold."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as fault:
        raise MensuraError(f"reader: returned a value that JSON cannot hold ({fault}): {value!r:.80}") from fault


def redacted(entry: Entry, redact: Redact) -> Entry:
    """Return an entry in which no key is seen."""
    value, error = redact(entry.value), redact(entry.error)
    return replace(entry, text=redact(entry.text), value=value, rationale=redact(entry.rationale), error=error)


def _connect(path: Path | None, create: bool) -> sqlite3.Connection:
    if path is not None and not path.exists():
        if not create:
            raise MensuraError(f"{path}: no such journal")
        if path.is_dir():
            raise MensuraError(f"{path}: a folder; give the file of a journal, such as journal.sqlite")
        path.parent.mkdir(parents=True, exist_ok=True)
    try:
        connection = sqlite3.connect(
            ":memory:" if path is None else path, timeout=_LOCK_SECONDS, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN IMMEDIATE")
        _check_format(connection, path)
        connection.execute("COMMIT")
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
        connection.close()
        raise MensuraError(f"{path}: a database, but not a journal of format {_FORMAT}; choose another file")
