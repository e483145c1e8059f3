"""The contracts of asking: questions and answers, readers and askers, providers and failed calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

from mensura.core.errors import MensuraError


class UnreadableError(MensuraError):
    """An answer from which a reader could take no value; the message says why (refused, no number, …)."""


@dataclass(frozen=True)
class Question:
    """One question to a language model.

    ``prompt``, ``system``, ``schema`` (a JSON schema the answer must meet) and ``repeat`` (which of several askings
    this is), together with the model and its settings, determine the answer and make the journal's key. ``about``
    names what is asked about (item, dimension, variant …) for tables and recordings; it is never sent. ``pictures``
    (data addresses) go along with the prompt; the prompt must name each, for it alone makes the key.
    """

    prompt: str
    system: str = ""
    schema: Mapping[str, object] | None = None
    repeat: int = 0
    about: Mapping[str, str] = field(default_factory=dict)
    pictures: tuple[str, ...] = ()


class AnswerReading(NamedTuple):
    """What a reader took from an answer: a value that JSON can hold, and the reasons given for it."""

    value: object
    rationale: str = ""


Reader: TypeAlias = Callable[[str], AnswerReading]
"""Takes the value from an answer's text, or raises :class:`UnreadableError`; it never guesses."""


class Answer(NamedTuple):
    """The answer to one question.

    ``value`` is None where the answer could not be read or none came; ``error`` then gives the reason. ``stored``: the
    answer was already in the journal and cost nothing now. ``cost`` in US dollars, None where no price is known;
    ``seconds`` of the call that gave it.
    """

    question: Question
    text: str = ""
    value: object = None
    rationale: str = ""
    error: str = ""
    stored: bool = False
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = 0.0
    seconds: float = 0.0
    attempts: int = 0


@runtime_checkable
class Asker(Protocol):
    """Anything that answers questions: a provider behind the journal, or a recording."""

    @property
    def model(self) -> str:
        """The model's name, as ``--model`` takes it."""
        ...

    def ask(self, questions: Sequence[Question], read: Reader) -> list[Answer]:
        """Return one answer per question, in their order; a failed question has an ``error``, it does not raise."""
        ...


class Trouble(Enum):
    """The consequence of a failed call for the other calls."""

    BUSY = "busy"
    """Too many requests: send this question later, and everything more slowly."""
    PASSING = "passing"
    """An error of the moment: send this question again later."""
    QUESTION = "question"
    """This question gets no answer; others may."""
    MISSING = "missing"
    """The recording does not contain this question."""
    FATAL = "fatal"
    """No question gets an answer: a wrong key, no credit, no such model."""


class CallError(Exception):
    """A call without an answer. ``wait``: seconds the provider asks for; ``billed``: it may have cost money."""

    def __init__(self, trouble: Trouble, message: str, *, wait: float | None = None, billed: bool = False) -> None:
        super().__init__(message)
        self.trouble = trouble
        self.message = message
        self.wait = wait
        self.billed = billed


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply; token counts are None where the provider reports none.

    ``cut``: the reply reached the token limit. ``withheld``: the model declined ("refused") or a content filter of the
    provider stopped the answer ("filtered"); empty for an ordinary reply.
    """

    text: str
    tokens_in: int | None = None
    tokens_out: int | None = None
    cut: bool = False
    withheld: str = ""


class Provider(Protocol):
    """A model that answers questions in an event loop."""

    async def complete(self, question: Question) -> Reply:
        """Answer one question or raise :class:`CallError`."""
        ...

    async def close(self) -> None:
        """Close connections."""
        ...
