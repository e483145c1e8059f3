"""Reading a TOML file that somebody wrote, each value by its kind, with what is wrong named; and writing one."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from mensura.core.errors import MensuraError

Value = TypeVar("Value")
_LONGEST = 2000  # characters of one text


class TomlPart:
    """A table of a TOML file that is asked for its values one by one; what is wrong is named."""

    def __init__(self, keys: Mapping[str, Any], name: str) -> None:
        self.keys, self.name = keys, name

    @classmethod
    def loads(cls, text: str, name: str) -> TomlPart:
        """Read a whole file."""
        try:
            return cls(tomllib.loads(text), name)
        except (tomllib.TOMLDecodeError, RecursionError) as fault:
            raise MensuraError(f"{name}: not a TOML file: {fault}; correct that line") from fault

    def only(self, *allowed: str) -> None:
        """Refuse keys that nobody asks for."""
        for key in self.keys:
            if key not in allowed:
                names = ", ".join(allowed) or "none"
                raise MensuraError(f"{self.name}: unknown {key[:80]!r}; expected some of {names}")

    def value(self, key: str, default: Value) -> Value:
        """Return a value of the kind of its default."""
        value = self.keys.get(key, default)
        if type(value) is not type(default):
            raise MensuraError(f"{self.name}: {key} is {_short(value)}; expected {type(default).__name__}")
        return value

    def values(self, key: str) -> tuple[str, ...]:
        """Return a list of texts that may be blank."""
        values: list[Any] = self.value(key, [])
        if not all(isinstance(value, str) for value in values):
            raise MensuraError(f"{self.name}: {key} must be a list of texts")
        return tuple(values)

    def text(self, key: str, default: str | None = None) -> str:
        """Return a text on one line; without a default it must be there."""
        value = self.keys.get(key, default)
        if not isinstance(value, str) or (default is None and not value.strip()):
            raise MensuraError(f"{self.name}: {key} is {_short(value)}; expected a text")
        if len(value) > _LONGEST or not (value.isprintable() or key == "about"):
            raise MensuraError(f"{self.name}: {key} is {_short(value)}; expected one line of {_LONGEST:,} at most")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts, empty where it is not there."""
        values = self.values(key)
        if not all(map(str.strip, values)):
            raise MensuraError(f"{self.name}: {key} is {_short(values)}; expected a list of texts")
        return values

    def number(self, key: str) -> float:
        """Return a number."""
        value = self.keys.get(key)
        if not isinstance(value, int | float) or isinstance(value, bool) or value != value or abs(value) > 2.0**53:
            raise MensuraError(f"{self.name}: {key} is {_short(value)}; expected a number")
        return float(value)

    def one_of(self, key: str, allowed: Sequence[str], default: str | None = None) -> str:
        """Return one of the words allowed."""
        value = self.text(key, default)
        if value not in allowed:
            raise MensuraError(f"{self.name}: {key} is {_short(value)}; expected one of {', '.join(allowed)}")
        return value

    def pairs(self, key: str) -> dict[str, str]:
        """Return a table of texts by text."""
        part = self.table(key)
        return {name: part.text(name) for name in part.keys}

    def table(self, key: str) -> TomlPart:
        """Return a table within this one, empty where it is not there."""
        value = self.keys.get(key, {})
        if not isinstance(value, dict):
            raise MensuraError(f"{self.name}: {key} is {_short(value)}; expected a table [{key}]")
        return TomlPart(value, f"{self.name}, [{key}]")

    def rows(self, key: str) -> list[TomlPart]:
        """Return the tables of a list, empty where it is not there."""
        values = self.keys.get(key, [])
        if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
            raise MensuraError(f"{self.name}: {key} is {_short(values)}; expected tables [[{key}]]")
        return [TomlPart(value, f"{self.name}, [[{key}]] {place}") for place, value in enumerate(values, start=1)]


def read_utf8(path: Path) -> str:
    """Return the text of a file byte for byte, or refuse one that is not UTF-8."""
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as fault:
        raise MensuraError(f"{path}: not UTF-8 ({fault}); save the file as UTF-8") from fault


def _short(value: object) -> str:
    return repr(value)[:80]


def toml_text(text: str) -> str:
    """Return a text as TOML writes it."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_list(name: str, lines: Iterable[str]) -> list[str]:
    """Return the lines of a list, one line for each element; none for an empty one."""
    rows = [f"  {line}," for line in lines]
    return [f"{name} = [", *rows, "]"] if rows else []
