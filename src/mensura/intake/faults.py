"""Faults found in evidence: all of them at once, each with file, row, column, value and what was expected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mensura.core.errors import MensuraError


@dataclass(frozen=True)
class Fault:
    """One thing wrong in one file. ``row`` counts as an editor does: the header is row 1; 0 means the whole file."""

    file: str
    row: int
    column: str
    value: str
    expected: str

    def __str__(self) -> str:
        where = (
            self.file + (f", row {self.row}" if self.row else "") + (f", column {self.column}" if self.column else "")
        )
        got = f"got {self.value!r}; " if self.value else ""
        return f"{where}: {got}expected {self.expected}"


class EvidenceError(MensuraError):
    """Evidence that was refused; ``faults`` lists every reason, the message prints them."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
        listed = "\n".join(f"  {fault}" for fault in faults)
        super().__init__(f"evidence refused, {count}; nothing was loaded or changed\n{listed}")
