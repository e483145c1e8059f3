"""The live site under attack: ``python -m benchmarks.site_flood [--megabytes 400] [--connections 1200]``.

Starts a server of one page and one file of 8 MB in a process of its own. Each attack uses plain sockets and no
secret: endless headers, endless bodies, queued requests, half-sent requests, readers that never read. While the attack
lasts, the script reads the server's memory and asks for the page as a reader would.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

BLOCK = 1 << 20
LARGEST = 20.0
"""Megabytes by which no visitor may move the server's memory."""
FILE = "/data/large.parquet"
HEAD = b"GET /index.html HTTP/1.1\r\nHost: 127.0.0.1\r\n"
LINES = b"".join(b"X-%05d: %s\r\n" % (number, b"a" * 1000) for number in range(BLOCK // 1012))
SHORT_LINES = b"a:\r\n" * (BLOCK // 4)
REQUESTS = (HEAD + b"\r\n") * (BLOCK // len(HEAD))


@dataclass(frozen=True)
class Flood:
    """A server, and the bounds of an attack on it."""

    port: int
    pid: int
    megabytes: int
    connections: int
    page: str = "/index.html"

    def memory(self) -> float:
        """Memory of the server in MB."""
        lines = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:"))

    def connect(self) -> socket.socket:
        """Open a connection that takes little in, as a slow client does."""
        opened = socket.socket()
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        opened.settimeout(2)
        opened.connect(("127.0.0.1", self.port))
        return opened

    def pour(self, first: bytes, block: bytes) -> list[socket.socket]:
        """Send a beginning, then one block again and again on one connection, until the server closes it."""
        opened = self.connect()
        try:
            opened.sendall(first)
            for _ in range(self.megabytes):
                opened.sendall(block)
        except OSError:  # closed, or no longer read
            pass
        return [opened]

    def hold(self, text: bytes) -> list[socket.socket]:
        """Send the same text on many connections and keep them open."""
        held = []
        for _ in range(self.connections):
            try:
                opened = self.connect()
                held.append(opened)
                opened.sendall(text)
            except OSError:
                continue
        return held

    def is_answered(self) -> bool:
        """Ask for the page as a reader would."""
        try:
            with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)) as reader:
                reader.request("GET", self.page)
                return reader.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False


ATTACKS: dict[str, Callable[[Flood], list[socket.socket]]] = {
    "headers without end": lambda flood: flood.pour(HEAD, LINES),
    "short headers without end": lambda flood: flood.pour(HEAD, SHORT_LINES),
    "one header without end": lambda flood: flood.pour(HEAD + b"X: ", b"a" * BLOCK),
    "an address without end": lambda flood: flood.pour(b"GET /", b"a" * BLOCK),
    "a body without end": lambda flood: flood.pour(
        b"POST /review/enter HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n"
        b"Content-Type: application/x-www-form-urlencoded\r\n\r\n",
        b"100000\r\n" + b"a" * BLOCK + b"\r\n",
    ),
    "requests without reading": lambda flood: flood.pour(b"", REQUESTS),
    "half-sent requests": lambda flood: flood.hold(HEAD + b"X: " + b"a" * 15_000),
    "half-sent short headers": lambda flood: flood.hold(HEAD + b"a:\r\n" * 90),
    "half-sent bodies": lambda flood: flood.hold(
        b"POST /index.html HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000\r\n\r\n" + b"a" * 300_000
    ),
    "connections without a word": lambda flood: flood.hold(b""),
    "readers that do not read": lambda flood: flood.hold(HEAD.replace(b"/index.html", FILE.encode()) + b"\r\n"),
}
"""What a hostile visitor may do; each returns the connections it holds open."""


def measure(flood: Flood, name: str) -> dict[str, float | bool]:
    """Run one attack: memory before and while it lasts, in MB, and whether a reader was answered meanwhile."""
    before = flood.memory()
    with ExitStack() as held:
        for opened in ATTACKS[name](flood):
            held.enter_context(opened)
        peak, answered = flood.memory(), flood.is_answered()
        peak = max(peak, flood.memory())
    return {"before": round(before, 1), "peak": round(peak, 1), "moved": round(peak - before, 1), "answered": answered}


def serve(handle: int) -> None:
    """Serve a small edition with one large file, as ``mensura serve`` would, on an open socket."""
    import uvicorn

    from mensura.serve import LiveEdition, SiteRenewal, find_origin, live_app
    from mensura.serve.edition import HeldFile
    from mensura.serve.serving import server_settings

    files = {"index.html": b"<!doctype html><title>here</title>", FILE[1:]: os.urandom(8 << 20)}
    edition = LiveEdition("aaaa", {name: HeldFile.of(name, body) for name, body in files.items()})

    async def build(*_: object) -> LiveEdition:
        return edition

    renewal = SiteRenewal(find_origin(None), build=build)
    renewal.publish(edition)
    listener = socket.socket(fileno=handle)
    settings = server_settings(live_app(renewal), host="127.0.0.1", port=listener.getsockname()[1])
    uvicorn.Server(settings).run([listener])


@contextmanager
def running(megabytes: int, connections: int) -> Iterator[Flood]:
    """Start the server in a process of its own and wait until it answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:  # the server gets it open: nobody else takes the port
        port, handle = listener.getsockname()[1], listener.fileno()
        command = [sys.executable, "-m", "benchmarks.site_flood", "--serve", str(handle)]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL, pass_fds=[handle])
    with process:
        flood = Flood(port, process.pid, megabytes, connections)
        try:
            while not flood.is_answered():
                if process.poll() is not None:
                    raise SystemExit("the server did not start")
                time.sleep(0.1)
            yield flood
        finally:
            process.kill()


def main() -> None:
    """Measure every attack on a server of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=400)
    parser.add_argument("--connections", type=int, default=1200)
    parser.add_argument("--serve", type=int, metavar="SOCKET", help=argparse.SUPPRESS)
    options = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    if options.serve is not None:
        serve(options.serve)
        return
    found = {}
    print(f"{'attack':28}{'before':>9}{'peak':>9}{'moved':>9}   readers")
    for name in ATTACKS:
        with running(options.megabytes, options.connections) as flood:
            one = found[name] = measure(flood, name)
        print(f"{name:28}{one['before']:9}{one['peak']:9}{one['moved']:9}   {'answered' if one['answered'] else 'NOT'}")
    print(json.dumps({"megabytes": found}))


if __name__ == "__main__":
    main()
