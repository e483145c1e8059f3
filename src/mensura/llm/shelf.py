"""Where a journal keeps its texts: packed with dictionaries learnt from them, shared ones once."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from typing import TypeAlias

from mensura.core.errors import MensuraError
from mensura.llm.keys import KEY_BYTES
from mensura.llm.packing import ALONE, MOST_DICTIONARIES, AlonePacking, Packing, dictionary_of

_TEXTS_REMEMBERED = 10_000
_NO_DICTIONARY = 0
_WORTH_A_DICTIONARY = 0.8
"""A new dictionary is kept when it packs texts it has not seen to this share of what the current one does."""

Redact: TypeAlias = Callable[[str], str]


class Shelf:
    """The texts of one journal; no key is ever put there."""

    def __init__(self, connection: sqlite3.Connection, redact: Redact) -> None:
        self._connection = connection
        self._redact = redact
        self._numbers: dict[str, int] = {}
        self._alone = AlonePacking()
        self._packings: dict[int, Packing] = {}
        self.refresh()

    def refresh(self) -> None:
        """Forget what is remembered, and take up the newest dictionary on the disk."""
        self._numbers.clear()
        self._packings = {_NO_DICTIONARY: Packing(_NO_DICTIONARY, b"")}
        newest = self._connection.execute("SELECT max(id) FROM dictionaries").fetchone()[0]
        self._newest = self._packing(newest or _NO_DICTIONARY)

    def pack(self, text: str) -> bytes:
        """Return a text compressed by the newest dictionary."""
        return self._newest.pack(self._redact(text))

    def pack_alone(self, text: str) -> bytes:
        """Return a text compressed without a dictionary: an answer gains little by one, and opens faster alone."""
        return self._alone.pack(self._redact(text))

    def unpack(self, blob: bytes) -> str:
        """Return a text that was packed."""
        return (self._alone if blob[0] == ALONE else self._packing(blob[0])).unpack(blob)

    def keep(self, text: str) -> int:
        """Return the number under which a text that many questions share is kept once."""
        if text not in self._numbers:
            if len(self._numbers) >= _TEXTS_REMEMBERED:
                self._numbers.clear()
            digest = _digest(text)
            insert = "INSERT INTO texts (digest, body) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING"
            self._connection.execute(insert, (digest, self.pack(text)))
            found = self._connection.execute("SELECT id FROM texts WHERE digest = ?", (digest,)).fetchone()
            self._numbers[text] = found[0]
        return self._numbers[text]

    def number(self, text: str) -> int | None:
        """Return the number of a shared text, None where it is not kept."""
        found = self._connection.execute("SELECT id FROM texts WHERE digest = ?", (_digest(text),)).fetchone()
        return None if found is None else int(found[0])

    def learn(self, samples: Sequence[str]) -> None:
        """Take a dictionary from samples of what will be stored, if it packs the half it has not seen better."""
        seen, unseen = samples[::2], samples[1::2]
        number = int(self._connection.execute("SELECT count(*) FROM dictionaries").fetchone()[0]) + 1
        if not unseen or number > MOST_DICTIONARIES:
            return
        trial = Packing(number, dictionary_of(seen))
        present = sum(len(self._newest.pack(text)) for text in unseen)
        if sum(len(trial.pack(text)) for text in unseen) > _WORTH_A_DICTIONARY * present:
            return
        data = dictionary_of([self._redact(text) for text in samples])
        self._connection.execute("INSERT INTO dictionaries (id, data) VALUES (?, ?)", (number, data))
        self._newest = self._packings[number] = Packing(number, data)

    def _packing(self, number: int) -> Packing:
        if number not in self._packings:
            found = self._connection.execute("SELECT data FROM dictionaries WHERE id = ?", (number,)).fetchone()
            if found is None:
                raise MensuraError(f"journal: dictionary {number} is missing; the file is damaged")
            self._packings[number] = Packing(number, found[0])
        return self._packings[number]


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8"), digest_size=KEY_BYTES).digest()
