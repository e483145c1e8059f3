"""One edition of the site: every file of one evidence version, in memory, and the answers to its readers."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs

from starlette.types import Receive, Scope, Send

from mensura import __version__
from mensura.core.folders import MANIFEST
from mensura.serve.middleware import policy_for
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
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
_OF_BODY = (b"content-type", b"content-length", b"content-encoding")
_LEAST_SAVING = 0.95  # a packed body larger than this share of the plain one is not worth unpacking
_REVALIDATE = b"no-cache"
_FOR_EVER = b"public, max-age=31536000, immutable"
"""For addresses that carry a version: what they name never changes."""
_PAUSE = b"5"  # seconds after which a reader may come back while the first edition is being built
_LONGEST_HEADER = 1000  # of Accept-Encoding and If-None-Match: what is longer is not understood

Headers = list[tuple[bytes, bytes]]


class Wrapped(NamedTuple):
    """A body as it is sent, with a tag of its own and the headers that go with it."""

    body: bytes
    tag: bytes
    headers: Headers

    @classmethod
    def of(cls, body: bytes, tag: str, media: str, *more: tuple[bytes, bytes]) -> Wrapped:
        """Wrap a body."""
        quoted = f'"{tag}"'.encode()
        kind = [(b"content-type", media.encode()), (b"content-length", str(len(body)).encode()), *more]
        return cls(body, quoted, [(b"etag", quoted), (b"vary", b"Accept-Encoding"), *kind])


class HeldFile(NamedTuple):
    """One file: plain, and packed by gzip where that is smaller."""

    plain: Wrapped
    packed: Wrapped | None

    @classmethod
    def of(cls, name: str, body: bytes) -> HeldFile:
        """Keep the bytes of a file, packed once for all readers."""
        media = _MEDIA.get(Path(name).suffix, _OTHER)
        tag = hashlib.sha256(body).hexdigest()[:32]
        packed = gzip.compress(body, 9, mtime=0)
        worth = len(packed) < _LEAST_SAVING * len(body)
        styles = _STYLE.findall(body.decode()) if name.endswith(".html") else []
        own = [(b"content-security-policy", policy_for(styles).encode())] if styles else []
        return cls(
            Wrapped.of(body, tag, media, *own),
            Wrapped.of(packed, f"{tag}-gzip", media, (b"content-encoding", b"gzip"), *own) if worth else None,
        )


@dataclass(frozen=True)
class LiveEdition:
    """Keep the files of the site in memory, all from one evidence version.

    Attributes
    ----------
    evidence : str
        Name of the evidence version.
    files : Mapping[str, HeldFile]
        The files by their path, such as "models/gpt-5.5.html".

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
        """What is written after the address of scripts; it names the program too, so that no older script is kept."""
        return stamp_of(self.evidence)

    @property
    def editions_file(self) -> bytes:
        """What this and earlier editions changed, as the site's file of editions contains it."""
        file = self.files.get(f"data/{EDITIONS}")
        return b"" if file is None else file.plain.body


def stamp_of(evidence: str) -> str:
    """Return the stamp of the pages on an evidence version."""
    return f"{evidence}-{__version__}"


class Reader:
    """Answers readers from editions. Paths are keys of a mapping: no disk is touched.

    ``find`` returns the edition of a stamp, or the current one.
    """

    def __init__(self, find: Callable[[str | None], LiveEdition | None]) -> None:
        self._find = find

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        edition = self._find(_asked_stamp(scope["query_string"]))
        status, headers, body = self._answer(scope, edition)
        if edition is not None:
            headers.append((b"mensura-evidence", edition.evidence.encode()))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    def _answer(self, scope: Scope, edition: LiveEdition | None) -> tuple[int, Headers, bytes]:
        if scope["method"] not in ("GET", "HEAD"):
            return plain(405, "This address can only be read.", (b"allow", b"GET, HEAD"))
        if edition is None and self._find(None) is None:
            return plain(503, "The pages are being built; come back in a moment.", (b"retry-after", _PAUSE))
        path = scope["path"]
        file = None if edition is None else edition.files.get(path[1:] if path != "/" else "index.html")
        return plain(404, "There is no such page.") if file is None else _file_answer(scope, file)


def _file_answer(scope: Scope, file: HeldFile) -> tuple[int, Headers, bytes]:
    """Answer with a file, packed for those who take it so, or with 304 where the reader has it already."""
    asked = dict(scope["headers"])
    taken, tags = asked.get(b"accept-encoding", b""), asked.get(b"if-none-match", b"")
    wrapped = file.packed if file.packed is not None and accepts_gzip(taken) else file.plain
    keep = (b"cache-control", _FOR_EVER if _asked_stamp(scope["query_string"]) else _REVALIDATE)
    if tags and names_tag(tags, wrapped.tag):
        return 304, [*(header for header in wrapped.headers if header[0] not in _OF_BODY), keep], b""
    return 200, [*wrapped.headers, keep], wrapped.body


def plain(status: int, text: str, *more: tuple[bytes, bytes]) -> tuple[int, Headers, bytes]:
    """Return an answer in one sentence."""
    body = f"{text}\n".encode()
    length = str(len(body)).encode()
    kind = b"text/plain; charset=utf-8"
    return status, [(b"content-type", kind), (b"content-length", length), (b"cache-control", b"no-store"), *more], body


@lru_cache(maxsize=256)
def accepts_gzip(header: bytes) -> bool:
    """Return whether Accept-Encoding allows gzip: named, or covered by ``*``, with a quality above zero."""
    qualities = {}
    for part in header[:_LONGEST_HEADER].decode("latin-1").lower().split(","):
        coding, _, parameters = part.partition(";")
        name, _, value = parameters.partition("=")
        try:
            qualities[coding.strip()] = float(value) if name.strip() == "q" else 1.0
        except ValueError:
            qualities[coding.strip()] = 0.0
    return qualities.get("gzip", qualities.get("x-gzip", qualities.get("*", 0.0))) > 0.0


def names_tag(header: bytes, tag: bytes) -> bool:
    """Return whether If-None-Match names a tag, by the weak comparison: ``W/`` makes no difference."""
    return any(one.strip().removeprefix(b"W/") in (tag, b"*") for one in header[:_LONGEST_HEADER].split(b","))


def _asked_stamp(query: bytes) -> str | None:
    """Return the stamp after ``?v=``; any other query asks for the current edition."""
    if not query.startswith(b"v="):
        return None
    return parse_qs(query.decode("latin-1"), max_num_fields=8).get("v", [""])[0]
