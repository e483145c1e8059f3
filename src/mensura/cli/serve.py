"""``mensura serve`` and ``mcp``: the live site, and tools for agents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from mensura.cli.options import Method, infile, opt
from mensura.cli.output import notices, waiting
from mensura.core.errors import MensuraError

Port = Annotated[int, opt("Port to listen on.", min=1, max=65535)]
Host = Annotated[str, opt("Address to listen on; the default is reached from this machine only.")]
HostNames = Annotated[list[str] | None, opt("A host name of the site, such as that of a proxy; repeatable.", "--name")]


def serve(
    port: Port = 8000,
    host: Host = "127.0.0.1",
    store: Annotated[Path | None, infile("Store (mensura evidence init) or folder of CSV files.")] = None,
    method: Method = None,
    reviewer_secret_file: Annotated[Path | None, infile("File with the secret that opens /review.")] = None,
    names: HostNames = None,
) -> None:
    """Serve the report live: the same pages and files, renewed whole when the evidence changes."""
    try:
        from mensura.serve import ReviewerSecret, is_loopback, is_open_to_others, serve_site
    except ModuleNotFoundError as fault:
        raise MensuraError(f"serve: {fault.name} is not installed; run pip install 'mensura[serve]'") from fault

    secret = None
    if reviewer_secret_file is not None:
        secret = ReviewerSecret.read(reviewer_secret_file)
        if is_open_to_others(reviewer_secret_file):
            notices.print(f"warning: others on this machine can read {reviewer_secret_file}")
        if not is_loopback(host):
            notices.print("warning: without TLS before it the secret crosses the network unprotected")
    if not is_loopback(host) and not names:
        notices.print(
            f"warning: --host {host} answers to any host name, so a page elsewhere may read it through a visitor's "
            "browser; --name HOST names the ones that are right"
        )
    notices.print(f"http://{host}:{port}/ (the pages are there in a minute; Ctrl-C ends)")
    with waiting.paused():
        serve_site(store, host=host, port=port, names=names or [], secret=secret, method=method)


def mcp(
    store: Annotated[Path | None, infile("Store or folder of evidence instead of the embedded one.")] = None,
    http: Annotated[int | None, opt("Port for HTTP (at /mcp); by default stdio.", min=1, max=65535)] = None,
) -> None:
    """Answer agents by the Model Context Protocol, over standard input and output or HTTP; read-only."""
    try:
        from mensura.serve.agent_server import agent_server
    except ModuleNotFoundError as fault:
        raise MensuraError(f"mcp: {fault.name} is not installed; run pip install 'mensura[mcp]'") from fault
    from mensura.evidence import load

    server = agent_server(lambda: load(store))
    if http is None:
        with waiting.paused():
            server.run("stdio")
        return
    try:
        from mensura.serve.serving import run_app
    except ModuleNotFoundError as fault:
        raise MensuraError(f"mcp: {fault.name} is not installed; run pip install 'mensura[mcp,serve]'") from fault
    notices.print(f"http://127.0.0.1:{http}/mcp (Ctrl-C ends)")
    with waiting.paused():
        run_app(server.streamable_http_app(stateless_http=True, json_response=True), port=http)
