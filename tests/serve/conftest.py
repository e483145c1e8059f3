"""A site of a few small files, a renewal that prints it at once, and a store with its history."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from mensura.exam import read_exam
from mensura.serve import ReviewerSecret
from mensura.serve.exam_app import exam_app
from mensura.serve.exam_takers import COOKIE
from tests.exam.conftest import write_exam

pytest.importorskip("starlette", reason="starlette is not installed (extra: serve)")
pytest.importorskip("uvicorn", reason="uvicorn is not installed (extra: serve)")

import uvicorn

from mensura.serve import LiveEdition, SiteRenewal, find_origin, live_app
from mensura.serve.edition import HeldFile
from mensura.serve.serving import server_settings
from tests.ledger.small import small_ledger
from tests.site.conftest import browser, evidence, report, study, windows  # noqa: F401


def small_edition(evidence: str = "aaaa", text: str = "first") -> LiveEdition:  # noqa: F811
    """An edition of a page, a model's page, a script, an interface file and one that does not pack."""
    pages = {
        "index.html": f"<!doctype html><title>{text}</title>{'<p>long enough to pack</p>' * 50}",
        "models/a.html": f"<!doctype html><title>a {text}</title>",
        "static/state.js": f"// {text}\n" * 50,
        "api/v1/models.json": '{"version":"v1","models":[]}',
        "data/scores.parquet": "PAR1",
    }
    return LiveEdition(evidence, {name: HeldFile.of(name, body.encode()) for name, body in pages.items()})


@pytest.fixture
def renewal() -> SiteRenewal:
    """A renewal that shows the small edition and builds nothing else."""

    async def build(origin, scratch, shown):
        return small_edition()

    renewal = SiteRenewal(find_origin(None), build=build)
    renewal.publish(small_edition())
    return renewal


@pytest.fixture
def reader(renewal):
    """A visitor of the site."""
    return TestClient(live_app(renewal))


@pytest.fixture
def store(tmp_path) -> Path:
    """A small store with its history."""
    return small_ledger(tmp_path / "evidence.db").path


def fetch_all(application, paths: list[str]) -> dict[str, tuple[int, dict[str, str], bytes]]:
    """Ask an application for many paths in one event loop: status, headers and body of each answer."""

    async def fetch(path: str) -> tuple[int, dict[str, str], bytes]:
        scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http"}
        scope |= {"path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "", "headers": []}
        scope |= {"client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80)}
        sent = []

        async def receive():
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message):
            sent.append(message)

        await application(scope, receive, send)
        headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return sent[0]["status"], headers, b"".join(message.get("body", b"") for message in sent[1:])

    async def fetch_each():
        return {path: await fetch(path) for path in paths}

    return asyncio.run(fetch_each())


@contextmanager
def listening(application) -> Iterator[str]:
    """Let an application listen on a free port of this machine, for a real browser; yield its address."""
    listener = socket.create_server(("127.0.0.1", 0))  # held all the time: nobody else can take the port
    port = listener.getsockname()[1]
    server = uvicorn.Server(server_settings(application, host="127.0.0.1", port=port))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.02)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(60)


SECRET = "an organiser's long secret"


OWN = {"origin": "http://testserver"}


class Taker(TestClient):
    """A visitor whose forms come from the site's own pages."""

    def fill(self, path, **fields):
        return self.post(path, data={"sent": "by a form"} | fields, headers=OWN)

    def save(self, **fields):
        """Send an answer as the page's script does."""
        return self.post("/answer", data={"sent": "by a script"} | fields, headers=OWN | {"accept": "application/json"})

    def begin(self, **fields):
        return self.fill("/begin", consent="yes", **fields)

    def start(self):
        self.begin()
        self.fill("/about", age="under 40")
        return self.fill("/start")

    @property
    def code(self):
        return self.cookies[COOKIE]


@pytest.fixture
def exam(tmp_path):
    """A small exam, for its pages."""
    return read_exam(write_exam(tmp_path / "small"))


@pytest.fixture
def site(exam, store):
    return exam_app(exam, store, secret=ReviewerSecret(SECRET))


@pytest.fixture
def taker(site):
    return Taker(site)
