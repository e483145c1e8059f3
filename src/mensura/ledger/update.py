"""An update: the short file between a capture and the evidence that says which cells change, for people to review.

The file is TOML with one change per line, so that two versions of it compare line by line. An empty text is a blank
cell. A row that no table has is made by its first cell, and one without any is gone.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import polars as pl

from mensura.core.errors import MensuraError, check_choice
from mensura.evidence.schema import TABLES
from mensura.intake.score_columns import LONGEST_CELL
from mensura.ledger.toml_parts import TomlPart, toml_list, toml_text

MOST_TEXT = 8 * 2**20
"""Bytes of an update file; beyond it nobody reviews it line by line."""
ID_DIGITS = 16
_FORMAT = 1
_HEAD = ("title", "source", "capture", "mapping", "made")
_STRAY = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters no cell may hold: control codes, marks that turn the direction of writing, halves of a pair."""


class CellChange(NamedTuple):
    """Describe one cell that changes.

    Attributes
    ----------
    table, field : str
        Table and column.
    row : tuple of str
        The key cells of its row.
    old, new : str or None
        The value before and after; None for a blank cell.
    line : int or None
        Line of the capture.

    """

    table: str
    row: tuple[str, ...]
    field: str
    old: str | None
    new: str | None
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.table} {' · '.join(self.row)}, {self.field}: {self.old or 'blank'} → {self.new or 'blank'}"


class Proposal(NamedTuple):
    """Propose a new model or benchmark; it counts only where a reviewer accepts it and fills in what is missing.

    Attributes
    ----------
    table : str
        ``models`` or ``benchmarks``.
    accept : bool
        Whether a reviewer accepted it.
    row : Mapping[str, str]
        Its row, as far as the source says.
    lines : tuple of int
        Lines of the capture.
    changes : tuple of CellChange
        The changes that wait for it.

    """

    table: str
    accept: bool
    row: Mapping[str, str]
    lines: tuple[int, ...]
    changes: tuple[CellChange, ...]


class Unmatched(NamedTuple):
    """List a name of the source that stands for nothing known.

    Attributes
    ----------
    kind, name : str
        What it names, such as ``model``, and the name as written.
    lines : tuple of int
        Lines of the capture.
    near : tuple of str
        The nearest ids.

    """

    kind: str
    name: str
    lines: tuple[int, ...]
    near: tuple[str, ...]


class Skipped(NamedTuple):
    """List a row of the source that was left out.

    Attributes
    ----------
    line : int
        Line of the capture.
    name, reason : str
        The model as written, and why the row was left out.

    """

    line: int
    name: str
    reason: str


@dataclass(frozen=True)
class Update:
    """Collect changes of cells with their origin; what was left out and what is proposed stays on record.

    Attributes
    ----------
    title, source : str
        One line for the log, and the id of the source.
    capture, mapping, made : str
        SHA-256 of the capture, name and hash of the mapping, and the day; empty where made by hand.
    changes, proposals, unmatched, skipped, notes : tuple
        What changes, what is proposed, names that match nothing, rows left out, and remarks.

    """

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
        changes = list(self.changes)
        for proposal in self.proposals:
            changes += (*proposal_cells(proposal), *proposal.changes) if proposal.accept else ()
        return tuple(changes)

    def text(self) -> str:
        """Return the update as its file has it."""
        lines = [
            "# What changes in the evidence, cell by cell. Review it, then: mensura evidence apply THIS-FILE",
            f"format = {_FORMAT}",
            *(f"{name} = {toml_text(getattr(self, name))}" for name in _HEAD),
            *toml_list("notes", map(toml_text, self.notes)),
            *toml_list("changes", map(_change_line, self.changes)),
            *toml_list("unmatched", map(_unmatched_line, self.unmatched)),
            *toml_list("skipped", map(_skipped_line, self.skipped)),
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
                *toml_list("changes", map(_change_line, proposal.changes)),
            ]
        return "\n".join(lines) + "\n"

    @classmethod
    def parse(cls, text: str, *, name: str = "update") -> Update:
        """Read an update file; anything that is not understood is refused."""
        if len(text) > MOST_TEXT:
            raise MensuraError(f"{name}: {len(text):,} characters; an update has at most {MOST_TEXT:,}")
        part = TomlPart.loads(text, name)
        if part.keys.get("format") != _FORMAT:
            raise MensuraError(f"{name}: format is {part.keys.get('format')!r}; expected an update of format {_FORMAT}")
        part.only("format", *_HEAD, "notes", "changes", "unmatched", "skipped", "proposals")
        update = cls(
            **{key: part.value(key, "") for key in _HEAD},
            changes=tuple(map(_change, part.rows("changes"))),
            proposals=tuple(map(_proposal, part.rows("proposals"))),
            unmatched=tuple(map(_unmatched, part.rows("unmatched"))),
            skipped=tuple(map(_skipped, part.rows("skipped"))),
            notes=part.values("notes"),
        )
        _refuse_twice(update.effective, name)
        return update


