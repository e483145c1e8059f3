"""Limits of a connection: how large and slow a request may be, and how many connections an address may open.

Uvicorn bounds the number of requests and the rest between them. It bounds neither the size of a head nor the time of a
half-sent request, and it queues every request that a client sends without reading answers. So a protocol of our own
reads along, and hands everything on to uvicorn's own protocol as long as it keeps within the limits.
"""

from __future__ import annotations

import asyncio
import ipaddress
import time
from http import HTTPStatus
from typing import Any, ClassVar

import httptools
import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_CONNECTIONS = 512
MOST_PER_ADDRESS = 256
"""Connections at once. Beyond that, the one that has waited longest for a request is closed for the newcomer."""
_NETWORK = 64
"""Bits of an IPv6 address that count as one address: a single customer has all the rest."""
_REASONS = {
    400: "This is no HTTP request.",
    408: "The request took too long.",
    413: "The body is too long.",
    429: "Read the answers before you ask again.",
    431: "The address or the headers are too long.",
    503: "Too many connections; come back in a moment.",
}


class TooLargeError(Exception):
    """A request exceeds a limit; the parser stops at it."""


class BoundedConnection(asyncio.Protocol):
    """A connection with limits. A request beyond one is answered with the reason, and the connection is closed."""

    MOST_HEAD = 16 * 1024  # bytes of address and headers together
    MOST_HEADERS = 100
    MOST_BODY = 64 * 1024  # bytes; the largest form of a reviewer
    MOST_QUEUED = 8  # requests sent before the answer to the first one was taken
    REQUEST_SECONDS = 20.0  # from the first byte, or from the connection, to the end of the request
    TAKING_SECONDS = 30.0  # in which the client takes nothing of the answer

    inner_class: ClassVar[Any]  # uvicorn's own protocol
    everybody: ClassVar[dict[tuple[str, int], BoundedConnection]]  # by address and port of the client

    def __init__(self, **given: Any) -> None:
        self._inner = self.inner_class(**given)
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpRequestParser(self)
        self.waiting_since: float | None = None  # the time at which waiting for the client began
        self.is_sending = False  # whether an answer has begun and not ended
        self._asked = self._answered = 0  # whole requests, and answers that ended
        self._open = self._in_head = False  # whether a request, and its head, has begun and not ended
        self._head = self._headers = self._body = 0  # size of the request as far as the parser has handed it over
        self._received = 0  # bytes received while the head went on: what the parser holds back counts as well
        self._fault = 400
        self._late: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None

    # The connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, in the place of one that only waits where there are too many."""
        self._transport = transport
        self._client = tuple((transport.get_extra_info("peername") or ("", 0))[:2])
        self.address = network_of(self._client[0])
        self._inner.connection_made(transport)
        self.everybody[self._client] = self
        everybody = list(self.everybody.values())
        neighbours = [one for one in everybody if one.address == self.address]
        for group, most in ((neighbours, MOST_PER_ADDRESS), (everybody, MOST_CONNECTIONS)):
            if len(group) > most and not self._close_longest(group):
                self._refuse(503)
                return
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection and its timers."""
        self._forget()
        self._wait_no_more()
        self._take_no_more()
        self._inner.connection_lost(exc)

    def eof_received(self) -> bool | None:
        """Hand on that the client sends no more."""
        return self._inner.eof_received()  # type: ignore[no-any-return]

    def data_received(self, data: bytes) -> None:
        """Read what the client sent, and hand it on if it keeps within the limits."""
        if self._transport.is_closing():
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            pass  # uvicorn answers it as any other request
        except httptools.HttpParserError:  # no HTTP, or beyond a limit
            self._refuse(self._fault)
            return
        if self._in_head:
            self._received += len(data)
            if self._received > self.MOST_HEAD:
                self._refuse(431)
                return
        self._inner.data_received(data)
        if self._open or self._asked == self._answered:
            self._wait()
        else:
            self._wait_no_more()

    # The request, as the parser reports it

    def on_message_begin(self) -> None:
        """Begin to count."""
        self._open = self._in_head = True
        self._head = self._headers = self._received = self._body = 0

    def on_url(self, url: bytes) -> None:
        """Count a part of the address."""
        self._head += len(url)
        self._check(self._head <= self.MOST_HEAD, 431)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a header."""
        self._head += len(name) + len(value)
        self._headers += 1
        self._check(self._head <= self.MOST_HEAD and self._headers <= self.MOST_HEADERS, 431)
        if name.lower() == b"content-length":  # refused before the application can answer a part of the body
            self._check(int(value) <= self.MOST_BODY, 413)

    def on_headers_complete(self) -> None:
        """Refuse the request if too many wait in the queue."""
        self._in_head = False
        self._check(self._asked - self._answered <= self.MOST_QUEUED, 429)

    def on_body(self, body: bytes) -> None:
        """Count a part of the body."""
        self._body += len(body)
        self._check(self._body <= self.MOST_BODY, 413)

    def on_message_complete(self) -> None:
        """Count a whole request."""
        self._open = False
        self._asked += 1

    def _check(self, within: bool, fault: int) -> None:
        if not within:
            self._fault = fault
            raise TooLargeError

    # The answer

    def count_answer(self) -> None:
        """Count an answer that has ended; watch the client take the rest of it."""
        self._answered += 1
        if self._asked == self._answered and self._late is None:  # uvicorn's own timer ends the rest between requests
            self.waiting_since = time.monotonic()
        if self._transport.is_closing():
            self._watch_taking()

    def pause_writing(self) -> None:
        """Watch a client that takes its answer slowly."""
        self._inner.pause_writing()
        self._watch_taking()

    def resume_writing(self) -> None:
        """Stop watching: the client took something."""
        self._inner.resume_writing()
        self._take_no_more()
        if self._transport.is_closing():
            self._watch_taking()

    # Timers

    def _wait(self) -> None:
        if self._late is None:
            self.waiting_since = time.monotonic()
            self._late = self._loop.call_later(self.REQUEST_SECONDS, self._refuse, 408)

    def _wait_no_more(self) -> None:
        self.waiting_since = None
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _watch_taking(self) -> None:
        if self._stalled is None:
            waiting = self._transport.get_write_buffer_size()
            self._stalled = self._loop.call_later(self.TAKING_SECONDS, self._close_stalled, waiting)

    def _close_stalled(self, waiting: int) -> None:
        self._stalled = None
        if self._transport.get_write_buffer_size() < waiting:
            self._watch_taking()
        else:
            self._transport.abort()

    def _take_no_more(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def _refuse(self, status: int) -> None:
        """Answer with a reason and close; where an answer is under way, only close."""
        if not self.is_sending:
            body = f"{_REASONS[status]}\n"
            head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\ncontent-type: text/plain; charset=utf-8\r\n"
            self._transport.write(f"{head}content-length: {len(body)}\r\nconnection: close\r\n\r\n{body}".encode())
        self._transport.close()
        self._watch_taking()

    def _close_longest(self, connections: list[BoundedConnection]) -> bool:
        """Close the connection that has waited longest for a request; False where every one is being answered.

        A client that still takes its last answer is the last to go.
        """
        waiting = [one for one in connections if one is not self and one.waiting_since is not None]
        if not waiting:
            return False
        longest = min(waiting, key=lambda one: (one._transport.get_write_buffer_size() > 0, one.waiting_since))
        longest._transport.abort()
        longest._forget()
        return True

    def _forget(self) -> None:
        if self.everybody.get(self._client) is self:
            del self.everybody[self._client]


def bounded_config(app: ASGIApp, **settings: Any) -> uvicorn.Config:
    """Return the settings of a server for an application whose connections have limits."""
    plain = uvicorn.Config(app, http="httptools", **settings)
    plain.load()

    class Connection(BoundedConnection):
        inner_class = plain.http_protocol_class
        everybody: ClassVar[dict[tuple[str, int], BoundedConnection]] = {}

    async def counted(scope: Scope, receive: Receive, send: Send) -> None:
        connection = Connection.everybody.get(scope["client"]) if scope["type"] == "http" else None
        if connection is None:
            await app(scope, receive, send)
            return

        async def send_counted(message: Message) -> None:
            connection.is_sending = message["type"] == "http.response.start" or message.get("more_body", False)
            await send(message)

        try:
            await app(scope, receive, send_counted)
        finally:
            connection.is_sending = False
            connection.count_answer()

    return uvicorn.Config(counted, http=Connection, **settings)


def network_of(host: str) -> str:
    """Return the address that counts: of IPv6 the network of one customer."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, _NETWORK), strict=False))
    return host
