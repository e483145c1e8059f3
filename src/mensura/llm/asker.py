"""Ask from ordinary code: an event loop in its own thread, questions in, answers out in their order."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Sized
from concurrent.futures import Future, wait
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from mensura.core.errors import MensuraError
from mensura.llm.budget import Budget
from mensura.llm.calls import Caller
from mensura.llm.journal import Journal
from mensura.llm.pacing import Pacer
from mensura.llm.protocol import Answer, Provider, Question, Reader
from mensura.llm.queue import Queue
from mensura.llm.record import JournalWriter, Record
from mensura.llm.redaction import redactor
from mensura.llm.settings import Prices, Settings

_CHUNK = 512
_CHUNKS_AHEAD = 8
_SHOW_SECONDS = 0.1


@dataclass(frozen=True)
class Standing:
    """The progress of a run: ``done`` of ``total`` (None where unknown), of which ``stored`` were in the journal.

    ``cost`` in US dollars so far, None where no price is known; ``rate`` in calls per second; ``seconds_left`` None
    until there is an estimate. ``waiting``: seconds until the provider may be asked again, 0 where it asked for none.
    """

    done: int
    total: int | None
    stored: int
    failed: int
    cost: float | None
    rate: float
    seconds_left: float | None
    waiting: float = 0.0


Advance: TypeAlias = Callable[[Standing], None]


class ModelAsker:
    """A model behind the journal, made by :func:`mensura.llm.open_asker`. Close it, or use it in a ``with`` block."""

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
        retry: Collection[str] = (),
        advance: Advance | None = None,
    ) -> None:
        self.settings = settings
        self.journal = journal
        self._prices = prices
        self._budget = Budget(settings, prices, max_cost, max_calls)
        self._advance = advance
        self._begun: float | None = None
        self._loop = asyncio.new_event_loop()
        redact = redactor(secrets)
        try:
            self._writer = JournalWriter(lambda: Journal(journal, redact=redact))
        except BaseException:
            self._loop.close()
            raise
        self._thread = threading.Thread(target=self._loop.run_forever, name="mensura-asker", daemon=True)
        self._thread.start()

        caller = Caller(provider, settings, prices=prices, budget=self._budget, redact=redact)

        async def make_queue() -> Queue:
            return Queue(caller, Record(self._writer, settings, redact, retry), Pacer(concurrency))

        self._queue = asyncio.run_coroutine_threadsafe(make_queue(), self._loop).result()

    @property
    def model(self) -> str:
        """The model's name, as ``--model`` takes it."""
        return self.settings.model

    @property
    def stopped(self) -> str:
        """Why nothing more is asked (the budget, a wrong key); empty while all is well."""
        return self._queue.stopped

    @property
    def calls(self) -> int:
        """Requests sent so far, repeated ones included."""
        return self._budget.calls

    @property
    def cost(self) -> float | None:
        """US dollars that this asker has spent so far, None where no price is known."""
        return None if self._prices is None else self._queue.tally.cost

    @property
    def answered(self) -> int:
        """Answers so far, those from the journal included."""
        return self._queue.tally.answered + self._queue.tally.stored

    def __enter__(self) -> ModelAsker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the calls under way end and be recorded (ten seconds at most), and close journal and connections."""
        if self._loop.is_closed():
            return
        try:
            asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            self._writer.close()

    async def _close(self) -> None:
        await self._queue.close()
        await self._writer.finish()

    def ask(self, questions: Sequence[Question], read: Reader) -> list[Answer]:
        """Return one answer per question, in their order; a failed question has an ``error``, it does not raise.

        What stops everything (a wrong key, an endpoint that is down, a journal that cannot be written) raises
        :class:`MensuraError`, after the calls under way are recorded. Ask again to go on where it stopped.
        """
        return [answer for chunk in self._chunks(questions, read) for answer in chunk]

    def stream(self, questions: Iterable[Question], read: Reader) -> Iterator[Answer]:
        """Yield the answers in the questions' order; a few thousand are in memory, however many there are."""
        for chunk in self._chunks(questions, read):
            yield from chunk

    def _chunks(self, questions: Iterable[Question], read: Reader) -> Iterator[list[Answer]]:
        if self._loop.is_closed():
            raise MensuraError("asker: it is closed; open another")
        total = len(questions) if isinstance(questions, Sized) else None
        start = self._done()
        waiting: deque[Future[list[Answer]]] = deque()
        rest = iter(questions)
        try:
            while chunk := list(islice(rest, _CHUNK)):
                waiting.append(asyncio.run_coroutine_threadsafe(self._queue.serve(chunk, read), self._loop))
                while waiting and (len(waiting) > _CHUNKS_AHEAD or waiting[0].done()):
                    yield self._answers(waiting.popleft(), start, total)
            while waiting:
                yield self._answers(waiting.popleft(), start, total)
        finally:
            for order_left in waiting:
                order_left.cancel()

    def _answers(self, order: Future[list[Answer]], start: int, total: int | None) -> list[Answer]:
        """Wait for one chunk, and show the progress."""
        try:
            while not wait([order], timeout=_SHOW_SECONDS).done:
                if self._loop.is_closed():
                    raise MensuraError("asker: it was closed while questions waited; open another")
                self._show(start, total)
            return order.result()
        except BaseException:
            order.cancel()
            raise
        finally:
            self._show(start, total)

    def _done(self) -> int:
        tally = self._queue.tally
        return tally.answered + tally.stored + tally.failed

    def _show(self, start: int, total: int | None) -> None:
        if self._advance is None:
            return
        tally = self._queue.tally
        if self._begun is None:
            self._begun = time.monotonic()
        elapsed = time.monotonic() - self._begun
        rate = tally.answered / elapsed if elapsed > 0 else 0.0
        done = self._done() - start
        left = (total - done) / rate if total is not None and rate > 0 else None
        waiting = self._queue.waiting if not self._loop.is_closed() else 0.0
        self._advance(Standing(done, total, tally.stored, tally.failed, self.cost, rate, left, waiting))
