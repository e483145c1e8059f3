"""The ``mensura`` command: one app, one file per command group."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from rich.text import Text
from typer.core import TyperGroup

from mensura import __version__
from mensura.cli import acceleration, demands, evidence, llm, people, responses
from mensura.cli.add import EXAMPLES as ADD_EXAMPLES
from mensura.cli.add import add
from mensura.cli.annotate import EXAMPLES as ANNOTATE_EXAMPLES
from mensura.cli.annotate import annotate
from mensura.cli.cache import EXAMPLES as CACHE_EXAMPLES
from mensura.cli.cache import cache
from mensura.cli.calibrate import EXAMPLES as CALIBRATE_EXAMPLES
from mensura.cli.calibrate import calibrate
from mensura.cli.cost import EXAMPLES as COST_EXAMPLES
from mensura.cli.cost import cost
from mensura.cli.equate import EXAMPLES as EQUATE_EXAMPLES
from mensura.cli.equate import equate
from mensura.cli.extrapolate import EXAMPLES as EXTRAPOLATE_EXAMPLES
from mensura.cli.extrapolate import extrapolate
from mensura.cli.figure import EXAMPLES as FIGURE_EXAMPLES
from mensura.cli.figure import figure
from mensura.cli.iq import EXAMPLES as IQ_EXAMPLES
from mensura.cli.iq import iq
from mensura.cli.mcp import EXAMPLES as MCP_EXAMPLES
from mensura.cli.mcp import mcp
from mensura.cli.output import console, notices
from mensura.cli.profile import EXAMPLES as PROFILE_EXAMPLES
from mensura.cli.profile import profile
from mensura.cli.report import report
from mensura.cli.scale import EXAMPLES as SCALE_EXAMPLES
from mensura.cli.scale import scale
from mensura.cli.serve import EXAMPLES as SERVE_EXAMPLES
from mensura.cli.serve import serve
from mensura.cli.stitch import EXAMPLES as STITCH_EXAMPLES
from mensura.cli.stitch import stitch
from mensura.cli.trends import EXAMPLES as TRENDS_EXAMPLES
from mensura.cli.trends import trends
from mensura.cli.validate import EXAMPLES as VALIDATE_EXAMPLES
from mensura.cli.validate import validate
from mensura.cli.where import EXAMPLES as WHERE_EXAMPLES
from mensura.cli.where import where
from mensura.errors import MensuraError

_COMPLETION = {
    "install_completion": "Install completion for this shell.",
    "show_completion": "Print completion for this shell.",
}


class _Commands(TyperGroup):
    """The commands; the options for completion in one line each, so that all of the help is one screen."""

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401
        """Return the program's own options."""
        params: list[Any] = super().get_params(ctx)
        for param in params:
            param.help = _COMPLETION.get(param.name, param.help)
        return params


app = typer.Typer(
    help="How good is this AI, compared with people? Human-anchored scales for both.",
    cls=_Commands,
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command(
    epilog="Example: mensura report --out report --add mine.csv",
    short_help="Write the report, a static site, and print its headline table.",
)(report)
app.command(epilog=SERVE_EXAMPLES, short_help="Serve the report live, renewed when the evidence changes.")(serve)
app.command(epilog=MCP_EXAMPLES, short_help="Answer agents: read-only tools over stdio (MCP).")(mcp)
app.command(epilog=WHERE_EXAMPLES, short_help="Where one model stands, and what to measure next.")(where)
app.command(epilog=ADD_EXAMPLES, short_help="What is understood of a file of scores; nothing is guessed.")(add)
app.command(epilog=FIGURE_EXAMPLES, short_help="Draw one picture of the report for a paper.")(figure)
app.command(epilog=SCALE_EXAMPLES, short_help="Read a success rate as level, rarity, percentile or IQ.")(scale)
app.command(epilog=EXTRAPOLATE_EXAMPLES, short_help="Carry success rates to another population, with intervals.")(
    extrapolate
)
app.command(epilog=ANNOTATE_EXAMPLES, short_help="Annotate items with what they demand in eighteen dimensions.")(
    annotate
)
app.command(epilog=CALIBRATE_EXAMPLES, short_help="Find by how much success falls per demand level.")(calibrate)
app.command(epilog=EQUATE_EXAMPLES, short_help="Read one test's levels and scores in another's.")(equate)
app.command(epilog=PROFILE_EXAMPLES, short_help="Abilities of AI systems and people, placed among people.")(profile)
app.command(epilog=IQ_EXAMPLES, short_help="Score models: dimensions, composite IQ, intervals, reasons.")(iq)
app.command(epilog=COST_EXAMPLES, short_help="List price, effective cost and response time beside the IQ.")(cost)
app.command(epilog=STITCH_EXAMPLES, short_help="Put models, people and benchmarks on one scale.")(stitch)
app.command(epilog=VALIDATE_EXAMPLES, short_help="Hide a sample's rates, predict them, score the predictions.")(
    validate
)
app.command(epilog=TRENDS_EXAMPLES, short_help="The pace of releases, the frontier, what compute buys.")(trends)
app.add_typer(
    acceleration.app, name="acceleration", short_help="Has progress accelerated? A watch, and simulated changes."
)
app.add_typer(demands.app, name="demands", short_help="Dimensions and rubrics, sheets for people, agreement, checks.")
app.add_typer(evidence.app, name="evidence", short_help="What was observed: coverage, checks, import and export.")
app.add_typer(people.app, name="people", short_help="Item pools and populations: rates, import, world tables.")
app.add_typer(responses.app, name="responses", short_help="Logs item by item: abilities, items, adaptive tests.")
app.add_typer(llm.app, name="llm", short_help="What language models were asked: standing, cost, export.")

app.command(epilog=CACHE_EXAMPLES, short_help="What is kept between runs, and its removal.")(cache)


def _print_version(asked: bool) -> None:
    if asked:
        console.print(f"mensura {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Options of the program itself; the texts of the app stay its help."""


def main() -> None:
    """Run the command line; an expected fault prints its message and exits with 2, without a traceback."""
    try:
        app()
    except MensuraError as fault:
        _refuse(str(fault))
    except OSError as fault:  # a disk that is full or cannot be written, a path that is too long
        _refuse(f"{fault.filename or 'the system'}: {fault.strerror or fault}; nothing was changed there")


def _refuse(message: str) -> None:
    notices.print(Text.assemble(("error:", "bold red"), f" {message}"), soft_wrap=True)
    sys.exit(2)
