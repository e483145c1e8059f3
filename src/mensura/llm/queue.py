"""The queue in which questions wait, are claimed, sent and recorded; everything here runs in one event loop.

Each question is a slot. It waits (``todo``) until it is claimed in the journal, is ready until pacer and budget let it
go, is under way until a reply or failure comes, rests after a passing failure, and is settled once the journal contains
its answer.
"""

import asyncio
from collections import deque
from collections.abc import Coroutine, Sequence

from mensura.core.errors import MensuraError
from mensura.llm.calls import Caller, Order, Slot, Tally
from mensura.llm.journal import Entry, State
from mensura.llm.pacing import CallFailures, Pacer, Ticket
from mensura.llm.protocol import Answer, CallError, Question, Reader, Reply, Trouble
from mensura.llm.record import Read, Record, answer_of, read_entry

LEFT_IN_A_BATCH = "batched: a run that ended sent it in a batch, which may be paid; retry=batched asks again"
_CLAIMS_AT_ONCE = 64
_GRACE_SECONDS = 10.0


class Queue:
    """Answer questions of one model through the journal."""

    def __init__(self, caller: Caller, record: Record, pacer: Pacer) -> None:
        self._caller, self._record, self._pacer = caller, record, pacer
        self._budget = caller.budget
        self._loop = asyncio.get_running_loop()
        self._failures = CallFailures(caller.settings.model, self._loop.time())
        self._intake = asyncio.Lock()
        self._todo: deque[Slot] = deque()
        self._ready: deque[Slot] = deque()
        self._resting: dict[Slot, asyncio.TimerHandle] = {}
        self._joined: dict[bytes, list[Slot]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._under_way = 0
        self._claiming = False
        self._wake: asyncio.TimerHandle | None = None
        self._fault: MensuraError | None = None
        self.tally = Tally()
        self.stopped = ""

    @property
    def waiting(self) -> float:
        """Seconds until the next request may start, where the provider asked for a pause; 0 otherwise."""
        return max(0.0, self._pacer.resume_at - self._loop.time()) if self._joined else 0.0

    async def serve(self, questions: Sequence[Question], read: Reader) -> list[Answer]:
        """Answer questions in their order; raises only what stops the whole work (a wrong key, a full disk)."""
        async with self._intake:  # first come, first asked
            order, fresh = await self._take_in(questions, read)
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
        """Return an order with the stored answers settled, and a slot for each of the other questions."""
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
        """Start the calls that pacer and budget allow now, and the next claims."""
        if self.stopped:
            self._drain()
            return
        while self._ready and self._under_way < self._pacer.ceiling:
            wait = self._pacer.wait(self._loop.time())
            if wait > 0:
                if wait < float("inf"):
                    if self._wake is not None:
                        self._wake.cancel()
                    self._wake = self._loop.call_later(wait, self._pump)
                break
            if not self._budget.take(self._ready[0].worst):
                if not self._under_way:
                    self._stop(self._budget.reason)
                return
            self._under_way += 1
            ticket = self._pacer.start(self._loop.time())
            self._start(self._attempt(self._ready.popleft(), ticket))
        if self._todo and not self._claiming and len(self._ready) < self._pacer.allowed:
            self._claiming = True
            self._start(self._claim())

    async def _claim(self) -> None:
        """Claim the next questions in the journal, before they are asked."""
        group: list[Slot] = []
        while self._todo and len(group) < max(_CLAIMS_AT_ONCE, self._pacer.allowed):
            slot = self._todo.popleft()
            if self._wanted(slot):
                group.append(slot)
        try:
            claims = await self._record.claim([(slot.key, slot.question) for slot in group])
        except Exception as fault:
            self._todo.extendleft(reversed(group))
            self._break(fault)
            return
        finally:
            self._claiming = False
        for slot, claim in zip(group, claims, strict=True):
            if isinstance(claim, Entry):
                self._settle_entry(slot, claim, stored=True)
            elif claim is State.BATCHED:
                self._settle_failed(slot, LEFT_IN_A_BATCH)
            else:
                self._ready.append(slot)
        self._pump()

    def _wanted(self, slot: Slot) -> bool:
        """Return whether anyone still waits for a slot; forget it otherwise."""
        if all(companion.order.dropped for companion in self._joined[slot.key]):
            del self._joined[slot.key]
            return False
        return True

    # From ready to settled

    async def _attempt(self, slot: Slot, ticket: Ticket) -> None:
        """Send a question once, and record the outcome.

        A call is under way until its answer is on the disk: a kill loses at most as many calls as ``concurrency``.
        """
        try:
            try:
                outcome = await self._send(slot, ticket)
                if isinstance(outcome, Reply):
                    self._pump()
                    outcome = await self._write_down(slot, outcome) or outcome
            finally:
                self._under_way -= 1
            if isinstance(outcome, CallError):
                await self._retry_or_give_up(slot, outcome)
            self._pump()
        except Exception as fault:
            self._break(fault)
            self._settle_failed(slot, self.stopped)

    async def _send(self, slot: Slot, ticket: Ticket) -> Reply | CallError:
        """Send a question once, and report the outcome to the pacer."""
        outcome: Reply | CallError | None = None
        try:
            outcome = await self._caller.call(slot)
        finally:
            now = self._loop.time()
            if isinstance(outcome, Reply):
                self._pacer.answered(now, ticket)
            elif outcome is not None and outcome.trouble is Trouble.BUSY:
                self._pacer.refused(now, ticket, outcome.wait)
            else:
                self._pacer.ended()
        return outcome

    async def _write_down(self, slot: Slot, reply: Reply) -> CallError | None:
        """Read a reply, write it down and settle its question; return a failure that concerns this question alone."""
        self._failures.succeeded(self._loop.time())
        try:
            read, entry = self._caller.entry_of(slot, reply)
            kept = await self._record.write(lambda journal: journal.answer(slot.key, entry))
        except MensuraError:
            raise  # the journal cannot be written: nothing more may be asked
        except Exception as fault:
            message = f"the answer could not be stored ({type(fault).__name__}: {fault})"
            return CallError(Trouble.QUESTION, message, billed=True)
        self.tally.cost += entry.cost or 0.0
        self._settle_entry(slot, kept, stored=False, read=read if kept is entry else None)
        return None

    async def _retry_or_give_up(self, slot: Slot, failure: CallError) -> None:
        message = self._caller.shown(failure.message)
        if reason := self._failures.stops(failure, message, self._loop.time()):
            if failure.trouble is Trouble.FATAL:  # a batch that was refused is not paid
                await self._note_failure(slot, message)
            self._ready.appendleft(slot)
            self._stop(reason, MensuraError(reason))
            return
        rest = self._failures.rest(failure, slot.attempts)
        if rest is None:
            await self._give_up(slot, failure, message)
        else:
            self._resting[slot] = self._loop.call_later(rest, self._again, slot)

    def _again(self, slot: Slot) -> None:
        del self._resting[slot]
        self._ready.appendleft(slot)
        self._pump()

    async def _give_up(self, slot: Slot, failure: CallError, message: str) -> None:
        """Record that a question found no answer; where that happens to all, leave the rest alone."""
        await self._note_failure(slot, message)
        self._settle_failed(slot, message, slot.attempts)
        reason = self._failures.given_up(failure.trouble, message, none_answered=not self.tally.answered)
        if reason:
            self._stop(reason, MensuraError(reason))

    async def _note_failure(self, slot: Slot, message: str) -> None:
        entry = Entry("", error=message, attempts=slot.attempts)
        await self._record.write(lambda journal: journal.fail(slot.key, entry))

    # Settling

    def _settle_entry(self, slot: Slot, entry: Entry, *, stored: bool, read: Read | None = None) -> None:
        """Settle a question and all that joined it; ``read`` is what its own reader took, where that is known."""
        for companion in self._joined.pop(slot.key):
            own = read if read is not None and companion is slot else read_entry(entry, companion.order.read)
            was_stored = stored or companion is not slot
            self.tally.stored += was_stored
            self.tally.answered += not was_stored
            companion.order.settle(companion.place, answer_of(companion.question, entry, own, stored=was_stored))

    def _settle_failed(self, slot: Slot, error: str, attempts: int = 0) -> None:
        for companion in self._joined.pop(slot.key, ()):  # none where closing has settled it before
            self.tally.failed += 1
            companion.order.settle(companion.place, Answer(companion.question, error=error, attempts=attempts))

    # Stopping

    def _stop(self, reason: str, fault: MensuraError | None = None) -> None:
        """Start nothing more; calls under way end in their own time and are recorded."""
        if not self.stopped:
            self.stopped, self._fault = reason, fault
        self._drain()

    def _drain(self) -> None:
        """Settle what was not sent, or would be sent again, with the reason of the stop."""
        for slot in (*self._ready, *self._resting, *self._todo):
            self._settle_failed(slot, self.stopped)
        for timer in self._resting.values():
            timer.cancel()
        for waiting in (self._ready, self._resting, self._todo):
            waiting.clear()

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None:
            self._break(fault)

    def _break(self, fault: BaseException) -> None:
        """Stop after an error that concerns all questions; ``serve`` raises it."""
        words = str(fault) if isinstance(fault, MensuraError) else f"{type(fault).__name__}: {fault}"
        reason = self._caller.shown(words)
        self._stop(reason, MensuraError(reason))
