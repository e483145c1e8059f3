"""The journal as an event loop uses it: one thread reads and writes it, and stored answers are read again."""

import asyncio
import json
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeAlias

from mensura.core.errors import MensuraError
from mensura.llm.journal import Entry, Journal, State, encoded
from mensura.llm.journal_file import Redact, recovery_hint, storable
from mensura.llm.protocol import Answer, AnswerReading, KeyMaker, Question, Reader, Settings, UnreadableError

WITHHELD = ("refused", "filtered")
"""How errors of answers begin that the model declined to give, or that a content filter stopped."""

Work: TypeAlias = Callable[[Journal], Any]
_Order: TypeAlias = tuple[Work, bool, "asyncio.Future[Any]"]


class Read(NamedTuple):
    """The result of a reader: reading, its value as JSON, and an error where it found nothing."""

    reading: AnswerReading
    value: str = "null"
    error: str = ""


def read_safely(text: str, read: Reader) -> Read:
    """Read a text; a reader that crashes, or returns a value that JSON cannot contain, found nothing."""
    try:
        reading = read(text)
        value, why = encoded(reading.value), storable(reading.rationale)
        if storable(value) != value:
            value = storable(value)
            reading = AnswerReading(json.loads(value))
        return Read(AnswerReading(reading.value, why), value)
    except UnreadableError as fault:
        return Read(AnswerReading(None), error=f"unreadable: {fault}")
    except Exception as fault:
        return Read(AnswerReading(None), error=f"unreadable: the reader failed ({type(fault).__name__}: {fault})")


def read_entry(entry: Entry, read: Reader) -> Read:
    """Read a stored answer; one that was withheld has nothing to read."""
    if entry.error.startswith(WITHHELD):
        return Read(AnswerReading(None), error=entry.error)
    return read_safely(entry.text, read)


def answer_of(question: Question, entry: Entry, read: Read, *, stored: bool) -> Answer:
    """Return the answer to a question from the journal's entry, read by the asker's own reader."""
    error = read.error and (entry.error or read.error)
    value, rationale = read.reading
    counts = (entry.tokens_in, entry.tokens_out, entry.cost, entry.seconds, entry.attempts)
    return Answer(question, entry.text, value, rationale, error, stored, *counts)


class Stored(NamedTuple):
    """Stored answers, one per question, None where there is none; ``reread``: readings that changed, by key."""

    answers: list[Answer | None]
    reread: dict[bytes, Read]


def stored_answers(journal: Journal, keys: Sequence[bytes], questions: Sequence[Question], read: Reader) -> Stored:
    """Look up questions by their keys and read their answers again: a better reader needs no new call."""
    entries = journal.find(keys)
    answers: list[Answer | None] = []
    reread: dict[bytes, Read] = {}
    for key, question in zip(keys, questions, strict=True):
        entry = entries.get(key)
        if entry is None:
            answers.append(None)
            continue
        now = read_entry(entry, read)
        if (now.value, now.reading.rationale, not now.error) != (entry.value, entry.rationale, not entry.error):
            reread[key] = now
        answers.append(answer_of(question, entry, now, stored=True))
    return Stored(answers, reread)


