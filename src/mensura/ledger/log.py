"""Entries of the ledger and the cells each changed, with the way back; updates that wait for a reviewer."""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from mensura.core.errors import EvidenceError, MensuraError
from mensura.evidence.store import Cells, fingerprint_of
from mensura.ledger.captures import find_hash
from mensura.ledger.store import BACKUP, ConflictError, cell_of, take_back
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
    **dict.fromkeys(("by", "time", "table", "row", "field", "old", "new"), pl.String),
    "line": pl.Int64,
    **dict.fromkeys(("capture", "address", "title"), pl.String),
}
_PENDING = {
    **dict.fromkeys(("update", "title", "source", "capture", "by", "time"), pl.String),
    **dict.fromkeys(("changes", "proposals", "unmatched", "skipped"), pl.Int64),
}
_COLUMNS = "table_name, row_key, field, old, new, line"
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
        raise MensuraError("the store has no first entry; expected a store that mensura evidence init made")
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
    made = require_entry(store, entry)
    if made.kind == "init":
        raise MensuraError(f"entry: {entry} is the beginning of the store and cannot be undone; choose a later entry")
    undone = undone_by(store)
    if entry in undone:
        raise ConflictError(
            f"{made} is already undone by entry {undone[entry]}; to restore it, run mensura evidence undo "
            f"{undone[entry]}"
        )
    back = [c._replace(old=c.new, new=c.old, line=None) for c in reversed(cells_of(store, entry))]
    if moved := [change for change in back if cell_of(store, change) != change.old]:
        listed = "\n".join(f"  {_now(store, change)}" for change in moved[:_NAMED])
        raise ConflictError(
            f"{made} cannot be undone: {len(moved)} of its {len(back)} cells were changed after it; nothing was "
            f"changed. Undo those entries first: run mensura evidence undo ENTRY\n{listed}"
        )
    return back


def _now(store: sqlite3.Connection, change: CellChange) -> str:
    cell = f"{change.table} {' · '.join(change.row)}, {change.field}"
    now = cell_of(store, change) or "blank"
    return f"{cell}: it wrote {change.old or 'blank'}, now {now}{last_change(store, change)}"


def why_not(store: sqlite3.Connection, entry: int, changes: Sequence[CellChange], fault: EvidenceError) -> str:
    """Say why an entry cannot be undone although its own cells are as it left them: others stand on its rows."""
    gone = {part for change in changes for part in change.row}
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
        (entry, kind, title, counts.get(entry, 0), by, time, update, undoes, undone.get(entry), fingerprint)
        for entry, kind, title, update, undoes, by, time, fingerprint in entries_of(store)
    ]
    return pl.DataFrame(rows, schema=_ENTRIES, orient="row")


def cell_table(store: sqlite3.Connection, wanted: Mapping[str, int | str | None]) -> pl.DataFrame:
    """Return changes of cells as a table, newest first, each with its entry, capture and address.

    ``wanted``: conditions of SQL with their values; None for one that does not matter.
    """
    asked = {clause: value for clause, value in wanted.items() if value is not None}
    where = f"WHERE {' AND '.join(asked)}" if asked else ""
    query = f"SELECT entry, {_COLUMNS} FROM ledger_cells {where} ORDER BY entry DESC, place"
    entries = {made.entry: made for made in entries_of(store)}
    origins = {made.update_id: _origin(store, made.update_id) for made in entries.values()}
    rows = []
    for number, *cell in store.execute(query, tuple(asked.values())):
        change, made = _change(tuple(cell)), entries[number]
        place = change.table, " · ".join(change.row)
        rows.append((number, made.by, made.time, *place, *change[2:], *origins[made.update_id], made.title))
    return pl.DataFrame(rows, schema=_CELLS, orient="row")


def _origin(store: sqlite3.Connection, update_id: str | None) -> tuple[str | None, str | None]:
    """Return the capture an update was read from, and its address."""
    row = store.execute("SELECT text FROM ledger_updates WHERE update_id = ?", (update_id,)).fetchone()
    capture = Update.parse(row[0]).capture if row is not None else ""
    address = store.execute("SELECT address FROM ledger_captures WHERE capture = ?", (capture,)).fetchone()
    return capture or None, None if address is None else address[0]


def verify_history(store: sqlite3.Connection, state: Cells, name: str) -> None:
    """Take every entry back, newest first, and compare each state on the way with its fingerprint."""
    for entry in entries_of(store):
        if fingerprint_of(state) != entry.fingerprint:
            raise MensuraError(
                f"{name}: the cells are not those of {entry}; another program changed the store; restore {BACKUP}"
            )
        if strange := take_back(state, reversed(cells_of(store, entry.entry))):
            raise MensuraError(f"{name}: {entry} records {strange[0]}, but the tables differ; restore {BACKUP}")


# Updates that wait for a reviewer, or were applied


def find_update(store: sqlite3.Connection, update: str) -> tuple[str, str, bool]:
    """Return id, text and whether it waits, of an update by its id or the beginning of it."""
    ident = find_hash(store, "ledger_updates", "update_id", update)
    text, pending = store.execute("SELECT text, pending FROM ledger_updates WHERE update_id = ?", (ident,)).fetchone()
    return ident, text, bool(pending)


def file_update(store: sqlite3.Connection, update: Update, *, by: str, time: str, pending: bool) -> None:
    """Keep the text of an update; one that waited is marked as done when it is applied, one that stands never waits."""
    waits = pending and _standing(store, update.id) is None
    store.execute(
        "INSERT INTO ledger_updates VALUES (?, ?, ?, ?, ?) ON CONFLICT (update_id) DO UPDATE SET pending = ?",
        (update.id, update.text(), by, time, waits, waits),
    )


def discard_update(store: sqlite3.Connection, update: str) -> str:
    """Remove an update that waits."""
    ident, _, pending = find_update(store, update)
    if not pending:
        raise MensuraError(f"update: {ident} was applied; undo takes its entry back")
    store.execute("DELETE FROM ledger_updates WHERE update_id = ?", (ident,))
    return ident


def refuse_applied(store: sqlite3.Connection, update_id: str) -> None:
    """Refuse an update that stands already; one that was undone may come again."""
    if entry := _standing(store, update_id):
        raise ConflictError(
            f"update {update_id} is applied already: entry {entry.entry} by {entry.by}, {entry.time}; "
            f"mensura evidence undo {entry.entry} takes it back"
        )


def _standing(store: sqlite3.Connection, update_id: str) -> LedgerEntry | None:
    """Return the entry that applied an update and was not undone."""
    undone = undone_by(store)
    return next((made for made in entries_of(store) if made.update_id == update_id and made.entry not in undone), None)


def pending_table(store: sqlite3.Connection) -> pl.DataFrame:
    """Return the updates that wait, oldest first, with what each holds."""
    rows = []
    for ident, text, by, time in store.execute(
        "SELECT update_id, text, by, time FROM ledger_updates WHERE pending ORDER BY time, update_id"
    ):
        update = Update.parse(text, name=f"update {ident}")
        counts = map(len, (update.changes, update.proposals, update.unmatched, update.skipped))
        rows.append((ident, update.title, update.source, update.capture, by, time, *counts))
    return pl.DataFrame(rows, schema=_PENDING, orient="row")
