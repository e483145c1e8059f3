"""``mensura mcp``: tools for agents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mensura.cli.paths import check_input
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
) -> None:
    """Answer agents over standard input and output by the Model Context Protocol; read-only."""
    try:
        from mensura.serve.agents import Library, agent_server
    except ModuleNotFoundError as fault:
        raise MensuraError(f"mcp: {fault.name} is not installed; pip install 'mensura[mcp]'") from fault
    from mensura.evidence import load

    agent_server(lambda: Library(load(store))).run("stdio")
