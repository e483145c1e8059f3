"""What a table of evidence is made of: columns, what a cell may hold, and the columns that identify a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import polars as pl

from mensura.evidence.ids import ALLOWED

Kind: TypeAlias = Literal["text", "id", "number", "integer", "flag", "date", "when"]

DTYPES: dict[str, pl.DataType] = {
    "text": pl.String(),
    "id": pl.String(),
    "number": pl.Float64(),
    "integer": pl.Int64(),
    "flag": pl.Boolean(),
    "date": pl.Date(),
    "when": pl.String(),
}


@dataclass(frozen=True)
class Column:
    """One column: what it means, and what a cell may hold."""

    name: str
    about: str
    kind: Kind = "text"
    required: bool = False
    low: float | None = None
    high: float | None = None
    one_of: tuple[str, ...] = ()
    references: str = ""  # "table.column" whose values this column may hold

    @property
    def expected(self) -> str:
        """What a cell should hold, in words for error messages and documentation."""
        words = {
            "text": "text",
            "id": ALLOWED,
            "number": "a number",
            "integer": "a whole number",
            "flag": "yes or no",
            "date": "a date such as 2026-09-30",
            "when": "a day or a month, such as 2026-09-30 or 2026-09",
        }[self.kind]
        if self.one_of:
            words = f"one of {', '.join(self.one_of)}"
        if self.low is not None and self.high is not None:
            words += f" from {self.low:g} to {self.high:g}"
        elif self.low is not None:
            words += f" of at least {self.low:g}"
        return words


@dataclass(frozen=True)
class Table:
    """One evidence table: its columns and the columns that identify a row."""

    name: str
    about: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]

    def column(self, name: str) -> Column:
        """Return the column of this name."""
        return next(column for column in self.columns if column.name == name)

    @property
    def dtypes(self) -> dict[str, pl.DataType]:
        """Return the polars types of the checked table."""
        return {column.name: DTYPES[column.kind] for column in self.columns}
