"""Captures: the text of a source, byte for byte, with its address and time; fetched, kept and read again.

The text of a capture is hostile: it is data to parse within limits, and never a name, a path, a query or a page. Nor
does the owner of a page choose where we connect. Only http and https are fetched; every address a name resolves to must
be public, and the connection goes to the very address that was checked, at each redirect again. Size and time are
limited. Proxies of the environment are not used.
"""

import hashlib
import http.client
import ipaddress
import re
import socket
import sqlite3
import ssl
import threading
import time
from contextlib import suppress
from dataclasses import astuple, dataclass
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

import polars as pl

from mensura.core.errors import MensuraError, check_choice
from mensura.evidence.checks import require_id

MOST_BYTES = 16 * 2**20
"""Bytes of one capture; a leaderboard has a hundredth of that."""
FORMATS = ("csv", "json", "html", "text")
_LONGEST_ADDRESS = 2000


@dataclass(frozen=True)
class Capture:
    """Keep the raw text of a source.

    Attributes
    ----------
    capture : str
        SHA-256 of the text.
    source, address : str
        Id of the source, and the file or web address of the text.
    by, time : str
        Who captured it, and when.
    form : str or None
        How to read it: csv, json, html or text; None where it is not stated.
    data : bytes
        The text.

    """

    capture: str
    source: str
    address: str
    by: str
    time: str
    form: str | None
    data: bytes

    @property
    def day(self) -> str:
        """The day it was taken."""
        return self.time[:10]


def new_capture(data: bytes, *, source: str, address: str, by: str, time: str, form: str | None = None) -> Capture:
    """Return a capture, or refuse one that is empty, too large, or without a proper origin."""
    if not data.strip():
        raise MensuraError(f"capture: {address} is empty; expected the text of a source. Check the file or address")
    if len(data) > MOST_BYTES:
        raise MensuraError(f"capture: {len(data):,} bytes; at most {MOST_BYTES:,} are kept")
    if form is not None:
        check_choice("format", form, FORMATS)
    if not 0 < len(address) <= _LONGEST_ADDRESS or not address.isprintable():
        raise MensuraError(f"address: got {address[:80]!r}; expected one printable line of {_LONGEST_ADDRESS} at most")
    require_id(source, "source")
    return Capture(hashlib.sha256(data).hexdigest(), source, address, by, time, form, data)


# Captures in a store

_FEWEST_DIGITS = 6  # of a hash that name a thing
_CAPTURES = {**dict.fromkeys(("capture", "source", "address", "by", "time", "format"), pl.String), "bytes": pl.Int64}
_LISTED = {"ledger_updates": "mensura evidence log --pending", "ledger_captures": "mensura evidence log --captures"}
"""The command that lists what a table holds."""


def find_hash(store: sqlite3.Connection, table: str, column: str, given: str) -> str:
    """Return the one hash that begins with the digits given."""
    kind = column.removesuffix("_id")
    if not re.fullmatch(rf"[0-9a-f]{{{_FEWEST_DIGITS},64}}", given):
        raise MensuraError(
            f"{kind}: got {given[:80]!r}; expected at least {_FEWEST_DIGITS} hexadecimal digits "
            f"of it; {_LISTED[table]} lists them"
        )
    query = f"SELECT {column} FROM {table} WHERE substr({column}, 1, ?) = ? LIMIT 2"
    matches = [str(row[0]) for row in store.execute(query, (len(given), given))]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise MensuraError(f"{kind}: {given} begins like this more than once; give more digits")
    raise MensuraError(f"{kind}: {given} is not in the store; run {_LISTED[table]} to list those that are")


def keep_capture(store: sqlite3.Connection, capture: Capture) -> None:
    """Keep a capture; the same bytes stay as they were first kept."""
    store.execute(
        "INSERT INTO ledger_captures VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (capture) DO NOTHING", astuple(capture)
    )


def find_capture(store: sqlite3.Connection, capture: str) -> Capture:
    """Return a capture by its SHA-256 or the beginning of it."""
    ident = find_hash(store, "ledger_captures", "capture", capture)
    return Capture(*store.execute("SELECT * FROM ledger_captures WHERE capture = ?", (ident,)).fetchone())


def capture_table(store: sqlite3.Connection) -> pl.DataFrame:
    """Return the captures, newest first, without their contents."""
    query = "SELECT capture, source, address, by, time, format, length(data) FROM ledger_captures"
    rows = store.execute(f"{query} ORDER BY time DESC, capture").fetchall()
    return pl.DataFrame(rows, schema=_CAPTURES, orient="row")


# Fetching

SECONDS = 60.0
"""Time for the whole fetch, redirects included."""
_PATIENCE = 20.0  # seconds without a byte
_REDIRECTS = 5
_MOVED = {301, 302, 303, 307, 308}
_PORTS = {"http": 80, "https": 443}
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_RESERVED = [
    ipaddress.ip_network(network)
    for network in (
        *("192.0.0.0/24", "192.88.99.0/24"),  # of protocols; relays of 6to4
        *("::/96", "::ffff:0:0:0/96", "64:ff9b:1::/48"),  # IPv4 in IPv6: compatible, translated, local translation
        *("3fff::/20", "5f00::/16", "fec0::/10"),  # of documents; of segments; of one site
    )
]
"""Networks that are not public, though some versions of Python call their addresses global."""
_CHUNK = 2**16

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Target(NamedTuple):
    """A checked place to connect to."""

    scheme: str
    host: str
    port: int
    path: str
    address: str


