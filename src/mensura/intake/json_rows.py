"""Rows of JSON: a list of objects somewhere inside, found by a path; numbers stay as they were printed."""

from __future__ import annotations

import bisect
import json
import json.decoder
import json.scanner
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from mensura.core.errors import MensuraError
from mensura.intake.source_rows import MOST_ROWS, SourceRow, clean_text
from mensura.intake.text import plain_cell

DEEPEST = 64
"""Levels of nesting; a leaderboard has five."""
_SEGMENT = re.compile(r"([^.\[\]]+)(?:\[([^\[\]]*)\])?")
_JOINT = " + "  # between the values of a cell that is a list


class _Placed(dict[str, Any]):
    """An object with the line it begins on."""

    line = 0


class PathStep(NamedTuple):
    """One step of a path: a key, and in a list the field and value, or the beginning, that pick from it."""

    key: str
    field: str
    value: str


def read_path(path: str, name: str) -> tuple[PathStep, ...]:
    """Return the steps of a path such as ``boards[name=Verified].results`` or ``tags[Model: *]``."""
    steps, place = [], 0
    while place < len(path):
        found = _SEGMENT.match(path, place)
        if found is None or (found.end() < len(path) and path[found.end()] != "."):
            raise MensuraError(f"{name}: {path[:80]!r} is no path; expected keys joined by dots, such as data.models")
        chosen = found[2] or ""
        if chosen.endswith("*"):
            field, value = "", chosen[:-1]
        else:
            field, _, value = chosen.partition("=")
        if found[2] is not None and not value:
            raise MensuraError(f"{name}: {found[0]!r} picks nothing; expected [field=value] or [beginning*]")
        steps.append(PathStep(found[1].strip(), field.strip(), value))
        place = found.end() + 1
    return tuple(steps)


class _Reader(json.JSONDecoder):
    """Python's decoder with a limit of depth, lines of objects, printed numbers, and no key twice."""

    def __init__(self, text: str, name: str) -> None:
        super().__init__(parse_float=str, parse_int=str, parse_constant=self._refuse_constant)
        self._name, self._depth = name, 0
        self._breaks = [place for place, sign in enumerate(text) if sign == "\n"]
        self.parse_object = self._object
        self.parse_array = self._array
        self.scan_once = json.scanner.py_make_scanner(self)  # type: ignore[attr-defined]

    def _refuse_constant(self, text: str) -> Any:  # noqa: ANN401
        raise MensuraError(f"{self._name}: {text} is not a JSON value; replace it by null or a number")

    def _object(self, start: tuple[str, int], *options: Any) -> Any:  # noqa: ANN401
        self._enter()
        pairs, end = json.decoder.JSONObject(start, *options[:2], None, list, *options[4:])  # type: ignore[attr-defined]
        self._depth -= 1
        found = _Placed(pairs)
        if len(found) != len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise MensuraError(
                f"{self._name}, line {self.line_of(start[1])}: the key {twice[:80]!r} occurs twice; remove one"
            )
        found.line = self.line_of(start[1])
        return found, end

    def _array(self, start: tuple[str, int], *options: Any) -> Any:  # noqa: ANN401
        self._enter()
        values, end = json.decoder.JSONArray(start, *options)  # type: ignore[attr-defined]
        self._depth -= 1
        return values, end

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise MensuraError(f"{self._name}: nested deeper than {DEEPEST} levels; keep only the leaderboard part")

    def line_of(self, place: int) -> int:
        return bisect.bisect_left(self._breaks, place) + 1


def json_rows(text: str, path: str, columns: frozenset[str], name: str) -> list[SourceRow]:
    """Return the objects of the list at ``path``, with the cells that ``columns``, paths within a row, name."""
    reader = _Reader(text, name)
    try:
        found = reader.decode(text)
    except json.JSONDecodeError as fault:
        raise MensuraError(f"{name}, line {fault.lineno}: not JSON ({fault.msg}); save the page again") from fault
    rows = _walk(found, read_path(path, "rows.path"), name)
    if not isinstance(rows, list) or not all(isinstance(row, _Placed) for row in rows):
        raise MensuraError(
            f"{name}: {path or 'the whole'!r} (rows.path) is not a list of objects; set rows.path in the mapping to "
            "the list of rows"
        )
    if len(rows) > MOST_ROWS:
        raise MensuraError(f"{name}: {len(rows):,} rows; at most {MOST_ROWS:,} are read")
    steps = {column: read_path(column, "column") for column in columns}
    read = []
    for row in rows:
        cells = {column: _cell(row, way, f"{name}, line {row.line}") for column, way in steps.items()}
        read.append(SourceRow(row.line, {column: cell for column, cell in cells.items() if cell}))
    nowhere = sorted(column for column, way in steps.items() if not any(_has(row, way, name) for row in rows))
    if nowhere:
        raise MensuraError(
            f"{name}: no row has {', '.join(map(repr, nowhere))}; the source may have changed its format. Correct the "
            "columns of the mapping"
        )
    return read


def _walk(value: Any, steps: Sequence[PathStep], name: str) -> Any:  # noqa: ANN401
    """Follow a path; None where it leads nowhere."""
    for step in steps:
        if not isinstance(value, dict):
            return None
        value = value.get(step.key)
        if step.value:
            if not isinstance(value, list):
                return None
            value = _picked(value, step, name)
    return value


def _has(row: _Placed, steps: Sequence[PathStep], name: str) -> bool:
    """Return whether a path leads somewhere; what it finds may be null, as a warning that nobody needed is."""
    *way, last = steps
    inner = _walk(row, way, name)
    return isinstance(inner, dict) and last.key in inner and (not last.value or bool(_walk(inner, [last], name)))


def _picked(values: list[Any], step: PathStep, name: str) -> Any:  # noqa: ANN401
    if step.field:
        found = [value for value in values if isinstance(value, dict) and value.get(step.field) == step.value]
        if len(found) > 1:
            raise MensuraError(
                f"{name}: {len(found)} elements of {step.key!r} have {step.field} = {step.value!r}; expected one. "
                "Change the path of the column"
            )
        return found[0] if found else None
    return [value.removeprefix(step.value) for value in values if _begins(value, step.value)]


def _begins(value: object, beginning: str) -> bool:
    return isinstance(value, str) and value.startswith(beginning)


def _cell(row: _Placed, steps: Sequence[PathStep], name: str) -> str:
    value = _walk(row, steps, name)
    values = value if isinstance(value, list) else [value]
    if any(isinstance(part, dict | list) for part in values):
        raise MensuraError(
            f"{name}: {steps[-1].key!r} contains a table; expected a value. Extend the path of the column"
        )
    texts = [("yes" if part else "no") if isinstance(part, bool) else str(part) for part in values if part is not None]
    return _JOINT.join(filter(None, (clean_text(plain_cell(text) or "") for text in texts)))
