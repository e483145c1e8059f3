"""Who has shown the secret: sessions in memory, known by a random cookie, each with a token for its forms."""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

COOKIE = "mensura_reviewer"
IDLE = 30 * 60.0
"""Seconds without a request after which a session ends."""
LONGEST = 8 * 3600.0
"""Seconds after which a session ends in any case: a working day."""
_MOST = 100  # sessions at once; the one idle for longest goes


@dataclass
class ReviewSession:
    """One reviewer at work. ``notes`` are shown on the next page and forgotten."""

    name: str
    opened: float
    seen: float
    form_token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    notes: list[str] = field(default_factory=list)

    def owns(self, form_token: str) -> bool:
        """Return whether a form was made for this session."""
        return hmac.compare_digest(self.form_token.encode(), form_token.encode("utf-8", errors="surrogatepass"))


class Sessions:
    """The open sessions; all end with the server. ``clock`` gives seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open: dict[str, ReviewSession] = {}

    def open(self, name: str) -> str:
        """Open a session for a reviewer and return what its cookie holds."""
        self._close_old()
        while len(self._open) >= _MOST:
            del self._open[min(self._open, key=lambda token: self._open[token].seen)]
        token = secrets.token_urlsafe(32)
        now = self._clock()
        self._open[token] = ReviewSession(name, now, now)
        return token

    def find(self, token: str) -> ReviewSession | None:
        """Return the session of a cookie, if it is still open."""
        self._close_old()
        session = self._open.get(token)
        if session is not None:
            session.seen = self._clock()
        return session

    def close(self, token: str) -> None:
        """End a session."""
        self._open.pop(token, None)

    def _close_old(self) -> None:
        now = self._clock()
        for token, session in list(self._open.items()):
            if now - session.seen > IDLE or now - session.opened > LONGEST:
                del self._open[token]