def fetch(url: str, *, allow_private: bool = False, seconds: float = SECONDS) -> bytes:
    """Fetch the body behind a public web address.

    Parameters
    ----------
    url : str
        An http or https address.
    allow_private : bool
        Allow a machine of one's own network.
    seconds : float
        Time for the whole fetch, redirects included.

    Returns
    -------
    bytes
        The body as it was sent, at most 16 MB.

    Raises
    ------
    MensuraError
        If the address is not public, or does not answer with a page in time.

    Examples
    --------
    >>> fetch("https://example.org/board.csv")  # doctest: +SKIP

    """
    until = time.monotonic() + seconds
    for _ in range(_REDIRECTS + 1):
        target = checked_target(url, allow_private=allow_private)
        body, moved = _get(target, url, max(until - time.monotonic(), 0.0))
        if moved is None:
            return body
        url = urljoin(url, moved)
    raise MensuraError(f"address: more than {_REDIRECTS} redirects, the last to {url[:200]}; give the final address")


def checked_target(url: str, *, allow_private: bool = False) -> Target:
    """Resolve an address and refuse what is no public web page."""
    if len(url) > _LONGEST_ADDRESS or not url.isascii() or not url.isprintable() or " " in url:
        raise MensuraError(
            f"address: {url[:80]!r} is no web address (ASCII without spaces, {_LONGEST_ADDRESS} at most)"
        )
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError as fault:
        raise MensuraError(f"address: {url[:200]}: {fault}; expected https://HOST/PATH") from fault
    if parts.scheme not in _PORTS:
        raise MensuraError(
            f"address: {parts.scheme or 'no scheme'} in {url[:200]}; only http and https are "
            "fetched: save the text and capture the file"
        )
    if not parts.hostname or parts.username is not None or parts.password is not None:
        raise MensuraError(f"address: {url[:200]}; expected a host, and no name or password before it")
    address = _resolved(parts.hostname, port, allow_private=allow_private)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, parts.hostname, port, path, address)


def _resolved(host: str, port: int, *, allow_private: bool) -> str:
    try:
        results = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as fault:
        raise MensuraError(f"address: {host} cannot be found ({fault}); check spelling and connection") from fault
    addresses = [str(info[4][0]) for info in results]
    for address in addresses:
        if not allow_private and not is_public(address):
            raise MensuraError(f"address: {host} is {address}, a private or reserved address; see --allow-private")
    return addresses[0]


def is_public(text: str) -> bool:
    """Say whether an address belongs to the public network, also where it wraps an older one."""
    address = ipaddress.ip_address(text.split("%", 1)[0])
    parts = (address, *_wrapped(address))
    reserved = any(part in network for part in parts for network in _RESERVED)
    return not reserved and all(part.is_global and not part.is_multicast for part in parts)


def _wrapped(address: Address) -> list[Address]:
    """Return the IPv4 addresses that an IPv6 address stands for (mapped, 6to4, Teredo, NAT64)."""
    if isinstance(address, ipaddress.IPv4Address):
        return []
    inner: list[Address] = [part for part in (address.ipv4_mapped, address.sixtofour) if part is not None]
    inner += address.teredo or ()
    if address in _NAT64:
        inner.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return inner


def open_socket(address: str, port: int) -> socket.socket:
    """Connect to a checked address."""
    return socket.create_connection((address, port), timeout=_PATIENCE)


def _get(target: Target, url: str, seconds: float) -> tuple[bytes, str | None]:
    """Ask once; return the body, or where it has moved."""
    connection = http.client.HTTPConnection(target.host, target.port)
    watch: threading.Timer | None = None
    try:
        plain = open_socket(target.address, target.port)
        watch = threading.Timer(seconds, _cut, [plain])
        watch.daemon = True
        watch.start()
        connection.sock = plain
        if target.scheme == "https":
            connection.sock = ssl.create_default_context().wrap_socket(plain, server_hostname=target.host)
        headers = {"Accept-Encoding": "identity", "User-Agent": "mensura", "Accept": "*/*"}
        connection.request("GET", target.path, headers=headers)
        return _body(connection.getresponse(), url)
    except (OSError, http.client.HTTPException) as fault:
        raise MensuraError(
            f"address: {url[:200]} could not be fetched ({fault or type(fault).__name__}); try again, or save the page "
            "and capture the file"
        ) from fault
    finally:
        if watch is not None:
            watch.cancel()
        connection.close()


def _cut(connected: socket.socket) -> None:
    """End a connection that takes too long, whatever it is waiting for."""
    with suppress(OSError):
        connected.shutdown(socket.SHUT_RDWR)


def _body(answer: http.client.HTTPResponse, url: str) -> tuple[bytes, str | None]:
    if answer.status in _MOVED:
        return b"", answer.getheader("Location") or ""
    if answer.status != http.client.OK:
        raise MensuraError(f"address: {url[:200]} answers {answer.status}; save the page and capture the file instead")
    if answer.getheader("Content-Encoding", "identity") not in ("identity", ""):
        raise MensuraError(f"address: {url[:200]} sends packed text, not asked for; save it and capture the file")
    parts, size = [], 0
    while part := answer.read(_CHUNK):
        size += len(part)
        if size > MOST_BYTES:
            raise MensuraError(
                f"address: {url[:200]} sends more than {MOST_BYTES:,} bytes; nothing was kept. Give the address of a "
                "smaller table"
            )
        parts.append(part)
    if answer.length:
        raise MensuraError(
            f"address: {url[:200]} broke off {answer.length:,} bytes before its end; nothing was kept. Try again"
        )
    return b"".join(parts), None
