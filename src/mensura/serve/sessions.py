"""Who may change something: the secret, how often it may be tried, sessions in memory, and forms of this site."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from mensura.core.errors import MensuraError

SHORTEST = 16
"""Characters a secret must have: what people choose below that is found by trying."""
IDLE = 30 * 60.0
"""Seconds without a request after which a session ends."""
LONGEST = 8 * 3600.0
"""Seconds after which a session ends in any case: a working day."""
UNSTORED = {"cache-control": "no-store"}
_LONGEST_SECRET = 1024
_LONGEST_NAME = 100
_OTHERS = 0o077  # permissions of anybody but the owner
_MOST_SESSIONS = 100  # at once; the one idle for longest goes
_LONGEST_FORM = 64 * 1024  # bytes
_MOST_FIELDS = 32
_KIND = "application/x-www-form-urlencoded"

Form = dict[str, str]


class ReviewerSecret:
    """Compare what people type with a secret; only its hash is kept.

    Parameters
    ----------
    secret : str
        16 to 1024 characters.

    Raises
    ------
    MensuraError
        If the secret is shorter or longer.

    """

    def __init__(self, secret: str) -> None:
        if not SHORTEST <= len(secret) <= _LONGEST_SECRET:
            raise MensuraError(
                f"reviewer's secret: got {len(secret)} characters; give {SHORTEST} to {_LONGEST_SECRET}, for example "
                "the output of: openssl rand -base64 32"
            )
        self._digest = _digest(secret)

    @classmethod
    def read(cls, file: Path) -> ReviewerSecret:
        """Read a secret from a file; blanks and line ends around it do not count."""
        try:
            return cls(file.read_text(encoding="utf-8").strip())
        except (OSError, UnicodeDecodeError) as fault:
            raise MensuraError(
                f"{file}: the reviewer's secret could not be read: {fault}; check the file and its permissions"
            ) from fault

    def is_it(self, tried: str) -> bool:
        """Return whether this is the secret, in a time that does not depend on where they differ."""
        return hmac.compare_digest(self._digest, _digest(tried))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).digest()


def is_open_to_others(file: Path) -> bool:
    """Check whether anybody but its owner may read or change a file.

    Parameters
    ----------
    file : Path
        The file, such as that of a secret.

    Returns
    -------
    bool
        Whether its permissions include the group or others.

    Examples
    --------
    >>> is_open_to_others(Path("/"))
    True

    """
    return bool(file.stat().st_mode & _OTHERS)


class Attempts:
    """How often a secret may be tried: a few times at once, then once per pause; for each visitor, and for all.

    The limit for all holds against one who comes from many addresses; the one for each keeps a single visitor from
    using up everybody's. ``clock`` gives seconds.
    """

    EACH, EACH_PAUSE = 5, 30.0
    ALL, ALL_PAUSE = 30, 5.0
    _REMEMBERED = 10_000  # visitors; beyond that those whose tries are long past are forgotten

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._each: dict[str, float] = {}
        self._all = 0.0

    def wait(self, visitor: str) -> float:
        """Return the seconds until this visitor may try; 0 for now."""
        now = self._clock()
        each = self._each.get(visitor, 0.0) - now - (self.EACH - 1) * self.EACH_PAUSE
        everybody = self._all - now - (self.ALL - 1) * self.ALL_PAUSE
        return max(each, everybody, 0.0)

    def is_new(self, visitor: str) -> bool:
        """Return whether nobody at this address was wrong lately: the right secret is never locked out there."""
        return self._each.get(visitor, 0.0) <= self._clock()

    def failed(self, visitor: str) -> None:
        """Count a wrong secret: each moves the time at which all tries are forgotten by one pause."""
        now = self._clock()
        if len(self._each) >= self._REMEMBERED:
            self._each = {name: until for name, until in self._each.items() if until > now}
        self._each[visitor] = max(self._each.get(visitor, 0.0), now) + self.EACH_PAUSE
        self._all = max(self._all, now) + self.ALL_PAUSE


class Begins(Attempts):
    """How often sittings begin: a class behind one address may begin at once, a flood may not."""

    EACH, EACH_PAUSE = 300, 2.0
    ALL, ALL_PAUSE = 3000, 0.2


@dataclass
class ReviewSession:
    """One reviewer at work. ``notes`` are shown on the next page and forgotten."""

    name: str
    opened: float
    last_used: float
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
        """Open a session for a reviewer and return what its cookie contains."""
        self._close_old()
        while len(self._open) >= _MOST_SESSIONS:
            del self._open[min(self._open, key=lambda token: self._open[token].last_used)]
        token = secrets.token_urlsafe(32)
        now = self._clock()
        self._open[token] = ReviewSession(name, now, now)
        return token

    def find(self, token: str) -> ReviewSession | None:
        """Return the session of a cookie, if it is still open."""
        self._close_old()
        session = self._open.get(token)
        if session is not None:
            session.last_used = self._clock()
        return session

    def close(self, token: str) -> None:
        """End a session."""
        self._open.pop(token, None)

    def _close_old(self) -> None:
        now = self._clock()
        for token, session in list(self._open.items()):
            if now - session.last_used > IDLE or now - session.opened > LONGEST:
                del self._open[token]


class Entrance:
    """The way into pages behind a secret: entering, who is in, and leaving.

    ``home``: the address of the first page, and ``cookie`` the name of the cookie. ``page`` makes the page of the
    form from its facts and a status.
    """

    def __init__(
        self, secret: ReviewerSecret, home: str, cookie: str, page: Callable[[dict[str, Any], int], Response]
    ) -> None:
        self._secret, self._page = secret, page
        self._home, self._path, self._cookie = home, home.rstrip("/"), cookie
        self._sessions, self._attempts = Sessions(), Attempts()

    def session(self, request: Request) -> ReviewSession | None:
        """Return the session of a visitor."""
        return self._sessions.find(request.cookies.get(self._cookie, ""))

    async def signed(self, request: Request) -> tuple[ReviewSession, Form] | None:
        """Return session and form of a request that may change something, else None."""
        session, form = self.session(request), await own_form(request)
        return None if session is None or form is None or not session.owns(form.get("token", "")) else (session, form)

    def refusal(self) -> Response:
        """Return the answer to a request that may change nothing."""
        return PlainTextResponse(f"Refused. Open {self._home} and try again from there.\n", 403, headers=UNSTORED)

    async def enter(self, request: Request, name: str | None = None) -> Response:
        """Let in whoever knows the secret; without ``name`` the form must give one."""
        form = await own_form(request)
        if form is None:
            return self.refusal()
        visitor = visitor_of(request)
        facts = {"name": name or " ".join(form.get("name", "").split())[:_LONGEST_NAME]}
        wait = 0.0 if self._attempts.is_new(visitor) else self._attempts.wait(visitor)
        if wait > 0:
            late = self._page(facts | {"fault": "Too many wrong secrets; wait a while."}, 429)
            late.headers["retry-after"] = str(int(wait) + 1)
            return late
        if not self._secret.is_it(form.get("secret", "").strip()):
            self._attempts.failed(visitor)
            return self._page(facts | {"fault": "That is not the secret."}, 403)
        if not facts["name"] or not facts["name"].isprintable():
            return self._page({"fault": "Give your name: it is kept with every change."}, 422)
        answer = RedirectResponse(self._home, 303, headers=UNSTORED)
        token = self._sessions.open(facts["name"])
        over_tls = is_over_tls(request)
        answer.set_cookie(self._cookie, token, path=self._path, httponly=True, samesite="strict", secure=over_tls)
        return answer

    async def leave(self, request: Request) -> Response:
        """End a session."""
        if await self.signed(request) is None:
            return self.refusal()
        self._sessions.close(request.cookies.get(self._cookie, ""))
        answer = RedirectResponse(self._home, 303, headers=UNSTORED)
        answer.delete_cookie(self._cookie, path=self._path)
        return answer


# Forms


async def own_form(request: Request) -> Form | None:
    """Read a small form that was sent from a page of this site, the first value of each field; None for others."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _KIND:
        return None
    body = b""
    try:
        async for part in request.stream():
            body += part
            if len(body) > _LONGEST_FORM:
                return None
        fields = parse_qs(body.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except (ClientDisconnect, ValueError):
        return None
    return {name: values[0] for name, values in fields.items()} if is_own(request) else None


def is_own(request: Request) -> bool:
    """Return whether a form was sent from a page of this site, by the browser's word."""
    origin = request.headers.get("origin", "")
    if origin:
        return urlsplit(origin).netloc.lower() == request.headers.get("host", "").lower()
    return request.headers.get("sec-fetch-site") == "same-origin"


def is_over_tls(request: Request) -> bool:
    """Return whether the visitor's browser came over TLS, by its own word or that of a trusted proxy."""
    return request.url.scheme == "https" or request.headers.get("origin", "").startswith("https:")


def visitor_of(request: Request) -> str:
    """Return the address of a visitor."""
    return request.client.host if request.client is not None else ""
