"""Around every answer, whoever gives it: security headers, host names, counts and times for Prometheus."""

from __future__ import annotations

import time
from collections.abc import Collection

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector, generate_latest
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mensura import __version__
from mensura.serve.renewal import SiteRenewal
from mensura.site.templating import EARLY, page_sheet, policy_hash

POLICY = (
    f"default-src 'none'; script-src 'self' {policy_hash(EARLY)}; style-src 'self' {policy_hash(page_sheet())}; "
    "img-src 'self' data:; media-src 'self'; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
"""The content security policy: files of the site itself and the two texts that stand in its pages, by their hashes;
nothing else inline, nothing from elsewhere, no frames."""
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
_BOUNDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""Upper ends of the classes of answering times, in seconds."""
_KINDS = ("api", "data", "static", "review")
_GAUGES = {
    "editions_built": "Editions built.",
    "editions_failed": "Editions that could not be built.",
    "edition_build_seconds": "How long the last took.",
    "edition_bytes": "Bytes of the current edition.",
    "edition_stale": "1 where the store cannot be shown.",
}


class Metrics:
    """What happened since the start. Labels come from fixed lists, so that no visitor can make them grow."""

    def __init__(self) -> None:
        """Start at zero, in a registry of this server's own."""
        own = self._registry = CollectorRegistry()
        self._info = Info("mensura", "The program and the evidence version it shows.", registry=own)
        answers = "Answers by kind of address and status."
        self._answers = Counter("mensura_answers", answers, ("kind", "status"), registry=own)
        times = "Time from request to answer, by kind of address."
        self._seconds = Histogram("mensura_answer_seconds", times, ("kind",), buckets=_BOUNDS, registry=own)
        self.refused_secrets = Counter("mensura_refused_secrets", "Wrong reviewer's secrets.", registry=own)
        self._gauges = {name: Gauge(f"mensura_{name}", about, registry=own) for name, about in _GAUGES.items()}
        ProcessCollector(registry=own)

    def count(self, path: str, status: int, seconds: float) -> None:
        """Count one answer."""
        kind = _kind(path)
        self._answers.labels(kind, str(status)).inc()
        self._seconds.labels(kind).observe(seconds)

    def text(self, renewal: SiteRenewal) -> str:
        """Return everything as text."""
        edition = renewal.current
        self._info.info({"version": __version__, "evidence": edition.evidence if edition else ""})
        facts = (renewal.built, renewal.failed, renewal.build_seconds, edition.size if edition else 0)
        for name, value in zip(_GAUGES, (*facts, renewal.fault is not None), strict=True):
            self._gauges[name].set(float(value))
        return generate_latest(self._registry).decode()


def _kind(path: str) -> str:
    if path == "/" or (path.endswith(".html") and not path.startswith("/review/")):
        return "page"
    first, slash, _ = path[1:].partition("/")
    return first if slash and first in _KINDS else "other"


class SiteMiddleware:
    """Wraps an application: refuses foreign host names, adds the headers, counts, and never shows a fault's inside.

    ``names``: the host names the site goes by; empty for any. A page elsewhere that makes its own name point to this
    machine (DNS rebinding) would otherwise read a private store through its visitor's browser.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, names: Collection[str] = ()) -> None:
        self._app = app
        self._metrics = metrics
        self._names = {name.lower() for name in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status = time.perf_counter(), 500
        headers = FRAMED_HEADERS if _is_embedding(scope) else HEADERS

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", []), *headers]
            await send(message)

        app = self._app
        if self._names and _host(scope) not in self._names:
            unstored = {"cache-control": "no-store"}
            app = PlainTextResponse("This site does not go by that name.\n", 421, headers=unstored)
        try:
            await app(scope, receive, send_guarded)
        finally:
            self._metrics.count(scope["path"], status, time.perf_counter() - start)


def _is_embedding(scope: Scope) -> bool:
    path, query = scope["path"], scope.get("query_string", b"")
    return scope["method"] in ("GET", "HEAD") and path.startswith("/charts/") and b"embed" in query.split(b"&")


def _host(scope: Scope) -> str:
    """Return the name the request is addressed to, without its port."""
    named = next((value for name, value in scope["headers"] if name == b"host"), b"").decode("latin-1").lower()
    return named[: named.find("]") + 1] if named.startswith("[") else named.partition(":")[0]
