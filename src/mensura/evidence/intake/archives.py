"""Members of zip archives as Inspect packs them: stored, deflated, or by Zstandard."""

from __future__ import annotations

import io
import zipfile
import zlib
from copy import copy

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
        told: bytes = frames.read(member.file_size + 1)
    except zstandard.ZstdError as fault:
        raise zipfile.BadZipFile(f"{member.filename}: {fault}") from fault
    if len(told) != member.file_size or zlib.crc32(told) != member.CRC:
        raise zipfile.BadZipFile(f"{member.filename} is damaged")
    return told
