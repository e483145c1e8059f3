"""Small texts compressed: questions with a dictionary they share, answers alone and so that they open fast."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import zstandard

WINDOW = 32_768
"""Bytes of a dictionary; DEFLATE, by which journals were packed before, could refer to no more."""
MOST_DICTIONARIES = 254
"""A packed text begins with one byte that names its dictionary; 0 is none, and :data:`ALONE` an answer's own way."""
ALONE = 255
_ALONE_MARK = bytes([ALONE])
_SHORT = 2048
"""Bytes up to which an answer is packed without a code made for it: setting that up takes three times as long as
unpacking the text does, and saves a sixth of its bytes."""
_WITHOUT_CODE, _WITH_CODE = -1, 3
"""Zstandard's levels for short answers and for everything else."""


class Packing:
    """One dictionary, ready for use: it is digested once for all texts; for one thread at a time."""

    def __init__(self, number: int, dictionary: bytes) -> None:
        self._mark = bytes([number])
        self._dictionary = dictionary
        known = None
        if dictionary:
            known = zstandard.ZstdCompressionDict(dictionary, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
            known.precompute_compress(level=_WITH_CODE)
        self._pack = zstandard.ZstdCompressor(level=_WITH_CODE, dict_data=known).compress
        self._unpack = zstandard.ZstdDecompressor(dict_data=known).decompress

    def pack(self, text: str) -> bytes:
        """Return the text compressed, behind the mark of its dictionary."""
        return self._mark + self._pack(text.encode("utf-8"))

    def unpack(self, blob: bytes) -> str:
        """Return the text that was packed, by Zstandard or, in journals written before, by DEFLATE."""
        if blob.startswith(zstandard.FRAME_HEADER, 1):
            return self._unpack(blob[1:]).decode("utf-8")
        return zlib.decompressobj(-zlib.MAX_WBITS, zdict=self._dictionary).decompress(blob[1:]).decode("utf-8")


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
