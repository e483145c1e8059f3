"""The live site under load: ``python -m benchmarks.site_load [--readers 200] [--seconds 10]``.

Starts ``mensura serve`` on a store made from the embedded evidence and lets many readers ask at once, each on one
connection, each asking again as soon as it is answered: no pause to read, the hardest case, in which the mean answer
takes readers ÷ answers per second whoever serves. Four rounds: pages, files of the interface, both, and both while an
update is applied to the store and the server builds the new edition beside the old one. An answer is right if it has
status 200 and the length it announces; if, once the new edition was seen, nothing asked for later is of the old one;
and if every answer of one version and address is the same file, a page's scripts stamped with its version. Processor
time of server and readers is counted apart: unlike the times, it says the same on a busy machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.site_readers import SiteRound, run_round
from mensura.evidence.store import as_text
from mensura.ledger import CellChange, Update, init_ledger, open_ledger

try:
    from uvloop import run as run_loop
except ImportError:  # where the loop of the extra `serve` does not exist
    from asyncio import run as run_loop

PAGES = ["/", "/iq.html", "/stitched.html", "/human.html", "/cost.html", "/data.html", "/models/gpt-5.5.html"]
FILES = [f"/api/v1/{name}.json" for name in ("models", "rankings", "benchmarks", "methodology", "charts/iq-bell")]
LIMITS = {"pages": 300.0, "api": 100.0}
"""The 95th percentile of the times of an answer, in ms."""
MEMORY_SLACK = 1.2  # growth of the server's memory over the rounds without an update that still counts as flat
FIRST_ROUND = 2.0  # seconds of a round that is not counted: buffers grow, files are touched for the first time
LINGER = 2.0  # seconds of reading after the new edition is shown
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class LoadedServer:
    """A server under test: its port, its process, its store."""

    port: int
    pid: int
    store: Path
    patience: float
    rounds: dict[str, dict[str, object]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    def health(self) -> dict[str, str]:
        """What the server says of itself; empty before it listens."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=30) as answer:
                found: dict[str, str] = json.load(answer)
                return found
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return {}

    def wait_for(self, done: Callable[[dict[str, str]], bool]) -> None:
        """Wait until the server's health is as wanted."""
        until = time.monotonic() + self.patience
        while not done(now := self.health()):
            if time.monotonic() > until or now.get("status") == "stale":
                raise SystemExit(f"no new edition after {self.patience:.0f} s; the server says {now or 'nothing'}")
            time.sleep(0.5)

    def memory(self) -> float:
        """Memory of the server in MB."""
        lines = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:"))

    def processor(self) -> float:
        """Processor seconds of the server alone, without those of the process that builds editions."""
        fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def count(self, name: str, read: Callable[[], SiteRound]) -> None:
        """Let a round be read, and keep its figures."""
        served, asked = self.processor(), time.process_time()
        seen = read()
        served, asked = self.processor() - served, time.process_time() - asked
        kinds = {kind: seen.percentiles(kind) for kind, times in seen.times.items() if times}
        self.errors += [f"{name}: {fault}" for fault in seen.errors]
        self.rounds[name] = {
            "answers": seen.answers,
            "per_second": round(seen.answers / seen.seconds),
            "megabytes_per_second": round(seen.bytes / seen.seconds / 1e6),
            **kinds,
            "first_max_ms": round(1000 * max(seen.first), 1),
            "errors": len(seen.errors),
            "versions": len(seen.first_seen),
            "server_ms": round(1000 * served / seen.answers, 3),
            "readers_ms": round(1000 * asked / seen.answers, 3),
        }


