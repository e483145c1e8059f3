"""Small texts compressed: questions with a dictionary they share, answers alone and so that they open fast."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import zstandard

WINDOW = 32_768
"""Bytes of a dictionary that DEFLATE can refer to."""
MOST_DICTIONARIES = 254
"""A packed text begins with one byte that names its dictionary; 0 is none, and :data:`ALONE` none and Zstandard."""
ALONE = 255
_LEVEL = 4
"""Prompts that repeat the same words make DEFLATE search long at level 6: ten times the time for a twentieth less."""
_MEMORY = 8
_ALONE_MARK = bytes([ALONE])
_RAW = -zlib.MAX_WBITS
"""Without the checksum of the dictionary, which would cost more than unpacking a short text."""
_SHORT = 2048
"""Bytes up to which a text is packed without a code made for it: setting that up takes three times as long as unpacking
the text does, and saves a sixth of its bytes."""
_WITHOUT_CODE, _WITH_CODE = -1, 3
"""Zstandard's levels for short and for longer texts."""


class Packing:
    """One dictionary, ready for use: the compressor is primed once and copied for every text."""

    def __init__(self, number: int, dictionary: bytes) -> None:
        self._mark = bytes([number])
        self._dictionary = dictionary
        self._primed = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW, _MEMORY, zdict=dictionary)

    def pack(self, text: str) -> bytes:
        """Return the text compressed, behind the mark of its dictionary."""
        packer = self._primed.copy()
        return self._mark + packer.compress(text.encode("utf-8")) + packer.flush()

    def unpack(self, blob: bytes) -> str:
        """Return the text that was packed."""
        return zlib.decompressobj(_RAW, zdict=self._dictionary).decompress(blob[1:]).decode("utf-8")


class AlonePacking:
    """Texts packed each alone by Zstandard, behind the mark :data:`ALONE`; for one thread at a time."""

    def __init__(self) -> None:
        self._short = zstandard.ZstdCompressor(level=_WITHOUT_CODE)
        self._long = zstandard.ZstdCompressor(level=_WITH_CODE)
        self._unpack = zstandard.ZstdDecompressor().decompress

    def pack(self, text: str) -> bytes:
        """Return the text compressed."""
        data = text.encode("utf-8")
        return _ALONE_MARK + (self._short if len(data) <= _SHORT else self._long).compress(data)

    def unpack(self, blob: bytes) -> str:
        """Return the text that was packed."""
        return self._unpack(blob[1:]).decode()


def dictionary_of(samples: Sequence[str]) -> bytes:
    """Return a dictionary of sample texts: an equal share of the window for each, whole texts where they fit."""
    distinct = list(dict.fromkeys(samples))
    if not distinct:
        return b""
    share = WINDOW // len(distinct)
    return b"".join(text.encode("utf-8")[:share] for text in distinct)[-WINDOW:]
