"""The ``mensura`` command: ``commands.toml`` lists the commands, one file per group of them has their functions."""

import atexit
import os
import signal
import sys
import threading
import tomllib
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from mensura import __version__
from mensura.cli.options import check_options, opt
from mensura.cli.output import console, exit_codes, notices, waiting
from mensura.cli.settings import list_settings
from mensura.core.errors import MensuraError
from mensura.core.files import is_of_the_disk
from mensura.core.processes import ONE_THREAD

COMMANDS: dict[str, Any] = tomllib.loads((Path(__file__).parent / "commands.toml").read_text(encoding="utf-8"))
"""Commands in the order of the help: what each does, its examples and the next step; of a group, its commands."""


def _print_version(asked: bool) -> None:
    if asked:
        console.print(f"mensura {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, opt("Print the version and exit.", "--version", callback=_print_version, is_eager=True)
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
    for name, texts in COMMANDS.items():
        if called not in (name, None):
            app.command(name, short_help=texts["about"])(_not_called)
            continue
        if "examples" in texts:
            _add_command(app, name, texts, name)
            continue
        group = typer.Typer(help=texts["about"], no_args_is_help=True, rich_markup_mode="rich")
        for part in (part for part in texts if "examples" in texts[part]):
            _add_command(group, part, texts[part], name)
        app.add_typer(group, name=name, short_help=texts["about"])
    return app


def _add_command(app: typer.Typer, name: str, texts: Mapping[str, Any], file: str) -> None:
    """Add the function of a command; one whose name is a word of Python ends in an underscore."""
    module = import_module(f"mensura.cli.{texts.get('file', file)}")
    word = name.replace("-", "_")
    function = getattr(module, word, None) or getattr(module, f"{word}_")
    lines = ["", "[bold]Examples[/]", "", *(f"  {line}" for line in texts["examples"].strip().splitlines()), ""]
    more = list_settings(function.rarer) if hasattr(function, "rarer") else []
    app.command(name, epilog="\n".join([*lines, *more]), short_help=texts["about"])(function)


def next_step(words: Sequence[str]) -> str | None:
    """Return the sentence for a call, None for help, for JSON and for a call that no sentence fits."""
    first, second = [*words, "", ""][:2]
    texts = COMMANDS.get(first, {})
    step = (texts if "examples" in texts else texts.get(second, {})).get("next")
    return None if step is None or {"--json", "--help", "-h", "--dry-run"} & set(words) else f"Next: {step}"


def called_command(words: list[str]) -> str | None:
    """Return the command that a call names; None while a shell completes one, which may be any."""
    completing = "_MENSURA_COMPLETE" in os.environ
    return None if completing else next((word for word in words if not word.startswith("-")), "")


def run(words: list[str]) -> None:
    """Run the command that these words call."""
    program = typer.main.get_command(build_app(called_command(words)))
    check_options(program, words)
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
        if not code and notices.is_terminal and (step := next_step(sys.argv[1:])):
            notices.print(step, style="dim")
        sys.exit(code)
    except KeyboardInterrupt:  # asked to end while it still imported
        sys.exit(130)
    except MensuraError as fault:
        _refuse(str(fault))
    except OSError as fault:  # a disk that is full or cannot be written, a path that is too long
        _refuse(f"{fault.filename or 'the system'}: {fault.strerror or fault}; nothing was changed there")
    except Exception as fault:
        if not is_of_the_disk(fault):
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

    def again(lost: "sys.UnraisableHookArgs") -> None:
        """Send an interrupt again that pydantic dropped, because it came while it called back."""
        if isinstance(lost.exc_value, KeyboardInterrupt):
            threading.Timer(0.1, os.kill, (program, signal.SIGINT)).start()
        else:
            sys.__unraisablehook__(lost)

    atexit.register(die)  # before all others, so that it comes last
    signal.signal(signal.SIGTERM, end)
    if sys.unraisablehook is sys.__unraisablehook__:
        sys.unraisablehook = again


def _refuse(message: str) -> None:
    notices.print(Text.assemble(("error:", "bold red"), f" {message}"))
    sys.exit(2)
