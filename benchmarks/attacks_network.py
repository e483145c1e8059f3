"""Attacks through a connection, for :mod:`benchmarks.shell`: a provider that misbehaves, visitors of site and exam."""

from __future__ import annotations

import asyncio
import hashlib
import http.client
import json
import socket
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, urlencode

import numpy as np

from benchmarks import site_flood
from benchmarks.exam_load import EXAM, ExamServer
from mensura.exam import AnswerStore
from mensura.llm import Answer, AnswerReading, Question, open_asker

MEGABYTES, CONNECTIONS = 100, 400
STATUSES = (200, 200, 200, 204, 301, 400, 408, 429, 500, 503)
HEADERS = ({}, {"Retry-After": "0"}, {"Retry-After": "-5"}, {"Retry-After": "soon"}, {"Retry-After": "1e999"})
BODIES = (
    b"", b"null", b"[]", b"{}", b"\xff\xfe\x00", b"<html>busy</html>", b'{"choices": []}', b'{"choices": [null]}',
    b'{"choices": [{"message": {"content": null}}]}', b'{"choices": [{"message": {"content": 7}}]}',
    b'{"choices": [{"message": {"content": "\\ud800"}}]}', b'{"choices": {"0": 1}}', b"[" * 5000, b'{"error": "no"}',
    b'{"choices": [{"message": {"content": "' + b"a" * 300_000 + b'"}}]}', b'{"usage": {"prompt_tokens": -1}}',
)  # fmt: skip
FIELDS = ("item", "after", "seconds", "option", "text", "consent", "age", "sent", "code", "token", "__proto__")
VALUES = (
    "", "yes", "0", "-1", "1e999", "nan", "9" * 300, "a" * 100_000, "\x00", "../../etc/passwd", "<script>", "é", "٣",
    "%00", "' OR 1=1 --", "\ud7ff", "item-1",
)  # fmt: skip
PATHS = (
    "/", "/begin", "/about", "/start", "/answer", "/finish", "/sit", "/sit?n=-1", "/sit?n=99999999999999999999",
    "/sit?n=x", "/review", "/done", "/forget", "/picture/..%2f..%2fetc%2fpasswd", "/picture/x", "/static/..%2fapp.py",
    "/resume/AAAA-AAAA", "/organiser", "/organiser/answers.csv", "/organiser/close", "/healthz", "/%ff", "//", "/?a=%",
)  # fmt: skip


def right_level(prompt: str) -> int:
    """Return the answer that a sound reply to a question holds."""
    return hashlib.blake2b(prompt.encode(), digest_size=1).digest()[0] % 6


class Provider(ThreadingHTTPServer):
    """Answers every question from its third request on; before, it sends whatever a broken server can send."""

    daemon_threads = True

    def __init__(self, seed: int) -> None:
        super().__init__(("127.0.0.1", 0), ProviderReply)
        self.asked: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.rng = np.random.default_rng(seed)
        self.lock = threading.Lock()

    def pick(self, prompt: str) -> tuple[int, dict[str, str], bytes] | None:
        """Return a broken reply, or None where a sound one is due."""
        with self.lock:
            self.asked[prompt] += 1
            if self.asked[prompt] > 2 or self.rng.random() < 0.4:
                self.answered[prompt] += 1
                return None
            status, headers, body = (
                options[int(self.rng.integers(len(options)))] for options in (STATUSES, HEADERS, BODIES)
            )
            return status, headers, body


