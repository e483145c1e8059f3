"""Hostile, slow and ordinary clients over real sockets: what a connection may send, hold and wait for."""

import asyncio
import re
import socket
import sys
import threading
import time
from contextlib import ExitStack, contextmanager, suppress

import pytest

from benchmarks.site_flood import ATTACKS, LARGEST, measure, running
from mensura.serve import LiveEdition, SiteRenewal, connections, find_origin, live_app
from mensura.serve.connections import BoundedConnection, network_of
from mensura.serve.edition import HeldFile
from tests.serve.conftest import listening, small_edition

pytestmark = pytest.mark.slow

PATIENCE = 60.0  # seconds, on however busy a machine
SOON = 0.3  # seconds, where a limit of time is under test
LARGE = 30_000_000  # bytes: more than the buffers of a connection
HEAD = b"GET /index.html HTTP/1.1\r\nHost: 127.0.0.1\r\n"
POST = b"POST /index.html HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.fixture(scope="module")
def port():
    """The port of a small site with one large file."""
    large = {"data/large.csv": HeldFile.of("data/large.csv", bytes(LARGE))}
    edition = LiveEdition("aaaa", {**small_edition().files, **large})

    async def build(origin, scratch, shown):
        return edition

    renewal = SiteRenewal(find_origin(None), build=build)
    renewal.publish(edition)
    with listening(live_app(renewal)) as address:
        yield int(address.rpartition(":")[2])


