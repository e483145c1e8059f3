"""The ledger: a store whose every change is an entry with who, when and where from, and can be undone."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import polars as pl

from mensura.core.errors import MensuraError
from mensura.evidence.evidence import Evidence, completed, from_raw
from mensura.evidence.store import Cells, fingerprint_of, refuse_newer
from mensura.intake.faults import EvidenceError
from mensura.ledger import desk, log
from mensura.ledger.captures import Capture, new_capture
from mensura.ledger.policy import policy_changes, policy_table
from mensura.ledger.state import cell_of, raw_tables, read_state, take_back, write_cell
from mensura.ledger.store import BACKUP, ConflictError, schema_of, signed, transaction, written_time
from mensura.ledger.update import CellChange, Update, checked_change

_NAMED = 10  # conflicts that a message spells out
_LONGEST_TITLE = 300


class EvidenceVersion(NamedTuple):
    """A state of the evidence: the entry that made it, and the SHA-256 of its cells."""

    entry: int
    fingerprint: str


@dataclass(frozen=True)
class Ledger:
    """A store at a path. Reading and changing go through here; each call is one transaction of its own."""

    path: Path

    def version(self) -> EvidenceVersion:
        """Return the entry that made the present state, and its fingerprint."""
        with self._reading() as store:
            last = log.last_entry(store)
        return EvidenceVersion(last.entry, last.fingerprint)

    def evidence(self, entry: int | None = None) -> Evidence:
        """Return the evidence as it is, or as it was after an entry."""
        with self._reading() as store:
            state, last = read_state(store), log.last_entry(store).entry
            if entry is not None:
                log.require_entry(store, entry)
                take_back(state, log.cells_after(store, entry))
        shown = last if entry is None else entry
        return self._checked(state, f"{self.path}, entry {shown}")

    def cells(self) -> Cells:
        """Return every cell as it stands in the store, by table, key of the row and field."""
        with self._reading() as store:
            return read_state(store)

    def entries(self) -> pl.DataFrame:
        """Return the log, newest first."""
        with self._reading() as store:
            return log.entry_table(store)

    def history(
        self,
        *,
        entry: int | None = None,
        table: str | None = None,
        row: Sequence[str] | None = None,
        field: str | None = None,
        text: str | None = None,
    ) -> pl.DataFrame:
        """Return every change of the cells asked for, newest first; ``text`` is any part of a row's key."""
        with self._reading() as store:
            return log.cell_table(store, entry=entry, table=table, row=row, field=field, text=text)

    def pending(self) -> pl.DataFrame:
        """Return the updates that wait for a reviewer."""
        with self._reading() as store:
            return desk.pending_table(store)

    def update(self, update: str) -> Update:
        """Return an update, pending or applied, by its id or the beginning of it."""
        with self._reading() as store:
            return Update.parse(desk.find_update(store, update).text, name=f"update {update}")

    def propose(self, update: Update, *, by: str, when: datetime) -> str:
        """File an update for review and return its id."""
        _refuse_title(update)
        with self._writing() as store:
            desk.file_update(store, update, by=signed(by), time=written_time(when), pending=True)
        return update.id

    def discard(self, update: str) -> str:
        """Take a pending update off the desk and return its id."""
        with self._writing() as store:
            return desk.discard_update(store, update)

    def captures(self) -> pl.DataFrame:
        """Return the captures without their contents."""
        with self._reading() as store:
            return desk.capture_table(store)

    def capture(self, capture: str) -> Capture:
        """Return a capture by its SHA-256 or the beginning of it."""
        with self._reading() as store:
            return desk.find_capture(store, capture)

    def add_capture(
        self, data: bytes, *, source: str, address: str, by: str, when: datetime, form: str | None = None
    ) -> str:
        """Keep raw text verbatim and return its SHA-256; the same bytes are kept once."""
        capture = new_capture(data, source=source, address=address, by=signed(by), time=written_time(when), form=form)
        with self._writing() as store:
            desk.keep_capture(store, capture)
        return capture.capture

    def with_update(self, update: Update) -> Evidence:
        """Return the evidence as it would be with an update, checked; nothing is written."""
        changes = _checked_changes(update)
        with self._reading() as store:
            state = read_state(store)
            refuse_conflicts(store, changes, update.title)
        for change in changes:
            _set(state, change)
        return self._checked(state, f"{self.path} + {update.title}")

    def apply(self, update: Update, *, by: str, when: datetime, expected: str | None = None) -> EvidenceVersion:
        """Write an update: every cell of it or none.

        Refused where a cell no longer holds what the update says it does (somebody was faster), where the update is
        applied already, where the evidence with it would not be sound, or where its fingerprint is not ``expected``.
        """
        changes = _checked_changes(update)
        with self._writing() as store:
            _refuse_moved(store, expected)
            desk.refuse_applied(store, update.id)
            refuse_conflicts(store, changes, update.title)
            desk.file_update(store, update, by=signed(by), time=written_time(when), pending=False)
            return self._commit(store, "apply", update.title, changes, by=by, when=when, update_id=update.id)

    def undo(self, entry: int, *, by: str, when: datetime, expected: str | None = None) -> EvidenceVersion:
        """Take one entry back and keep those after it; where they stand on it, refuse and name them."""
        with self._writing() as store:
            _refuse_moved(store, expected)
            changes = log.undoing(store, entry)
            title = f"undo of entry {entry}: {log.require_entry(store, entry).title}"
            try:
                return self._commit(store, "undo", title, changes, by=by, when=when, undoes=entry)
            except EvidenceError as fault:
                raise ConflictError(log.why_not(store, entry, changes, fault)) from fault

    def policy(self) -> pl.DataFrame:
        """Return which models charts show and why: one row per model with every policy field."""
        return policy_table(self.evidence())

    def policy_edit(self, subject: str, fields: Mapping[str, str | None], *, reason: str) -> Update:
        """Return the update that gives a model other policy fields, or a chart rule its value.

        ``subject`` is a model, by id or name; or ``chart_rules`` with the settings as fields.
        """
        return policy_changes(self.cells(), subject, fields, reason)

    def verify(self) -> None:
        """Check that the file is whole and that its history leads from entry 0 to the cells it holds."""
        with self._reading() as store:
            found = store.execute("PRAGMA integrity_check").fetchone()[0]
            if found != "ok":
                raise MensuraError(f"{self.path}: the file is damaged ({found}); restore {BACKUP}")
            log.verify_history(store, read_state(store), str(self.path))

    def _commit(
        self,
        store: sqlite3.Connection,
        kind: str,
        title: str,
        changes: Sequence[CellChange],
        *,
        by: str,
        when: datetime,
        update_id: str | None = None,
        undoes: int | None = None,
    ) -> EvidenceVersion:
        """Write cells and their entry into an open transaction; what then stands there is checked as a whole."""
        for change in changes:
            write_cell(store, change)
        state = read_state(store)
        self._checked(state, title)
        number = log.last_entry(store).entry + 1
        made = log.LedgerEntry(
            number, kind, title, update_id, undoes, signed(by), written_time(when), fingerprint_of(state)
        )
        log.write_entry(store, made, changes)
        return EvidenceVersion(number, made.fingerprint)

    def _checked(self, state: Cells, origin: str) -> Evidence:
        return from_raw(completed(raw_tables(state, self.path)), origin=origin)

    def _reading(self) -> AbstractContextManager[sqlite3.Connection]:
        return _known(self.path, writing=False)

    def _writing(self) -> AbstractContextManager[sqlite3.Connection]:
        return _known(self.path, writing=True)


