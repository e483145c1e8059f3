"""Running the live site on a port."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from mensura.core.errors import MensuraError
from mensura.serve.app import live_app
from mensura.serve.connections import bounded_config
from mensura.serve.origin import find_origin
from mensura.serve.press import Press
from mensura.serve.review import ReviewerSecret

LOOPBACK = "127.0.0.1"
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
_IDLE = 15  # seconds after which a connection without a request is closed
_LAST_ANSWERS = 10  # seconds given to answers under way when the server is asked to end


def is_loopback(host: str) -> bool:
    """Return whether an address to listen on is reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def site_names(host: str, extra: Collection[str]) -> list[str]:
    """Return the host names the site answers to; none for any: on loopback its usual names, elsewhere those given."""
    if is_loopback(host):
        return [*LOOPBACK_NAMES, host, *extra]
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

    ``names``: host names the site goes by beside its address. ``secret`` opens the reviewer's rooms.
    ``method``: how IQs are scored.
    """
    if not 0 < port < 65536:
        raise MensuraError(f"port: got {port}; give a port between 1 and 65535, such as 8000")
    press = Press(find_origin(store, writing=secret is not None), method=method)
    run_app(live_app(press, names=site_names(host, names), secret=secret), host=host, port=port)


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
