"""The ledger: a store whose every change is an entry with who, when and where from, and can be undone."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import polars as pl

from mensura.core.errors import EvidenceError, MensuraError
from mensura.evidence.evidence import Evidence, completed, from_raw
from mensura.evidence.schema import CHART_SETTINGS
from mensura.evidence.store import Cells, fingerprint_of, refuse_newer
from mensura.ledger import log
from mensura.ledger.captures import Capture, capture_table, find_capture, keep_capture, new_capture
from mensura.ledger.naming import names_of_models
from mensura.ledger.store import (
    BACKUP,
    ConflictError,
    cell_of,
    raw_tables,
    read_state,
    schema_of,
    signed,
    take_back,
    transaction,
    write_cell,
    written_time,
)
from mensura.ledger.update import CellChange, Update, checked_change

POLICY_FIELDS = {
    "publication": "policy",
    "type": "policy",
    "tier": "models",
    "line": "models",
    "generation": "policy",
    "display": "policy",
}
"""The fields that decide where a model is drawn, with the table that has each."""
RULES = "chart_rules"
_LONGEST_REASON = 180
_LONGEST_TITLE = 300
_NAMED = 10  # conflicts that a message spells out


class EvidenceVersion(NamedTuple):
    """A state of the evidence.

    Attributes
    ----------
    entry : int
        Number of the entry that made it.
    fingerprint : str
        SHA-256 of its cells.

    """

    entry: int
    fingerprint: str


@dataclass(frozen=True)
class Ledger:
    """Read and change a store; each call is one transaction of its own.

    Attributes
    ----------
    path : Path
        The SQLite file (:func:`open_ledger` checks it first).

    """

    path: Path

    def version(self) -> EvidenceVersion:
        """Return the entry that made the present state, and its fingerprint."""
        with self._open() as store:
            last = log.last_entry(store)
        return EvidenceVersion(last.entry, last.fingerprint)

    def evidence(self, entry: int | None = None) -> Evidence:
        """Return the present evidence, or that after an entry."""
        with self._open() as store:
            state, last = read_state(store), log.last_entry(store).entry
            if entry is not None:
                log.require_entry(store, entry)
                take_back(state, log.cells_after(store, entry))
        return self._checked(state, f"{self.path}, entry {last if entry is None else entry}")

    def cells(self) -> Cells:
        """Return every cell as the store has it, by table, key of the row and field."""
        with self._open() as store:
            return read_state(store)

    def entries(self) -> pl.DataFrame:
        """Return the log, newest first."""
        with self._open() as store:
            return log.entry_table(store)

    def history(self, *, entry: int | None = None, text: str | None = None) -> pl.DataFrame:
        """Return every change of cells, newest first: of one entry, of rows whose key contains ``text``, or of all."""
        with self._open() as store:
            return log.cell_table(store, {"entry = ?": entry, "instr(row_key, ?)": text})

    def pending(self) -> pl.DataFrame:
        """Return the updates that wait for a reviewer."""
        with self._open() as store:
            return log.pending_table(store)

    def update(self, update: str) -> Update:
        """Return an update, pending or applied, by its id or the beginning of it."""
        with self._open() as store:
            return Update.parse(log.find_update(store, update)[1], name=f"update {update}")

    def propose(self, update: Update, *, by: str, when: datetime) -> str:
        """File an update for review and return its id."""
        _refuse_title(update)
        with self._open(writing=True) as store:
            log.file_update(store, update, by=signed(by), time=written_time(when), pending=True)
        return update.id

    def discard(self, update: str) -> str:
        """Remove a pending update and return its id."""
        with self._open(writing=True) as store:
            return log.discard_update(store, update)

    def captures(self) -> pl.DataFrame:
        """Return the captures without their contents."""
        with self._open() as store:
            return capture_table(store)

    def capture(self, capture: str) -> Capture:
        """Return a capture by its SHA-256 or the beginning of it."""
        with self._open() as store:
            return find_capture(store, capture)

    def add_capture(
        self, data: bytes, *, source: str, address: str, by: str, when: datetime, form: str | None = None
    ) -> str:
        """Keep raw text verbatim and return its SHA-256; the same bytes are kept once."""
        capture = new_capture(data, source=source, address=address, by=signed(by), time=written_time(when), form=form)
        with self._open(writing=True) as store:
            keep_capture(store, capture)
        return capture.capture

    def with_update(self, update: Update) -> Evidence:
        """Return the evidence as it would be with an update, checked; nothing is written."""
        changes = _checked_changes(update)
        with self._open() as store:
            state = read_state(store)
            refuse_conflicts(store, changes, update.title)
        take_back(state, [change._replace(old=change.new, new=change.old) for change in changes])
        return self._checked(state, f"{self.path} + {update.title}")

    def apply(self, update: Update, *, by: str, when: datetime, expected: str | None = None) -> EvidenceVersion:
        """Write an update: every cell of it or none.

        Refused where a cell no longer has the value that the update expects (somebody was faster), where the update is
        applied already, where the evidence with it would not be sound, or where its fingerprint is not ``expected``.
        """
        changes = _checked_changes(update)
        with self._open(writing=True) as store:
            _refuse_moved(store, expected)
            log.refuse_applied(store, update.id)
            refuse_conflicts(store, changes, update.title)
            log.file_update(store, update, by=signed(by), time=written_time(when), pending=False)
            return self._commit(store, "apply", update.title, changes, by=by, when=when, update_id=update.id)

    def undo(self, entry: int, *, by: str, when: datetime, expected: str | None = None) -> EvidenceVersion:
        """Take one entry back and keep those after it; where they depend on it, refuse and name them."""
        with self._open(writing=True) as store:
            _refuse_moved(store, expected)
            changes = log.undoing(store, entry)
            title = f"undo of entry {entry}: {log.require_entry(store, entry).title}"
            try:
                return self._commit(store, "undo", title, changes, by=by, when=when, undoes=entry)
            except EvidenceError as fault:
                raise ConflictError(log.why_not(store, entry, changes, fault)) from fault

    def policy(self) -> pl.DataFrame:
        """Return which models charts show and why: one row per model with every policy field, blank for the rules."""
        evidence = self.evidence()
        facts = evidence.models.select("subject", "name", "tier", "line")
        joined = facts.join(evidence.policy, on="subject", how="left", maintain_order="left")
        return joined.select("subject", "name", *POLICY_FIELDS, "reason")

    def policy_edit(self, subject: str, fields: Mapping[str, str | None], *, reason: str) -> Update:
        """Return the update that gives a model other policy fields, or a chart rule its value.

        ``subject`` is a model, by id or name; or ``chart_rules`` with the settings as fields. None makes a field blank.
        """
        return _policy_changes(self.cells(), subject, fields, reason)

    def verify(self) -> None:
        """Check that the file is whole and that its history leads from entry 0 to its cells."""
        with self._open() as store:
            result = store.execute("PRAGMA integrity_check").fetchone()[0]
            if result != "ok":
                raise MensuraError(f"{self.path}: the file is damaged ({result}); restore {BACKUP}")
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
        """Write cells and their entry into an open transaction, and check the state they make as a whole."""
        for change in changes:
            write_cell(store, change)
        state = read_state(store)
        self._checked(state, title)
        version = EvidenceVersion(log.last_entry(store).entry + 1, fingerprint_of(state))
        signature = signed(by), written_time(when)
        made = log.LedgerEntry(version.entry, kind, title, update_id, undoes, *signature, version.fingerprint)
        log.write_entry(store, made, changes)
        return version

    def _checked(self, state: Cells, origin: str) -> Evidence:
        return from_raw(completed(raw_tables(state, self.path)), origin=origin)

    @contextmanager
    def _open(self, *, writing: bool = False) -> Iterator[sqlite3.Connection]:
        """Yield a transaction on a store whose schema is this one's; somebody may have upgraded it meanwhile."""
        with transaction(self.path, writing=writing) as store:
            refuse_newer(schema_of(store), self.path)
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
        raise ConflictError(f"the evidence has changed since you read it: {last}; read it again and repeat the change")


