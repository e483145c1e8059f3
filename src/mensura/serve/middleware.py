"""Around every answer, whoever gives it: security headers that it does not have itself, and host names."""

from collections.abc import Collection

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mensura.site.templating import EARLY, policy_hash


def policy_for(styles: Collection[str] = ()) -> str:
    """Return the content security policy of a page: files of the site, and texts that stand in the page, by hashes.

    These are the lines that choose the theme, and the page's own style sheets. Nothing comes from elsewhere.
    """
    sheets = " ".join(["'self'", *map(policy_hash, styles)])
    return (
        f"default-src 'none'; script-src 'self' {policy_hash(EARLY)}; style-src {sheets}; img-src 'self' data:; "
        "media-src 'self'; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    )


POLICY = policy_for()
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]
_FRAMED = {
    b"content-security-policy": POLICY.replace("frame-ancestors 'none'", "frame-ancestors *").encode(),
    b"cross-origin-resource-policy": b"cross-origin",
}
FRAMED_HEADERS = [(name, _FRAMED.get(name, value)) for name, value in HEADERS if name != b"x-frame-options"]
"""Headers of a picture that other sites may show in a frame: ``charts/NAME.html?embed``, and nothing else."""


class SiteMiddleware:
    """Wraps an application: refuses foreign host names, adds the headers, and never shows a fault's inside.

    ``names``: the host names the site goes by; empty for any. A page elsewhere that makes its own name point to this
    machine (DNS rebinding) would otherwise read a private store through its visitor's browser.
    """

    def __init__(self, app: ASGIApp, names: Collection[str] = ()) -> None:
        self._app = app
        self._names = {name.lower() for name in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        embeds = scope["path"].startswith("/charts/") and b"embed" in scope.get("query_string", b"").split(b"&")
        headers = FRAMED_HEADERS if embeds and scope["method"] in ("GET", "HEAD") else HEADERS

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = message.get("headers", [])
                names = {name for name, _ in own}
                message["headers"] = [*own, *(header for header in headers if header[0] not in names)]
            await send(message)

        app = self._app
        if self._names and _host(scope) not in self._names:
            unstored = {"cache-control": "no-store"}
            app = PlainTextResponse("This site does not go by that name.\n", 421, headers=unstored)
        await app(scope, receive, send_guarded)


def _host(scope: Scope) -> str:
    """Return the name the request is addressed to, without its port."""
    named = next((value for name, value in scope["headers"] if name == b"host"), b"").decode("latin-1").lower()
    return named[: named.find("]") + 1] if named.startswith("[") else named.partition(":")[0]
