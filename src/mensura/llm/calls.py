"""Calls and their cost: the budget of a run, questions on their way, one call, and an estimate before any.

A call starts only if its worst case still fits. It settles the budget whatever happens, and its reply becomes the
journal's entry.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from mensura.core.errors import MensuraError
from mensura.llm.endpoint import FILTERED
from mensura.llm.journal import Entry, Journal
from mensura.llm.journal_file import Redact, storable
from mensura.llm.protocol import (
    DEFAULT_MAX_TOKENS,
    Answer,
    AnswerReading,
    CallError,
    KeyMaker,
    Prices,
    Provider,
    Question,
    Reader,
    Reply,
    Settings,
    Trouble,
    schema_text,
)
from mensura.llm.record import Read, read_safely

_REFUSAL_SHOWN = 160
MESSAGE_OVERHEAD = 64
"""Tokens that wrapping a question in messages may add at most."""
PICTURE_TOKENS = 4000
"""Tokens that a picture may count for at most."""
_BYTES_PER_TOKEN = 4


class Budget:
    """Counts calls and money of one run. A call starts only if its worst case still fits beside those under way."""

    def __init__(
        self, settings: Settings, prices: Prices | None, max_cost: float | None, max_calls: int | None
    ) -> None:
        if max_cost is not None and not 0 <= max_cost < float("inf"):
            raise MensuraError(f"max_cost: expected US dollars of at least 0, got {max_cost!r}")
        if max_calls is not None and max_calls < 0:
            raise MensuraError(f"max_calls: expected a number of at least 0, got {max_calls!r}")
        if max_cost is not None and prices is None:
            raise MensuraError(
                f"max_cost: no prices are known for {settings.model!r}; give prices=Prices(input, output), on the "
                "command line --set price_in=P and --set price_out=P, in US dollars per million tokens"
            )
        self._settings = settings
        self._prices = prices
        self._max_cost = max_cost
        self._max_calls = max_calls
        self._reserved = 0.0
        self._lost = 0.0
        self.calls = 0
        self.spent = 0.0

    def worst_case(self, question: Question) -> float:
        """Return what a call can cost at most: one token per byte sent, and all tokens allowed in the answer."""
        if self._max_cost is None or self._prices is None:
            return 0.0
        tokens_in = _bytes_sent(question) + MESSAGE_OVERHEAD + PICTURE_TOKENS * len(question.pictures)
        return self._prices.cost(tokens_in, self._settings.max_tokens)

    def take(self, worst: float) -> bool:
        """Reserve one call; false when it could pass the budget."""
        if self._max_calls is not None and self.calls >= self._max_calls:
            return False
        if self._max_cost is not None and self.spent + self._lost + self._reserved + worst > self._max_cost:
            return False
        self.calls += 1
        self._reserved += worst
        return True

    def settle(self, worst: float, cost: float | None) -> None:
        """Give back a reservation and count what the call cost; None: unknown, so the worst case stays counted."""
        self._reserved -= worst
        if cost is None:
            self._lost += worst
        else:
            self.spent += cost

    @property
    def reason(self) -> str:
        """Why no further call may start, in words."""
        if self._max_calls is not None and self.calls >= self._max_calls:
            return f"budget: the {self._max_calls} calls allowed were made"
        lost = f", up to ${self._lost:.4f} for calls whose answer was lost" if self._lost else ""
        return f"budget: another call could pass ${self._max_cost:g} (${self.spent:.4f} spent{lost})"


def likely_tokens(text_bytes: int) -> int:
    """Return a plain guess of the tokens in so many bytes of text."""
    return -(-text_bytes // _BYTES_PER_TOKEN)


def _bytes_sent(question: Question) -> int:
    parts = (question.prompt, question.system, schema_text(question.schema))
    return sum(len(part.encode("utf-8", "replace")) for part in parts)


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
        self, provider: Provider, settings: Settings, prices: Prices | None, budget: Budget, redact: Redact
    ) -> None:
        self._provider, self.settings, self.prices = provider, settings, prices
        self.budget, self.redact = budget, redact

    def shown(self, text: str) -> str:
        """Return a text that may be stored and shown: without keys and halves of characters."""
        return self.redact(storable(text))

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
        if reply.withheld:
            reason = FILTERED if reply.withheld == "filtered" else f"refused: {' '.join(text[:_REFUSAL_SHOWN].split())}"
            read = Read(AnswerReading(None), error=reason)
        else:
            read = read_safely(text, slot.order.read)
        if read.error and reply.cut:
            cut = f"; the answer was cut off at max_tokens={self.settings.max_tokens}"
            read = read._replace(error=read.error + cut)
        rationale, error = self.shown(read.reading.rationale), self.shown(read.error)
        tokens, cost = _tokens(slot.question, reply), self._cost(slot.question, reply)
        return read, Entry(text, self.redact(read.value), rationale, error, *tokens, cost, seconds, slot.attempts)

    async def close(self) -> None:
        """Close the provider's connections."""
        await self._provider.close()

    def _cost(self, question: Question, reply: Reply) -> float | None:
        return None if self.prices is None else self.prices.cost(*_tokens(question, reply))


