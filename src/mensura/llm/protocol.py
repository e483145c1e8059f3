"""The contracts of asking: questions, answers, askers, providers, and the settings that make the key of an answer."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

from mensura.core.errors import MensuraError

DEFAULT_MAX_TOKENS = 2048
KEY_BYTES = 16
_HOTTEST = 2.0
_KEY_VERSION = 1
_SHOWN = 20


class UnreadableError(MensuraError):
    """An answer from which a reader could take no value; the message says why (refused, no number, …)."""


@dataclass(frozen=True)
class Question:
    """Ask a language model one thing.

    Prompt, system, schema and repeat, together with the model and its settings, make the journal's key.

    Attributes
    ----------
    prompt, system : str
        The question, and the system message.
    schema : Mapping[str, object] or None
        A JSON schema that the answer must meet.
    repeat : int
        Number of this asking, where one question is asked several times.
    about : Mapping[str, str]
        Item, dimension, variant and the like, for tables and recordings; it is never sent.
    pictures : tuple of str
        Data addresses that go along with the prompt. The prompt must name each, because it alone makes the key.

    """

    prompt: str
    system: str = ""
    schema: Mapping[str, object] | None = None
    repeat: int = 0
    about: Mapping[str, str] = field(default_factory=dict)
    pictures: tuple[str, ...] = ()


class AnswerReading(NamedTuple):
    """Contain what a reader took from an answer.

    Attributes
    ----------
    value : object
        Any value that JSON can contain.
    rationale : str
        The reasons given for it.

    """

    value: object
    rationale: str = ""


Reader: TypeAlias = Callable[[str], AnswerReading]
"""Takes the value from an answer's text, or raises :class:`UnreadableError`; it never guesses."""


class Answer(NamedTuple):
    """Contain the answer to one question.

    Attributes
    ----------
    question : Question
        The question.
    text, rationale : str
        The reply, and the reasons that the reader took from it.
    value : object
        What the reader took from it; None where it could not be read or none came.
    error : str
        The reason for a missing value.
    stored : bool
        Whether the answer was in the journal already and cost nothing now.
    tokens_in, tokens_out : int
        Tokens of question and reply.
    cost : float or None
        US dollars; None where no price is known.
    seconds : float
        Time of the call.
    attempts : int
        Requests that it took.

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
    """Answer questions: the contract of a provider behind the journal, and of a recording.

    Attributes
    ----------
    model : str
        The model's name.

    """

    @property
    def model(self) -> str:
        """The model's name, as ``--model`` takes it."""

    def ask(self, questions: Sequence[Question], read: Reader) -> list[Answer]:
        """Return one answer per question, in their order; a failed question has an ``error``, it does not raise."""


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

    async def close(self) -> None:
        """Close connections."""


@dataclass(frozen=True)
class Prices:
    """State list prices.

    Attributes
    ----------
    input, output : float
        US dollars per million tokens of questions and of replies.

    """

    input: float
    output: float

    def __post_init__(self) -> None:
        for name in ("input", "output"):
            price = getattr(self, name)
            if not 0 <= price < float("inf"):
                raise MensuraError(f"prices: {name} must be a number of US dollars of at least 0, got {price!r}")

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """Return the price of one call in US dollars."""
        return (tokens_in * self.input + tokens_out * self.output) / 1e6


@dataclass(frozen=True)
class Settings:
    """Name a model and how it is asked; recorded with every answer and part of the key.

    The endpoint is not part of it: a name stands for one model wherever it is served, so that a local server may
    change its port between two runs.

    Attributes
    ----------
    model : str
        The model's name.
    temperature : float or None
        0 to 2; None leaves it to the provider (some models refuse any).
    max_tokens : int
        Most tokens of an answer.
    version : str
        Distinguishes models of one name: of a recording it is a hash of its file.

    """

    model: str
    temperature: float | None = 0.0
    max_tokens: int = DEFAULT_MAX_TOKENS
    version: str = ""

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise MensuraError("model: empty; give a name such as openai/gpt-5, openai-api/local/mine or recorded/demo")
        if self.temperature is not None and not 0 <= self.temperature <= _HOTTEST:
            raise MensuraError(f"temperature: expected 0 to {_HOTTEST:g} or None, got {self.temperature!r}")
        if not isinstance(self.max_tokens, int) or self.max_tokens < 1:
            raise MensuraError(f"max_tokens: expected a whole number of at least 1, got {self.max_tokens!r}")

    def text(self) -> str:
        """Return the settings as canonical JSON."""
        return json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)


def schema_text(schema: Mapping[str, object] | None) -> str:
    """Return a schema as canonical JSON, empty where there is none."""
    if schema is None:
        return ""
    try:
        return json.dumps(schema, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError) as fault:
        raise MensuraError(f"schema: not JSON ({fault}); use only texts, numbers, lists and objects") from fault


class KeyMaker:
    """Hash questions for one model and its settings.

    key = BLAKE2b(version, settings, system, schema ‖ repeat ‖ prompt). The hash never changes between versions: stored
    answers are found by it.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings.text()
        self._last: tuple[str, str] | None = None
        self._start = b""

    def __call__(self, question: Question) -> bytes:
        """Return the key of one question."""
        shared = (question.system, schema_text(question.schema))
        if shared != self._last:
            self._last, self._start = shared, json.dumps([_KEY_VERSION, self._settings, *shared]).encode("ascii")
        try:
            own = b"\0%d\0%b" % (question.repeat, question.prompt.encode("utf-8"))
        except UnicodeEncodeError as fault:
            near = fault.object[max(0, fault.start - _SHOWN) : fault.end + _SHOWN]
            raise MensuraError(f"question: contains a character that is no text: {near!r}; remove it") from None
        return hashlib.blake2b(self._start + own, digest_size=KEY_BYTES).digest()
