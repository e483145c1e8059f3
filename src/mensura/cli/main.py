"""The ``mensura`` command: one app, one file per command group."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.text import Text

from mensura import __version__
from mensura.cli import acceleration, demands, evidence, llm, people
from mensura.cli.add import EXAMPLES as ADD_EXAMPLES
from mensura.cli.add import add
from mensura.cli.annotate import EXAMPLES as ANNOTATE_EXAMPLES
from mensura.cli.annotate import annotate
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
from mensura.cli.output import console, notices
from mensura.cli.report import report
from mensura.cli.scale import EXAMPLES as SCALE_EXAMPLES
from mensura.cli.scale import scale
from mensura.cli.stitch import EXAMPLES as STITCH_EXAMPLES
from mensura.cli.stitch import stitch
from mensura.cli.trends import EXAMPLES as TRENDS_EXAMPLES
from mensura.cli.trends import trends
from mensura.cli.validate import EXAMPLES as VALIDATE_EXAMPLES
from mensura.cli.validate import validate
from mensura.cli.where import EXAMPLES as WHERE_EXAMPLES
from mensura.cli.where import where
from mensura.errors import MensuraError

app = typer.Typer(
    help="How good is this AI, compared with people? Human-anchored scales for models, benchmarks, items and groups.",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command(epilog="Example: mensura report --out report --add mine.csv")(report)
app.command(epilog=WHERE_EXAMPLES)(where)
app.command(epilog=ADD_EXAMPLES)(add)
app.command(epilog=FIGURE_EXAMPLES)(figure)
app.command(epilog=SCALE_EXAMPLES)(scale)
app.command(epilog=EXTRAPOLATE_EXAMPLES)(extrapolate)
app.command(epilog=ANNOTATE_EXAMPLES)(annotate)
app.command(epilog=CALIBRATE_EXAMPLES)(calibrate)
app.command(epilog=EQUATE_EXAMPLES)(equate)
app.command(epilog=IQ_EXAMPLES)(iq)
app.command(epilog=COST_EXAMPLES)(cost)
app.command(epilog=STITCH_EXAMPLES)(stitch)
app.command(epilog=VALIDATE_EXAMPLES)(validate)
app.command(epilog=TRENDS_EXAMPLES)(trends)
app.add_typer(acceleration.app, name="acceleration")
app.add_typer(demands.app, name="demands")
app.add_typer(evidence.app, name="evidence")
app.add_typer(people.app, name="people")
app.add_typer(llm.app, name="llm")


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