def _tokens(question: Question, reply: Reply) -> tuple[int, int]:
    """Return the tokens in and out as the provider counted them, or as they are likely to be."""
    tokens_in = likely_tokens(_bytes_sent(question)) if reply.tokens_in is None else reply.tokens_in
    likely = likely_tokens(len(reply.text.encode("utf-8", "replace")))
    return tokens_in, likely if reply.tokens_out is None else reply.tokens_out


@dataclass(frozen=True)
class Estimate:
    """Estimate the effort of asking; token counts are guesses, one token for four bytes.

    Attributes
    ----------
    model : str
        The model.
    questions, stored, calls : int
        Questions, those with a stored answer, and calls that would be made.
    tokens_in, tokens_out : int
        Expected tokens.
    cost, cost_at_most : float or None
        Expected cost, and cost if every answer used all its tokens, in US dollars; None where no price is known.

    """

    model: str
    questions: int
    stored: int
    calls: int
    tokens_in: int
    tokens_out: int
    cost: float | None
    cost_at_most: float | None

    def __str__(self) -> str:
        money = "cost unknown, for no price is known"
        if self.cost is not None:
            money = f"about ${self.cost:.2f}, at most ${self.cost_at_most:.2f}"
        return (
            f"{self.questions:,} questions to {self.model}: {self.stored:,} answered already, {self.calls:,} calls, "
            f"about {self.tokens_in:,} tokens in and {self.tokens_out:,} out; {money}"
        )


def estimate(
    questions: Iterable[Question],
    name: str,
    *,
    journal: str | Path | None = None,
    temperature: float | None = 0.0,
    max_tokens: int = DEFAULT_MAX_TOKENS,
    prices: Prices | None = None,
    tokens_out: int | None = None,
) -> Estimate:
    """Estimate calls, tokens and US dollars of questions; nothing is sent.

    Parameters
    ----------
    questions : iterable of Question
        The questions.
    name : str
        The model, as :func:`mensura.llm.open_asker` takes it.
    journal : path, optional
        Shows the answered questions; it need not exist.
    temperature, max_tokens
        As :func:`mensura.llm.open_asker` takes them; they are part of an answer's key.
    prices : Prices, optional
        US dollars per million tokens.
    tokens_out : int, optional
        Expected length of an answer; all of ``max_tokens`` when not given.

    Returns
    -------
    Estimate
        Calls, tokens and cost.

    Examples
    --------
    >>> from mensura.llm import Question, estimate
    >>> estimate([Question("How hard?")], "recorded/demo").calls
    1

    """
    from mensura.llm.providers import PREFIX, read_recording

    version = read_recording(name).version if name.startswith(PREFIX) else ""
    settings = Settings(name, temperature, max_tokens, version)
    if tokens_out is not None and tokens_out < 0:
        raise MensuraError(f"tokens_out: expected a number of at least 0, got {tokens_out!r}")
    asked = list(questions)
    answered = set[bytes]()
    keys = list(map(KeyMaker(settings), asked))
    if journal is not None and Path(journal).exists():
        with Journal(journal, create=False) as book:
            answered = book.answered(keys)
    fresh = {key: question for key, question in zip(keys, asked, strict=True) if key not in answered}
    tokens_in = sum(likely_tokens(_bytes_sent(question)) for question in fresh.values())
    expected = min(max_tokens if tokens_out is None else tokens_out, max_tokens) * len(fresh)
    return Estimate(
        model=name,
        questions=len(asked),
        stored=sum(key in answered for key in keys),
        calls=len(fresh),
        tokens_in=tokens_in,
        tokens_out=expected,
        cost=None if prices is None else prices.cost(tokens_in, expected),
        cost_at_most=None if prices is None else prices.cost(tokens_in, max_tokens * len(fresh)),
    )
