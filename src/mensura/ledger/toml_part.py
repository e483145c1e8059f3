"""Reading a TOML file that somebody wrote: each value is asked for by its kind, and what is wrong is named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mensura.core.errors import MensuraError

_LONGEST = 2000  # characters of one text


class TomlPart:
    """A table of a TOML file that is asked for its values one by one; what is wrong is named."""

    def __init__(self, found: Mapping[str, Any], name: str) -> None:
        self.found, self.name = found, name

    def only(self, *allowed: str) -> None:
        """Refuse keys that nobody asks for."""
        for key in self.found:
            if key not in allowed:
                raise MensuraError(
                    f"{self.name}: unknown {key[:80]!r}; expected some of {', '.join(allowed) or 'none'}"
                )

    def text(self, key: str, default: str | None = None) -> str:
        """Return a text on one line; without a default it must be there."""
        value = self.found.get(key, default)
        if not isinstance(value, str) or (default is None and not value.strip()):
            raise MensuraError(f"{self.name}: {key} is {_short(value)}; expected a text")
        if len(value) > _LONGEST or not (value.isprintable() or key == "about"):
            raise MensuraError(f"{self.name}: {key} is {_short(value)}; expected one line of {_LONGEST:,} at most")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts, empty where it is not there."""
        values = self.found.get(key, [])
        if not isinstance(values, list) or not all(isinstance(value, str) and value.strip() for value in values):
            raise MensuraError(f"{self.name}: {key} is {_short(values)}; expected a list of texts")
        return tuple(values)

    def number(self, key: str) -> float:
        """Return a number."""
        value = self.found.get(key)
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
        return {name: part.text(name) for name in part.found}

    def table(self, key: str) -> TomlPart:
        """Return a table within this one, empty where it is not there."""
        value = self.found.get(key, {})
        if not isinstance(value, dict):
            raise MensuraError(f"{self.name}: {key} is {_short(value)}; expected a table [{key}]")
        return TomlPart(value, f"{self.name}, [{key}]")

    def rows(self, key: str) -> list[TomlPart]:
        """Return the tables of a list, empty where it is not there."""
        values = self.found.get(key, [])
        if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
            raise MensuraError(f"{self.name}: {key} is {_short(values)}; expected tables [[{key}]]")
        return [TomlPart(value, f"{self.name}, [[{key}]] {place}") for place, value in enumerate(values, start=1)]


def _short(value: object) -> str:
    return repr(value)[:80]