def refuse_conflicts(store: sqlite3.Connection, changes: Sequence[CellChange], title: str) -> None:
    """Refuse changes whose cell has another value than they expect, naming who changed it."""
    conflicts = [
        f"  {change}, but the cell holds {cell_of(store, change) or 'nothing'}{log.last_change(store, change)}"
        for change in changes
        if cell_of(store, change) != change.old
    ]
    if conflicts:
        more = [f"  … and {len(conflicts) - _NAMED} more"] if len(conflicts) > _NAMED else []
        raise ConflictError(
            f"{title}: {len(conflicts)} of {len(changes)} cells are not what the update was made for; nothing was "
            "changed. Run mensura evidence extract on its capture again\n" + "\n".join([*conflicts[:_NAMED], *more])
        )


# Policy fields: a model has them in two tables, and a chart rule its value in a third.


def _policy_changes(cells: Cells, subject: str, fields: Mapping[str, str | None], reason: str) -> Update:
    reason = reason.strip() if reason.isprintable() else ""
    if not 0 < len(reason) <= _LONGEST_REASON:
        raise MensuraError(
            f"reason: empty, or no line of at most {_LONGEST_REASON}; say why, it is shown with the model"
        )
    allowed = CHART_SETTINGS if subject == RULES else tuple(POLICY_FIELDS)
    unknown = [name for name in fields if name not in allowed]
    if subject != RULES:
        subject = _model(cells, subject)
    if unknown:
        raise MensuraError(f"policy: got {', '.join(unknown)}; expected some of {', '.join(allowed)}")
    changes = []
    for name, value in fields.items():
        place = (RULES, (name,), "value") if subject == RULES else (POLICY_FIELDS[name], (subject,), name)
        old, new = cells[place[0]].get(place[1], {}).get(place[2]), (value or "").strip() or None
        if old != new:
            changes.append(CellChange(*place, old, new))
    edited = {change.field: change.new for change in changes if change.table == "policy"}
    if edited:
        row = dict(cells["policy"].get((subject,), {}))
        before = row.pop("reason", None)
        because = reason if any(cell is not None for cell in (row | edited).values()) else None
        if before != because:
            changes.append(CellChange("policy", (subject,), "reason", before, because))
    if not changes:
        raise MensuraError(f"policy of {subject}: the policy already has these values; give another value")
    return Update(title=f"policy of {subject}: {reason}", source="policy", changes=tuple(changes))


def _model(cells: Cells, written: str) -> str:
    match = names_of_models(cells).match(written)
    if match.id is None:
        advice = match.hint or "; run mensura evidence summary --models all to list them"
        raise MensuraError(f"model: {written!r} is not in the evidence{advice}")
    return match.id
