"""What every provider does: one question in, one reply out, or a failure that says what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from mensura.llm.protocol import Question


class Trouble(Enum):
    """What a failed call means for the rest of the work."""

    BUSY = "busy"
    """The provider asks for patience: ask again later, and everything more slowly."""
    PASSING = "passing"
    """A fault of the moment: ask this question again later."""
    QUESTION = "question"
    """This question will not be answered; others may be."""
    MISSING = "missing"
    """A recording does not hold this question."""
    FATAL = "fatal"
    """No question will be answered: a wrong key, no credit, no such model."""


class CallError(Exception):
    """A call that gave no answer. ``wait``: seconds the provider asked for; ``billed``: it may have cost money."""

    def __init__(self, trouble: Trouble, message: str, *, wait: float | None = None, billed: bool = False) -> None:
        super().__init__(message)
        self.trouble = trouble
        self.message = message
        self.wait = wait
        self.billed = billed


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply. Token counts are None where the provider does not tell; ``cut``: it ran into the token limit."""

    text: str
    tokens_in: int | None = None
    tokens_out: int | None = None
    cut: bool = False


class Provider(Protocol):
    """A model that can be asked, in an event loop."""

    async def complete(self, question: Question) -> Reply:
        """Answer one question or raise :class:`CallError`."""
        ...

    async def close(self) -> None:
        """Close connections."""
        ...
