"""Open a model by its name, and ask it from ordinary code: questions in, answers out in their order.

An event loop in its own thread does the asking.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Sized
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from mensura.core.errors import MensuraError, check_choice
from mensura.llm.calls import Budget, Caller
from mensura.llm.endpoint import COMPATIBLE, EndpointProvider, open_endpoint, redactor, secrets_of
from mensura.llm.journal import Journal
from mensura.llm.pacing import Pacer
from mensura.llm.protocol import DEFAULT_MAX_TOKENS, Answer, Prices, Provider, Question, Reader, Settings
from mensura.llm.providers import PREFIX, InspectProvider, RecordedProvider, read_recording
from mensura.llm.queue import Queue
from mensura.llm.record import Record

DEFAULT_TIMEOUT = 120.0
DEFAULT_CONCURRENCY = 32
Interface: TypeAlias = Literal["auto", "direct", "inspect"]
RETRY = ("refused", "unreadable", "batched")
"""Kinds of questions that can be asked again."""
BATCH_DISCOUNT = 0.5
"""What batches cost of the list price."""
BATCHING = ("openai", "anthropic", "google", "grok", "together")
"""Providers whose batches inspect-ai uses."""
_IN_BATCHES = 50_000
_BATCH_SECONDS = 2 * 86_400.0
"""Most calls under way at once, and seconds until a call fails, where questions are sent in batches."""
_CHUNK = 512
_CHUNKS_AHEAD = 8
_SHOW_SECONDS = 0.1


@dataclass(frozen=True)
class Standing:
    """Report the progress of a run.

    Attributes
    ----------
    done, total : int, int or None
        Questions done, and all of them where their number is known.
    stored, failed : int
        Answers that were in the journal, and questions without an answer.
    cost : float or None
        US dollars so far; None where no price is known.
    rate : float
        Calls per second.
    seconds_left : float or None
        None until there is an estimate.
    waiting : float
        Seconds until the provider may be asked again; 0 where it asked for no pause.

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
    """Ask a model through the journal; :func:`mensura.llm.open_asker` makes it. Close it, or use a ``with`` block.

    Attributes
    ----------
    model : str
        The model's name.
    stopped : str
        Why nothing more is asked; empty while all is well.
    calls, answered : int
        Requests sent, and answers so far.
    cost : float or None
        US dollars spent; None where no price is known.

    """

    def __init__(self, caller: Caller, record: Record, pacer: Pacer, advance: Advance | None) -> None:
        self._caller, self._advance = caller, advance
        self._begun: float | None = None
        self._record = record
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="mensura-asker", daemon=True)
        self._thread.start()

        async def make_queue() -> Queue:
            return Queue(caller, record, pacer)

        self._queue = asyncio.run_coroutine_threadsafe(make_queue(), self._loop).result()

    @property
    def model(self) -> str:
        """The model's name, as ``--model`` takes it."""
        return self._caller.settings.model

    @property
    def stopped(self) -> str:
        """Why nothing more is asked (the budget, a wrong key); empty while all is well."""
        return self._queue.stopped

    @property
    def calls(self) -> int:
        """Requests sent so far, repeated ones included."""
        return self._caller.budget.calls

    @property
    def cost(self) -> float | None:
        """US dollars that this asker has spent so far, None where no price is known."""
        return None if self._caller.prices is None else self._queue.tally.cost

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
            self._record.close()

    async def _close(self) -> None:
        await self._queue.close()
        await self._record.finish()
        left = asyncio.all_tasks() - {asyncio.current_task()}  # inspect-ai's look after batches
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

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


