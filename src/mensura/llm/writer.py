"""One thread writes the journal: what came in while it was busy, or is not urgent, goes to the disk together."""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeAlias

from mensura.core.errors import MensuraError
from mensura.llm.journal import Journal
from mensura.llm.owners import BEAT_SECONDS

Work: TypeAlias = Callable[[Journal], Any]
_Order: TypeAlias = tuple[Work, bool, "asyncio.Future[Any]"]


class JournalWriter:
    """Runs work on a journal in a thread of its own, for an event loop that must not wait for the disk.

    Orders are taken as they come; all that lie waiting share one transaction, and an order is reported done only after
    that transaction is on the disk. Each time the thread wakes it takes the interpreter's lock from the event loop
    some ten times over, so orders that may wait are gathered in the loop and handed over together.
    """

    def __init__(self, open_journal: Callable[[], Journal], loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._gathered: list[_Order] = []
        self._handing_over: asyncio.TimerHandle | None = None
        self._orders: queue.SimpleQueue[list[_Order] | None] = queue.SimpleQueue()
        self._journal = open_journal()
        self._thread = threading.Thread(target=self._serve, name="mensura-journal", daemon=True)
        self._thread.start()

    async def read(self, work: Work) -> Any:  # noqa: ANN401
        """Return what ``work`` reads."""
        return await self._order(work, writes=False)

    async def write(self, work: Work, *, company: int = 1, patience: float = 0.0) -> Any:  # noqa: ANN401
        """Return what ``work`` returns, once what it wrote is on the disk.

        It may wait until it is one of ``company`` orders that go together, but no longer than ``patience`` seconds.
        """
        return await self._order(work, writes=True, company=company, patience=patience)

    def close(self) -> None:
        """Finish what was ordered and close the journal; nobody orders any more."""
        gathered, self._gathered = self._gathered, []
        self._orders.put(gathered)
        self._orders.put(None)
        self._thread.join()

    async def _order(self, work: Work, *, writes: bool, company: int = 1, patience: float = 0.0) -> Any:  # noqa: ANN401
        future: asyncio.Future[Any] = self._loop.create_future()
        self._gathered.append((work, writes, future))
        if len(self._gathered) >= company:
            self._hand_over()
        elif self._handing_over is None:
            self._handing_over = self._loop.call_later(patience, self._hand_over)
        return await future

    def _hand_over(self) -> None:
        """Give the thread all that was gathered."""
        if self._handing_over is not None:
            self._handing_over.cancel()
            self._handing_over = None
        gathered, self._gathered = self._gathered, []
        self._orders.put(gathered)

    def _serve(self) -> None:
        open_for_orders = True
        while open_for_orders:
            orders, open_for_orders = self._waiting()
            done = [*self._run([o for o in orders if not o[1]])]
            writes = [order for order in orders if order[1]]
            if writes or self._journal.beat_due:
                done += self._commit(writes)
            if done:
                self._report(done)
        with suppress(sqlite3.Error):  # what was reported done is on the disk; open claims fall to the next process
            self._journal.close()

    def _waiting(self) -> tuple[list[_Order], bool]:
        """Return the orders that lie waiting, after at least one came or a heartbeat is due."""
        orders: list[_Order] = []
        with suppress(queue.Empty):
            gathered = self._orders.get(timeout=BEAT_SECONDS / 2)
            while gathered is not None:
                orders += gathered
                gathered = self._orders.get_nowait()
            return orders, False
        return orders, True

    def _commit(self, orders: list[_Order]) -> list[tuple[asyncio.Future[Any], object]]:
        try:
            with self._journal.transaction():
                self._journal.beat()
                return self._run(orders)
        except sqlite3.Error as fault:
            error = MensuraError(f"{self._journal.path}: the journal cannot be written ({fault})")
            return [(future, error) for *_, future in orders]

    def _run(self, orders: list[_Order]) -> list[tuple[asyncio.Future[Any], object]]:
        done: list[tuple[asyncio.Future[Any], object]] = []
        for work, writes, future in orders:
            try:
                done.append((future, work(self._journal)))
            except sqlite3.Error as fault:
                if writes:
                    raise
                done.append((future, MensuraError(f"{self._journal.path}: the journal cannot be read ({fault})")))
            except Exception as fault:
                done.append((future, fault))
        return done

    def _report(self, done: list[tuple[asyncio.Future[Any], object]]) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(_settle, done)


def _settle(done: list[tuple[asyncio.Future[Any], object]]) -> None:
    for future, result in done:
        if future.cancelled():
            continue
        if isinstance(result, Exception):
            future.set_exception(result)
        else:
            future.set_result(result)
