"""The application of the live site (pages, health, review), and running an application on a port."""

import asyncio
import ipaddress
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from mensura.core.errors import MensuraError
from mensura.serve.connections import bounded_config
from mensura.serve.edition import Reader
from mensura.serve.middleware import SiteMiddleware
from mensura.serve.renewal import SiteRenewal, find_origin, require_ledger
from mensura.serve.review import ReviewPages
from mensura.serve.sessions import UNSTORED, ReviewerSecret

LOOPBACK = "127.0.0.1"
_IDLE = 15  # seconds after which a connection without a request is closed
_LAST_ANSWERS = 10  # seconds given to answers under way when the server is asked to end
_ROUTED = ("healthz", "review")
"""First parts of the addresses that are no files."""


def live_app(renewal: SiteRenewal, *, names: Collection[str] = (), secret: ReviewerSecret | None = None) -> ASGIApp:
    """Build the application that shows the editions of a renewal; the renewal runs as long as the application does.

    Parameters
    ----------
    renewal : SiteRenewal
        Keeps the current edition.
    names : Collection[str]
        Host names the site answers to; empty for any.
    secret : ReviewerSecret, optional
        Opens the reviewer's pages, which need a store with a history.

    Returns
    -------
    ASGIApp
        An application for uvicorn or another ASGI server.

    Raises
    ------
    MensuraError
        If ``secret`` is given and the store has no history.

    Examples
    --------
    >>> app = live_app(SiteRenewal(find_origin(None)), names=["localhost"])

    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        work = asyncio.create_task(renewal.run())
        yield
        work.cancel()
        with suppress(asyncio.CancelledError):
            await work

    def health(_: Request) -> Response:
        """Ready (200) once there is an edition; ``stale`` says that the store's newest state could not be shown."""
        edition = renewal.current
        status = "starting" if edition is None else "stale" if renewal.fault else "ok"
        facts = {"status": status, "evidence": edition.evidence if edition is not None else None}
        return JSONResponse(facts, 503 if edition is None else 200, headers=UNSTORED)

    routes = [Route("/healthz", health)]
    if secret is not None:
        routes += ReviewPages(require_ledger(renewal.origin), secret, renewal).routes()
    routed = Starlette(routes=routes, lifespan=lifespan)
    reader = Reader(renewal.edition)

    async def site(scope: Scope, receive: Receive, send: Send) -> None:
        """Answer readers, who are nearly everybody, without routing."""
        is_routed = scope["type"] != "http" or scope["path"].split("/", 2)[1] in _ROUTED
        await (routed if is_routed else reader)(scope, receive, send)

    return SiteMiddleware(site, names)


def is_loopback(host: str) -> bool:
    """Check whether an address to listen on is reached from this machine only.

    Parameters
    ----------
    host : str
        An IP address, in brackets or not, or a host name.

    Returns
    -------
    bool
        True for ``localhost`` and the loopback addresses.

    Examples
    --------
    >>> is_loopback("[::1]"), is_loopback("0.0.0.0")
    (True, False)

    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def site_names(host: str, extra: Collection[str]) -> list[str]:
    """Return the host names the site answers to; none for any: on loopback its usual names, elsewhere those given."""
    if is_loopback(host):
        return ["localhost", LOOPBACK, "[::1]", host, *extra]
    return [host, *extra] if extra else []


def serve_site(
    store: Path | None,
    *,
    host: str = LOOPBACK,
    port: int = 8000,
    names: Collection[str] = (),
    secret: ReviewerSecret | None = None,
    method: str | None = None,
) -> None:
    """Serve the site until interrupted; readers get 503 until the first edition is built.

    Parameters
    ----------
    store : Path or None
        A folder or store of evidence; None for the embedded evidence.
    host : str
        Address to listen on.
    port : int
        Port, 1 to 65535.
    names : Collection[str]
        Host names the site goes by beside its address.
    secret : ReviewerSecret, optional
        Opens the reviewer's pages.
    method : str, optional
        How IQs are scored.

    Raises
    ------
    MensuraError
        If the port is none, or the store contains no evidence.

    Examples
    --------
    >>> serve_site(None, port=8000)  # doctest: +SKIP

    """
    if not 0 < port < 65536:
        raise MensuraError(f"port: got {port}; give a port between 1 and 65535, such as 8000")
    renewal = SiteRenewal(find_origin(store), method=method)
    run_app(live_app(renewal, names=site_names(host, names), secret=secret), host=host, port=port)


def run_app(app: ASGIApp, *, host: str = LOOPBACK, port: int) -> None:
    """Serve an application on a port until interrupted."""
    uvicorn.Server(server_settings(app, host=host, port=port)).run()


def server_settings(app: ASGIApp, *, host: str, port: int) -> uvicorn.Config:
    """Return the settings with which an application is served: bounded, and silent about itself."""
    return bounded_config(
        app,
        host=host.strip("[]"),
        port=port,
        access_log=False,
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_IDLE,
        timeout_graceful_shutdown=_LAST_ANSWERS,
        lifespan="on",
        ws="none",
    )
