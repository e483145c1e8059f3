"""An update: the short file between a capture and the evidence that says which cells change, for people to review.

The file is TOML with one change per line, so that two versions of it compare line by line. A change names the table,
the row by its key, the field, what the cell holds, what it will hold and the line of the capture it was read from; an
empty text is a blank cell. A row that no table has is made by its first cell, and one without any is gone.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from mensura.core.errors import MensuraError
from mensura.evidence.schema import TABLES
from mensura.intake.score_columns import LONGEST_CELL

MOST_TEXT = 8 * 2**20
"""Bytes of an update file; beyond it nobody reviews it line by line."""
ID_DIGITS = 16
_FORMAT = 1
_HEAD = ("title", "source", "capture", "mapping", "made")
_STRAY = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters no cell may hold: control codes, marks that turn the direction of writing, halves of a pair."""


class CellChange(NamedTuple):
    """One cell that changes: ``row`` holds the key cells of its row, ``line`` the line of the capture."""

    table: str
    row: tuple[str, ...]
    field: str
    old: str | None
    new: str | None
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.table} {' · '.join(self.row)}, {self.field}: {self.old or 'blank'} → {self.new or 'blank'}"


class Proposal(NamedTuple):
    """A new model or benchmark that a source names: its row as far as known, and the changes that wait for it.

    It counts only where a reviewer says ``accept = true`` and fills in what is missing.
    """

    table: str
    accept: bool
    row: Mapping[str, str]
    lines: tuple[int, ...]
    changes: tuple[CellChange, ...]


class Unmatched(NamedTuple):
    """A name of the source that stands for nothing known, with the nearest candidates."""

    kind: str
    name: str
    lines: tuple[int, ...]
    near: tuple[str, ...]


class Skipped(NamedTuple):
    """A row of the source that was left out, and why."""

    line: int
    name: str
    reason: str


