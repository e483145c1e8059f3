"""Limits of a connection: how large and slow a request may be, and how many connections an address may hold.

Uvicorn bounds the number of requests and the rest between them. It bounds neither the size of a head nor the time of a
half-sent request, and it queues every request that a client sends without reading answers.
"""

from __future__ import annotations

import asyncio
import ipaddress
import time

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

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


class BoundedProtocol(HttpToolsProtocol):
    """A connection with limits. A request beyond one is answered with the reason, and the connection is closed."""

    MOST_HEAD = 16 * 1024  # bytes of address and headers together
    MOST_HEADERS = 100
    MOST_BODY = 64 * 1024  # bytes; the largest form of a reviewer
    MOST_QUEUED = 8  # requests sent before the answer to the first one was taken
    REQUEST_SECONDS = 20.0  # from the first byte, or from the connection, to the end of the request
    TAKING_SECONDS = 30.0  # without the client taking anything of the answer

    address = ""
    waiting_since: float | None = None  # the time at which waiting for the client began
    _open = False  # whether a request has begun and not ended
    _in_head = False
    _head = 0  # bytes of its address and headers as far as the parser has handed them over
    _received = 0  # bytes received while the head went on: what the parser holds back counts as well
    _body = 0
    _fault = 400
    _late: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None

    # The connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, in the place of one that only waits where there are too many."""
        super().connection_made(transport)
        self.address = network_of(self.client[0] if self.client else "")
        everybody = [one for one in self.connections if isinstance(one, BoundedProtocol)]
        neighbours = [one for one in everybody if one.address == self.address]
        for group, most in ((neighbours, MOST_PER_ADDRESS), (everybody, MOST_CONNECTIONS)):
            if len(group) > most and not self._close_longest(group):
                self._refuse(503)
                return
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection and its timers."""
        self._wait_no_more()
        self._take_no_more()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read what the client sent, within the limits."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._in_head:
            self._received += len(data)
            if self._received > self.MOST_HEAD:
                self._refuse(431)
                return
        if self._open or self.cycle is None or self.cycle.response_complete:
            self._wait()
        else:
            self._wait_no_more()

    # The request

    def on_message_begin(self) -> None:
        """Begin to count."""
        self._open = self._in_head = True
        self._head = self._received = self._body = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Count a part of the address."""
        self._count_head(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a header."""
        self._count_head(len(name) + len(value))
        super().on_header(name, value)
        self._check(len(self.headers) <= self.MOST_HEADERS, 431)

    def on_headers_complete(self) -> None:
        """Answer the request, unless too many wait in the queue."""
        self._check(len(self.pipeline) < self.MOST_QUEUED, 429)
        self._in_head = False
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Count a part of the body."""
        self._body += len(body)
        self._check(self._body <= self.MOST_BODY, 413)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End to count."""
        self._open = False
        super().on_message_complete()

    def _count_head(self, size: int) -> None:
        self._head += size
        self._check(self._head <= self.MOST_HEAD, 431)

    def _check(self, within: bool, fault: int) -> None:
        if not within:
            self._fault = fault
            raise TooLargeError

    def send_400_response(self, msg: str) -> None:
        """Answer a request that the parser gave up: it is no HTTP, or beyond a limit."""
        self._refuse(self._fault)

    # The answer

    def on_response_complete(self) -> None:
        """Forget the body of the request; watch the client take the rest of the answer."""
        if self.cycle.response_complete:
            self.cycle.body = bytearray()
            if self._late is None:  # uvicorn's own timer ends the rest between requests
                self.waiting_since = time.monotonic()
        super().on_response_complete()
        if self.transport.is_closing():
            self._watch_taking()

    def pause_writing(self) -> None:
        """Watch a client that takes its answer slowly."""
        super().pause_writing()
        self._watch_taking()

    def resume_writing(self) -> None:
        """Stop watching: the client took something."""
        super().resume_writing()
        self._take_no_more()

    # Timers

    def _wait(self) -> None:
        if self._late is None:
            self.waiting_since = time.monotonic()
            self._late = self.loop.call_later(self.REQUEST_SECONDS, self._refuse, 408)

    def _wait_no_more(self) -> None:
        self.waiting_since = None
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _watch_taking(self) -> None:
        if self._stalled is None:
            self._stalled = self.loop.call_later(self.TAKING_SECONDS, self.transport.abort)

    def _take_no_more(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def _refuse(self, status: int) -> None:
        """Answer with a reason and close; where an answer is under way, only close."""
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            body = f"{_REASONS[status]}\n".encode()
            length = b"content-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\n" % len(body)
            self.transport.write(STATUS_LINE[status] + length + b"connection: close\r\n\r\n" + body)
        self.transport.close()
        self._watch_taking()

    def _close_longest(self, connections: list[BoundedProtocol]) -> bool:
        """Close the connection that has waited longest for a request; False where every one is being answered.

        A client that still takes its last answer is the last to go.
        """
        waiting = [one for one in connections if one is not self and one.waiting_since is not None]
        if not waiting:
            return False
        longest = min(waiting, key=lambda one: (one.transport.get_write_buffer_size() > 0, one.waiting_since))
        longest.transport.abort()
        self.connections.discard(longest)
        return True


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
