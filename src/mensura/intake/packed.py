"""The bytes of a file that a user brings, packed or not: measured before they are unpacked."""

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from copy import copy
from pathlib import Path
from typing import Any

from mensura.core.errors import MensuraError

MOST_UNPACKED = 2**30
"""Bytes that a packed file may unpack to: the largest R file of PISA has two thirds of it."""
MOST_VALUES = 400_000_000
"""Values (rows × columns) that a table may have."""
MOST_MEMORY = 4 * 2**30
"""Bytes of memory that a table may take."""
PACKED_SUFFIXES = (".gz", ".bz2", ".xz")
_PACKED: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
_FOREIGN = {b"PK\x03\x04": "zip", b"\x28\xb5\x2f\xfd": "zstd", b"x\x01": "zlib", b"x\x9c": "zlib", b"x\xda": "zlib"}
_BLOCK = 2**20


def suffix_of(path: Path) -> str:
    """Return the suffix that names the format, in small letters: ``.csv`` for ``answers.csv.gz``."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix in PACKED_SUFFIXES else suffix


def refuse_vast(name: Path | str, rows: int, columns: int, width: float = 8.0) -> None:
    """Refuse a table with more values than fit into memory; ``width``: mean bytes of a value there."""
    most = min(MOST_VALUES, int(MOST_MEMORY / max(width, 1.0)))
    if rows * columns > most:
        raise MensuraError(
            f"{name}: announces {rows:,} × {columns:,} values; at most {most:,} are read. "
            "Keep the columns that are needed, or split the file"
        )


def measure(path: Path, most: int | None = None) -> None:
    """Refuse a packed file (gzip, bzip2, xz) that unpacks to more than ``most`` bytes; hold one block at a time."""
    most = MOST_UNPACKED if most is None else most
    if not path.is_file():
        raise MensuraError(f"{path}: no such file; check the name and the folder")
    with path.open("rb") as file:
        start = file.read(6)
    opener = next((opener for mark, opener in _PACKED.items() if start.startswith(mark)), None)
    if opener is None:
        return
    size = 0
    try:
        with opener(path, "rb") as packed:
            while size <= most and (block := packed.read(_BLOCK)):
                size += len(block)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as fault:
        raise MensuraError(f"{path}: packed, but cannot be unpacked ({fault}). Copy the file again") from fault
    if size > most:
        raise MensuraError(
            f"{path}: {path.stat().st_size / 2**20:.1f} MB unpack to more than {most / 2**20:,.0f} MB, the most that "
            "is read. Unpack it yourself and keep the rows and columns that are needed"
        )


def read_bytes(path: Path, most: int | None = None) -> bytes:
    """Read a file of text; one packed by gzip, bzip2 or xz is measured first and then unpacked."""
    measure(path, most)
    data = path.read_bytes()
    opener = next((opener for mark, opener in _PACKED.items() if data.startswith(mark)), None)
    if opener is not None:
        with opener(io.BytesIO(data), "rb") as packed:
            data = packed.read()
    kind = next((kind for mark, kind in _FOREIGN.items() if data.startswith(mark)), None)
    if kind is not None or data.startswith(tuple(_PACKED)):
        raise MensuraError(
            f"{path}: packed by {kind or 'two programs'}, or a spreadsheet; give the table inside as CSV"
        )
    return data


# Members of zip archives as Inspect packs them: stored, deflated, or by Zstandard.

ZSTANDARD = 93
"""The number of the method in the zip format, which Python's ``zipfile`` knows from 3.14 on."""


def read_member(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    """Return the content of a member of at most ``most`` bytes, checked against its sum.

    Nothing beyond the size that the archive states is unpacked, whatever the packed bytes would grow to.
    """
    member = archive.getinfo(name)
    if member.file_size > most:
        raise zipfile.BadZipFile(f"{name} has {member.file_size:,} bytes; at most {most:,} are read")
    return _by_zstandard(archive, member) if member.compress_type == ZSTANDARD else archive.read(member)


def _by_zstandard(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    import zstandard

    as_stored = copy(member)
    as_stored.compress_type, as_stored.file_size = zipfile.ZIP_STORED, member.compress_size
    del as_stored.CRC  # it is the sum of what is packed, not of the packed bytes
    with archive.open(as_stored) as packed:
        frames = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(packed.read()), read_across_frames=True)
    try:
        content: bytes = frames.read(member.file_size + 1)
    except zstandard.ZstdError as fault:
        raise zipfile.BadZipFile(f"{member.filename}: {fault}") from fault
    if len(content) != member.file_size or zlib.crc32(content) != member.CRC:
        raise zipfile.BadZipFile(f"{member.filename} is damaged")
    return content