@dataclass(frozen=True)
class Update:
    """Changes of cells with where they come from; what was left out and what is proposed stays on record."""

    title: str
    source: str
    capture: str = ""
    mapping: str = ""
    made: str = ""
    changes: tuple[CellChange, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    unmatched: tuple[Unmatched, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @cached_property
    def id(self) -> str:
        """The first digits of the SHA-256 of its text."""
        return hashlib.sha256(self.text().encode()).hexdigest()[:ID_DIGITS]

    @property
    def effective(self) -> tuple[CellChange, ...]:
        """The changes, those of accepted proposals included."""
        found = list(self.changes)
        for proposal in self.proposals:
            if proposal.accept:
                found += proposal_cells(proposal)
                found += proposal.changes
        return tuple(found)

    def text(self) -> str:
        """Return the update as its file has it."""
        lines = [
            "# What changes in the evidence, cell by cell. Review it, then: mensura evidence apply THIS-FILE",
            f"format = {_FORMAT}",
            *(f"{name} = {toml_text(getattr(self, name))}" for name in _HEAD),
            *_list("notes", map(toml_text, self.notes)),
            *_list("changes", map(_change_line, self.changes)),
            *_list("unmatched", map(_unmatched_line, self.unmatched)),
            *_list("skipped", map(_skipped_line, self.skipped)),
        ]
        for proposal in self.proposals:
            pairs = ", ".join(f"{name} = {toml_text(value)}" for name, value in proposal.row.items())
            lines += [
                "",
                f"# accept = true takes the new row of {proposal.table} once its blanks are filled in",
                "[[proposals]]",
                f"table = {toml_text(proposal.table)}",
                f"accept = {'true' if proposal.accept else 'false'}",
                f"lines = [{', '.join(map(str, proposal.lines))}]",
                f"row = {{{pairs}}}",
                *_list("changes", map(_change_line, proposal.changes)),
            ]
        return "\n".join(lines) + "\n"

    @classmethod
    def parse(cls, text: str, *, name: str = "update") -> Update:
        """Read an update file; anything that is not understood is refused."""
        if len(text) > MOST_TEXT:
            raise MensuraError(f"{name}: {len(text):,} characters; an update has at most {MOST_TEXT:,}")
        try:
            found = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError) as fault:
            raise MensuraError(f"{name}: not a TOML file: {fault}; correct that line") from fault
        if found.get("format") != _FORMAT:
            raise MensuraError(f"{name}: format is {found.get('format')!r}; expected an update of format {_FORMAT}")
        lists = ("notes", "changes", "unmatched", "skipped", "proposals")
        _refuse_keys(found, ("format", *_HEAD, *lists), name)
        update = cls(
            **{key: _said(found, key, str, "", name) for key in _HEAD},
            changes=_changes(found, name),
            proposals=tuple(_proposal(row, name) for row in _rows(found, "proposals", name)),
            unmatched=tuple(_unmatched(row, name) for row in _rows(found, "unmatched", name)),
            skipped=tuple(_skipped(row, name) for row in _rows(found, "skipped", name)),
            notes=_texts(found, "notes", name),
        )
        _refuse_twice(update.effective, name)
        return update


def proposal_cells(proposal: Proposal) -> Iterator[CellChange]:
    """Yield the cells of a proposed row, but for its key."""
    key = TABLES[proposal.table].key
    place = tuple(proposal.row.get(part, "") for part in key)
    line = proposal.lines[0] if proposal.lines else None
    for column, value in proposal.row.items():
        if column not in key and value:
            yield CellChange(proposal.table, place, column, None, value, line)


def checked_change(change: CellChange, name: str) -> CellChange:
    """Refuse a change of something that no table has, or to something that no cell may hold."""
    table = TABLES.get(change.table)
    if table is None:
        raise MensuraError(f"{name}: table {change.table!r} is unknown; expected one of {', '.join(TABLES)}")
    fields = [column.name for column in table.columns if column.name not in table.key]
    if change.field not in fields:
        raise MensuraError(f"{name}: {change.table} has no field {change.field!r}; expected one of {', '.join(fields)}")
    if len(change.row) != len(table.key) or not all(change.row):
        raise MensuraError(f"{name}: row {list(change.row)} of {change.table}; expected {', '.join(table.key)}")
    for cell in (*change.row, change.old or "", change.new or ""):
        if len(cell) > LONGEST_CELL or _STRAY.search(cell) or cell != cell.strip():
            raise MensuraError(
                f"{name}: {change.table} {' · '.join(change.row)}: got {cell[:80]!r}; expected at most "
                f"{LONGEST_CELL:,} characters, no control characters, no blanks at the ends"
            )
    return change


def toml_text(text: str) -> str:
    """Return a text as TOML writes it."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _list(name: str, lines: Iterable[str]) -> list[str]:
    found = list(lines)
    return [f"{name} = [", *(f"  {line}," for line in found), "]"] if found else []


def _change_line(change: CellChange) -> str:
    line = "" if change.line is None else f"line = {change.line}, "
    row = ", ".join(map(toml_text, change.row))
    old, new = toml_text(change.old or ""), toml_text(change.new or "")
    return f'{{{line}table = "{change.table}", row = [{row}], field = "{change.field}", old = {old}, new = {new}}}'


def _unmatched_line(name: Unmatched) -> str:
    near, lines = ", ".join(map(toml_text, name.near)), ", ".join(map(str, name.lines))
    return f'{{lines = [{lines}], kind = "{name.kind}", name = {toml_text(name.name)}, near = [{near}]}}'


def _skipped_line(row: Skipped) -> str:
    return f"{{line = {row.line}, name = {toml_text(row.name)}, reason = {toml_text(row.reason)}}}"


def _refuse_keys(found: Mapping[str, Any], allowed: Sequence[str], name: str) -> None:
    for key in found:
        if key not in allowed:
            raise MensuraError(f"{name}: unknown {key!r}; expected some of {', '.join(allowed)}")


def _said(found: Mapping[str, Any], key: str, kind: type, default: Any, name: str) -> Any:  # noqa: ANN401
    value = found.get(key, default)
    if type(value) is not kind:
        raise MensuraError(f"{name}: {key} = {value!r}; expected {kind.__name__}")
    return value


def _rows(found: Mapping[str, Any], key: str, name: str) -> list[dict[str, Any]]:
    rows = _said(found, key, list, [], name)
    if not all(isinstance(row, dict) for row in rows):
        raise MensuraError(f"{name}: {key} must be a list of tables, one per line")
    return list(rows)


def _texts(found: Mapping[str, Any], key: str, name: str) -> tuple[str, ...]:
    texts = _said(found, key, list, [], name)
    if not all(isinstance(text, str) for text in texts):
        raise MensuraError(f"{name}: {key} must be a list of texts")
    return tuple(texts)


def _numbers(found: Mapping[str, Any], key: str, name: str) -> tuple[int, ...]:
    numbers = _said(found, key, list, [], name)
    if not all(type(number) is int and 0 <= number < 2**53 for number in numbers):
        raise MensuraError(f"{name}: {key} must be a list of line numbers")
    return tuple(numbers)


def _changes(found: Mapping[str, Any], name: str) -> tuple[CellChange, ...]:
    changes = []
    for row in _rows(found, "changes", name):
        _refuse_keys(row, CellChange._fields, name)
        line = row.get("line")
        if line is not None and (type(line) is not int or not 0 <= line < 2**53):
            raise MensuraError(f"{name}: line = {line!r}; expected a line number of the capture")
        old, new = (_said(row, key, str, "", name) or None for key in ("old", "new"))
        place = _texts(row, "row", name)
        change = CellChange(
            _said(row, "table", str, "", name), place, _said(row, "field", str, "", name), old, new, line
        )
        changes.append(checked_change(change, name))
    return tuple(changes)


def _proposal(found: Mapping[str, Any], name: str) -> Proposal:
    _refuse_keys(found, Proposal._fields, name)
    table = _said(found, "table", str, "", name)
    if table not in TABLES:
        raise MensuraError(f"{name}: table {table!r} of a proposal is unknown; expected one of {', '.join(TABLES)}")
    row = _said(found, "row", dict, {}, name)
    columns = [column.name for column in TABLES[table].columns]
    _refuse_keys(row, columns, name)
    if not all(isinstance(value, str) for value in row.values()):
        raise MensuraError(f"{name}: the row of a proposal must contain texts only; put its values in quotes")
    accept = _said(found, "accept", bool, False, name)
    proposal = Proposal(table, accept, row, _numbers(found, "lines", name), _changes(found, name))
    if accept:
        missing = [column.name for column in TABLES[table].columns if column.required and not row.get(column.name)]
        if missing:
            raise MensuraError(
                f"{name}: the accepted row of {table} still lacks {', '.join(missing)}; fill them in or set accept = "
                "false"
            )
        for change in proposal_cells(proposal):
            checked_change(change, name)
    return proposal


def _unmatched(found: Mapping[str, Any], name: str) -> Unmatched:
    _refuse_keys(found, Unmatched._fields, name)
    kind, written = (_said(found, key, str, "", name) for key in ("kind", "name"))
    return Unmatched(kind, written, _numbers(found, "lines", name), _texts(found, "near", name))


def _skipped(found: Mapping[str, Any], name: str) -> Skipped:
    _refuse_keys(found, Skipped._fields, name)
    line = _said(found, "line", int, 0, name)
    return Skipped(line, _said(found, "name", str, "", name), _said(found, "reason", str, "", name))


def _refuse_twice(changes: Sequence[CellChange], name: str) -> None:
    seen: set[tuple[str, tuple[str, ...], str]] = set()
    for change in changes:
        cell = change.table, change.row, change.field
        if cell in seen:
            raise MensuraError(
                f"{name}: {change.table} {' · '.join(change.row)}, {change.field} is changed twice; remove one change"
            )
        seen.add(cell)
