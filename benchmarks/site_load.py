"""The live site under load: ``python -m benchmarks.site_load [--readers 200] [--seconds 10]``.

Starts ``mensura serve`` on a store made from the embedded evidence and lets many readers ask at once, each on one
connection, each asking again as soon as it is answered (no pause to read: the hardest case). Three rounds: pages, files
of the interface, and both while an update is applied to the store and the server builds the new edition beside the old
one. A checked answer has status 200, the length it announces, and one evidence version throughout: the version in its
header is the one its page's scripts are stamped with. No reader may see the old version again after the new one.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from mensura.evidence.ledger import CellChange, Update, init_ledger, open_ledger
from mensura.evidence.store import as_text

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
    while not done(now := health(port)):
        if time.monotonic() > until or now.get("status") == "stale":
            raise SystemExit(f"no new edition; the server says {now}")
        time.sleep(0.5)


def change_a_score(store: Path) -> None:
    """Apply an update of one score, as a reviewer would."""
    ledger = open_ledger(store)
    row = as_text(ledger.evidence().tables()["scores"]).row(0, named=True)
    key = (row["subject"], row["benchmark"], row["source"])
    change = CellChange("scores", key, "score", row["score"], f"{float(row['score']) / 2:g}")
    ledger.apply(
        Update(title="half a score", source=row["source"], changes=(change,)), by="load", when=datetime.now(UTC)
    )


async def read_through_update(port: int, readers: int, store: Path) -> Round:
    """Let the readers ask while an update is applied, until a moment after the new edition is shown."""
    old = health(port)["evidence"]
    done = asyncio.Event()

    async def follow() -> None:
        await asyncio.sleep(1)
        await asyncio.to_thread(change_a_score, store)
        await asyncio.to_thread(wait_for, port, lambda now: now.get("evidence", old) != old)
        await asyncio.sleep(2)
        done.set()

    work = asyncio.create_task(follow())
    seen = await run_round(port, readers, PAGES + FILES, done.is_set)
    await work
    return seen


def read_for(port: int, readers: int, seconds: float, paths: Sequence[str]) -> Round:
    """Let the readers ask for some seconds."""
    end = time.monotonic() + seconds
    return asyncio.run(run_round(port, readers, paths, lambda: time.monotonic() > end))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--readers", type=int, default=200, help="how many ask at once")
    parser.add_argument("--seconds", type=float, default=10.0, help="length of the rounds of pages and interface files")
    parser.add_argument("--no-update", action="store_true", help="leave out the round with an update")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store, port = Path(folder) / "evidence.db", free_port()
        init_ledger(store, None, by="load", when=datetime.now(UTC))
        command = [sys.executable, "-m", "mensura", "serve", "--port", str(port), "--store", str(store)]
        server = subprocess.Popen(command)
        try:
            rounds, memories = measure(asked, port, store, server.pid)
        finally:
            server.terminate()
            server.wait()
    show(rounds, memories, asked.readers)


def measure(asked: argparse.Namespace, port: int, store: Path, pid: int) -> tuple[dict[str, Round], list[float]]:
    """Run the rounds; memory is taken after a first short one, and after those of pages and interface files."""
    wait_for(port, lambda now: now.get("status") == "ok")
    read_for(port, asked.readers, 2.0, PAGES + FILES)
    memories = [memory(pid)]
    rounds = {"pages": read_for(port, asked.readers, asked.seconds, PAGES)}
    rounds["api"] = read_for(port, asked.readers, asked.seconds, FILES)
    memories.append(memory(pid))
    if not asked.no_update:
        rounds["update"] = asyncio.run(read_through_update(port, asked.readers, store))
        memories.append(memory(pid))
    return rounds, memories


def show(rounds: dict[str, Round], memories: list[float], readers: int) -> None:
    """Print a table for people and a line for programs."""
    names = {"pages": "pages", "api": "interface", "update": "both, while an update is applied"}
    columns = ("answers", "per_second", "p50_ms", "p95_ms", "max_ms", "errors", "versions")
    print(f"{readers} readers, each asking again at once; {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    print(f"{'round':<34}" + "".join(f"{name:>12}" for name in columns))
    tables = {name: one.figures(name) for name, one in rounds.items()}
    for name, row in tables.items():
        print(f"{names[name]:<34}" + "".join(f"{row[column]:>12}" for column in columns))
    for name, one in rounds.items():
        for fault in one.errors[:3]:
            print(f"error in {name}: {fault}")
    print(
        "memory of the server: " + ", ".join(f"{one:.0f} MB" for one in memories) + " (before, after, after the update)"
    )
    figures = {
        "pages_p95_ms": tables["pages"]["p95_ms"],
        "api_p95_ms": tables["api"]["p95_ms"],
        "errors": sum(len(one.errors) for one in rounds.values()),
    }
    within = {name: figures[name] <= limit for name, limit in LIMITS.items()}
    within["memory_flat"] = memories[1] <= MEMORY_SLACK * memories[0]
    print(
        json.dumps(
            {**figures, "rounds": list(tables.values()), "memory_mb": memories, "limits": LIMITS, "within": within}
        )
    )


if __name__ == "__main__":
    main()
