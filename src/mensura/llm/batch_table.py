"""The batches in a journal, written down before they are submitted: none is lost or submitted twice."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from mensura.llm.journal import Journal

_COLUMNS = "id, reference, model, endpoint, remote, state, calls, made, owner"
OPEN_STATES = ("intended", "submitted")


@dataclass(frozen=True)
class BatchRecord:
    """One batch. ``state``: intended, submitted, collected or lost; ``remote``: the provider's id, once known."""

    number: int
    reference: str
    model: str
    endpoint: str
    remote: str
    state: str
    calls: int
    made: float
    owner: int | None


class BatchTable:
    """Reads and writes the batches of an open journal; writing belongs inside a transaction."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._connection = journal.connection

    def records(self, *states: str) -> list[BatchRecord]:
        """Return the batches in any of these states, oldest first; all of them when none is named."""
        rows = self._connection.execute(f"SELECT {_COLUMNS} FROM batches ORDER BY id")
        records = [BatchRecord(*row) for row in rows]
        return [record for record in records if not states or record.state in states]

    def intend(self, reference: str, model: str, endpoint: str, keys: Sequence[bytes]) -> int:
        """Write down a batch before it is submitted, and that these claimed questions are in it."""
        made = (reference, model, endpoint, "intended", len(keys), time.time(), self._journal.owner)
        columns = "reference, model, endpoint, state, calls, made, owner"
        statement = f"INSERT INTO batches ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id"
        (number,) = self._connection.execute(statement, made).fetchone()
        self._connection.executemany(
            "UPDATE calls SET state = 3, owner = NULL, batch = ? WHERE key = ?", [(number, key) for key in keys]
        )
        return int(number)

    def submitted(self, number: int, remote: str) -> None:
        """Write down the provider's id of a batch."""
        self._connection.execute(
            "UPDATE batches SET state = 'submitted', remote = ?, owner = NULL WHERE id = ?", (remote, number)
        )

    def finished(self, number: int, state: str) -> None:
        """Close a batch; those of its questions that have no answer may be asked again."""
        self._connection.execute("UPDATE batches SET state = ?, owner = NULL WHERE id = ?", (state, number))
        self._connection.execute("UPDATE calls SET state = 0, owner = NULL WHERE batch = ? AND state = 3", (number,))

    def keys_of(self, number: int) -> list[bytes]:
        """Return the questions of a batch that have no outcome yet."""
        rows = self._connection.execute("SELECT key FROM calls WHERE batch = ? AND state = 3", (number,))
        return [key for (key,) in rows.fetchall()]

    def of_questions(self, keys: Sequence[bytes]) -> dict[bytes, BatchRecord]:
        """Return the open batch that each of these questions is in, if any."""
        records = {record.number: record for record in self.records(*OPEN_STATES)}
        found = {}
        for key in keys:
            row = self._connection.execute("SELECT batch FROM calls WHERE key = ? AND state = 3", (key,)).fetchone()
            if row is not None and row[0] in records:
                found[key] = records[row[0]]
        return found
