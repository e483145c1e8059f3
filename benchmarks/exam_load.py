"""An exam under load: ``python -m benchmarks.exam_load [--takers 200] [--seconds 60] [--kills 50]``.

Starts ``mensura exam serve`` on the example exam. First many takers sit at once: each loads a page, thinks, and saves
an answer, over and over. Then a few takers answer without pause while the server is killed (SIGKILL) and started again
many times; afterwards every acknowledged answer must be in the store, in the version that was acknowledged or a later
one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

from benchmarks.measured import record, take_option
from mensura.exam import AnswerStore, read_exam

EXAM = read_exam("example")
EACH = EXAM.per_person + len(EXAM.checks)
_ITEM = re.compile(r'name="item" value="([^"]+)"')
ARRIVING = 10.0  # seconds within which all takers arrive
THINKING = 3.0  # mean seconds between two answers of a taker
LIMIT = 200.0  # the 95th percentile of the times of an answer, in ms
KILLED_TAKERS = 10


@dataclass
class ExamServer:
    """The server under test, started again after each kill."""

    store: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Start the server and wait until it answers."""
        command = [sys.executable, "-m", "mensura", "exam", "serve", "example"]
        self.process = subprocess.Popen(
            [*command, "--store", str(self.store), "--port", str(self.port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        async with aiohttp.ClientSession() as session:
            while True:
                with suppress(aiohttp.ClientError, OSError):
                    async with session.get(f"{self.address}/healthz") as answer:
                        if answer.status == 200:
                            return
                await asyncio.sleep(0.05)

    def kill(self) -> None:
        """Kill the server, as a power cut would."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()


@dataclass
class LoadTaker:
    """One taker: times of its requests, errors, and the last acknowledged version of each answer."""

    server: ExamServer
    number: int
    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    kept: dict[str, int] = field(default_factory=dict)
    code: str = ""
    page: str = ""

    async def ask(self, session: aiohttp.ClientSession, method: str, path: str, **form: str) -> int:
        """Send one request and note its time; errors are noted too."""
        start = time.perf_counter()
        headers = {"origin": self.server.address, "accept": "application/json" if path == "/answer" else "text/html"}
        data = {"sent": "by a form", **form} if method == "POST" else None
        try:
            async with session.request(method, self.server.address + path, data=data, headers=headers) as answer:
                self.page, status = await answer.text(), answer.status
        except (aiohttp.ClientError, OSError, TimeoutError) as fault:
            self.errors.append(type(fault).__name__)
            return 0
        self.seconds.append(time.perf_counter() - start)
        if status != 200:
            self.errors.append(f"{method} {path}: {status}")
        return status

    async def enter(self, session: aiohttp.ClientSession) -> None:
        """Go from consent to the first item."""
        await self.ask(session, "GET", "/")
        await self.ask(session, "POST", "/begin", consent="yes")
        await self.ask(session, "POST", "/about", age="30–44")
        await self.ask(session, "POST", "/start")
        self.code = next(cookie.value for cookie in session.cookie_jar if cookie.key == "mensura_taker")

    async def save(self, session: aiohttp.ClientSession, item: str, edit: int, options: int) -> None:
        """Save one answer; only an acknowledged one counts as kept."""
        given = {"option": str(edit % options)} if options else {"text": str(edit)}
        if await self.ask(session, "POST", "/answer", item=item, seconds="1", **given) == 200:
            self.kept[item] = json.loads(self.page)["stored"]


def _cookies() -> aiohttp.CookieJar:
    return aiohttp.CookieJar(unsafe=True)


async def sit(taker: LoadTaker, items: dict[str, int], until: float, thinking: float) -> None:
    """Enter, then load pages and answer until the time is over."""
    rng = random.Random(taker.number)
    timeout = aiohttp.ClientTimeout(total=30)
    async with aiohttp.ClientSession(cookie_jar=_cookies(), timeout=timeout) as session:
        await asyncio.sleep(rng.random() * ARRIVING if thinking else 0.0)
        await taker.enter(session)
        edit, names = 0, {}
        while time.monotonic() < until:
            edit += 1
            at = edit % EACH + 1
            if thinking or at not in names:
                await taker.ask(session, "GET", f"/sit?n={at}")
                names[at] = _ITEM.search(taker.page)[1]
            if thinking:
                await asyncio.sleep(rng.expovariate(1.0 / thinking))
            await taker.save(session, names[at], edit, items[names[at]])


async def under_load(server: ExamServer, items: dict[str, int], takers: int, seconds: float) -> list[LoadTaker]:
    """Let takers sit at once."""
    crowd = [LoadTaker(server, number) for number in range(takers)]
    until = time.monotonic() + seconds
    await asyncio.gather(*(sit(taker, items, until, THINKING) for taker in crowd))
    return crowd


async def under_kills(server: ExamServer, items: dict[str, int], kills: int) -> int:
    """Kill the server again and again while takers answer; return how many acknowledged answers are lost."""
    crowd = [LoadTaker(server, 1000 + number) for number in range(KILLED_TAKERS)]
    rng, lost = random.Random(0), 0
    for _ in range(kills):
        work = [asyncio.create_task(sit(taker, items, time.monotonic() + 3600, 0.0)) for taker in crowd]
        await asyncio.sleep(0.4 + rng.random())
        server.kill()
        await asyncio.sleep(0.05)
        for task in work:
            task.cancel()
        await asyncio.gather(*work, return_exceptions=True)
        store = AnswerStore(server.store, EXAM)
        for taker in crowd:
            sitting = store.find(taker.code) if taker.code else None
            stored = store.answers(sitting) if sitting is not None else {}
            lost += sum(item not in stored or stored[item].edit < edit for item, edit in taker.kept.items())
        store.close()
        crowd = [LoadTaker(server, taker.number) for taker in crowd]
        await server.start()
    return lost


async def run(takers: int, seconds: float, kills: int) -> dict[str, object]:
    """Run both parts and return the figures."""
    items = {item.item: len(item.options) for item in EXAM.items}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        server = ExamServer(Path(folder) / "answers.db", port)
        await server.start()
        try:
            crowd = await under_load(server, items, takers, seconds)
            store = AnswerStore(server.store, EXAM)
            lost = sum(
                stored[item].edit < edit
                for taker in crowd
                for stored in [store.answers(store.find(taker.code))]
                for item, edit in taker.kept.items()
            )
            store.close()
            lost_to_kills = await under_kills(server, items, kills)
        finally:
            server.kill()
    times = sorted(1000.0 * second for taker in crowd for second in taker.seconds)
    errors = [error for taker in crowd for error in taker.errors]
    return {
        "takers": takers,
        "seconds": seconds,
        "requests": len(times),
        "answers": sum(len(taker.kept) for taker in crowd),
        "p50_ms": round(times[len(times) // 2], 1),
        "p95_ms": round(times[int(0.95 * len(times))], 1),
        "errors": len(errors),
        "lost": lost,
        "kills": kills,
        "lost_to_kills": lost_to_kills,
        "said": sorted(set(errors))[:5],
    }


def main() -> None:
    take_option()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--takers", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--kills", type=int, default=50)
    given = parser.parse_args()
    figures = asyncio.run(run(given.takers, given.seconds, given.kills))
    print(f"{given.takers} takers for {given.seconds:g} s: {figures['requests']} requests, {figures['errors']} errors")
    print(f"time of an answer: median {figures['p50_ms']} ms, 95% within {figures['p95_ms']} ms (bar {LIMIT:g} ms)")
    print(
        f"acknowledged answers lost: {figures['lost']} under load, {figures['lost_to_kills']} under {given.kills} kills"
    )
    record("exam.p95", f"{figures['p95_ms']:.0f} ms")
    record("exam.lost", str(int(str(figures["lost"])) + int(str(figures["lost_to_kills"]))))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
