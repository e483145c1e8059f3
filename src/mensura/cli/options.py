"""Options that several commands share, and ``--set NAME=VALUE`` for the rarer settings of a command.

A command declares its rarer settings as a dataclass: each field has a type, a default and a line of help. The help of
the command lists them below its examples.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from itertools import takewhile
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from mensura.cli.output import note_settings
from mensura.core.errors import MensuraError

T = TypeVar("T")
ASKING, CHECKS = "Asking a language model", "Checks"
"""Panels of the help."""
Ray = Annotated[
    str | None, typer.Option(help="Run on Ray: local, or the address of a cluster.", metavar="local|ADDRESS")
]
ColumnMap = Annotated[
    str | None,
    typer.Option(
        "--map",
        help="Columns of your tables, where their names do not say it: item=qid,rate=p.",
        metavar="FIELD=COLUMN",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A rarer setting, of those listed below; repeatable."),
]


def list_settings(kind: Any) -> str:  # noqa: ANN401
    """Return the lines of a command's help about its rarer settings: name, default and meaning."""
    hints = get_type_hints(kind, include_extras=True)
    lines = [f"  {one.name}={_as_written(one.default)}  {hints[one.name].__metadata__[0]}" for one in fields(kind)]
    return "\n".join(["", "[bold]With --set NAME=VALUE[/]", "", *lines, ""])


def _as_written(default: object) -> str:
    return "…" if default in (None, "") else str(default).lower() if isinstance(default, bool) else str(default)


def read_settings(given: list[str] | None, kind: type[T]) -> T:
    """Return the rarer settings of a command: those given with ``--set``, and the defaults of the others."""
    values: dict[str, str] = {}
    names = [one.name for one in fields(kind)]  # type: ignore[arg-type]
    for word in given or ():
        name, _, value = word.partition("=")
        name = name.strip().replace("-", "_")
        if name not in names or "=" not in word:
            raise MensuraError(f"--set {word}: not understood; expected NAME=VALUE, NAME one of {', '.join(names)}")
        if name in values:
            raise MensuraError(f"--set {name}: given twice; expected once. Leave one out")
        values[name] = value.strip()
    settings = _typed(values, kind) if values else kind()
    note_settings(asdict(settings))  # type: ignore[call-overload]
    return settings


def _typed(values: Mapping[str, str], kind: type[T]) -> T:
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(kind).validate_python(values)
    except ValidationError as refused:
        first = refused.errors()[0]
        name = first["loc"][0]
        raise MensuraError(f"--set {name}={values[str(name)]}: {first['msg']}. Correct the value") from None


def refuse_repeats(program: Any, words: list[str]) -> None:  # noqa: ANN401
    """Refuse an option that is given twice and counts once: one of its values would be lost."""
    command = program
    for word in words:
        command = getattr(command, "commands", {}).get(word, command)
    options = [one for one in command.params if one.param_type_name == "option"]
    single = {name for one in options if not (one.multiple or one.is_flag) for name in one.opts}
    given = [word.partition("=")[0] for word in takewhile(lambda word: word != "--", words)]
    for name in single.intersection(given):
        if given.count(name) > 1:
            raise MensuraError(
                f"{name}: given {given.count(name)} times; expected once. Where it takes several values, separate them "
                "by commas"
            )
