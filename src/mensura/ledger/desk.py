"""What lies on a reviewer's desk: captures that were kept, updates that wait or were applied."""

from __future__ import annotations

import re
import sqlite3
from typing import NamedTuple

import polars as pl

from mensura.core.errors import MensuraError
from mensura.ledger import log
from mensura.ledger.captures import Capture
from mensura.ledger.store import ConflictError
from mensura.ledger.update import Update

_FEWEST_DIGITS = 6  # of a hash that name a thing
_PENDING = {
    **dict.fromkeys(("update", "title", "source", "capture", "by", "time"), pl.String),
    **dict.fromkeys(("changes", "proposals", "unmatched", "skipped"), pl.Int64),
}
_CAPTURES = {**dict.fromkeys(("capture", "source", "address", "by", "time", "format"), pl.String), "bytes": pl.Int64}


class FiledUpdate(NamedTuple):
    """An update as it lies in the store."""

    id: str
    text: str
    by: str
    time: str
    pending: bool


_LISTED = {
    "ledger_updates": "mensura evidence log --pending",
    "ledger_captures": "mensura evidence log --captures",
}
"""The command that lists what a table holds."""


def _find(store: sqlite3.Connection, table: str, column: str, given: str) -> str:
    """Return the one hash that begins with the digits given."""
    if not re.fullmatch(rf"[0-9a-f]{{{_FEWEST_DIGITS},64}}", given):
        raise MensuraError(
            f"{column.removesuffix('_id')}: got {given[:80]!r}; expected at least {_FEWEST_DIGITS} hexadecimal digits "
            f"of it; {_LISTED[table]} lists them"
        )
    query = f"SELECT {column} FROM {table} WHERE substr({column}, 1, ?) = ? LIMIT 2"
    found = [row[0] for row in store.execute(query, (len(given), given))]
    if len(found) == 1:
        return str(found[0])
    raise MensuraError(
        f"{column.removesuffix('_id')}: {given} "
        + (
            "begins like this more than once; give more digits"
            if found
            else f"is not in the store; run {_LISTED[table]} to list those that are"
        )
    )


def find_update(store: sqlite3.Connection, update: str) -> FiledUpdate:
    """Return an update by its id or the beginning of it."""
    ident = _find(store, "ledger_updates", "update_id", update)
    row = store.execute(
        "SELECT update_id, text, by, time, pending FROM ledger_updates WHERE update_id = ?", (ident,)
    ).fetchone()
    return FiledUpdate(row[0], row[1], row[2], row[3], bool(row[4]))


def file_update(store: sqlite3.Connection, update: Update, *, by: str, time: str, pending: bool) -> None:
    """Keep the text of an update; one that waited is marked as done when it is applied, one that stands never waits."""
    waits = pending and _standing(store, update.id) is None
    store.execute(
        "INSERT INTO ledger_updates VALUES (?, ?, ?, ?, ?) ON CONFLICT (update_id) DO UPDATE SET pending = ?",
        (update.id, update.text(), by, time, waits, waits),
    )


def discard_update(store: sqlite3.Connection, update: str) -> str:
    """Remove an update that waits."""
    found = find_update(store, update)
    if not found.pending:
        raise MensuraError(f"update: {found.id} was applied; undo takes its entry back")
    store.execute("DELETE FROM ledger_updates WHERE update_id = ?", (found.id,))
    return found.id


def refuse_applied(store: sqlite3.Connection, update_id: str) -> None:
    """Refuse an update that stands already; one that was undone may come again."""
    entry = _standing(store, update_id)
    if entry is not None:
        raise ConflictError(
            f"update {update_id} is applied already: entry {entry.entry} by {entry.by}, {entry.time}; "
            f"mensura evidence undo {entry.entry} takes it back"
        )


def _standing(store: sqlite3.Connection, update_id: str) -> log.LedgerEntry | None:
    """Return the entry that applied an update and was not undone."""
    undone = log.undone_by(store)
    found = (entry for entry in log.entries_of(store) if entry.update_id == update_id and entry.entry not in undone)
    return next(found, None)


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


def keep_capture(store: sqlite3.Connection, capture: Capture) -> None:
    """Keep a capture; the same bytes stay as they were first kept."""
    store.execute(
        "INSERT INTO ledger_captures VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (capture) DO NOTHING",
        (
            *(capture.capture, capture.source, capture.address, capture.by, capture.time, capture.form),
            capture.data,
        ),
    )


def find_capture(store: sqlite3.Connection, capture: str) -> Capture:
    """Return a capture by its SHA-256 or the beginning of it."""
    ident = _find(store, "ledger_captures", "capture", capture)
    row = store.execute("SELECT * FROM ledger_captures WHERE capture = ?", (ident,)).fetchone()
    return Capture(*row)


def capture_table(store: sqlite3.Connection) -> pl.DataFrame:
    """Return the captures, newest first, without their contents."""
    query = "SELECT capture, source, address, by, time, format, length(data) FROM ledger_captures"
    rows = store.execute(f"{query} ORDER BY time DESC, capture").fetchall()
    return pl.DataFrame(rows, schema=_CAPTURES, orient="row")
