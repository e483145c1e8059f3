"""Readers of a site, as light as they can be made, for they share the processors with the server they load.

A reader is a protocol on one kept connection: no task, no future, one buffer for all. It asks for one address after
another, reads exactly as many bytes as each answer announces, and asks again at once.
"""

from __future__ import annotations

import asyncio
import gzip
import re
import statistics
import time
from collections.abc import Callable, Sequence
from typing import cast

CHECK_EVERY = 20
"""Answers of a reader of which one is unpacked and read; the others are checked by their heads and lengths."""
_ROOM = memoryview(bytearray(2**18))
_ANSWERED = re.compile(rb'HTTP/1\.1 200 .*\netag: ("[^"]+").*\ncontent-length: (\d+).*\nmensura-evidence: (\w+)', re.S)
_STAMPS = re.compile(rb'src="[^"]+\?v=(\w+)[^"]*"')


class SiteRound:
    """What the readers of one round saw: seconds by kind of address, and everything that was wrong.

    ``first``: seconds of each reader's first answer. All come at one instant and their connections are opened one after
    the other; these are not among the ``times``.
    """

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = {"pages": [], "api": []}
        self.errors: list[str] = []
        self.bytes = 0
        self.seconds = 0.0
        self.first: list[float] = []
        self.first_seen: dict[str, float] = {}
        self._tags: dict[tuple[str, str], str] = {}

    @property
    def answers(self) -> int:
        """How many answers came."""
        return sum(map(len, self.times.values()))

    def percentiles(self, kind: str) -> dict[str, float]:
        """Median, 95th percentile and longest time of a kind of address, in ms."""
        times = self.times[kind]
        cuts = statistics.quantiles(times, n=100)
        found = {"p50_ms": cuts[49], "p95_ms": cuts[94], "max_ms": max(times)}
        return {name: round(1000 * seconds, 1) for name, seconds in found.items()}

    def check(self, path: str, tag: str, version: str, asked: float) -> str:
        """Say what is wrong with an answer that was asked for at an instant; empty for nothing."""
        now = time.perf_counter()
        newest = list(self.first_seen)[-1:]
        if version not in self.first_seen:
            self.first_seen[version] = now
        elif newest != [version] and asked > self.first_seen[newest[0]]:
            return f"version {version}, although {newest[0]} had been seen before it was asked for"
        if self._tags.setdefault((version, path), tag) != tag:
            return f"version {version} is two different files"
        return ""


class SiteReader(asyncio.BufferedProtocol):
    """One reader, who asks for ``paths`` in turn, beginning with one of its own, until told to stop."""

    def __init__(self, number: int, paths: Sequence[str], until: Callable[[], bool], seen: SiteRound) -> None:
        self.done = asyncio.get_running_loop().create_future()
        self._paths = paths
        self._asks = [
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: gzip\r\n\r\n".encode() for path in paths
        ]
        self._turn = number
        self._new = True
        self._until = until
        self._seen = seen

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the first address."""
        self._transport = cast("asyncio.WriteTransport", transport)
        self._ask()

    def _ask(self) -> None:
        if self._until():
            self._stop()
            return
        self._turn += 1
        self._head = b""
        self._body: list[bytes] | None = [] if self._turn % CHECK_EVERY == 0 else None
        self._left = -1
        self._asked = time.perf_counter()
        self._transport.write(self._asks[self._turn % len(self._asks)])

    def get_buffer(self, sizehint: int) -> memoryview:
        """Every reader is handed the same room: what is in it is used before the next comes."""
        return _ROOM

    def buffer_updated(self, nbytes: int) -> None:
        """Take a part of an answer."""
        self._seen.bytes += nbytes
        start = 0
        if self._left < 0:
            begun = len(self._head)
            self._head += bytes(_ROOM[: min(nbytes, 4096)])
            end = self._head.find(b"\r\n\r\n")
            if end < 0:
                return
            start = end + 4 - begun
            found = _ANSWERED.match(self._head, 0, end + 1)
            if found is None:
                self._stop(self._head.split(b"\r\n")[0].decode("latin-1"))
                return
            self._tag, self._version = found[1].decode(), found[3].decode()
            self._left = int(found[2])
        self._left -= nbytes - start
        if self._body is not None:
            self._body.append(bytes(_ROOM[start:nbytes]))
        if self._left == 0:
            self._answered()
        elif self._left < 0:
            self._stop("more bytes than the answer announced")

    def _answered(self) -> None:
        path = self._paths[self._turn % len(self._paths)]
        took = time.perf_counter() - self._asked
        if self._new:
            self._seen.first.append(took)
            self._new = False
        else:
            self._seen.times["api" if path.startswith("/api/") else "pages"].append(took)
        fault = self._seen.check(path, self._tag, self._version, self._asked)
        if self._body is not None:
            fault = fault or _stamped_otherwise(b"".join(self._body), self._version)
        if fault:
            self._seen.errors.append(f"{path}: {fault}")
        self._ask()

    def connection_lost(self, exc: Exception | None) -> None:
        """A connection that the server closes is an error."""
        self._stop(f"the connection was lost: {exc or 'closed before the answer was whole'}")

    def _stop(self, fault: str = "") -> None:
        if self.done.done():
            return
        if fault:
            self._seen.errors.append(f"{self._paths[self._turn % len(self._paths)]}: {fault}")
        self.done.set_result(None)
        self._transport.close()


def _stamped_otherwise(body: bytes, version: str) -> str:
    text = gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body
    stamps = {stamp.decode() for stamp in _STAMPS.findall(text)}
    return f"a page of {version} loads scripts of {stamps}" if stamps - {version} else ""


async def run_round(port: int, readers: int, paths: Sequence[str], until: Callable[[], bool]) -> SiteRound:
    """Let the readers ask until told to stop."""
    seen, loop = SiteRound(), asyncio.get_running_loop()
    start = time.perf_counter()
    made = [
        await loop.create_connection(lambda number=number: SiteReader(number, paths, until, seen), "127.0.0.1", port)
        for number in range(readers)
    ]
    await asyncio.gather(*(reader.done for _, reader in made))
    seen.seconds = time.perf_counter() - start
    return seen
