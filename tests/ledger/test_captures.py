"""Fetching a page: web addresses only, public machines only, also after redirects, within size and time."""

import http.server
import importlib
import socket
import sqlite3
import threading
from contextlib import contextmanager

import pytest

import mensura
from mensura.ledger.captures import fetch as fetch_page
from tests.ledger.small import ANN, BOB

module = importlib.import_module("mensura.ledger.captures")


class Board(http.server.BaseHTTPRequestHandler):
    """A small site: pages, redirects, a page without end, a page that breaks off, and one that never comes."""

    protocol_version = "HTTP/1.0"

    def do_GET(self):
        if self.path == "/board":
            self._send(200, b"Model,Score\n", **{"Content-Length": "12"})
        elif self.path.startswith("/to/"):
            self._send(302, b"", Location=self.path.removeprefix("/to/"))
        elif self.path == "/loop":
            self._send(302, b"", Location="/loop")
        elif self.path == "/short":
            self._send(200, b"Model", **{"Content-Length": "100"})
        elif self.path == "/packed":
            self._send(200, b"x", **{"Content-Encoding": "gzip"})
        elif self.path == "/endless":
            self._send(200, b"")
            try:
                while True:
                    self.wfile.write(b"x" * 65536)
            except OSError:
                return
        elif self.path == "/slow":
            threading.Event().wait(30)
        else:
            self._send(404, b"")

    def _send(self, status, body, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        return


@contextmanager
def serving():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Board)
    server.daemon_threads = True
    server.block_on_close = False
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="module")
def port():
    with serving() as number:
        yield number


def test_a_page_of_ones_own_network_is_fetched_when_told(port):
    assert fetch_page(f"http://127.0.0.1:{port}/board", allow_private=True) == b"Model,Score\n"
    assert fetch_page(f"http://localhost:{port}/to//board", allow_private=True) == b"Model,Score\n"


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://example.org/x",
        "gopher://127.0.0.1/",
        "data:text/html,x",
        "javascript:alert(1)",
        "//example.org/x",
        "http://user:secret@example.org/",
        "http://",
        "http://exa mple.org/",
        "http://example.org/\r\nHost: x",
        "http://example.org:99999/",
        "http://[::1",
        "http://éxample.org/",
        "http://example.org/" + "x" * 3000,
    ],
)
def test_what_is_no_web_address_is_refused(url):
    with pytest.raises(mensura.MensuraError, match="address: "):
        fetch_page(url, allow_private=True)


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "127.1", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"),
        *("224.0.0.1", "255.255.255.255", "2130706433", "0x7f000001", "localhost", "[::1]", "[fe80::1]", "[fc00::1]"),
        *("192.0.0.9", "192.0.0.170", "192.88.99.1", "[64:ff9b:1::808:808]", "[64:ff9b:1::7f00:1]", "[fec0::1]"),
        *("[::8.8.8.8]", "[::127.0.0.1]", "[::ffff:0:8.8.8.8]", "[::ffff:0:10.0.0.1]", "[3fff::1]", "[5f00::1]"),
        *("[2002:c000:1::1]", "[64:ff9b::c000:aa]"),
        *("[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[::]", "[ff02::1]"),
    ],
)
def test_private_and_reserved_addresses_are_refused_unless_told(host):
    with pytest.raises(mensura.MensuraError, match=r"a private or reserved address|cannot be found"):
        fetch_page(f"http://{host}/")


def test_public_addresses_are_public_also_where_they_stand_for_an_older_one():
    assert all(map(module.is_public, ("93.184.216.34", "8.8.8.8", "2606:2800:220:1::1")))
    assert module.is_public("64:ff9b::808:808")
    assert not any(map(module.is_public, ("64:ff9b::a00:1", "2002:a00:1::1", "::ffff:10.0.0.1")))


@pytest.fixture
def pretended(monkeypatch, port):
    """Names that resolve as a hostile owner chooses; whatever is connected to is the local site."""
    names = {"public.example": ["93.184.216.34"], "inner.example": ["10.0.0.7"]}
    names["both.example"] = ["93.184.216.34", "127.0.0.1"]
    connected = []

    def resolve(host, port, **_):
        if host not in names:
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, port))]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in names[host]]

    def connect(address, _):
        connected.append(address)
        local = socket.socket()
        local.connect(("127.0.0.1", port))
        return local

    monkeypatch.setattr(module.socket, "getaddrinfo", resolve)
    monkeypatch.setattr(module, "open_socket", connect)
    return names, connected


@pytest.mark.parametrize(
    ("url", "port", "path"),
    [
        ("http://public.example", 80, "/"),
        ("https://public.example?q=1", 443, "/?q=1"),
        ("https://public.example:8443/board?q=1#top", 8443, "/board?q=1"),
    ],
)
def test_a_place_to_connect_to_is_the_address_port_and_path(pretended, url, port, path):
    assert module.checked_target(url)[1:] == ("public.example", port, path, "93.184.216.34")


