"""How a test was given: when, in which language, by which mode; what a rate means hangs on all three."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from mensura.core.errors import MensuraError

MODES = ("paper", "computer", "web", "interview", "mixed")
"""On paper, on a computer under supervision, on the web without, read out by an interviewer, or several of these."""
EARLIEST, LATEST = 1900, 2100
COLUMNS = ("year", "language", "mode")


@dataclass(frozen=True)
class Administration:
    """Year, language and mode of a pool's test; None where unknown."""

    year: int | None = None
    language: str | None = None
    mode: str | None = None

    def __post_init__(self) -> None:
        if self.year is not None and not EARLIEST <= self.year <= LATEST:
            raise MensuraError(f"administration: year must lie between {EARLIEST} and {LATEST}, got {self.year}")
        if self.mode is not None and self.mode not in MODES:
            raise MensuraError(f"administration: unknown mode {self.mode!r}; expected one of {', '.join(MODES)}")

    @classmethod
    def from_table(cls, table: pl.DataFrame, *, name: str) -> Administration:
        """Read a table of one row; columns it lacks, and empty fields, are unknown."""
        if table.height != 1:
            raise MensuraError(f"{name}: one row is needed (year, language, mode), got {table.height}")
        if unknown := set(table.columns) - set(COLUMNS):
            raise MensuraError(f"{name}: unknown column {unknown.pop()!r}; expected {', '.join(COLUMNS)}")
        row = table.row(0, named=True)
        year = row.get("year")
        if year is not None and not (isinstance(year, int) or (isinstance(year, float) and year.is_integer())):
            raise MensuraError(f"{name}: year must be a whole number, got {year!r}")
        texts = {column: row.get(column) or None for column in ("language", "mode")}
        return cls(None if year is None else int(year), **texts)

    @property
    def known(self) -> bool:
        """Whether anything is known."""
        return self != UNKNOWN

    def table(self) -> pl.DataFrame:
        """Return year, language and mode as a table of one row."""
        types = {"year": pl.Int64, "language": pl.String, "mode": pl.String}
        return pl.DataFrame([{"year": self.year, "language": self.language, "mode": self.mode}], schema=types)

    def __str__(self) -> str:
        parts = (self.year, self.language, self.mode)
        return ", ".join(str(part) for part in parts if part is not None)


UNKNOWN = Administration()
