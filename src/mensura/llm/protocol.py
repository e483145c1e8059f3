"""The contract between those who ask and those who answer: questions in, answers out, in the same order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeAlias

from mensura.core.errors import MensuraError


class UnreadableError(MensuraError):
    """An answer from which a reader could take no value; the message says why (refused, no number, …)."""


@dataclass(frozen=True)
class Question:
    """One question to a language model.

    ``prompt``, ``system``, ``schema`` (a JSON schema the answer must meet) and ``repeat`` (which of several askings
    this is), together with the model and its settings, determine the answer and make the journal's key. ``about``
    names what is asked about (item, dimension, variant …) for tables and recordings; it is never sent.
    """

    prompt: str
    system: str = ""
    schema: Mapping[str, object] | None = None
    repeat: int = 0
    about: Mapping[str, str] = field(default_factory=dict)


class AnswerReading(NamedTuple):
    """What a reader took from an answer: a value that JSON can hold, and the reasons given for it."""

    value: object
    rationale: str = ""


Reader: TypeAlias = Callable[[str], AnswerReading]
"""Takes the value from an answer's text, or raises :class:`UnreadableError`; it never guesses."""


class Answer(NamedTuple):
    """What came back for one question; a named tuple, for a run may hold a hundred thousand of them.

    ``value`` is None where the answer could not be read or none came; ``error`` then says why. ``stored``: the answer
    was already in the journal and cost nothing now. ``cost`` in US dollars, ``seconds`` of the call that gave it.
    """

    question: Question
    text: str = ""
    value: object = None
    rationale: str = ""
    error: str = ""
    stored: bool = False
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    attempts: int = 0


class Asker(Protocol):
    """Anything that answers questions: a provider behind the journal, or a recording."""

    @property
    def model(self) -> str:
        """The model's name, as ``--model`` takes it."""
        ...

    def ask(self, questions: Sequence[Question], read: Reader) -> list[Answer]:
        """Return one answer per question, in their order; a failed question has an ``error``, it does not raise."""
        ...
