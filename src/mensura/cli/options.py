"""Options that several commands share, defined once, and rare ones that stand in a file.

A group of options is a dataclass: its fields are the options, as typer reads them. A command takes the whole group as
one parameter, and :func:`takes_groups` spreads it out. A rare option is no option of the command line; ``--settings
FILE.toml`` holds it, and may hold every other option of the command too.
"""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from mensura.core.errors import MensuraError

ASKING, CHECKS = "Asking a language model", "Checks"
"""Panels of the help."""
Ray = Annotated[
    str | None, typer.Option(help="Run on Ray: local, or the address of a cluster.", metavar="local|ADDRESS")
]
SETTINGS = "[bold]In a settings file[/]"
"""Heading of the rare options at the end of the help."""


def rare(help: str, **settings: Any) -> Any:  # noqa: A002, ANN401
    """Return an option that only a settings file sets."""
    return typer.Option(help=help, hidden=True, **settings)


def takes_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take groups of options: each parameter whose type is a dataclass becomes the options of it."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    spread: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        if parameter.name in groups:
            spread += _parameters(groups[parameter.name])
        else:
            kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
            spread.append(parameter.replace(annotation=hints[parameter.name], kind=kind))

    @wraps(command)
    def gathered(**given: Any) -> None:  # noqa: ANN401
        for name, kind in groups.items():
            given[name] = kind(**{field.name: given.pop(field.name) for field in fields(kind)})
        command(**given)

    vars(gathered)["__signature__"] = inspect.Signature(spread)
    gathered.__annotations__ = {parameter.name: parameter.annotation for parameter in spread}
    del vars(gathered)["__wrapped__"]
    return gathered


def _parameters(group: type) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]


def offer_settings(command: Any) -> None:  # noqa: ANN401
    """Give a command with rare options, and those of a group, the option ``--settings``; its help lists them."""
    for inner in getattr(command, "commands", {}).values():
        offer_settings(inner)
    found = rare_options(command)
    if not found:
        return
    with_settings = typer.Typer()
    with_settings.command()(_settings_alone)
    made: Any = typer.main.get_command(with_settings)
    command.params += [one for one in made.params if one.name == "settings"]
    lines = [f"  {one.name} = {_as_toml(one)}  {one.help}" for one in found]
    command.epilog = "\n\n".join([command.epilog or "", SETTINGS, "\n".join(lines)])
    parse = command.parse_args

    def parse_args(context: Any, arguments: list[str]) -> Any:  # noqa: ANN401
        left = parse(context, arguments)
        for one in found:
            if context.get_parameter_source(one.name).name == "COMMANDLINE":
                raise MensuraError(
                    f"{one.opts[0]}: stands in a settings file; write {one.name} = {_as_toml(one)} into FILE.toml, "
                    f"with your value, and give --settings FILE.toml"
                )
        return left

    command.parse_args = parse_args


def _settings_alone(
    settings: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.toml",
            help="File with options of this command; the rare ones below stand only there.",
            expose_value=False,
            is_eager=True,
            callback=lambda context, param, value: _read_settings(context, param, value),
        ),
    ] = None,
) -> None:
    """Take the one option that every command with rare options has."""


def refuse_repeats(command: Any) -> None:  # noqa: ANN401
    """Let a command, and those of a group, refuse an option that is given twice and counts once."""
    for inner in getattr(command, "commands", {}).values():
        refuse_repeats(inner)
    if hasattr(command, "commands"):
        return
    parse = command.parse_args

    def parse_args(context: Any, arguments: list[str]) -> Any:  # noqa: ANN401
        given = command.make_parser(context).parse_args(args=list(arguments))[2]
        single = [one for one in given if one.param_type_name == "option" and not (one.multiple or one.is_flag)]
        for one in single:
            if single.count(one) > 1:
                raise MensuraError(
                    f"{one.opts[0]}: given {single.count(one)} times; expected once. Where it takes several values, "
                    f"separate them by commas"
                )
        return parse(context, arguments)

    command.parse_args = parse_args


def rare_options(command: Any) -> list[Any]:  # noqa: ANN401
    """Return the options of a command that only a settings file sets."""
    return [one for one in command.params if getattr(one, "hidden", False)]


def _as_toml(option: Any) -> str:  # noqa: ANN401
    if option.default is None:
        return "…"
    value = option.default
    return str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else str(value)


def _read_settings(context: Any, option: Any, given: str | None) -> None:  # noqa: ANN401
    """Read the file: its values count where the command line does not say otherwise."""
    if given is None:
        return
    file = Path(given)
    try:
        told = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as fault:
        raise MensuraError(f"--settings {file}: cannot be read ({fault.strerror}); check the path") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise MensuraError(f"--settings {file}: not a readable TOML file: {fault}; correct that line") from None
    own = [one for one in context.command.params if one.param_type_name == "option"]
    names = {max(one.opts, key=len).lstrip("-").replace("-", "_"): one for one in own}
    for name in ("settings", "help"):
        names.pop(name, None)
    values = {}
    for key, value in told.items():
        known = names.get(key.replace("-", "_"))
        if known is None:
            raise MensuraError(
                f"--settings {file}: {key!r} is no option of this command; expected {', '.join(sorted(names))}"
            )
        if isinstance(value, dict):
            raise MensuraError(f"--settings {file}: {key!r} is a table; expected a value, as in {key} = 1")
        values[known.name] = [value] if known.multiple and not isinstance(value, list) else value
    context.default_map = values
