"""``mensura mcp``: tools for agents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mensura.cli.output import notices
from mensura.cli.paths import check_input
from mensura.cli.progress import waiting
from mensura.core.errors import MensuraError

EXAMPLES = (
    'Example, in the configuration of an agent: {"mcpServers": {"mensura": {"command": "mensura", "args": ["mcp"]}}}'
)


def mcp(
    store: Annotated[
        Path | None,
        typer.Option(
            help="Store or folder of evidence to answer from instead of the embedded one.",
            metavar="FILE",
            callback=check_input,
        ),
    ] = None,
    http: Annotated[
        int | None,
        typer.Option(
            help="Answer over HTTP on this port of this machine, at /mcp, instead of standard input and output.",
            metavar="PORT",
            min=1,
            max=65535,
        ),
    ] = None,
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
