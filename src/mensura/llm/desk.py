"""The desk where questions wait, are claimed, asked and recorded; everything here runs in one event loop.

Each question is a slot. It waits (``todo``) until it is looked up and claimed in the journal (``parked`` while another
process asks it), is ready until throttle and budget let it go, is under way until a reply or failure comes, rests after
a passing failure, and is settled once the journal holds its answer.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine, Sequence

from mensura.core.errors import MensuraError
from mensura.llm.caller import Caller
from mensura.llm.entries import Entry
from mensura.llm.journal import Hold
from mensura.llm.protocol import Answer, Question, Reader
from mensura.llm.providers.base import CallError, Reply
from mensura.llm.readings import Read, answer_of, read_safely
from mensura.llm.record import Record
from mensura.llm.setbacks import Setbacks
from mensura.llm.slots import Order, Slot, Tally
from mensura.llm.throttle import Throttle

_POLL_SECONDS = 0.5
_CLAIMS_AT_ONCE = 64
_GRACE_SECONDS = 10.0


class Desk:
    """Answers questions of one model through the journal."""

    def __init__(self, caller: Caller, record: Record, throttle: Throttle) -> None:
        self._caller, self._record, self._throttle = caller, record, throttle
        self._budget, self._redact = caller.budget, caller.redact
        self._loop = asyncio.get_running_loop()
        self._setbacks = Setbacks(caller.settings.model, throttle, self._loop.time())
        self._intake = asyncio.Lock()
        self._todo: deque[Slot] = deque()
        self._ready: deque[Slot] = deque()
        self._parked: list[Slot] = []
        self._resting: dict[Slot, asyncio.TimerHandle] = {}
        self._joined: dict[bytes, list[Slot]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._under_way = 0
        self._claiming = False
        self._wake: asyncio.TimerHandle | None = None
        self._fault: MensuraError | None = None
        self.tally = Tally()
        self.stopped = ""

    async def serve(self, questions: Sequence[Question], read: Reader, *, learn: bool = False) -> list[Answer]:
        """Answer questions in their order; raises only what stops the whole work (a wrong key, a full disk)."""
        async with self._intake:  # first come, first asked
            order, fresh = await self._take_in(questions, read)
            if fresh and learn:
                await self._record.learn([slot.question.prompt for slot in fresh])
            for slot in fresh:
                self._enqueue(slot)
            if fresh:
                self._pump()
        try:
            if order.left:
                await order.done
        except asyncio.CancelledError:
            order.dropped = True
            raise
        if self._fault is not None and fresh:
            raise self._fault
        return [answer for answer in order.answers if answer is not None]

    async def _take_in(self, questions: Sequence[Question], read: Reader) -> tuple[Order, list[Slot]]:
        """Return an order in which all that the journal holds is settled, and a slot for each of the others."""
        keys, (answers, reread) = await self._record.look_up(questions, read)
        order = Order(read, answers, answers.count(None), self._loop.create_future())
        self.tally.stored += len(answers) - order.left
        if reread:
            self._start(self._record.reread(reread))
        places = [place for place, answer in enumerate(answers) if answer is None] if order.left else []
        return order, [Slot(questions[place], keys[place], order, place) for place in places]

    async def close(self) -> None:
        """Wait a little for the calls under way, so that what was paid for is recorded, and close the provider."""
        if self._wake is not None:
            self._wake.cancel()
        self.stopped = self.stopped or "closed"
        self._drain()
        until = self._loop.time() + _GRACE_SECONDS
        while self._tasks and (left := until - self._loop.time()) > 0:  # one that ends may start another
            await asyncio.wait(self._tasks, timeout=left)
        while self._tasks:
            for task in list(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
        for companions in list(self._joined.values()):
            self._settle_failed(companions[0], self.stopped)
        await self._caller.close()

    # From waiting to ready

    def _enqueue(self, slot: Slot) -> None:
        """Line up a question; one that is already on its way is joined, not asked twice."""
        companions = self._joined.setdefault(slot.key, [])
        companions.append(slot)
        if len(companions) == 1:
            slot.worst = self._budget.worst_case(slot.question)
            self._todo.append(slot)

    def _pump(self) -> None:
        """Start what may start now: calls within throttle and budget, and the next claims."""
        if self.stopped:
            self._drain()
            return
        pause = self._throttle.resume_at - self._loop.time()
        if pause > 0:
            self._pump_in(pause)
            return
        while self._ready and self._under_way < self._throttle.allowed:
            if not self._budget.take(self._ready[0].worst):
                if not self._under_way:
                    self._stop(self._budget.reason)
                return
            self._under_way += 1
            self._start(self._attempt(self._ready.popleft()))
        if self._todo and not self._claiming and len(self._ready) < self._throttle.allowed:
            self._claiming = True
            self._start(self._claim())

    def _pump_in(self, seconds: float) -> None:
        if self._wake is not None:
            self._wake.cancel()
        self._wake = self._loop.call_later(seconds, self._pump)

    async def _claim(self) -> None:
        """Claim the next questions in the journal, before they are asked."""
        group: list[Slot] = []
        while self._todo and len(group) < max(_CLAIMS_AT_ONCE, self._throttle.allowed):
            slot = self._todo.popleft()
            if self._wanted(slot):
                group.append(slot)
        try:
            holds = await self._record.claim(group)
        except Exception as fault:
            self._todo.extendleft(reversed(group))
            self._break(fault)
            return
        finally:
            self._claiming = False
        for slot, hold in zip(group, holds, strict=True):
            if hold is Hold.MINE:
                self._ready.append(slot)
            elif hold is Hold.ANOTHER:
                self._parked.append(slot)
            elif hold is Hold.BATCH:
                self._settle_failed(slot, "waits in a batch; collect it first")
            else:
                self._settle_entry(slot, hold, stored=True)
        if self._parked:
            self._loop.call_later(_POLL_SECONDS, self._unpark)
        self._pump()

    def _unpark(self) -> None:
        """Look again at what another process was asking: it has answered by now, or has died, or is still at it."""
        self._todo.extend(self._parked)
        self._parked.clear()
        self._pump()

    def _wanted(self, slot: Slot) -> bool:
        """Return whether anyone still waits for a slot; forget it otherwise."""
        if all(companion.order.dropped for companion in self._joined[slot.key]):
            del self._joined[slot.key]
            return False
        return True

    # From ready to settled

    async def _attempt(self, slot: Slot) -> None:
        """Ask once, and record what came of it.

        A call is under way until its answer is on the disk: no more than the throttle allows can be lost to a kill.
        """
        try:
            try:
                outcome = await self._caller.call(slot)
                if isinstance(outcome, Reply):
                    await self._write_down(slot, outcome)
            finally:
                self._under_way -= 1
            if isinstance(outcome, CallError):
                await self._retry_or_give_up(slot, outcome)
            self._pump()
        except Exception as fault:
            self._break(fault)
            self._settle_failed(slot, self.stopped)

    async def _write_down(self, slot: Slot, reply: Reply) -> None:
        """Read a reply, write it down, and settle the question."""
        self._setbacks.succeeded(self._loop.time())
        read, entry = self._caller.entry_of(slot, reply)
        stands = await self._record.answer(slot.key, entry, self._under_way)
        self.tally.tokens_in += entry.tokens_in
        self.tally.tokens_out += entry.tokens_out
        self.tally.cost += entry.cost or 0.0
        self._settle_entry(slot, stands, stored=False, read=read if stands is entry else None)

    async def _retry_or_give_up(self, slot: Slot, fault: CallError) -> None:
        message = self._redact(fault.message)
        if told := self._setbacks.stops(fault, message, self._loop.time()):
            self._ready.appendleft(slot)
            self._stop(told, MensuraError(told))
            return
        rest = self._setbacks.rest(fault, slot.attempts)
        if rest is None:
            await self._give_up(slot, fault, message)
        else:
            self._resting[slot] = self._loop.call_later(rest, self._again, slot)

    def _again(self, slot: Slot) -> None:
        del self._resting[slot]
        self._ready.appendleft(slot)
        self._pump()

    async def _give_up(self, slot: Slot, fault: CallError, message: str) -> None:
        """Record that a question found no answer; when all do, leave the rest alone."""
        await self._record.fail(slot.key, Entry("", error=message, attempts=slot.attempts))
        self._settle_failed(slot, message, slot.attempts)
        told = self._setbacks.given_up(fault.trouble, message, none_answered=not self.tally.answered)
        if told:
            self._stop(told, MensuraError(told))

    # Settling

    def _settle_entry(self, slot: Slot, entry: Entry, *, stored: bool, read: Read | None = None) -> None:
        """Settle a question and all that joined it; ``read`` is what its own reader took, where that is known."""
        for companion in self._joined.pop(slot.key):
            own = read if read is not None and companion is slot else read_safely(entry.text, companion.order.read)
            known = stored or companion is not slot
            self.tally.stored += known
            self.tally.answered += not known
            companion.order.settle(companion.place, answer_of(companion.question, entry, own, stored=known))

    def _settle_failed(self, slot: Slot, error: str, attempts: int = 0) -> None:
        for companion in self._joined.pop(slot.key, ()):  # none where closing the desk has settled it before
            self.tally.failed += 1
            companion.order.settle(companion.place, Answer(companion.question, error=error, attempts=attempts))

    # Stopping

    def _stop(self, reason: str, fault: MensuraError | None = None) -> None:
        """Start nothing more; calls under way end in their own time and are recorded."""
        if not self.stopped:
            self.stopped, self._fault = reason, fault
        self._drain()

    def _drain(self) -> None:
        """Settle what was not sent, or would be sent again, with the reason of the stop, and give its claims back."""
        claimed = [slot.key for slot in (*self._ready, *self._resting)]
        for slot in (*self._ready, *self._resting, *self._todo, *self._parked):
            self._settle_failed(slot, self.stopped)
        for timer in self._resting.values():
            timer.cancel()
        for waiting in (self._ready, self._resting, self._todo, self._parked):
            waiting.clear()
        if claimed:
            self._start(self._record.release(claimed))

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None:
            self._break(fault)

    def _break(self, fault: BaseException) -> None:
        """Stop for a fault nobody can work around; it is raised where the questions were asked."""
        told = self._redact(str(fault) if isinstance(fault, MensuraError) else f"{type(fault).__name__}: {fault}")
        self._stop(told, MensuraError(told))
