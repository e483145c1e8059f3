"""Files that unpack to far more than they weigh are refused before they are unpacked."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from pathlib import Path
from typing import IO, Any

from mensura.core.errors import MensuraError

MOST_UNPACKED = 2 * 2**30
"""Bytes that a packed file of answers may unpack to: PISA's largest has a third of it."""
MOST_CELLS = 400_000_000
"""Values (rows × columns) that a file of answers may announce."""
_BLOCK = 2**20
_PACKED: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}


def refuse_bomb(path: Path) -> None:
    """Refuse a file packed by gzip, bzip2 or xz that unpacks to more than any file of answers has."""
    with path.open("rb") as file:
        start = file.read(6)
    opener = next((opener for mark, opener in _PACKED.items() if start.startswith(mark)), None)
    if opener is None:
        return
    try:
        with opener(path, "rb") as packed:
            size = _size(packed)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as fault:
        raise MensuraError(f"{path}: packed, but not to be unpacked ({fault})") from fault
    if size > MOST_UNPACKED:
        weight = path.stat().st_size / 2**20
        raise MensuraError(f"{path}: {weight:.1f} MB unpack to more than {MOST_UNPACKED >> 30} GB; no file of answers")


def _size(packed: IO[bytes]) -> int:
    """Return how long the unpacked content is, or the first length beyond the bound."""
    size = 0
    while size <= MOST_UNPACKED and (block := packed.read(_BLOCK)):
        size += len(block)
    return size


def refuse_vast(path: Path, rows: int, columns: int) -> None:
    """Refuse a file that announces more values than fit into memory."""
    if rows * columns > MOST_CELLS:
        raise MensuraError(
            f"{path}: announces {rows:,} rows of {columns:,} columns; at most {MOST_CELLS:,} values are read: "
            "keep the columns that are needed, or split the file"
        )
