"""Rows of JSON: a list of objects somewhere inside, found by a path; numbers stay as they were printed."""

import bisect
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from mensura.core.errors import MensuraError
from mensura.intake.documents import MOST_ROWS, SourceRow, clean_text
from mensura.intake.text import plain_cell

DEEPEST = 64
"""Levels of nesting; a leaderboard has five."""
_SEGMENT = re.compile(r"([^.\[\]]+)(?:\[([^\[\]]*)\])?")
_SIGNS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)
"""A text in quotes, which ends with the file if nothing ends it before; or a bracket."""
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
        segment = _SEGMENT.match(path, place)
        if segment is None or (segment.end() < len(path) and path[segment.end()] != "."):
            raise MensuraError(f"{name}: {path[:80]!r} is no path; expected keys joined by dots, such as data.models")
        chosen = segment[2] or ""
        if chosen.endswith("*"):
            field, value = "", chosen[:-1]
        else:
            field, _, value = chosen.partition("=")
        if segment[2] is not None and not value:
            raise MensuraError(f"{name}: {segment[0]!r} picks nothing; expected [field=value] or [beginning*]")
        steps.append(PathStep(segment[1].strip(), field.strip(), value))
        place = segment.end() + 1
    return tuple(steps)


class _Reader:
    """Makes objects of their pairs: with the line each begins on, and no key twice."""

    def __init__(self, text: str, name: str) -> None:
        self._name = name
        self._breaks = [place for place, sign in enumerate(text) if sign == "\n"]
        self._starts = self._find_starts(text)

    def read(self, text: str) -> Any:
        """Return what a text holds, its numbers as they are printed."""
        return json.loads(
            text, parse_float=str, parse_int=str, parse_constant=self._refuse_constant, object_pairs_hook=self._placed
        )

    def _refuse_constant(self, text: str) -> Any:
        raise MensuraError(f"{self._name}: {text} is not a JSON value; replace it by null or a number")

    def _placed(self, pairs: list[tuple[str, Any]]) -> _Placed:
        placed = _Placed(pairs)
        placed.line = bisect.bisect_left(self._breaks, next(self._starts)) + 1
        if len(placed) != len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise MensuraError(f"{self._name}, line {placed.line}: the key {twice[:80]!r} occurs twice; remove one")
        return placed

    def _find_starts(self, text: str) -> Iterator[int]:
        """Return the places where objects begin, in the order in which they end; refuse what is nested too deep."""
        opened, starts = [], []
        for sign in _SIGNS.finditer(text):
            if sign[0] in "[{":
                opened.append(sign.start())
                if len(opened) > DEEPEST:
                    raise MensuraError(
                        f"{self._name}: nested deeper than {DEEPEST} levels; keep only the leaderboard part"
                    )
            elif sign[0] in "]}" and opened:
                start = opened.pop()
                starts += [start] if sign[0] == "}" else []
        return iter(starts)


def json_rows(text: str, path: str, columns: frozenset[str], name: str) -> list[SourceRow]:
    """Return the objects of the list at ``path``, with the cells that ``columns``, paths within a row, name."""
    try:
        document = _Reader(text, name).read(text)
    except json.JSONDecodeError as fault:
        raise MensuraError(f"{name}, line {fault.lineno}: not JSON ({fault.msg}); save the page again") from fault
    rows = _walk(document, read_path(path, "rows.path"), name)
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


def _walk(value: Any, steps: Sequence[PathStep], name: str) -> Any:
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


def _picked(values: list[Any], step: PathStep, name: str) -> Any:
    if step.field:
        matches = [value for value in values if isinstance(value, dict) and value.get(step.field) == step.value]
        if len(matches) > 1:
            raise MensuraError(
                f"{name}: {len(matches)} elements of {step.key!r} have {step.field} = {step.value!r}; expected one. "
                "Change the path of the column"
            )
        return matches[0] if matches else None
    return [
        value.removeprefix(step.value) for value in values if isinstance(value, str) and value.startswith(step.value)
    ]


def _cell(row: _Placed, steps: Sequence[PathStep], name: str) -> str:
    value = _walk(row, steps, name)
    values = value if isinstance(value, list) else [value]
    if any(isinstance(part, dict | list) for part in values):
        raise MensuraError(
            f"{name}: {steps[-1].key!r} contains a table; expected a value. Extend the path of the column"
        )
    texts = [("yes" if part else "no") if isinstance(part, bool) else str(part) for part in values if part is not None]
    return _JOINT.join(filter(None, (clean_text(plain_cell(text) or "") for text in texts)))
