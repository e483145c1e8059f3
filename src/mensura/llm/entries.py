"""What the journal holds of one answered question, and the forms in which it lies in the file."""

from __future__ import annotations

import json
from typing import NamedTuple

from mensura.core.errors import MensuraError
from mensura.llm.shelf import Redact


class Entry(NamedTuple):
    """What the journal holds of one answered question; ``value`` is JSON, ``cost`` None where no price is known."""

    text: str
    value: str = "null"
    rationale: str = ""
    error: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None
    seconds: float = 0.0
    attempts: int = 1


encoded = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
"""Returns JSON as the journal keeps it: letters as they are, and nothing that JSON cannot hold."""


def joined_answer(entry: Entry) -> str:
    """Return text and rationale as one string, for the one often holds the other and they pack well together."""
    return f"{len(entry.text)}:{entry.text}{entry.rationale}"


def split_answer(joined: str) -> tuple[str, str]:
    """Return the text and the rationale that were joined."""
    start = joined.index(":") + 1
    end = start + int(joined[: start - 1])
    return joined[start:end], joined[end:]


def value_text(value: object) -> str:
    """Return a value as JSON; a reader may only return what JSON can hold."""
    if type(value) is int:  # most values are, and the encoder takes ten times as long
        return repr(value)
    try:
        return encoded(value)
    except (TypeError, ValueError) as fault:
        raise MensuraError(f"reader: returned a value that JSON cannot hold ({fault}): {value!r:.80}") from fault


def redacted(entry: Entry, redact: Redact) -> Entry:
    """Return an entry in which no key is seen."""
    value, error = redact(entry.value), redact(entry.error)
    return entry._replace(text=redact(entry.text), value=value, rationale=redact(entry.rationale), error=error)
