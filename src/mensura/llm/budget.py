"""What a run may spend, reserved before it is spent."""

from __future__ import annotations

from mensura.core.errors import MensuraError
from mensura.llm.protocol import Question
from mensura.llm.settings import Prices, Settings, schema_text

MESSAGE_OVERHEAD = 64
"""Tokens that wrapping a question in messages may add at most."""
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
                "command line --price-in and --price-out, in US dollars per million tokens"
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
        return self._prices.cost(most_tokens_in(question), self._settings.max_tokens)

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


def most_tokens_in(question: Question) -> int:
    """Return an upper bound of the tokens a question takes: tokenizers make at most one token of a byte."""
    return _bytes_sent(question) + MESSAGE_OVERHEAD


def likely_tokens(text_bytes: int) -> int:
    """Return a plain guess of the tokens in so many bytes of text."""
    return -(-text_bytes // _BYTES_PER_TOKEN)


def likely_tokens_in(question: Question) -> int:
    """Return a plain guess of the tokens a question takes."""
    return likely_tokens(_bytes_sent(question))


def _bytes_sent(question: Question) -> int:
    return sum(len(part.encode("utf-8")) for part in (question.prompt, question.system, schema_text(question.schema)))