def update_tables(update: Update) -> dict[str, pl.DataFrame]:
    """Show an update as tables.

    Parameters
    ----------
    update : Update
        The update.

    Returns
    -------
    dict[str, pl.DataFrame]
        ``changes``, ``unmatched`` names, ``skipped`` rows and ``proposals``.

    Examples
    --------
    >>> change = CellChange("models", ("big-1",), "tier", None, "flagship")
    >>> update_tables(Update(title="A tier", source="lab", changes=(change,)))["changes"].rows()
    [('models', 'big-1', 'tier', None, 'flagship', None)]

    """
    text, number = pl.String, pl.Int64
    rows: dict[str, tuple[list[Any], dict[str, Any]]] = {
        "changes": (
            [(c.table, " · ".join(c.row), *c[2:]) for c in update.changes],
            {**dict.fromkeys(("table", "row", "field", "old", "new"), text), "line": number},
        ),
        "unmatched": (
            [(n.kind, n.name, ", ".join(map(str, n.lines)), ", ".join(n.near)) for n in update.unmatched],
            dict.fromkeys(("kind", "name", "lines", "nearest"), text),
        ),
        "skipped": (list(update.skipped), {"line": number, "name": text, "reason": text}),
        "proposals": (
            [
                (p.table, ", ".join(f"{key} = {cell or '?'}" for key, cell in p.row.items()), len(p.changes), p.accept)
                for p in update.proposals
            ],
            {"table": text, "row": text, "changes": number, "accept": pl.Boolean},
        ),
    }
    return {name: pl.DataFrame(table, schema=schema, orient="row") for name, (table, schema) in rows.items()}


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
    check_choice(f"{name}: table", change.table, TABLES)
    table = TABLES[change.table]
    fields = [column.name for column in table.columns if column.name not in table.key]
    check_choice(f"{name}: field of {change.table}", change.field, fields)
    if len(change.row) != len(table.key) or not all(change.row):
        raise MensuraError(f"{name}: row {list(change.row)} of {change.table}; expected {', '.join(table.key)}")
    for cell in (*change.row, change.old or "", change.new or ""):
        if len(cell) > LONGEST_CELL or _STRAY.search(cell) or cell != cell.strip():
            raise MensuraError(
                f"{name}: {change.table} {' · '.join(change.row)}: got {cell[:80]!r}; expected at most "
                f"{LONGEST_CELL:,} characters, no control characters, no blanks at the ends"
            )
    return change


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


def _lines(part: TomlPart) -> tuple[int, ...]:
    lines: list[Any] = part.value("lines", [])
    if not all(map(_is_line, lines)):
        raise MensuraError(f"{part.name}: lines must be a list of line numbers")
    return tuple(lines)


def _is_line(line: object) -> bool:
    return type(line) is int and 0 <= line < 2**53


def _change(part: TomlPart) -> CellChange:
    part.only(*CellChange._fields)
    line = part.keys.get("line")
    if line is not None and not _is_line(line):
        raise MensuraError(f"{part.name}: line = {line!r}; expected a line number of the capture")
    table, name, old, new = (part.value(key, "") for key in ("table", "field", "old", "new"))
    return checked_change(CellChange(table, part.values("row"), name, old or None, new or None, line), part.name)


def _proposal(part: TomlPart) -> Proposal:
    part.only(*Proposal._fields)
    table = part.one_of("table", tuple(TABLES))
    row = part.table("row")
    row.only(*(column.name for column in TABLES[table].columns))
    cells = {key: row.value(key, "") for key in row.keys}
    changes = tuple(map(_change, part.rows("changes")))
    proposal = Proposal(table, part.value("accept", False), cells, _lines(part), changes)
    if proposal.accept:
        missing = [column.name for column in TABLES[table].columns if column.required and not cells.get(column.name)]
        if missing:
            raise MensuraError(
                f"{part.name}: the accepted row of {table} still lacks {', '.join(missing)}; fill them in or set "
                "accept = false"
            )
        for change in proposal_cells(proposal):
            checked_change(change, part.name)
    return proposal


def _unmatched(part: TomlPart) -> Unmatched:
    part.only(*Unmatched._fields)
    return Unmatched(part.value("kind", ""), part.value("name", ""), _lines(part), part.values("near"))


def _skipped(part: TomlPart) -> Skipped:
    part.only(*Skipped._fields)
    return Skipped(part.value("line", 0), part.value("name", ""), part.value("reason", ""))


def _refuse_twice(changes: Sequence[CellChange], name: str) -> None:
    cells = Counter((change.table, " · ".join(change.row), change.field) for change in changes)
    for (table, row, changed), count in cells.items():
        if count > 1:
            raise MensuraError(f"{name}: {table} {row}, {changed} is changed twice; remove one change")
