"""Entries of the ledger and the cells each changed: who, when, from which line of which capture, and the way back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import polars as pl

from mensura.core.errors import MensuraError
from mensura.evidence.store import Cells, fingerprint_of
from mensura.intake.faults import EvidenceError
from mensura.ledger.state import cell_of, take_back
from mensura.ledger.store import BACKUP, ConflictError
from mensura.ledger.update import CellChange, Update

_ENTRIES = {
    "entry": pl.Int64,
    "kind": pl.String,
    "title": pl.String,
    "changes": pl.Int64,
    **dict.fromkeys(("by", "time", "update"), pl.String),
    "undoes": pl.Int64,
    "undone_by": pl.Int64,
    "fingerprint": pl.String,
}
_CELLS = {
    "entry": pl.Int64,
    "by": pl.String,
    "time": pl.String,
    "table": pl.String,
    "row": pl.String,
    **dict.fromkeys(("field", "old", "new"), pl.String),
    "line": pl.Int64,
    "capture": pl.String,
    "address": pl.String,
    "title": pl.String,
}
_NAMED = 10  # conflicts that a message spells out


class LedgerEntry(NamedTuple):
    """One change of the evidence as a whole; ``fingerprint`` is that of the state it made."""

    entry: int
    kind: str
    title: str
    update_id: str | None
    undoes: int | None
    by: str
    time: str
    fingerprint: str

    def __str__(self) -> str:
        return f"entry {self.entry} ({self.title}) by {self.by}, {self.time}"


def write_entry(store: sqlite3.Connection, entry: LedgerEntry, changes: Sequence[CellChange]) -> None:
    """Write an entry with its cells."""
    store.execute("INSERT INTO ledger_entries VALUES (?, ?, ?, ?, ?, ?, ?, ?)", entry)
    store.executemany(
        "INSERT INTO ledger_cells VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (entry.entry, place, change.table, row_key(change.row), change.field, change.old, change.new, change.line)
            for place, change in enumerate(changes)
        ),
    )


def row_key(row: Sequence[str]) -> str:
    """Return the key of a row as the ledger writes it."""
    return json.dumps(list(row), ensure_ascii=False)


def entries_of(store: sqlite3.Connection) -> list[LedgerEntry]:
    """Return every entry, newest first."""
    return [LedgerEntry(*row) for row in store.execute("SELECT * FROM ledger_entries ORDER BY entry DESC")]


def last_entry(store: sqlite3.Connection) -> LedgerEntry:
    """Return the newest entry."""
    row = store.execute("SELECT * FROM ledger_entries ORDER BY entry DESC LIMIT 1").fetchone()
    if row is None:
        raise MensuraError(
            "the store has no first entry; expected a store of mensura evidence init. Run it to make one"
        )
    return LedgerEntry(*row)


def require_entry(store: sqlite3.Connection, entry: int) -> LedgerEntry:
    """Return an entry by its number."""
    row = store.execute("SELECT * FROM ledger_entries WHERE entry = ?", (entry,)).fetchone()
    if row is None:
        raise MensuraError(
            f"entry: {entry} is not in the log; expected 0 to {last_entry(store).entry} "
            "(mensura evidence log lists them)"
        )
    return LedgerEntry(*row)


def cells_after(store: sqlite3.Connection, entry: int) -> Iterator[CellChange]:
    """Yield the changes after an entry, the last first: the order in which they are taken back."""
    return map(
        _change,
        store.execute(f"SELECT {_COLUMNS} FROM ledger_cells WHERE entry > ? ORDER BY entry DESC, place DESC", (entry,)),
    )


def cells_of(store: sqlite3.Connection, entry: int) -> list[CellChange]:
    """Return the changes of one entry, in their order."""
    query = f"SELECT {_COLUMNS} FROM ledger_cells WHERE entry = ? ORDER BY place"
    return [_change(row) for row in store.execute(query, (entry,))]


_COLUMNS = "table_name, row_key, field, old, new, line"


def _change(row: tuple[str, str, str, str | None, str | None, int | None]) -> CellChange:
    return CellChange(row[0], tuple(json.loads(row[1])), *row[2:])


def undone_by(store: sqlite3.Connection) -> dict[int, int]:
    """Return which entries no longer stand, each with the entry that took it back; an undo can be undone too."""
    undone: dict[int, int] = {}
    for entry in entries_of(store):  # newest first: an undo that was undone has no effect
        if entry.undoes is not None and entry.entry not in undone:
            undone[entry.undoes] = entry.entry
    return undone


def last_change(store: sqlite3.Connection, change: CellChange) -> str:
    """Say which entry gave a cell its present value, as the tail of a sentence; empty where none did."""
    row = store.execute(
        "SELECT max(entry) FROM ledger_cells WHERE table_name = ? AND row_key = ? AND field = ?",
        (change.table, row_key(change.row), change.field),
    ).fetchone()
    return "" if row[0] is None else f" since {require_entry(store, row[0])}"


def undoing(store: sqlite3.Connection, entry: int) -> list[CellChange]:
    """Return the changes that take an entry back, or refuse and name the later entries that stand on its cells."""
    found = require_entry(store, entry)
    if found.kind == "init":
        raise MensuraError(f"entry: {entry} is the beginning of the store and cannot be undone; choose a later entry")
    undone = undone_by(store)
    if entry in undone:
        raise ConflictError(
            f"{found} is already undone by entry {undone[entry]}; to restore it, run mensura evidence undo "
            f"{undone[entry]}"
        )
    back = [c._replace(old=c.new, new=c.old, line=None) for c in reversed(cells_of(store, entry))]
    moved = [change for change in back if cell_of(store, change) != change.old]
    if moved:
        listed = "\n".join(f"  {_now(store, change)}" for change in moved[:_NAMED])
        raise ConflictError(
            f"{found} cannot be undone: {len(moved)} of its {len(back)} cells were changed after it; nothing was "
            f"changed. Undo those entries first: run mensura evidence undo ENTRY\n{listed}"
        )
    return back


def _now(store: sqlite3.Connection, change: CellChange) -> str:
    cell = f"{change.table} {' · '.join(change.row)}, {change.field}"
    return (
        f"{cell}: it wrote {change.old or 'blank'}, now {cell_of(store, change) or 'blank'}{last_change(store, change)}"
    )


def why_not(store: sqlite3.Connection, entry: int, changes: Sequence[CellChange], fault: EvidenceError) -> str:
    """Say why an entry cannot be undone although its own cells are as it left them: others stand on its rows."""
    rows = {change.row for change in changes}
    gone = {part for row in rows for part in row}
    later = {}
    for number, key in store.execute("SELECT DISTINCT entry, row_key FROM ledger_cells WHERE entry > ?", (entry,)):
        if gone & set(json.loads(key)):
            later[number] = str(require_entry(store, number))
    named = "; ".join(later[number] for number in sorted(later)[:_NAMED])
    stands = f" Later entries that may stand on it: {named}." if named else ""
    return (
        f"entry {entry} cannot be undone: the evidence without it is not sound; nothing was changed.{stands}\n{fault}"
    )


def entry_table(store: sqlite3.Connection) -> pl.DataFrame:
    """Return the log as a table, newest first."""
    counts = dict(store.execute("SELECT entry, count(*) FROM ledger_cells GROUP BY entry"))
    undone = undone_by(store)
    rows = [
        (
            *(made.entry, made.kind, made.title, counts.get(made.entry, 0), made.by, made.time, made.update_id),
            *(made.undoes, undone.get(made.entry), made.fingerprint),
        )
        for made in entries_of(store)
    ]
    return pl.DataFrame(rows, schema=_ENTRIES, orient="row")


def cell_table(
    store: sqlite3.Connection,
    *,
    entry: int | None,
    table: str | None,
    row: Sequence[str] | None,
    field: str | None,
    text: str | None,
) -> pl.DataFrame:
    """Return changes of cells as a table, newest first, each with its entry, capture and address."""
    wanted = {"entry = ?": entry, "table_name = ?": table, "field = ?": field}
    wanted["row_key = ?"] = None if row is None else row_key(row)
    wanted["instr(row_key, ?)"] = text
    asked = {clause: value for clause, value in wanted.items() if value is not None}
    where = f"WHERE {' AND '.join(asked)}" if asked else ""
    query = f"SELECT entry, {_COLUMNS} FROM ledger_cells {where} ORDER BY entry DESC, place"
    entries = {found.entry: found for found in entries_of(store)}
    origins = {found.update_id: _origin(store, found.update_id) for found in entries.values()}
    rows = []
    for number, *cell in store.execute(query, tuple(asked.values())):
        change, made = _change(tuple(cell)), entries[number]
        facts = number, made.by, made.time, change.table, " · ".join(change.row)
        rows.append((*facts, change.field, change.old, change.new, change.line, *origins[made.update_id], made.title))
    return pl.DataFrame(rows, schema=_CELLS, orient="row")


def _origin(store: sqlite3.Connection, update_id: str | None) -> tuple[str | None, str | None]:
    """Return the capture an update was read from, and its address."""
    row = store.execute("SELECT text FROM ledger_updates WHERE update_id = ?", (update_id,)).fetchone()
    capture = Update.parse(row[0]).capture if row is not None else ""
    found = store.execute("SELECT address FROM ledger_captures WHERE capture = ?", (capture,)).fetchone()
    return capture or None, None if found is None else found[0]


def verify_history(store: sqlite3.Connection, state: Cells, name: str) -> None:
    """Take every entry back, newest first, and compare each state on the way with its fingerprint."""
    for entry in entries_of(store):
        if fingerprint_of(state) != entry.fingerprint:
            raise MensuraError(
                f"{name}: the cells are not those of {entry}; another program changed the store; restore {BACKUP}"
            )
        strange = take_back(state, reversed(cells_of(store, entry.entry)))
        if strange:
            raise MensuraError(f"{name}: {entry} records {strange[0]}, but the tables differ; restore {BACKUP}")
