"""The ``mensura`` command: one app, one file per command group."""

from __future__ import annotations

import sys

import typer
from rich.console import Console

from mensura.errors import MensuraError

app = typer.Typer(
    help="How good is this AI, compared with people? Human-anchored scales for models, benchmarks, items and groups.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line; an expected fault prints its message and exits with 2, without a traceback."""
    try:
        app()
    except MensuraError as fault:
        Console(stderr=True, highlight=False).print(f"[bold red]error:[/] {fault}", markup=True, soft_wrap=True)
        sys.exit(2)