@contextmanager
def _known(path: Path, *, writing: bool) -> Iterator[sqlite3.Connection]:
    """Yield a transaction on a store whose schema is this one's; somebody may have upgraded it meanwhile."""
    with transaction(path, writing=writing) as store:
        refuse_newer(schema_of(store), path)
        yield store


def _checked_changes(update: Update) -> tuple[CellChange, ...]:
    """Return what an update changes, every change fit for a cell; one that changes nothing is refused."""
    _refuse_title(update)
    changes = tuple(checked_change(change, update.title) for change in update.effective)
    if not changes:
        waiting = sum(not proposal.accept for proposal in update.proposals)
        raise MensuraError(
            f"{update.title}: no cell changes"
            + (f"; set accept = true in the {waiting} proposals that wait" if waiting else "; change at least one cell")
        )
    return changes


def _refuse_title(update: Update) -> None:
    """Refuse an update whose title would not show as one line of a log."""
    if not 0 < len(update.title.strip()) <= _LONGEST_TITLE or not update.title.isprintable():
        raise MensuraError(f"title: got {update.title[:80]!r}; expected one printable line of {_LONGEST_TITLE} at most")


def _refuse_moved(store: sqlite3.Connection, expected: str | None) -> None:
    last = log.last_entry(store)
    if expected is not None and last.fingerprint != expected:
        raise ConflictError(
            f"the evidence has changed since you read it: entry {last.entry} ({last.title}) by {last.by}, "
            f"{last.time}; read it again, then repeat the change"
        )


def refuse_conflicts(store: sqlite3.Connection, changes: Sequence[CellChange], title: str) -> None:
    """Refuse changes whose cell does not hold what they say it does, naming who changed it."""
    found = []
    for change in changes:
        now = cell_of(store, change)
        if now != change.old:
            since = log.last_change(store, change)
            found.append(f"{change}, but the cell holds {now or 'nothing'}{since}")
    if found:
        more = f"\n  … and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        listed = "\n".join(f"  {line}" for line in found[:_NAMED])
        raise ConflictError(
            f"{title}: {len(found)} of {len(changes)} cells are not what the update was made for; nothing was changed. "
            f"Run mensura evidence extract on its capture again\n{listed}{more}"
        )


def _set(state: Cells, change: CellChange) -> None:
    """Give a cell its new value in a state."""
    take_back(state, [change._replace(old=change.new, new=change.old)])
