"""Questions on their way, and one call: send a question, settle the budget, make the journal's entry of the reply."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

from mensura.llm.budget import Budget, likely_tokens, likely_tokens_in
from mensura.llm.endpoint import FILTERED
from mensura.llm.protocol import Answer, AnswerReading, CallError, Provider, Question, Reader, Reply, Trouble
from mensura.llm.record import Read, read_safely
from mensura.llm.settings import Prices, Settings
from mensura.llm.text_store import Entry, Redact, storable

_REFUSAL_SHOWN = 160


@dataclass(eq=False, slots=True)
class Slot:
    """One question on its way."""

    question: Question
    key: bytes
    order: Order
    place: int
    worst: float = 0.0
    attempts: int = 0
    began: float = 0.0


@dataclass(eq=False)
class Order:
    """Questions that were asked together, with their answers as they come."""

    read: Reader
    answers: list[Answer | None]
    left: int
    done: asyncio.Future[None] = field(repr=False)
    dropped: bool = False

    def settle(self, place: int, answer: Answer) -> None:
        """Put one answer in its place."""
        self.answers[place] = answer
        self.left -= 1
        if self.left == 0 and not self.done.done():
            self.done.set_result(None)


@dataclass(eq=False)
class Tally:
    """Counts of answers and failures so far; ``cost`` in US dollars."""

    answered: int = 0
    stored: int = 0
    failed: int = 0
    cost: float = 0.0


class Caller:
    """A provider with its prices and its budget; no key leaves it in a text."""

    def __init__(
        self, provider: Provider, settings: Settings, *, prices: Prices | None, budget: Budget, redact: Redact
    ) -> None:
        self._provider, self._prices, self._redact = provider, prices, redact
        self.settings, self.budget = settings, budget

    def shown(self, text: str) -> str:
        """Return a text that may be stored and shown: without keys and halves of characters."""
        return self._redact(storable(text))

    async def call(self, slot: Slot) -> Reply | CallError:
        """Send one request, and settle the budget whatever happens."""
        slot.attempts += 1
        slot.began = time.perf_counter()
        cost: float | None = None
        try:
            reply = await self._provider.complete(slot.question)
            cost = None if reply.tokens_out is None else self._cost(slot.question, reply) or 0.0
            return reply
        except CallError as failure:
            cost = None if failure.billed else 0.0
            return failure
        except Exception as fault:
            return CallError(Trouble.QUESTION, f"{type(fault).__name__}: {fault}", billed=True)
        finally:
            self.budget.settle(slot.worst, cost)

    def entry_of(self, slot: Slot, reply: Reply) -> tuple[Read, Entry]:
        """Read a reply with the reader of its question, and make the journal's entry of it."""
        seconds = time.perf_counter() - slot.began
        text = self.shown(reply.text)
        read = read_safely(text, slot.order.read) if not reply.withheld else withheld(reply, text)
        if read.error and reply.cut:
            cut = f"; the answer was cut off at max_tokens={self.settings.max_tokens}"
            read = read._replace(error=read.error + cut)
        rationale, error = self.shown(read.reading.rationale), self.shown(read.error)
        tokens, cost = _tokens(slot.question, reply), self._cost(slot.question, reply)
        return read, Entry(text, self._redact(read.value), rationale, error, *tokens, cost, seconds, slot.attempts)

    async def close(self) -> None:
        """Close the provider's connections."""
        await self._provider.close()

    def _cost(self, question: Question, reply: Reply) -> float | None:
        return None if self._prices is None else self._prices.cost(*_tokens(question, reply))


def withheld(reply: Reply, text: str) -> Read:
    """Return the reading of an answer that the model declined to give, or that a content filter stopped."""
    error = FILTERED if reply.withheld == "filtered" else f"refused: {' '.join(text[:_REFUSAL_SHOWN].split())}"
    return Read(AnswerReading(None), error=error)


def _tokens(question: Question, reply: Reply) -> tuple[int, int]:
    """Return the tokens in and out as the provider counted them, or as they are likely to be."""
    tokens_in = likely_tokens_in(question) if reply.tokens_in is None else reply.tokens_in
    likely = likely_tokens(len(reply.text.encode("utf-8", "replace")))
    return tokens_in, likely if reply.tokens_out is None else reply.tokens_out
