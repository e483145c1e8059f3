"""``mensura serve``: the live site."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mensura.cli.iq_method import Method
from mensura.cli.output import notices
from mensura.cli.paths import check_input
from mensura.cli.progress import waiting
from mensura.core.errors import MensuraError

EXAMPLES = """
[bold]Examples[/]

  mensura serve --port 8000                                   the embedded evidence, for this machine
  mensura serve --port 8000 --store evidence.db               a store; a new version of it is shown when it is there
  mensura serve --port 8000 --store evidence.db --reviewer-secret-file secret.txt
  mensura serve --port 8000 --host 0.0.0.0 --name mensura.example.org
"""


def serve(
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 8000,
    host: Annotated[str, typer.Option(help="Address to listen on; the default is reached from this machine only.")] = (
        "127.0.0.1"
    ),
    store: Annotated[
        Path | None,
        typer.Option(
            help="Store of the evidence (mensura evidence init), or a folder of CSV files.",
            metavar="FILE",
            callback=check_input,
        ),
    ] = None,
    method: Method = None,
    reviewer_secret_file: Annotated[
        Path | None,
        typer.Option(
            help="Open the reviewer's rooms (/review) to whoever knows the secret in this file.",
            metavar="FILE",
            callback=check_input,
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(help="A host name the site goes by, such as that of a proxy before it; repeatable."),
    ] = None,
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
    if not is_loopback(host) and not name:
        notices.print(
            f"warning: --host {host} answers to any host name, so a page elsewhere may read it through a visitor's "
            "browser; --name HOST names the ones that are right"
        )
    notices.print(f"http://{host}:{port}/ (the pages are there in a minute; Ctrl-C ends)")
    with waiting.paused():
        serve_site(store, host=host, port=port, names=name or [], secret=secret, method=method)
