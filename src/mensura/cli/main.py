"""The ``mensura`` command: one app, one file per command group."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from importlib import import_module
from typing import Annotated

import typer
from rich.text import Text

from mensura import __version__
from mensura.cli.next_steps import next_step
from mensura.cli.options import refuse_repeats
from mensura.cli.output import console, exit_codes, notices
from mensura.cli.progress import waiting
from mensura.core.errors import MensuraError
from mensura.core.processes import ONE_THREAD

COMMANDS = {
    "report": "Write the report, a static site, and print its headline table.",
    "serve": "Serve the report live, renewed when the evidence changes.",
    "mcp": "Answer agents: read-only tools over stdio or HTTP (MCP).",
    "where": "Where one model stands, and what to measure next.",
    "add": "What is understood of a file of scores; nothing is guessed.",
    "benchmarks": "List the benchmarks and what each counts for.",
    "figure": "Draw one picture of the report for a paper.",
    "baseline": "Human scores on a benchmark: known, or estimated.",
    "scale": "Read a success rate as level, rarity, percentile or IQ.",
    "extrapolate": "Carry success rates to another population, with intervals.",
    "annotate": "Annotate items with what they demand in eighteen dimensions.",
    "calibrate": "Find by how much success falls per demand level.",
    "equate": "Read one test's levels and scores in another's.",
    "profile": "Abilities of AI systems and people, placed among people.",
    "iq": "Score models: dimensions, composite IQ, intervals, reasons.",
    "cost": "List price, effective cost and response time beside the IQ.",
    "stitch": "Put models, people and benchmarks on one scale.",
    "validate": "Hide a sample's rates, predict them, score the predictions.",
    "trends": "The pace of releases, the frontier, what compute buys.",
    "acceleration": "Has progress accelerated? A watch, and simulated changes.",
    "demands": "Dimensions and rubrics, sheets for people, agreement, checks.",
    "evidence": "What was observed: coverage, checks, import and export.",
    "people": "Item pools and populations: rates, import, world tables.",
    "responses": "Logs item by item: abilities, items, adaptive tests.",
    "exam": "Give one exam to people and models; compare them.",
    "llm": "Questions to language models: state, cost, export, recovery.",
    "cite": "How to cite the package and the evidence behind a number.",
    "cache": "What is kept between runs, and its removal.",
}
"""Commands in the order of the help, and what each does in a line.

The module of the same name in this folder holds the command's function under that name and its ``EXAMPLES``, or, of a
group of commands, its ``app``. It is imported when the command is called, not before.
"""


def _print_version(asked: bool) -> None:
    if asked:
        console.print(f"mensura {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Options of the program itself; the texts of the app stay its help."""


def _not_called() -> None:
    """Stand for a command that is listed and not called."""


def build_app(called: str | None = None) -> typer.Typer:
    """Build the program; of its commands only the one that is called is imported, or all when none is named."""
    app = typer.Typer(
        help="How good is this AI, compared with people? Human-anchored scales for both.",
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for name, about in COMMANDS.items():
        if called not in (name, None):
            app.command(name, short_help=about)(_not_called)
            continue
        module = import_module(f"mensura.cli.{name}")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name, short_help=about)
        else:
            app.command(name, epilog=module.EXAMPLES, short_help=about)(getattr(module, name))
    return app


def called_command(words: list[str]) -> str | None:
    """Return the command that a call names; None while a shell completes one, which may be any."""
    completing = "_MENSURA_COMPLETE" in os.environ
    return None if completing else next((word for word in words if not word.startswith("-")), "")


def run(words: list[str]) -> None:
    """Run the command that these words call."""
    program = typer.main.get_command(build_app(called_command(words)))
    refuse_repeats(program, words)
    program(words, prog_name="mensura")


def main() -> None:
    """Run the command line; an expected error prints its message and exits with 2, without a traceback."""
    exit_codes.clear()
    _end_when_asked()
    for name, value in ONE_THREAD.items():  # NumPy reads them when a command imports it, which is after this
        os.environ.setdefault(name, value)
    try:
        with waiting.during(" ".join(["mensura", *sys.argv[1:2]])):
            run(sys.argv[1:])
    except SystemExit as end:
        code = end.code or next(iter(exit_codes), 0)
        if not code and notices.is_terminal and (said := next_step(sys.argv[1:])):
            notices.print(said, style="dim")
        sys.exit(code)
    except MensuraError as fault:
        _refuse(str(fault))
    except OSError as fault:  # a disk that is full or cannot be written, a path that is too long
        _refuse(f"{fault.filename or 'the system'}: {fault.strerror or fault}; nothing was changed there")
    except Exception as fault:
        if not _is_of_the_disk(fault):
            raise
        _refuse(f"{fault}; nothing was changed there")


def _end_when_asked() -> None:
    """Let SIGTERM end the program as Ctrl-C does: worker processes and temporary files go first.

    Then the program dies of the signal after all, so that whoever sent it sees that it was obeyed.
    """
    program, asked = os.getpid(), False

    def end(*_: object) -> None:
        nonlocal asked
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if os.getpid() != program:  # a worker that was forked: nothing of the program is its to remove
            os.kill(os.getpid(), signal.SIGTERM)
        asked = True
        raise KeyboardInterrupt

    def die() -> None:
        if asked:
            os.kill(program, signal.SIGTERM)

    atexit.register(die)  # before all others, so that it comes last
    signal.signal(signal.SIGTERM, end)


def _is_of_the_disk(fault: Exception) -> bool:
    """Whether this is the system's own error in the words of older polars, which raise no OSError for it."""
    return type(fault).__module__.startswith("polars") and "(os error " in str(fault)


def _refuse(message: str) -> None:
    notices.print(Text.assemble(("error:", "bold red"), f" {message}"))
    sys.exit(2)