class ProviderReply(BaseHTTPRequestHandler):
    """One reply of the provider."""

    server: Provider
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Answer one question."""
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        prompt = request["messages"][-1]["content"]
        status, headers, body = self.server.pick(prompt) or (200, {}, self.sound(prompt, request["model"]))
        self.send_response(status)
        for name, value in {**headers, "content-type": "application/json", "content-length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(b"" if status == 204 else body)

    def sound(self, prompt: str, model: str) -> bytes:
        """Return a reply with the right level."""
        message = {"role": "assistant", "content": json.dumps({"level": right_level(prompt)})}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return json.dumps({"id": "c", "object": "chat.completion", "model": model, "choices": [choice]}).encode()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def read_level(text: str) -> AnswerReading:
    """Read the level out of a reply."""
    try:
        return AnswerReading(int(json.loads(text)["level"]))
    except (ValueError, TypeError, KeyError, RecursionError):
        return AnswerReading(None, error="no level")


def attack_by_provider(tries: int, seed: int) -> Iterator[str | None]:
    """Ask a provider that misbehaves: every question is answered right or named as failed, and none is paid twice."""
    questions = [Question(f"How hard is item {number}?") for number in range(tries)]
    with tempfile.TemporaryDirectory() as folder, served(Provider(seed)) as (provider, url):
        where = {"journal": Path(folder) / "journal.sqlite", "base_url": url}
        with open_asker("any", **where) as asker:
            first = asker.ask(questions, read_level)
        paid = provider.answered.copy()
        with open_asker("any", **where) as asker:
            second = asker.ask(questions, read_level)
        for question, before, after in zip(questions, first, second, strict=True):
            yield _why_not(question, before, after, provider.answered[question.prompt] - paid[question.prompt])


def _why_not(question: Question, before: Answer, after: Answer, again: int) -> str | None:
    if not before.error and before.value != right_level(question.prompt):
        return f"{question.prompt}: {before.value} was read where {right_level(question.prompt)} was sent"
    if before.value is None and not before.error:
        return f"{question.prompt}: neither answered nor named as failed"
    if not before.error and (again or after.value != before.value):
        return f"{question.prompt}: asked again after it was answered"
    return None


@contextmanager
def served(server: Provider) -> Iterator[tuple[Provider, str]]:
    """Run the provider in a thread."""
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server, f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()


def attack_site() -> Iterator[str | None]:
    """Flood the live site in every way of :mod:`benchmarks.site_flood`."""
    for name in site_flood.ATTACKS:
        with site_flood.running(MEGABYTES, CONNECTIONS) as flood:
            yield _flooded(flood, name)


def _flooded(flood: site_flood.Flood, name: str) -> str | None:
    found = site_flood.measure(flood, name)
    if not found["answered"]:
        return f"{name}: a reader was not answered"
    moved = found["moved"]
    return f"{name}: memory moved by {moved} MB" if moved > site_flood.LARGEST else None


def attack_exam(tries: int, rng: np.random.Generator) -> Iterator[str | None]:
    """Send an exam's server what no form sends, then floods: no fault of the server, and no answer is lost."""
    with tempfile.TemporaryDirectory() as folder:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        server = ExamServer(Path(folder) / "answers.db", port)
        asyncio.run(server.start())
        try:
            code, kept = _honest(port)
            for _ in range(tries):
                yield _hostile_request(port, code, rng)
            flood = site_flood.Flood(
                port, server.process.pid if server.process else 0, MEGABYTES, CONNECTIONS, "/healthz"
            )
            for name in site_flood.ATTACKS:
                yield _flooded(flood, name)
        finally:
            server.kill()
        store = AnswerStore(server.store, EXAM)
        sitting = store.find(code)
        same = sitting is not None and {name: one.edit for name, one in store.answers(sitting).items()} == kept
        store.close()
        yield None if same else "an honest taker's answers changed"


def _send(
    port: int, method: str, path: str, form: dict[str, str], cookie: str, origin: str | None = None
) -> tuple[int, str, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    headers = {"content-type": "application/x-www-form-urlencoded", "accept": "application/json"}
    headers |= {"cookie": f"mensura_taker={quote(cookie)}"} if cookie else {}
    headers |= {"origin": origin or f"http://127.0.0.1:{port}"}
    body = urlencode({"sent": "by a form", **form}, errors="replace") if method == "POST" else None
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    told = answer.read().decode(errors="replace")
    set_cookie = answer.getheader("set-cookie") or ""
    connection.close()
    return answer.status, told, set_cookie


def _honest(port: int) -> tuple[str, dict[str, int]]:
    """Begin a sitting as a taker does and answer the first items; return its code and the versions stored."""
    _, _, cookies = _send(port, "POST", "/begin", {"consent": "yes"}, "")
    code = cookies.split("mensura_taker=")[1].split(";")[0]
    _send(port, "POST", "/about", {"age": "30–44"}, code)
    _send(port, "POST", "/start", {}, code)
    kept = {}
    for item in EXAM.items:
        given = {"option": "0"} if item.options else {"text": "7"}
        status, told, _ = _send(port, "POST", "/answer", {"item": item.item, "seconds": "1", **given}, code)
        if status == 200:
            kept[item.item] = json.loads(told)["stored"]
    if not kept:
        raise SystemExit("the exam took no honest answer")
    return code, kept


def _hostile_request(port: int, code: str, rng: np.random.Generator) -> str | None:
    method = str(rng.choice(["GET", "POST", "POST", "POST", "PUT", "DELETE", "HEAD"]))
    path = str(rng.choice(PATHS))
    form = {str(rng.choice(FIELDS)): str(rng.choice(VALUES)) for _ in range(int(rng.integers(0, 5)))}
    cookie = str(rng.choice(["", "x" * 3000, "AAAA-AAAA", code[::-1], "\u00e9"]))
    origin = str(rng.choice(["http://evil.example", "null", f"http://127.0.0.1:{port}"]))
    try:
        status, told, _ = _send(port, method, path, form, cookie, origin)
    except (OSError, http.client.HTTPException) as fault:
        return f"{method} {path}: {type(fault).__name__}"
    odd = status >= 500 or "Traceback" in told or code in told
    return f"{method} {path} {str(form)[:80]}: {status}" if odd else None
