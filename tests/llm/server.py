"""An OpenAI-compatible server of ours that misbehaves on demand and counts what it was asked.

Which request fails, and how, follows from the question and how often it came, so a run can be repeated exactly.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import math
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.llm.limits import AtOnceLimit, RateLimit

NEVER_FAILS_FROM = 4
"""The fourth time a question comes it is answered, so that every question is, in the end."""


@dataclass
class Faults:
    """Shares of requests that go wrong, by kind; ``delay`` and ``busy_wait`` in seconds."""

    delay: float = 0.0
    busy: float = 0.0
    busy_wait: float | None = None
    broken: float = 0.0
    dropped: float = 0.0
    truncated: float = 0.0
    wrong: float = 0.0
    slow: float = 0.0
    slow_seconds: float = 30.0

    def kind(self, prompt: str, time: int) -> str:
        """What happens to the nth request of a question."""
        if time >= NEVER_FAILS_FROM:
            return ""
        digest = hashlib.blake2b(f"{prompt}\0{time}".encode(), digest_size=4).digest()
        place = int.from_bytes(digest, "big") / 2**32
        for name in ("busy", "broken", "dropped", "truncated", "wrong", "slow"):
            place -= getattr(self, name)
            if place < 0:
                return name
        return ""


def level_answer(prompt: str, request: dict) -> str:
    """A level that follows from the question, with a reason."""
    level = hashlib.blake2b(prompt.encode(), digest_size=1).digest()[0] % 6
    return json.dumps({"level": level, "why": f"this asks for about {level} of five"})


@dataclass
class Log:
    """What the server saw."""

    requests: Counter = field(default_factory=Counter)
    answers: Counter = field(default_factory=Counter)
    bodies: list[dict] = field(default_factory=list)
    under_way: int = 0
    most_under_way: int = 0
    batches: dict[str, dict] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)


class ChatServer:
    """The server; run it with :func:`serving` (a thread) or as a program of its own."""

    def __init__(
        self,
        faults: Faults | None = None,
        *,
        answer: Callable[[str, dict], str] = level_answer,
        key: str | None = None,
        most_at_once: int | None = None,
        usage: bool = True,
        keep_bodies: bool = True,
        limit: RateLimit | AtOnceLimit | None = None,
    ) -> None:
        self.faults = faults or Faults()
        self.answer = answer
        self.key = key
        self.most_at_once = most_at_once
        self.usage = usage
        self.keep_bodies = keep_bodies
        self.limit = limit
        self.log = Log()
        self.refuse: Callable[[str], bool] | None = None
        self.batches_ready = True
        self.url = ""
        self.connections: set[asyncio.Transport] = set()

    async def start(self, port: int = 0) -> asyncio.Server:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Connection(self), "127.0.0.1", port, backlog=1024)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        return server

    def completion(self, request: dict) -> dict:
        prompt = request["messages"][-1]["content"]
        text = self.answer(prompt, request)
        made = {
            "id": "chat",
            "object": "chat.completion",
            "created": 0,
            "model": request["model"],
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        }
        if self.usage:
            sizes = {"prompt_tokens": len(prompt) // 4 + 8, "completion_tokens": len(text) // 4}
            made["usage"] = {**sizes, "total_tokens": sum(sizes.values())}
        return made


class _Connection(asyncio.Protocol):
    def __init__(self, server: ChatServer) -> None:
        self.server = server
        self.buffer = b""
        self.transport: asyncio.Transport | None = None
        self.tasks: set[asyncio.Task] = set()

    def connection_made(self, transport) -> None:
        self.transport = transport
        self.server.connections.add(transport)

    def connection_lost(self, _exc) -> None:
        self.server.connections.discard(self.transport)
        for task in self.tasks:
            task.cancel()

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while b"\r\n\r\n" in self.buffer:
            head, _, rest = self.buffer.partition(b"\r\n\r\n")
            lines = head.decode("latin-1").split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
            length = int(headers.get("content-length", 0))
            if headers.get("transfer-encoding") == "chunked":
                body, rest = _unchunk(rest)
                if body is None:
                    return
            elif len(rest) < length:
                return
            else:
                body, rest = rest[:length], rest[length:]
            self.buffer = rest
            method, path, _ = lines[0].split(" ", 2)
            self.route(method, path, headers, body)

    def route(self, method: str, path: str, headers: dict, body: bytes) -> None:
        sent = headers.get("authorization", "")
        if self.server.key is not None and sent != f"Bearer {self.server.key}":
            message = f"Incorrect API key provided: {sent}. You sent {sent.removeprefix('Bearer ')!r}."
            self.reply(401, {"error": {"message": message, "code": "invalid_api_key"}})
        elif path.endswith("/chat/completions"):
            self.chat(json.loads(body))
        elif "/files" in path or "/batches" in path:
            self.files_and_batches(method, path, headers, body)
        elif path.endswith("/log"):
            log = self.server.log
            self.reply(200, {"requests": dict(log.requests), "answers": dict(log.answers)})
        else:
            self.reply(404, {"error": {"message": f"no {path}"}})

    def chat(self, request: dict) -> None:
        log, faults = self.server.log, self.server.faults
        prompt = request["messages"][-1]["content"]
        log.requests[prompt] += 1
        if self.server.keep_bodies:
            log.bodies.append(request)
        if self.server.limit is not None:
            wait = self.server.limit.arrive(asyncio.get_running_loop().time())
            if wait is not None:
                headers = {"Retry-After": str(math.ceil(wait))} if self.server.limit.header else {}
                self.reply(429, {"error": {"message": "too many requests"}}, headers)
                return
        log.under_way += 1
        log.most_under_way = max(log.most_under_way, log.under_way)
        if self.server.refuse is not None and self.server.refuse(prompt):
            log.under_way -= 1
            self.reply(400, {"error": {"message": "this is too long", "code": "too_long"}})
            return
        full = self.server.most_at_once is not None and log.under_way > self.server.most_at_once
        kind = "busy" if full else faults.kind(prompt, log.requests[prompt])
        if not faults.delay and kind != "slow":
            self.finish(kind, prompt, request)
            return
        task = asyncio.get_running_loop().create_task(self.later(kind, prompt, request))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def later(self, kind: str, prompt: str, request: dict) -> None:
        try:
            await asyncio.sleep(self.server.faults.delay)
            if kind == "slow":
                self.transport.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4000\r\n\r\n"
                )
                for _ in range(int(self.server.faults.slow_seconds / 0.1)):
                    self.transport.write(b" ")
                    await asyncio.sleep(0.1)
                self.transport.close()
        except asyncio.CancelledError:
            self.server.log.under_way -= 1
            raise
        if kind == "slow":
            self.server.log.under_way -= 1
        else:
            self.finish(kind, prompt, request)

    def finish(self, kind: str, prompt: str, request: dict) -> None:
        log, faults = self.server.log, self.server.faults
        log.under_way -= 1
        if self.server.limit is not None:
            self.server.limit.leave()
        if kind == "busy":
            wait = {} if faults.busy_wait is None else {"Retry-After": str(faults.busy_wait)}
            self.reply(429, {"error": {"message": "too many requests", "code": "rate_limit_exceeded"}}, wait)
        elif kind == "broken":
            self.reply(500, {"error": {"message": "out of order"}})
        elif kind == "dropped":
            self.transport.abort()
        elif kind == "wrong":
            self.reply(200, b"<html><body>Gateway login</body></html>")
        else:
            if kind != "truncated":
                log.answers[prompt] += 1
            made = json.dumps(self.server.completion(request)).encode()
            self.reply(200, made[: len(made) // 2] if kind == "truncated" else made)

    def files_and_batches(self, method: str, path: str, headers: dict, body: bytes) -> None:
        log = self.server.log
        parts = path.split("?")[0].rstrip("/").split("/")
        if method == "POST" and parts[-1] == "files":
            boundary = headers["content-type"].split("boundary=")[1].strip('"').encode()
            piece = next(part for part in body.split(b"--" + boundary) if b"filename=" in part)
            name = f"file-{len(log.files)}"
            log.files[name] = piece.split(b"\r\n\r\n", 1)[1].rsplit(b"\r\n", 1)[0]
            self.reply(200, {"id": name, "object": "file"})
        elif method == "GET" and parts[-1] == "content":
            self.reply(200, log.files[parts[-2]])
        elif method == "POST" and parts[-1] == "batches":
            asked = json.loads(body)
            name = f"batch-{len(log.batches)}"
            log.batches[name] = {"id": name, "status": "validating", "created_at": 0, "object": "batch", **asked}
            self.reply(200, log.batches[name])
        elif method == "GET" and parts[-1] in log.batches:
            if self.server.batches_ready:
                self.run_batch(log.batches[parts[-1]])
            self.reply(200, log.batches[parts[-1]])
        else:
            self.reply(404, {"error": {"message": f"no {path}"}})

    def run_batch(self, batch: dict) -> None:
        if batch["status"] == "completed":
            return
        log = self.server.log
        lines = []
        for line in log.files[batch["input_file_id"]].decode().splitlines():
            asked = json.loads(line)
            prompt = asked["body"]["messages"][-1]["content"]
            log.requests[prompt] += 1
            log.answers[prompt] += 1
            response = {"status_code": 200, "body": self.server.completion(asked["body"])}
            lines.append(json.dumps({"custom_id": asked["custom_id"], "response": response, "error": None}))
        batch["status"] = "completed"
        batch["output_file_id"] = f"file-{len(log.files)}"
        log.files[batch["output_file_id"]] = "\n".join(reversed(lines)).encode()

    def reply(self, status: int, body: dict | bytes, headers: dict | None = None) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        more = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
        head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n{more}\r\n"
        if not self.transport.is_closing():
            self.transport.write(head.encode() + data)


def _unchunk(data: bytes) -> tuple[bytes | None, bytes]:
    """The body of a chunked request and what follows it; None while it is not all there."""
    body = b""
    while b"\r\n" in data:
        size, _, data = data.partition(b"\r\n")
        length = int(size, 16)
        if len(data) < length + 2:
            return None, b""
        body, data = body + data[:length], data[length + 2 :]
        if length == 0:
            return body, data
    return None, b""


@contextmanager
def serving(server: ChatServer) -> Iterator[ChatServer]:
    """Run the server in a thread of its own."""
    loop = asyncio.new_event_loop()
    started = asyncio.run_coroutine_threadsafe
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    listening = started(server.start(), loop).result()

    async def stop() -> None:
        listening.close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        for connection in list(server.connections):
            connection.abort()
        while server.connections:
            await asyncio.sleep(0)

    try:
        yield server
    finally:
        started(stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def main() -> None:
    """Serve without faults until killed; the first line printed is the address."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--typical", action="store_true", help="answer as the benchmarks expect")
    asked = parser.parse_args()

    async def run() -> None:
        from benchmarks.llm_typical import typical_answer

        answer = typical_answer if asked.typical else level_answer
        server = ChatServer(Faults(delay=asked.delay), answer=answer, keep_bodies=False)
        listening = await server.start()
        print(server.url, flush=True)
        await listening.serve_forever()

    asyncio.run(run())


if __name__ == "__main__":
    main()