@contextmanager
def client(port, text=b""):
    """A client that has sent a text, or as much as the server took before it refused the rest."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as opened:
        with suppress(BrokenPipeError, ConnectionResetError):
            opened.sendall(text)
        yield opened


def read_all(opened) -> bytes:
    """What the server sends until it closes the connection."""
    parts = []
    try:
        while part := opened.recv(1 << 20):
            parts.append(part)
    except ConnectionResetError:  # closed while the client was still sending
        pass
    return b"".join(parts)


def answers(port, text) -> list[int]:
    """The statuses of the answers to a text, until the server closes the connection."""
    with client(port, text) as opened:
        return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3})", read_all(opened))]


def ask(port) -> list[int]:
    """The statuses that an ordinary reader gets."""
    return answers(port, HEAD + b"Connection: close\r\n\r\n")


# Memory


@pytest.fixture(scope="module")
def flooded():
    """A server of its own, whose memory is watched."""
    if sys.platform != "linux":
        pytest.skip("memory of another process is read from /proc")
    with running(megabytes=40, connections=300) as flood:
        yield flood


@pytest.mark.parametrize("attack", ATTACKS)
def test_nobody_moves_the_memory_and_readers_are_answered(flooded, attack):
    found = measure(flooded, attack)
    assert found["moved"] < LARGEST
    assert found["answered"]


# Size


@pytest.mark.parametrize(
    ("text", "statuses"),
    [
        (HEAD + b"X: " + b"a" * 16_000 + b"\r\nConnection: close\r\n\r\n", [200]),
        (HEAD + b"X: " + b"a" * 17_000 + b"\r\n\r\n", [431]),
        (b"GET /" + b"a" * 17_000 + b" HTTP/1.1\r\n\r\n", [431]),
        (HEAD + b"a: b\r\n" * 98 + b"Connection: close\r\n\r\n", [200]),
        (HEAD + b"a: b\r\n" * 99 + b"Connection: close\r\n\r\n", [431]),
        (POST + b"Content-Length: 65536\r\nConnection: close\r\n\r\n" + b"a" * 65_536, [405]),
        (POST + b"Content-Length: 65537\r\nConnection: close\r\n\r\n" + b"a" * 65_537, [413]),
        (POST + b"content-length: 65537\r\n\r\n", [413]),  # before the body arrives
        (POST + b"Content-Length: much\r\n\r\n", [400]),
        (POST + b"Content-Length: +5\r\n\r\n", [400]),
        (b"nonsense\r\n\r\n", [400]),
        (b"\r\n\r\n" + HEAD + b"Connection: close\r\n\r\n", [200]),
    ],
)
def test_a_request_is_answered_up_to_its_limits(port, text, statuses):
    assert answers(port, text) == statuses


def test_several_requests_on_one_connection_are_answered_in_their_order(port):
    asked = HEAD + b"\r\n" + HEAD.replace(b"index", b"nowhere") + b"\r\n" + HEAD + b"Connection: close\r\n\r\n"
    assert answers(port, asked) == [200, 404, 200]
    most = BoundedConnection.MOST_QUEUED
    assert len(answers(port, (HEAD + b"\r\n") * 100)) <= most + 1, "nobody queues more"
    assert ask(port) == [200]


def test_a_request_may_come_in_small_pieces(port):
    with client(port) as opened:
        for place in range(len(HEAD)):
            opened.sendall(HEAD[place : place + 1])
        opened.sendall(b"Connection: close\r\n\r\n")
        assert read_all(opened).startswith(b"HTTP/1.1 200 ")


# Time


@pytest.mark.parametrize(
    "text",
    [b"", b"\r\n", HEAD, POST + b"Content-Length: 10\r\n\r\naaa"],
    ids=["nothing", "a line end", "half a head", "half a body"],
)
def test_whoever_does_not_end_the_request_is_not_waited_for(port, monkeypatch, text):
    monkeypatch.setattr(BoundedConnection, "REQUEST_SECONDS", SOON)
    with client(port, text) as opened:
        assert b"HTTP/1.1 408 " in read_all(opened)


def test_a_line_end_after_an_answer_is_no_request(port, monkeypatch):
    monkeypatch.setattr(BoundedConnection, "REQUEST_SECONDS", SOON)
    with client(port, HEAD + b"\r\n") as opened:
        assert opened.recv(100).startswith(b"HTTP/1.1 200 ")
        opened.sendall(b"\r\n")
        assert b"HTTP/1.1 408 " in read_all(opened)


def test_sending_a_little_now_and_then_does_not_help(port, monkeypatch):
    monkeypatch.setattr(BoundedConnection, "REQUEST_SECONDS", SOON)
    until = time.monotonic() + PATIENCE
    with client(port, HEAD) as opened, pytest.raises((BrokenPipeError, ConnectionResetError)):
        while time.monotonic() < until:
            opened.sendall(b"a: b\r\n")
            time.sleep(SOON / 10)


def test_a_reader_who_takes_nothing_is_not_waited_for(port, monkeypatch):
    monkeypatch.setattr(BoundedConnection, "TAKING_SECONDS", SOON)
    with client(port, HEAD.replace(b"index.html", b"data/large.csv") + b"\r\n") as opened:
        first = opened.recv(1)
        until = time.monotonic() + PATIENCE
        while any(opened.getsockname() in kind.everybody for kind in BoundedConnection.__subclasses__()):
            assert time.monotonic() < until
            time.sleep(SOON / 10)
        assert first and len(read_all(opened)) < LARGE
    monkeypatch.undo()
    whole = HEAD.replace(b"index.html", b"data/large.csv") + b"Connection: close\r\n\r\n"
    with client(port, whole) as opened:
        assert len(read_all(opened)) > LARGE, "whoever takes it gets it"


def test_a_slow_reader_may_take_as_long_as_it_takes_something(monkeypatch):
    """Once the whole of a large file had to be taken in the time in which a reader may take nothing."""
    monkeypatch.setattr(BoundedConnection, "TAKING_SECONDS", 0.0)
    left = [9, 8, 8, 7, 7, 7]  # what waits when a look begins and when it ends, three times

    class Transport:
        closed = False

        def get_write_buffer_size(self):
            return left.pop(0)

        def abort(self):
            self.closed = True

    class Inner:
        def __init__(self, **_):
            pass

        def pause_writing(self):
            pass

    async def watch():
        connection, connection._transport = type("Own", (BoundedConnection,), {"inner_class": Inner})(), Transport()
        connection.pause_writing()
        while not connection._transport.closed:
            await asyncio.sleep(0)

    asyncio.run(watch())
    assert left == []


# Number


def test_half_sent_requests_give_way_to_readers(port, monkeypatch):
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 5)
    with ExitStack() as held:
        waiting = [held.enter_context(client(port, HEAD)) for _ in range(20)]
        assert ask(port) == [200]
        assert read_all(waiting[0]) == b"", "who waits longest goes first"
        waiting[-1].sendall(b"Connection: close\r\n\r\n")
        assert read_all(waiting[-1]).startswith(b"HTTP/1.1 200 "), "the last ones are still there"


def test_one_address_cannot_take_the_places_of_all(port, monkeypatch):
    monkeypatch.setattr(connections, "MOST_PER_ADDRESS", 3)
    with socket.socket() as other, ExitStack() as held:
        other.bind(("127.0.0.2", 0))
        other.settimeout(PATIENCE)
        other.connect(("127.0.0.1", port))
        other.sendall(HEAD)
        for _ in range(10):
            held.enter_context(client(port, HEAD))
        assert ask(port) == [200]
        other.sendall(b"Connection: close\r\n\r\n")
        assert read_all(other).startswith(b"HTTP/1.1 200 ")


def test_where_all_are_being_answered_the_next_is_told_to_come_back(monkeypatch):
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 1)
    asked = threading.Event()

    async def never(scope, receive, send):
        if scope["type"] == "lifespan":
            for step in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{step}.complete"})
            return
        await receive()
        asked.set()
        await receive()  # until the client is gone

    with listening(never) as address:
        port = int(address.rpartition(":")[2])
        with client(port, HEAD + b"\r\n"):
            assert asked.wait(PATIENCE)
            assert ask(port) == [503]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("fe80::1%eth0", "fe80::2%eth0", True),
    ],
)
def test_an_address_is_that_of_one_customer(one, other, same):
    assert (network_of(one) == network_of(other)) is same
