"""Small texts that resemble one another, compressed with a dictionary they share."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

WINDOW = 32_768
"""Bytes of a dictionary that DEFLATE can refer to."""
MOST_DICTIONARIES = 255
"""A packed text begins with one byte that names its dictionary; 0 is none."""
_LEVEL = 4
"""Prompts that repeat the same words make DEFLATE search long at level 6: ten times the time for a twentieth less."""
_MEMORY = 8
_RAW = -zlib.MAX_WBITS
"""Without the checksum of the dictionary, which would cost more than unpacking a short text."""
_SHORT = 2048
"""Bytes up to which a text is packed with DEFLATE's fixed code and a window of this size: on unpacking, setting up a
code made for the text takes longer than the text does; on packing, clearing the large window does."""
_SHORT_RAW, _SHORT_MEMORY = -11, 4
_UNAIDED = b"\0"


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
        if not self._dictionary:
            return unpack_alone(blob)
        return zlib.decompressobj(_RAW, zdict=self._dictionary).decompress(blob[1:]).decode("utf-8")


def pack_alone(text: str) -> bytes:
    """Return a text compressed without a dictionary, so that it opens fast; :func:`unpack_alone` opens it."""
    data = text.encode("utf-8")
    if len(data) <= _SHORT:
        packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _SHORT_RAW, _SHORT_MEMORY, zlib.Z_FIXED)
    else:
        packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW, _MEMORY)
    return _UNAIDED + packer.compress(data) + packer.flush()


def unpack_alone(blob: bytes) -> str:
    """Return the text that was packed without a dictionary."""
    return zlib.decompress(blob[1:], _RAW, _SHORT).decode()


def dictionary_of(samples: Sequence[str]) -> bytes:
    """Return a dictionary of sample texts: an equal share of the window for each, whole texts where they fit."""
    distinct = list(dict.fromkeys(samples))
    if not distinct:
        return b""
    share = WINDOW // len(distinct)
    return b"".join(text.encode("utf-8")[:share] for text in distinct)[-WINDOW:]
