"""The live site under load: ``python -m benchmarks.site_load [--readers 200] [--seconds 10]``.

Starts ``mensura serve`` on a store made from the embedded evidence and lets many readers ask at once, each on one
connection, each asking again as soon as it is answered (no pause to read: the hardest case). Three rounds: pages, files
of the interface, and both while an update is applied to the store and the server builds the new edition beside the old
one. A checked answer has status 200, the length it announces, and one evidence version throughout: the version in its
header is the one its page's scripts are stamped with. No reader may see the old version again after the new one.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import socket
import statistics
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PAGES = ["/", "/iq.html", "/stitched.html", "/human.html", "/cost.html", "/data.html", "/models/gpt-5.5.html"]
FILES = [f"/api/v1/{name}.json" for name in ("models", "rankings", "benchmarks", "methodology", "charts/iq-bell")]
LIMITS = {"pages_p95_ms": 300.0, "api_p95_ms": 100.0, "errors": 0}
CHECK_EVERY = 20  # answers whose body is unpacked and read: the clients share the processors with the server
PATIENCE = 900.0  # seconds for an edition to be built, on however busy a machine
MEMORY_SLACK = 1.2  # growth of the server's memory over a round that still counts as flat


@dataclass
class Round:
    """What the readers of one round saw."""

    times: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    versions: set[str] = field(default_factory=set)
    seconds: float = 0.0

    def figures(self, name: str) -> dict[str, object]:
        """Answers, rate and times of the round."""
        cuts = statistics.quantiles(self.times, n=100)
        return {
            "round": name,
            "answers": len(self.times),
            "per_second": round(len(self.times) / self.seconds),
            "p50_ms": round(1000 * cuts[49], 1),
            "p95_ms": round(1000 * cuts[94], 1),
            "max_ms": round(1000 * max(self.times), 1),
            "errors": len(self.errors),
            "versions": len(self.versions),
        }


class Connection(asyncio.Protocol):
    """One keep-alive connection that speaks just enough HTTP to ask and to know when an answer is whole."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._whole = 0
        self._waiting: asyncio.Future[tuple[bytes, bytes]] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the way out."""
        self._transport = transport

    def ask(self, path: str) -> asyncio.Future[tuple[bytes, bytes]]:
        """Ask for a path; the future holds head and body."""
        self._waiting = asyncio.get_running_loop().create_future()
        self._buffer.clear()
        self._whole = 0
        text = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: gzip\r\n\r\n"
        self._transport.write(text.encode())  # type: ignore[attr-defined]
        return self._waiting

    def data_received(self, data: bytes) -> None:
        """Collect an answer until it has the length it announced."""
        self._buffer += data
        if not self._whole:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            found = re.search(rb"content-length: (\d+)", self._buffer[:end])
            self._whole = end + 4 + (int(found[1]) if found else 0)
        if len(self._buffer) >= self._whole and self._waiting is not None and not self._waiting.done():
            head, _, body = bytes(self._buffer).partition(b"\r\n\r\n")
            self._waiting.set_result((head, body))

    def connection_lost(self, fault: Exception | None) -> None:
        """Tell whoever waits."""
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(ConnectionError(str(fault or "closed before the answer was whole")))


async def read(port: int, number: int, paths: Sequence[str], until: Callable[[], bool], seen: Round) -> None:
    """One reader: asks for one path after another until told to stop."""
    _, connection = await asyncio.get_running_loop().create_connection(Connection, "127.0.0.1", port)
    newest: list[str] = []
    asked = number
    while not until():
        path = paths[asked % len(paths)]
        asked += 1
        start = time.perf_counter()
        try:
            head, body = await connection.ask(path)
        except ConnectionError as fault:
            seen.errors.append(f"{path}: {fault}")
            _, connection = await asyncio.get_running_loop().create_connection(Connection, "127.0.0.1", port)
            continue
        seen.times.append(time.perf_counter() - start)
        fault = check(head, body, newest, thoroughly=asked % CHECK_EVERY == 0)
        if fault:
            seen.errors.append(f"{path}: {fault}")
        seen.versions.update(newest)


def check(head: bytes, body: bytes, newest: list[str], *, thoroughly: bool) -> str:
    """Say what is wrong with an answer; ``newest`` are the versions this reader saw, in order."""
    if not head.startswith(b"HTTP/1.1 200"):
        return head.split(b"\r\n")[0].decode()
    found = re.search(rb"mensura-evidence: (\w+)", head)
    if found is None:
        return "no evidence version"
    version = found[1].decode()
    if version in newest[:-1]:
        return f"version {version} again after {newest[-1]}"
    if version not in newest:
        newest.append(version)
    if thoroughly:
        text = gzip.decompress(body) if b"content-encoding: gzip" in head else body
        stamps = {stamp.decode() for stamp in re.findall(rb'src="[^"]+\?v=(\w+)"', text)}
        if stamps - {version}:
            return f"a page of {version} loads scripts of {stamps}"
    return ""


async def run_round(port: int, readers: int, paths: Sequence[str], until: Callable[[], bool]) -> Round:
    """Let the readers ask until told to stop."""
    seen = Round()
    start = time.perf_counter()
    await asyncio.gather(*(read(port, number, paths, until, seen) for number in range(readers)))
    seen.seconds = time.perf_counter() - start
    return seen


def health(port: int) -> dict[str, str]:
    """What the server says of itself; empty before it listens."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=30) as answer:
            found: dict[str, str] = json.load(answer)
            return found
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return {}


def memory(pid: int) -> float:
    """Memory of the server in MB, where the system says it."""
    status = Path(f"/proc/{pid}/status")
    lines = status.read_text(encoding="ascii").splitlines() if status.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:")), 0.0)


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for(port: int, done: Callable[[dict[str, str]], bool]) -> None:
    """Wait until the server's health is as wanted."""
    until = time.monotonic() + PATIENCE
    while not done(health(port)):
        if time.monotonic() > until:
            raise SystemExit(f"no edition after {PATIENCE:.0f} seconds")
        time.sleep(0.5)


if __name__ == "__main__":
    seconds = float(sys.argv[2])
    port = int(sys.argv[1])
    for name, paths in (("pages", PAGES), ("api", FILES)):
        end = time.monotonic() + seconds
        r = asyncio.run(run_round(port, 200, paths, lambda: time.monotonic() > end))
        print(r.figures(name), r.errors[:3])
