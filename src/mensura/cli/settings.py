"""``--set NAME=VALUE`` for the rarer settings of a command, and words of options that have parts.

A command declares its rarer settings as a dataclass: each field has a type, a default and a line of help. The help of
the command lists them below its examples.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from typing import Annotated, Any, TypeVar, get_type_hints

from mensura.cli.options import opt
from mensura.cli.output import note_settings
from mensura.core.errors import MensuraError

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., None])
Settings = Annotated[list[str] | None, opt("A rarer setting NAME=VALUE, listed below; repeatable.", "--set")]


def takes(kind: type) -> Callable[[F], F]:
    """Mark a command that takes the rarer settings of a dataclass with ``--set``."""

    def mark(command: F) -> F:
        setattr(command, "rarer", kind)  # noqa: B010
        return command

    return mark


def list_settings(kind: Any) -> list[str]:
    """Return the lines of a command's help about its rarer settings: name, default and meaning."""
    hints = get_type_hints(kind, include_extras=True)
    lines = [f"  {one.name}={_as_written(one.default)}  {hints[one.name].__metadata__[0]}" for one in fields(kind)]
    return ["[bold]With --set NAME=VALUE[/]", "", *lines, ""]


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
        share = re.fullmatch(r"(\d+(?:\.\d+)?)\s*%", value.strip())
        values[name] = f"{float(share[1]) / 100:.12g}" if share else value.strip()
    settings = _typed(values, kind) if values else kind()
    note_settings(asdict(settings))  # type: ignore[call-overload]
    return settings


def changed(settings: object, *names: str) -> dict[str, Any]:
    """Return the settings of these names that differ from their defaults: those that a user has chosen."""
    defaults = {one.name: one.default for one in fields(settings)}  # type: ignore[arg-type]
    return {name: getattr(settings, name) for name in names if getattr(settings, name) != defaults[name]}


def _typed(values: Mapping[str, str], kind: type[T]) -> T:
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(kind).validate_python(values)
    except ValidationError as refused:
        first = refused.errors()[0]
        name = first["loc"][0]
        raise MensuraError(f"--set {name}={values[str(name)]}: {first['msg']}. Correct the value") from None


def split_names(text: str) -> list[str]:
    """Return the names in a text, which commas separate."""
    return [name.strip() for name in text.split(",") if name.strip()]


def read_pairs(option: str, given: list[str], expected: str) -> dict[str, float]:
    """Return the names and numbers of an option that takes NAME=NUMBER and can be repeated."""
    pairs = {}
    for text in given:
        name, _, value = text.rpartition("=")
        try:
            pairs[name.strip()] = float(value)
        except ValueError:
            raise MensuraError(f"{option} {text}: expected {expected}. Correct the value") from None
    return pairs
