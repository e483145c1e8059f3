"""Serving on a port: on which address, for how many, and what is never said or believed."""

from types import SimpleNamespace

import pytest

from mensura.core.errors import MensuraError
from mensura.serve import serving
from mensura.serve.connections import BoundedConnection
from mensura.serve.serving import is_loopback, serve_site


@pytest.fixture
def served(monkeypatch):
    """The settings with which the server would have run."""
    settings = []
    monkeypatch.setattr(serving.uvicorn, "Server", lambda config: SimpleNamespace(run=lambda: settings.append(config)))
    return settings


def test_the_server_is_bounded_and_says_nothing_of_itself(served):
    serve_site(None)
    [config] = served
    assert (config.host, config.port) == ("127.0.0.1", 8000)
    assert issubclass(config.http, BoundedConnection)
    assert (config.timeout_keep_alive, config.timeout_graceful_shutdown) == (15, 10)
    assert not (config.access_log or config.server_header or config.proxy_headers)
    assert (config.ws, config.lifespan) == ("none", "on")


def test_an_address_in_brackets_is_listened_on_without_them(served):
    serve_site(None, host="[::1]", port=65535)
    assert (served[0].host, served[0].port) == ("::1", 65535)
    serve_site(None, port=1)


@pytest.mark.parametrize("port", [0, -1, 65536])
def test_a_port_that_is_none_is_refused(port, served):
    with pytest.raises(MensuraError, match=f"port: got {port}; give a port between 1 and 65535"):
        serve_site(None, port=port)
    assert served == []


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("[::1]", True),
        ("0.0.0.0", False),
        ("a.example", False),
    ],
)
def test_loopback_is_reached_from_this_machine_only(host, own):
    assert is_loopback(host) is own
