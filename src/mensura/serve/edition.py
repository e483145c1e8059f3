"""One edition of the site: every file of one evidence version, in memory, ready to send."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mensura import __version__
from mensura.core.folders import MANIFEST
from mensura.site.editions import FILE as EDITIONS

DIGITS = 16
"""Hex digits by which an evidence version is named: 64 bits, far beyond any number of versions of one store."""

_MEDIA = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".csv": "text/csv; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
    ".xml": "application/xml",
    ".txt": "text/plain; charset=utf-8",
}
_OTHER = "application/octet-stream"
_LEAST_SAVING = 0.95  # a packed body larger than this share of the plain one is not worth unpacking


Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A body as it is sent, with a tag of its own and the headers that go with it."""

    body: bytes
    tag: bytes
    headers: Headers

    @classmethod
    def of(cls, body: bytes, tag: str, media: str, *more: tuple[bytes, bytes]) -> Wrapped:
        """Wrap a body; the headers of a 304 come first."""
        quoted = f'"{tag}"'.encode()
        length = str(len(body)).encode()
        always = [(b"etag", quoted), (b"vary", b"Accept-Encoding")]
        return cls(body, quoted, [*always, (b"content-type", media.encode()), (b"content-length", length), *more])

    @property
    def unchanged(self) -> Headers:
        """The headers of an answer that says nothing has changed."""
        return self.headers[:2]


@dataclass(frozen=True, slots=True)
class HeldFile:
    """One file: plain, and packed by gzip where that is smaller."""

    plain: Wrapped
    packed: Wrapped | None

    @classmethod
    def of(cls, name: str, body: bytes) -> HeldFile:
        """Hold the bytes of a file, packed once for all readers."""
        media = _MEDIA.get(Path(name).suffix, _OTHER)
        tag = hashlib.sha256(body).hexdigest()[:32]
        packed = gzip.compress(body, 9, mtime=0)
        worth = len(packed) < _LEAST_SAVING * len(body)
        return cls(
            Wrapped.of(body, tag, media),
            Wrapped.of(packed, f"{tag}-gzip", media, (b"content-encoding", b"gzip")) if worth else None,
        )

    @property
    def size(self) -> int:
        """Bytes held."""
        return len(self.plain.body) + (len(self.packed.body) if self.packed is not None else 0)


@dataclass(frozen=True)
class LiveEdition:
    """The files of the site by their path, such as "models/gpt-5.5.html", all from one evidence version.

    ``evidence`` names that version. ``stamp`` is what stands after the address of their scripts: it also names the
    program, so that a browser keeps no script of an older one.
    """

    evidence: str
    files: Mapping[str, HeldFile]

    @classmethod
    def from_folder(cls, folder: Path, evidence: str) -> LiveEdition:
        """Read a report from its folder."""
        paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST)
        names = {path.relative_to(folder).as_posix(): path for path in paths}
        return cls(evidence, {name: HeldFile.of(name, path.read_bytes()) for name, path in names.items()})

    @property
    def stamp(self) -> str:
        """The evidence version and the program's."""
        return stamp_of(self.evidence)

    @property
    def told(self) -> bytes:
        """What this and earlier editions changed, as the site's file of editions holds it."""
        held = self.files.get(f"data/{EDITIONS}")
        return b"" if held is None else held.plain.body

    @property
    def size(self) -> int:
        """Bytes held."""
        return sum(file.size for file in self.files.values())


def stamp_of(evidence: str) -> str:
    """Return the stamp of the pages on an evidence version."""
    return f"{evidence}-{__version__}"
