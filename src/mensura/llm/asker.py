"""Asking from ordinary code: an event loop in a thread of its own, questions in, answers out in their order."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from concurrent.futures import Future, wait
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from mensura.core.errors import MensuraError
from mensura.llm.budget import Budget
from mensura.llm.caller import Caller
from mensura.llm.collector import collector_at_rest
from mensura.llm.desk import Desk
from mensura.llm.journal import Journal
from mensura.llm.protocol import Answer, Question, Reader
from mensura.llm.providers.base import Provider
from mensura.llm.record import Record
from mensura.llm.redaction import redactor
from mensura.llm.settings import Prices, Settings
from mensura.llm.throttle import Throttle
from mensura.llm.writer import JournalWriter

_CHUNK = 512
"""Questions ordered together where answers are wanted as they come."""
_LARGE_CHUNK = 2048
"""Where they are wanted all at once: each order costs about a thousandth of a second in three threads."""
_CHUNKS_AHEAD = 8
_SHOW_SECONDS = 0.1


@dataclass(frozen=True)
class Standing:
    """How far the asking has come: ``done`` of ``total`` (None where unknown), of which ``stored`` were in the journal.

    ``cost`` in US dollars so far, ``rate`` in calls per second, ``seconds_left`` None until it can be said.
    """

    done: int
    total: int | None
    stored: int
    failed: int
    cost: float
    rate: float
    seconds_left: float | None


Advance: TypeAlias = Callable[[Standing], None]


class ModelAsker:
    """A model behind the journal; :func:`mensura.llm.open_asker` makes one. Close it, or use it in a ``with`` block."""

    def __init__(
        self,
        settings: Settings,
        provider: Provider,
        *,
        journal: Path | None,
        secrets: Sequence[str] = (),
        prices: Prices | None = None,
        max_cost: float | None = None,
        max_calls: int | None = None,
        concurrency: int = 32,
        advance: Advance | None = None,
    ) -> None:
        self.settings = settings
        self.journal = journal
        self._budget = Budget(settings, prices, max_cost, max_calls)
        self._advance = advance
        self._begun: float | None = None
        self._loop = asyncio.new_event_loop()
        redact = redactor(secrets)
        try:
            self._writer = JournalWriter(lambda: Journal(journal, redact=redact), self._loop)
        except BaseException:
            self._loop.close()
            raise
        self._thread = threading.Thread(target=self._loop.run_forever, name="mensura-asker", daemon=True)
        self._thread.start()

        caller = Caller(provider, settings, prices=prices, budget=self._budget, redact=redact)

        async def make_desk() -> Desk:
            return Desk(caller, Record(self._writer, settings, redact), Throttle(concurrency))

        self._desk = asyncio.run_coroutine_threadsafe(make_desk(), self._loop).result()

    @property
    def model(self) -> str:
        """The model's name, as ``--model`` takes it."""
        return self.settings.model

    @property
    def stopped(self) -> str:
        """Why nothing more is asked (the budget, a wrong key); empty while all is well."""
        return self._desk.stopped

    @property
    def calls(self) -> int:
        """Requests sent so far, repeated ones included."""
        return self._budget.calls

    @property
    def cost(self) -> float:
        """US dollars spent so far by this asker."""
        return self._desk.tally.cost

    def __enter__(self) -> ModelAsker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the calls under way end and be recorded (ten seconds at most), and close journal and connections."""
        if self._loop.is_closed():
            return
        try:
            asyncio.run_coroutine_threadsafe(self._desk.close(), self._loop).result()
        finally:
            self._writer.close()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def ask(self, questions: Sequence[Question], read: Reader) -> list[Answer]:
        """Return one answer per question, in their order; a failed question has an ``error``, it does not raise.

        What stops everything (a wrong key, an endpoint that is down, a journal that cannot be written) raises
        :class:`MensuraError`, after the calls under way are recorded. Ask again to go on where it stopped.
        """
        answers: list[Answer] = []
        with collector_at_rest() as wake_collector:
            for chunk in self._chunks(questions, read, _LARGE_CHUNK, wake_collector):
                answers += chunk
        return answers

    def stream(self, questions: Iterable[Question], read: Reader) -> Iterator[Answer]:
        """Yield the answers in the questions' order, holding a few thousand at a time however many there are."""
        for chunk in self._chunks(questions, read, _CHUNK, _nothing):
            yield from chunk

    def _chunks(
        self, questions: Iterable[Question], read: Reader, size: int, waited: Callable[[], None]
    ) -> Iterator[list[Answer]]:
        """Yield the answers, ``size`` together; ``waited`` is called when some are not in the journal and must come."""
        if self._loop.is_closed():
            raise MensuraError("asker: it is closed; open another")
        total = len(questions) if isinstance(questions, Sized) else None
        start = self._done()
        waiting: deque[Future[list[Answer]]] = deque()
        rest = iter(questions)
        try:
            while chunk := list(islice(rest, size)):
                order = self._desk.serve(chunk, read, learn=not waiting)
                waiting.append(asyncio.run_coroutine_threadsafe(order, self._loop))
                while waiting and (len(waiting) > _CHUNKS_AHEAD or waiting[0].done()):
                    yield self._answers(waiting.popleft(), start, total, waited)
            while waiting:
                yield self._answers(waiting.popleft(), start, total, waited)
        finally:
            for order_left in waiting:
                order_left.cancel()

    def _answers(
        self, order: Future[list[Answer]], start: int, total: int | None, waited: Callable[[], None]
    ) -> list[Answer]:
        """Wait for one chunk, showing how far the work has come."""
        try:
            while not wait([order], timeout=_SHOW_SECONDS).done:
                if self._loop.is_closed():
                    raise MensuraError("asker: it was closed while questions waited; open another")
                waited()
                self._show(start, total)
            return order.result()
        except BaseException:
            order.cancel()
            raise
        finally:
            self._show(start, total)

    def _done(self) -> int:
        tally = self._desk.tally
        return tally.answered + tally.stored + tally.failed

    def _show(self, start: int, total: int | None) -> None:
        if self._advance is None:
            return
        tally = self._desk.tally
        if self._begun is None:
            self._begun = time.monotonic()
        elapsed = time.monotonic() - self._begun
        rate = tally.answered / elapsed if elapsed > 0 else 0.0
        done = self._done() - start
        left = (total - done) / rate if total is not None and rate > 0 else None
        self._advance(Standing(done, total, tally.stored, tally.failed, tally.cost, rate, left))


def _nothing() -> None:
    """Do nothing where a wait concerns nobody."""
