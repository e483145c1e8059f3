"""Pack the texts of a journal, keep shared ones once, and notice damage."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import zstandard

from mensura.core.errors import MensuraError
from mensura.llm.settings import KEY_BYTES

_TEXTS_REMEMBERED = 10_000

Redact: TypeAlias = Callable[[str], str]


class DamagedError(MensuraError):
    """A part of a journal whose checksum differs from its content."""


class Entry(NamedTuple):
    """The journal's record of one answer; ``value`` is JSON, ``cost`` None where no price is known."""

    text: str
    value: str = "null"
    rationale: str = ""
    error: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None
    seconds: float = 0.0
    attempts: int = 1

    def redacted(self, redact: Redact) -> Entry:
        """Return the entry without keys."""
        value, error = redact(self.value), redact(self.error)
        return self._replace(text=redact(self.text), value=value, rationale=redact(self.rationale), error=error)


encoded = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
"""Return JSON as the journal keeps it: letters as they are, no NaN."""


def storable(text: str) -> str:
    """Return a text that every file and table can contain: halves of characters become U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def joined_answer(entry: Entry) -> str:
    """Return text and rationale as one string, for the rationale often repeats the text."""
    text = storable(entry.text)
    return f"{len(text)}:{text}{entry.rationale}"


def split_answer(joined: str) -> tuple[str, str]:
    """Return the text and the rationale that were joined."""
    length, _, rest = joined.partition(":")
    return rest[: int(length)], rest[int(length) :]


def row_checksum(key: bytes, *cells: object) -> int:
    """Return a checksum of the cells of an answer that are not packed; packed texts carry their own."""
    return zlib.crc32(repr((key, *cells)).encode("utf-8"))


class TextStore:
    """The texts of one journal, for one thread at a time; keys are hidden before a text is packed."""

    def __init__(self, connection: sqlite3.Connection, redact: Redact) -> None:
        self._connection = connection
        self._redact = redact
        self._numbers: dict[str, int] = {}
        self._compress = zstandard.ZstdCompressor(level=3, write_checksum=True).compress
        self._decompress = zstandard.ZstdDecompressor().decompress

    def forget(self) -> None:
        """Forget the numbers of shared texts, after a rollback."""
        self._numbers.clear()

    def pack(self, text: str) -> bytes:
        """Return a text compressed, with a checksum."""
        return self._compress(storable(self._redact(text)).encode("utf-8"))

    def unpack(self, blob: bytes) -> str:
        """Return a packed text; raises :class:`DamagedError` where its checksum differs."""
        try:
            return self._decompress(blob).decode("utf-8")
        except (zstandard.ZstdError, UnicodeDecodeError, TypeError) as fault:
            raise DamagedError(f"a text is damaged ({fault})") from None

    def keep(self, text: str) -> int:
        """Return the number of a text that many questions share; it is kept once."""
        if text not in self._numbers:
            if len(self._numbers) >= _TEXTS_REMEMBERED:
                self._numbers.clear()
            insert = "INSERT INTO texts (digest, body) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING"
            self._connection.execute(insert, (_digest(text), self.pack(text)))
            number = self.number(text)
            assert number is not None
            self._numbers[text] = number
        return self._numbers[text]

    def number(self, text: str) -> int | None:
        """Return the number of a shared text, None where it is not kept."""
        found = self._connection.execute("SELECT id FROM texts WHERE digest = ?", (_digest(text),)).fetchone()
        return None if found is None else int(found[0])


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=KEY_BYTES).digest()
