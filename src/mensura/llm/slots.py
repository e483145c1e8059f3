"""Questions on their way: one slot each, in the order they were asked together."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from mensura.llm.protocol import Answer, Question, Reader


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
    """What a desk has done so far; ``cost`` in US dollars."""

    answered: int = 0
    stored: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
