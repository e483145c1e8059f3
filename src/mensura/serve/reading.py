"""Answering readers: files of the current edition from memory, with conditional requests and packed bodies."""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import parse_qs

from starlette.types import Receive, Scope, Send

from mensura.serve.edition import Headers, HeldFile, LiveEdition
from mensura.serve.press import Press

READING = ("GET", "HEAD")
_REVALIDATE = b"no-cache"
_FOR_EVER = b"public, max-age=31536000, immutable"
"""For addresses that carry a version: what they name never changes."""
_PAUSE = b"5"  # seconds after which a reader may come back while the first edition is being built
_LONGEST_HEADER = 1000  # of Accept-Encoding and If-None-Match: what is longer is not understood


class Reader:
    """The application that answers from the editions of a press. Paths are keys of a mapping: no disk is touched."""

    def __init__(self, press: Press) -> None:
        self._press = press

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        edition = self._press.edition(_asked_stamp(scope["query_string"]))
        status, headers, body = self._answer(scope, edition)
        if edition is not None:
            headers.append((b"mensura-evidence", edition.evidence.encode()))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    def _answer(self, scope: Scope, edition: LiveEdition | None) -> tuple[int, Headers, bytes]:
        if scope["method"] not in READING:
            return plain(405, "This address can only be read.", (b"allow", b", ".join(m.encode() for m in READING)))
        if edition is None and self._press.current is None:
            return plain(503, "The pages are being built; come back in a moment.", (b"retry-after", _PAUSE))
        path = scope["path"]
        file = None if edition is None else edition.files.get(path[1:] if path != "/" else "index.html")
        return plain(404, "There is no such page.") if file is None else _found(scope, file)


def _found(scope: Scope, file: HeldFile) -> tuple[int, Headers, bytes]:
    """Answer with a file, packed for those who take it so, or with 304 where the reader has it already."""
    taken = known = b""
    for name, value in scope["headers"]:
        if name == b"accept-encoding":
            taken = value
        elif name == b"if-none-match":
            known = value
    wrapped = file.packed if file.packed is not None and accepts_gzip(taken) else file.plain
    keep = (b"cache-control", _FOR_EVER if _asked_stamp(scope["query_string"]) else _REVALIDATE)
    if known and names_tag(known, wrapped.tag):
        return 304, [*wrapped.unchanged, keep], b""
    return 200, [*wrapped.headers, keep], wrapped.body


def plain(status: int, text: str, *more: tuple[bytes, bytes]) -> tuple[int, Headers, bytes]:
    """Return an answer in one sentence."""
    body = f"{text}\n".encode()
    length = str(len(body)).encode()
    kind = b"text/plain; charset=utf-8"
    return status, [(b"content-type", kind), (b"content-length", length), (b"cache-control", b"no-store"), *more], body


def accepts_gzip(header: bytes) -> bool:
    """Return whether Accept-Encoding allows gzip: named, or covered by ``*``, with a quality above zero."""
    return _accepts_gzip(header[:_LONGEST_HEADER])


@lru_cache(maxsize=256)
def _accepts_gzip(header: bytes) -> bool:
    qualities = {}
    for part in header.decode("latin-1").lower().split(","):
        coding, _, parameters = part.partition(";")
        qualities[coding.strip()] = _quality(parameters)
    return qualities.get("gzip", qualities.get("x-gzip", qualities.get("*", 0.0))) > 0.0


def _quality(parameters: str) -> float:
    name, _, value = parameters.partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0


def names_tag(header: bytes, tag: bytes) -> bool:
    """Return whether If-None-Match names a tag, by the weak comparison: ``W/`` makes no difference."""
    return any(one.strip().removeprefix(b"W/") in (tag, b"*") for one in header[:_LONGEST_HEADER].split(b","))


def _asked_stamp(query: bytes) -> str | None:
    """Return the stamp after ``?v=``; any other query asks for the current edition."""
    if not query.startswith(b"v="):
        return None
    return parse_qs(query.decode("latin-1"), max_num_fields=8).get("v", [""])[0]