class Record:
    """The journal of one model, read and written in a thread of its own: an event loop must not wait for the disk.

    All writes that wait share one transaction. A write is reported done only after that transaction is on the disk.
    ``retry``: kinds of errors ("refused", "unreadable") whose answers are set aside, once, and asked for again;
    "batched": questions whose batch an ended run left behind. ``batch``: questions are sent in batches.
    """

    def __init__(
        self, journal: Journal, settings: Settings, redact: Redact, retry: Collection[str] = (), *, batch: bool = False
    ) -> None:
        self._journal, self._settings, self._redact = journal, settings.text(), redact
        self._key = KeyMaker(settings)
        self._retry = tuple(kind for name in retry for kind in (WITHHELD if name == "refused" else (name,)))
        self._claim = {"batch": batch, "again": "batched" in retry}
        self._retried: set[bytes] = set()
        self._orders: list[_Order] = []
        self._running: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="mensura-journal")

    async def look_up(self, questions: Sequence[Question], read: Reader) -> tuple[list[bytes], Stored]:
        """Return the key of every question, and its stored answer."""

        def work(journal: Journal) -> tuple[list[bytes], Stored]:
            keys = list(map(self._key, questions))
            return keys, stored_answers(journal, keys, questions, read)

        keys, stored = await self._order(work, writes=False)
        if self._retry:
            await self._set_aside(keys, stored)
        return keys, stored

    async def _set_aside(self, keys: Sequence[bytes], stored: Stored) -> None:
        again = {
            key
            for key, answer in zip(keys, stored.answers, strict=True)
            if answer is not None and answer.error.startswith(self._retry) and key not in self._retried
        }
        self._retried |= again
        await self.write(lambda journal: journal.reopen(sorted(again)))
        for place, key in enumerate(keys):
            if key in again:
                stored.answers[place] = None
                stored.reread.pop(key, None)

    async def claim(self, questions: Sequence[tuple[bytes, Question]]) -> list[State | Entry]:
        """Claim questions before they are sent."""

        def work(journal: Journal) -> list[State | Entry]:
            return [journal.claim(key, question, self._settings, **self._claim) for key, question in questions]

        claims: list[State | Entry] = await self.write(work)
        return claims

    async def reread(self, reread: Mapping[bytes, Read]) -> None:
        """Write down the values that the present reader takes from stored texts."""

        def work(journal: Journal) -> None:
            for key, read in reread.items():
                texts = (read.value, read.reading.rationale, read.error)
                journal.reread(key, *map(self._redact, texts))

        await self.write(work)

    async def write(self, work: Work) -> Any:
        """Return the result of ``work``, once its writes are on the disk."""
        return await self._order(work, writes=True)

    async def finish(self) -> None:
        """Wait until all orders are done."""
        while self._running is not None:
            await asyncio.shield(self._running)

    def close(self) -> None:
        """Close the journal; nobody orders any more."""
        self._thread.shutdown(wait=True)
        self._journal.close()

    async def _order(self, work: Work, *, writes: bool) -> Any:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._orders.append((work, writes, future))
        if self._running is None:
            self._running = asyncio.create_task(self._serve())
        return await future

    async def _serve(self) -> None:
        try:
            while self._orders:
                orders, self._orders = self._orders, []
                done = await asyncio.get_running_loop().run_in_executor(self._thread, self._carry_out, orders)
                for future, result in done:
                    if future.done():
                        continue
                    if isinstance(result, Exception):
                        future.set_exception(result)
                    else:
                        future.set_result(result)
        finally:
            self._running = None

    def _carry_out(self, orders: list[_Order]) -> list[tuple[asyncio.Future[Any], object]]:
        writes = [order for order in orders if order[1]]
        try:
            done = self._run([order for order in orders if not order[1]])
            if writes:
                with self._journal.transaction():
                    done += self._run(writes)
            return done
        except sqlite3.Error as fault:
            hint = recovery_hint(self._journal.path)
            error = MensuraError(
                f"{self._journal.path}: the journal cannot be read or written ({fault}); "
                f"check its folder and the free disk space. {hint}"
            )
            return [(future, error) for *_, future in orders]

    def _run(self, orders: list[_Order]) -> list[tuple[asyncio.Future[Any], object]]:
        """Carry out orders one by one; one that fails writes nothing and fails alone."""
        done: list[tuple[asyncio.Future[Any], object]] = []
        for work, writes, future in orders:
            try:
                if writes:
                    self._journal.connection.execute("SAVEPOINT one")
                done.append((future, work(self._journal)))
            except sqlite3.Error:
                raise
            except Exception as fault:
                done.append((future, fault))
                self._journal.texts.forget()
                if writes:
                    self._journal.connection.execute("ROLLBACK TO one")
        return done
