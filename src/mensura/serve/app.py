"""The application of the live site: reading, health, metrics, and the reviewer's rooms where they are open."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from mensura.serve.guard import SiteGuard
from mensura.serve.metrics import Metrics
from mensura.serve.origin import require_ledger
from mensura.serve.press import Press
from mensura.serve.reading import Reader
from mensura.serve.review import ReviewerSecret, ReviewRooms

_ROOMS = ("healthz", "metrics", "review")
"""First parts of the addresses that are no files."""
_UNSTORED = {"cache-control": "no-store"}


def live_app(press: Press, *, names: Collection[str] = (), secret: ReviewerSecret | None = None) -> ASGIApp:
    """Return the application that shows the editions of a press; the press runs as long as the application does.

    ``secret`` opens the reviewer's rooms; they need a store with a history.
    """
    metrics = Metrics()

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        work = asyncio.create_task(press.run())
        yield
        work.cancel()
        with suppress(asyncio.CancelledError):
            await work

    def health(_: Request) -> Response:
        """Ready (200) once there is an edition; ``stale`` says that the store's newest state could not be shown."""
        ready = press.current is not None
        status = "starting" if press.current is None else "stale" if press.fault else "ok"
        shown = press.current.evidence if press.current is not None else None
        return JSONResponse({"status": status, "evidence": shown}, 200 if ready else 503, headers=_UNSTORED)

    def counts(_: Request) -> Response:
        return PlainTextResponse(metrics.text(press), headers=_UNSTORED, media_type="text/plain; version=0.0.4")

    routes = [Route("/healthz", health), Route("/metrics", counts)]
    if secret is not None:
        routes += ReviewRooms(require_ledger(press.origin), secret, press, metrics).routes()
    rooms = Starlette(routes=routes, lifespan=lifespan)
    reader = Reader(press)

    async def site(scope: Scope, receive: Receive, send: Send) -> None:
        """Readers, who are nearly everybody, are answered without the routing of the rooms."""
        inside = scope["type"] != "http" or scope["path"].split("/", 2)[1] in _ROOMS
        await (rooms if inside else reader)(scope, receive, send)

    return SiteGuard(site, metrics, names)