@contextmanager
def running_server(patience: float) -> Iterator[LoadedServer]:
    """Start the server on a store of the embedded evidence, and wait for its first edition."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
        store = Path(folder) / "evidence.db"
        init_ledger(store, None, by="load", when=datetime.now(UTC))
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        probe.close()
        process = subprocess.Popen(
            [sys.executable, "-m", "mensura", "serve", "--port", str(port), "--store", str(store)],
            stdout=subprocess.DEVNULL,
        )
        try:
            server = LoadedServer(port, process.pid, store, patience)
            server.wait_for(lambda now: now.get("status") == "ok" or process.poll() is not None)
            if process.poll() is not None:
                raise SystemExit("the server ended before its first edition; what it printed says why")
            yield server
        finally:
            process.terminate()
            process.wait()


def read_for(server: LoadedServer, readers: int, seconds: float, paths: Sequence[str]) -> SiteRound:
    """Let the readers ask for some seconds."""
    end = time.monotonic() + seconds
    return run_loop(run_round(server.port, readers, paths, lambda: time.monotonic() > end))


def change_a_score(store: Path) -> None:
    """Apply an update of one score, as a reviewer would."""
    ledger = open_ledger(store)
    row = as_text(ledger.evidence().tables()["scores"]).row(0, named=True)
    key = (row["subject"], row["benchmark"], row["source"])
    change = CellChange("scores", key, "score", row["score"], f"{float(row['score']) / 2:g}")
    update = Update(title="half a score", source=row["source"], changes=(change,))
    ledger.apply(update, by="load", when=datetime.now(UTC))


def read_through_update(server: LoadedServer, readers: int) -> SiteRound:
    """Let the readers ask while an update is applied, until a moment after the new edition is shown."""
    old = server.health()["evidence"]

    async def follow() -> SiteRound:
        done = asyncio.Event()
        reading = asyncio.create_task(run_round(server.port, readers, PAGES + FILES, done.is_set))
        try:
            await asyncio.to_thread(change_a_score, server.store)
            await asyncio.to_thread(server.wait_for, lambda now: now.get("evidence", old) != old)
            await asyncio.sleep(LINGER)
        finally:
            done.set()
        return await reading

    return run_loop(follow())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--readers", type=int, default=200, help="how many ask at once")
    parser.add_argument("--seconds", type=float, default=10.0, help="length of each round without an update")
    parser.add_argument("--patience", type=float, default=900.0, help="longest wait for an edition, in seconds")
    parser.add_argument("--no-update", action="store_true", help="leave out the round with an update")
    asked = parser.parse_args()
    with running_server(asked.patience) as server:
        read_for(server, asked.readers, FIRST_ROUND, PAGES + FILES)
        memories = [server.memory()]
        for name, paths in {"pages": PAGES, "interface": FILES, "both": PAGES + FILES}.items():
            server.count(name, lambda paths=paths: read_for(server, asked.readers, asked.seconds, paths))
        memories.append(server.memory())
        if not asked.no_update:
            server.count("both, update", lambda: read_through_update(server, asked.readers))
            memories.append(server.memory())
    show(server, memories, asked.readers)


def show(server: LoadedServer, memories: list[float], readers: int) -> None:
    """Print a table for people and a line for programs."""
    print(f"{readers} readers, each asking again at once; {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    columns = ("answers", "per_second", "errors", "versions", "server_ms", "readers_ms")
    heads = ("page p50", "p95", "max", "API p50", "p95", "max")
    print(f"{'round':<14}" + "".join(f"{name:>12}" for name in columns) + "".join(f"{name:>9}" for name in heads))
    for name, row in server.rounds.items():
        times = [row.get(kind, {}).get(key, "–") for kind in LIMITS for key in ("p50_ms", "p95_ms", "max_ms")]
        print(f"{name:<14}" + "".join(f"{row[c]:>12}" for c in columns) + "".join(f"{one:>9}" for one in times))
    print("times in ms; server_ms and readers_ms: processor time of an answer; both share the processors")
    for fault in server.errors[:5]:
        print(f"error in {fault}")
    print("memory of the server, in MB, before, after, after the update:", *(f"{one:.0f}" for one in memories))
    within = {
        f"{kind}, {name}": row[kind]["p95_ms"] <= limit
        for kind, limit in LIMITS.items()
        for name, row in server.rounds.items()
        if kind in row
    }
    within |= {"errors": not server.errors, "memory_flat": memories[1] <= MEMORY_SLACK * memories[0]}
    figures = {
        "pages_p95_ms": server.rounds["pages"]["pages"]["p95_ms"],
        "api_p95_ms": server.rounds["interface"]["api"]["p95_ms"],
        "errors": len(server.errors),
    }
    memory = [round(one) for one in memories]
    print(json.dumps({**figures, "rounds": server.rounds, "memory_mb": memory, "limits_ms": LIMITS, "within": within}))


if __name__ == "__main__":
    main()