def test_a_web_address_has_two_thousand_characters(pretended):
    start = "http://public.example/"
    assert module.checked_target(start + "x" * (2000 - len(start))).host == "public.example"
    with pytest.raises(mensura.MensuraError, match="is no web address"):
        module.checked_target(start + "x" * (2001 - len(start)))


@pytest.mark.parametrize(
    "target",
    ["http://inner.example/board", "http://127.0.0.1/board", "http://both.example/board", "file:///etc/passwd"],
)
def test_a_redirect_is_checked_like_the_first_address(pretended, target):
    _, connected = pretended
    assert fetch_page("http://public.example/board") == b"Model,Score\n"
    with pytest.raises(mensura.MensuraError, match=r"private or reserved|only http and https"):
        fetch_page(f"http://public.example/to/{target}")
    assert set(connected) == {"93.184.216.34"}


def test_the_connection_goes_to_the_address_that_was_checked(pretended, monkeypatch):
    """A name that resolves differently the second time is not asked a second time."""
    names, connected = pretended
    real = module.checked_target

    def checked(url, **options):
        target = real(url, **options)
        names["public.example"] = ["127.0.0.1"]
        return target

    monkeypatch.setattr(module, "checked_target", checked)
    assert fetch_page("http://public.example/board") == b"Model,Score\n"
    assert connected == ["93.184.216.34"]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/none", "answers 404"),
        ("/loop", "more than 5 redirects"),
        ("/endless", "more than 16,777,216 bytes"),
        ("/short", "broke off|could not be fetched"),
        ("/packed", "packed text"),
    ],
)
def test_pages_that_misbehave_are_refused(port, path, words):
    with pytest.raises(mensura.MensuraError, match=words):
        fetch_page(f"http://127.0.0.1:{port}{path}", allow_private=True)


def test_a_page_that_never_comes_is_given_up(port):
    with pytest.raises(mensura.MensuraError, match="could not be fetched"):
        fetch_page(f"http://127.0.0.1:{port}/slow", allow_private=True, seconds=0.3)


def test_a_server_that_speaks_no_tls_is_refused(port):
    with pytest.raises(mensura.MensuraError, match="could not be fetched"):
        fetch_page(f"https://127.0.0.1:{port}/board", allow_private=True)


def test_captures_are_listed_newest_first_and_kept_once(ledger):
    first = ledger.add_capture(b"one", source="board", address="a.csv", form="csv", **ANN)
    second = ledger.add_capture(b"three", source="lab", address="b.html", **BOB)
    assert ledger.add_capture(b"one", source="lab", address="other", **BOB) == first
    assert ledger.captures().rows() == [
        (second, "lab", "b.html", "Bob", "2026-11-15T13:00:00+00:00", None, 5),
        (first, "board", "a.csv", "Ann", "2026-11-15T12:00:00+00:00", "csv", 3),
    ]
    assert ledger.capture(first[:8]).day == "2026-11-15"


@pytest.mark.parametrize(
    ("data", "more", "words"),
    [
        (b" \n", {}, "capture: a is empty; expected the text of a source"),
        (b"x" * (module.MOST_BYTES + 1), {}, "capture: 16,777,217 bytes; at most 16,777,216 are kept"),
        (b"x", {"form": "xml"}, "format: got 'xml'; expected one of csv, json, html, text"),
        (b"x", {"source": "../x"}, "source"),
        (b"x", {"address": "a\nb"}, "address: got .*; expected one printable line of 2000"),
    ],
)
def test_what_is_no_capture_is_refused(data, more, words):
    with pytest.raises(mensura.MensuraError, match=words):
        module.new_capture(data, **{"source": "board", "address": "a", "by": "Ann", "time": "t", **more})


def test_two_captures_that_begin_alike_need_more_digits():
    store = sqlite3.connect(":memory:")
    store.execute("CREATE TABLE ledger_captures (capture TEXT)")
    store.executemany("INSERT INTO ledger_captures VALUES (?)", [("abcdef1",), ("abcdef2",)])
    with pytest.raises(mensura.MensuraError, match="capture: abcdef begins like this more than once; give more digits"):
        module.find_hash(store, "ledger_captures", "capture", "abcdef")
    assert module.find_hash(store, "ledger_captures", "capture", "abcdef2") == "abcdef2"
    with pytest.raises(mensura.MensuraError, match="abcdef3 is not in the store; run mensura evidence log --captures"):
        module.find_hash(store, "ledger_captures", "capture", "abcdef3")
    store.close()


def test_a_host_that_nobody_knows_is_named(monkeypatch):
    def lost(*_, **__):
        raise OSError("no such host")

    monkeypatch.setattr(module.socket, "getaddrinfo", lost)
    with pytest.raises(mensura.MensuraError, match=r"address: nowhere\.example cannot be found \(no such host\)"):
        module.checked_target("https://nowhere.example/x")
