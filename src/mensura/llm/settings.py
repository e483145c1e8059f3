"""Describe a model and how it is asked, the price of its tokens, and the key under which an answer is stored."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from mensura.core.errors import MensuraError
from mensura.llm.protocol import Question

DEFAULT_MAX_TOKENS = 2048
KEY_BYTES = 16
_HOTTEST = 2.0
_KEY_VERSION = 1
_SHOWN = 20


@dataclass(frozen=True)
class Prices:
    """List prices in US dollars per million tokens."""

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
    """A model and how it is asked; recorded with every answer and part of the key.

    ``temperature`` None leaves it to the provider (some models refuse any). The endpoint is not part of it: a name
    stands for one model wherever it is served, so that a local server may change its port between two runs.
    ``version`` tells apart models that share a name: of a recording it is a hash of its file.
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
