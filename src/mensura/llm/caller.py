"""One call: a question is sent, the budget settled, and what came back made into the journal's entry."""

from __future__ import annotations

import time
from collections.abc import Callable

from mensura.llm.budget import Budget, likely_tokens, likely_tokens_in
from mensura.llm.entries import Entry
from mensura.llm.protocol import Question
from mensura.llm.providers.base import CallError, Provider, Reply, Trouble
from mensura.llm.readings import Read, read_safely
from mensura.llm.settings import Prices, Settings
from mensura.llm.slots import Slot


class Caller:
    """A provider with its prices and the budget it draws on; no key leaves it in a text."""

    def __init__(
        self,
        provider: Provider,
        settings: Settings,
        *,
        prices: Prices | None,
        budget: Budget,
        redact: Callable[[str], str],
    ) -> None:
        self._provider, self._prices = provider, prices
        self.settings, self.budget, self.redact = settings, budget, redact

    async def call(self, slot: Slot) -> Reply | CallError:
        """Send one request, and settle with the budget whatever happens."""
        slot.attempts += 1
        slot.began = time.perf_counter()
        cost: float | None = None
        try:
            reply = await self._provider.complete(slot.question)
            cost = None if reply.tokens_out is None else self._cost(slot.question, reply) or 0.0
            return reply
        except CallError as fault:
            cost = None if fault.billed else 0.0
            return fault
        except Exception as fault:
            return CallError(Trouble.QUESTION, f"{type(fault).__name__}: {fault}", billed=True)
        finally:
            self.budget.settle(slot.worst, cost)

    def entry_of(self, slot: Slot, reply: Reply) -> tuple[Read, Entry]:
        """Read a reply as its asker wants it read, and make the journal's entry of it."""
        seconds = time.perf_counter() - slot.began
        text = self.redact(reply.text)
        read = read_safely(text, slot.order.read)
        if read.error and reply.cut:
            cut = f"; the answer was cut off at max_tokens={self.settings.max_tokens}"
            read = read._replace(error=read.error + cut)
        rationale, error = self.redact(read.reading.rationale), self.redact(read.error)
        tokens, cost = _tokens(slot.question, reply), self._cost(slot.question, reply)
        return read, Entry(text, self.redact(read.value), rationale, error, *tokens, cost, seconds, slot.attempts)

    async def close(self) -> None:
        """Close the provider's connections."""
        await self._provider.close()

    def _cost(self, question: Question, reply: Reply) -> float | None:
        return None if self._prices is None else self._prices.cost(*_tokens(question, reply))


def _tokens(question: Question, reply: Reply) -> tuple[int, int]:
    """Return the tokens in and out as the provider counted them, or as they are likely to be."""
    tokens_in = likely_tokens_in(question) if reply.tokens_in is None else reply.tokens_in
    tokens_out = likely_tokens(len(reply.text.encode())) if reply.tokens_out is None else reply.tokens_out
    return tokens_in, tokens_out
