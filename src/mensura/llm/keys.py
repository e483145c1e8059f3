"""The journal's key: a hash of everything that determines an answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TypeAlias

from mensura.core.errors import MensuraError
from mensura.llm.protocol import Question
from mensura.llm.settings import Settings, schema_text

KEY_BYTES = 16
_KEY_VERSION = 1
_GLANCE = 64
"""Characters by which a prompt is known to begin like an earlier one."""
_WORTH_KEEPING = 512
"""Characters that prompts must share for the hash of that beginning to be kept."""
_BEGINNINGS = 64
_SHOWN = 20

_Hash: TypeAlias = "hashlib.blake2b"


class KeyMaker:
    """Hashes questions for one model and its settings.

    key = BLAKE2b(version, settings, system, schema ‖ repeat ‖ prompt). Neighbouring questions usually share system and
    schema, and prompts often begin alike (the same rubric before every item): the hash of what they share is kept and
    continued, which changes no key.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings.text()
        self._system: str | None = None
        self._schema: Mapping[str, object] | None = None
        self._start = hashlib.blake2b(digest_size=KEY_BYTES)
        self._begun: dict[tuple[int, str], tuple[str, _Hash]] = {}

    def __call__(self, question: Question) -> bytes:
        """Return the key of one question."""
        prompt = question.prompt
        if question.system != self._system or question.schema is not self._schema:
            self._share(question)
        place = (question.repeat, prompt[:_GLANCE])
        begun = self._begun.get(place)
        if begun is None or not prompt.startswith(begun[0]):
            begun = self._begin(place, prompt, begun)
        shared, state = begun
        digest = state.copy()
        try:
            digest.update(prompt[len(shared) :].encode())
        except UnicodeEncodeError as fault:
            raise _no_text(fault) from None
        return digest.digest()

    def _share(self, question: Question) -> None:
        """Begin anew with another system message or schema."""
        shared = [_KEY_VERSION, self._settings, question.system, schema_text(question.schema)]
        self._start = hashlib.blake2b(_encoded(json.dumps(shared)), digest_size=KEY_BYTES)
        self._system, self._schema = question.system, question.schema
        self._begun.clear()

    def _begin(self, place: tuple[int, str], prompt: str, before: tuple[str, _Hash] | None) -> tuple[str, _Hash]:
        """Keep the hash of what this prompt shares with the one that began alike, if that is long enough."""
        shared = prompt if before is None else prompt[: _common(prompt, before[0])]
        shared = shared if len(shared) >= _WORTH_KEEPING else ""
        state = self._start.copy()
        state.update(b"\0%d\0%b" % (place[0], _encoded(shared)))
        if len(self._begun) >= _BEGINNINGS:
            self._begun.clear()
        self._begun[place] = (shared, state)
        return shared, state


def _common(one: str, other: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one.startswith(other[:middle]):
            low = middle
        else:
            high = middle - 1
    return low


def _encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as fault:
        raise _no_text(fault) from None


def _no_text(fault: UnicodeEncodeError) -> MensuraError:
    near = fault.object[max(0, fault.start - _SHOWN) : fault.end + _SHOWN]
    return MensuraError(f"question: holds a character that is no text: {near!r}")