def open_asker(
    name: str,
    *,
    journal: str | Path | None,
    base_url: str | None = None,
    temperature: float | None = 0.0,
    max_tokens: int = DEFAULT_MAX_TOKENS,
    timeout: float = DEFAULT_TIMEOUT,
    max_cost: float | None = None,
    max_calls: int | None = None,
    prices: Prices | None = None,
    concurrency: int = DEFAULT_CONCURRENCY,
    retry: Collection[str] = (),
    advance: Advance | None = None,
    interface: Interface = "auto",
    batch: bool = False,
) -> ModelAsker:
    """Open a model for asking; close it after use, or use it in a ``with`` block.

    Parameters
    ----------
    name : str
        A model as inspect-ai names it (``openai/…``, ``anthropic/…``, ``ollama/…``), ``openai-api/SERVICE/MODEL`` for
        any OpenAI-compatible endpoint (address and key from ``SERVICE_BASE_URL`` and ``SERVICE_API_KEY``), any name
        together with ``base_url``, or ``recorded/NAME``.
    journal : path, optional
        The file that records everything; only a recording can do without (None).
    base_url : str, optional
        Address of an OpenAI-compatible endpoint.
    temperature : float, optional
        0 to 2; None leaves it to the provider.
    max_tokens : int
        Most tokens of an answer.
    timeout : float
        Seconds per call.
    max_cost, max_calls : float, int, optional
        US dollars (needs ``prices``) and requests that this asker may spend; it stops before either is passed.
    prices : Prices, optional
        US dollars per million tokens.
    concurrency : int
        Most calls at once; "too many requests" lowers it.
    retry : collection of str
        Questions to ask again: with a ``refused`` answer (filtered ones too), with an ``unreadable`` one, and
        ``batched`` ones, which a run sent in a batch and ended before the answer came.
    advance : callable, optional
        Gets the :class:`Standing` ten times a second.
    interface : str
        How compatible endpoints are reached: ``direct`` (their default) or ``inspect``.
    batch : bool
        Send the questions in batches of the provider, through inspect-ai: half of ``prices``, within a day. Keep the
        process running until the answers are there.

    Returns
    -------
    ModelAsker
        Asks the model through the journal.

    Raises
    ------
    MensuraError
        If the model cannot be opened or an argument is wrong.

    Examples
    --------
    >>> from mensura.llm import AnswerReading, Question, open_asker
    >>> question = Question("How much?", about={"item": "harbour", "dimension": "QLq"})
    >>> with open_asker("recorded/demo", journal=None) as asker:
    ...     asker.ask([question], lambda text: AnswerReading(len(text) > 0))[0].value
    True

    """
    settings = Settings(name, temperature, max_tokens)
    if batch:
        check_choice("batch: the provider of the model", name.partition("/")[0], BATCHING)
        concurrency, interface, timeout = _IN_BATCHES, "inspect", _BATCH_SECONDS
        prices = prices and Prices(BATCH_DISCOUNT * prices.input, BATCH_DISCOUNT * prices.output)
    _check(name, journal, timeout, concurrency, interface, retry)
    provider: Provider
    key: str | None = None
    if name.startswith(PREFIX):
        recording = read_recording(name)
        settings = replace(settings, version=recording.version)
        provider = RecordedProvider(recording)
        prices = prices or Prices(0.0, 0.0)
    else:
        provider, key = _provider(settings, base_url, timeout, concurrency, interface, batch=batch)
    budget = Budget(settings, prices, max_cost, max_calls)
    redact = redactor(secrets_of(os.environ, key))
    record = Record(Journal(journal, redact=redact), settings, redact, retry, batch=batch)
    pacer = Pacer(concurrency, start=concurrency) if batch else Pacer(concurrency)
    return ModelAsker(Caller(provider, settings, prices, budget, redact), record, pacer, advance)


def _provider(
    settings: Settings, base_url: str | None, timeout: float, concurrency: int, interface: Interface, *, batch: bool
) -> tuple[Provider, str | None]:
    service, _, rest = settings.model.partition("/")
    is_compatible = service == "openai-api" or (base_url is not None and (not rest or service in COMPATIBLE))
    if interface == "direct" or (interface == "auto" and is_compatible):
        endpoint, key = open_endpoint(settings.model, base_url, timeout)
        return EndpointProvider(endpoint, settings), key
    return InspectProvider(settings, base_url=base_url, timeout=timeout, concurrency=concurrency, batch=batch), None


def _check(
    name: str, journal: str | Path | None, timeout: float, concurrency: int, interface: str, retry: Collection[str]
) -> None:
    if journal is None and not name.startswith(PREFIX):
        raise MensuraError(f"journal: {name!r} costs money; give the file that records its answers (journal.sqlite)")
    if not timeout > 0:
        raise MensuraError(f"timeout: expected seconds above 0, got {timeout!r}")
    if not isinstance(concurrency, int) or concurrency < 1:
        raise MensuraError(f"concurrency: expected a whole number of at least 1, got {concurrency!r}")
    check_choice("interface", interface, get_args(Interface))
    if isinstance(retry, str) or not set(retry) <= set(RETRY):
        raise MensuraError(f"retry: expected some of {', '.join(RETRY)}, got {retry!r}")
