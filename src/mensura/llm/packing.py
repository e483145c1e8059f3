"""Small texts that resemble one another, compressed with a dictionary they share."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

WINDOW = 32_768
"""Bytes of a dictionary that DEFLATE can refer to."""
MOST_DICTIONARIES = 255
"""A packed text begins with one byte that names its dictionary; 0 is none."""
_LEVEL = 6
_MEMORY = 8
_RAW = -zlib.MAX_WBITS
"""Without the checksum of the dictionary, which would cost more than unpacking a short text."""


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
        packed = memoryview(blob)[1:]
        if not self._dictionary:
            return zlib.decompress(packed, _RAW).decode("utf-8")
        return zlib.decompressobj(_RAW, zdict=self._dictionary).decompress(packed).decode("utf-8")


def dictionary_of(samples: Sequence[str]) -> bytes:
    """Return a dictionary of sample texts: an equal share of the window for each, whole texts where they fit."""
    distinct = list(dict.fromkeys(samples))
    if not distinct:
        return b""
    share = WINDOW // len(distinct)
    return b"".join(text.encode("utf-8")[:share] for text in distinct)[-WINDOW:]
