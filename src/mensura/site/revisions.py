"""What the log of a store says about the evidence: which entries came since an edition, and what each changed.

A static report and the live site tell what changed by the same words: both hand the log to
:func:`mensura.site.editions.next_edition`. Who signed an entry stays in the store; readers get what changed and why.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from mensura.charts.values import listed
from mensura.evidence import Evidence
from mensura.site.texts import first_link
from mensura.study.units import show

if TYPE_CHECKING:
    from mensura.ledger import Ledger

_NAMED = 6
"""Rows of an entry listed one by one; more are counted."""
_KEY_MARK = " · "
"""Between the parts of a row's key in the log; no id holds it."""
_BEGINNING = "init"


@dataclass(frozen=True)
class Revision:
    """One entry of the log in words: ``title`` says why, ``said`` what changed, ``address`` where it was read."""

    entry: int
    day: str
    title: str
    said: tuple[str, ...]
    undone_by: int | None = None
    address: str | None = None


@dataclass(frozen=True)
class EvidenceLog:
    """The log of a store.

    Attributes
    ----------
    entries, cells : polars.DataFrame
        The entries and what each changed, as :class:`mensura.ledger.Ledger` gives them.

    """

    entries: pl.DataFrame
    cells: pl.DataFrame

    @classmethod
    def of(cls, ledger: Ledger, entry: int | None = None) -> EvidenceLog:
        """Read the log of a store, as far as an entry: what is written meanwhile belongs to the next edition."""
        entries, cells = ledger.entries(), ledger.history()
        if entry is not None:
            entries, cells = (table.filter(pl.col("entry") <= entry) for table in (entries, cells))
        return cls(entries, cells)

    @property
    def last(self) -> int:
        """The newest entry."""
        return int(self.entries["entry"].max())  # type: ignore[arg-type]

    def since(self, entry: int | None) -> EvidenceLog:
        """Return what came after an entry; all but the beginning where none is given."""
        after = pl.lit(value=True) if entry is None else pl.col("entry") > entry
        return EvidenceLog(self.entries.filter(after & (pl.col("kind") != _BEGINNING)), self.cells.filter(after))

    def scores_of(self, subject: str) -> pl.DataFrame:
        """Return the cells that belong to a model's scores."""
        parts = pl.col("row").str.split(_KEY_MARK)
        return self.cells.filter((pl.col("table") == "scores") & (parts.list.first() == subject))


def log_of(path: Path | None) -> EvidenceLog | None:
    """Return the log of a store with a history; nothing else has one.

    Parameters
    ----------
    path : Path or None
        The folder of the evidence.

    Returns
    -------
    EvidenceLog or None
        The log.

    Examples
    --------
    >>> from mensura.site import log_of
    >>> log_of(None) is None
    True

    """
    from mensura.ledger import has_history, open_ledger

    return EvidenceLog.of(open_ledger(path)) if path is not None and has_history(path) else None


def revisions(log: EvidenceLog, evidence: Evidence) -> tuple[Revision, ...]:
    """Return the entries of a log in words, newest first."""
    names = _names(evidence)
    cells = {key[0]: part for key, part in log.cells.group_by("entry", maintain_order=True)}
    made = []
    for row in log.entries.iter_rows(named=True):
        part = cells.get(row["entry"])
        sentences = [] if part is None else row_sentences(part, names)
        more = [f"{len(sentences) - _NAMED} more rows"] if len(sentences) > _NAMED else []
        address = None if part is None else first_link(part["address"][0])
        texts = (*sentences[:_NAMED], *more)
        made.append(Revision(row["entry"], str(row["time"])[:10], row["title"], texts, row["undone_by"], address))
    return tuple(made)


def row_sentences(cells: pl.DataFrame, names: dict[str, Any]) -> list[str]:
    """Say each row that an entry changed: scores with model, test and both values, other rows by their fields."""
    return [
        _row_sentence(str(table), str(row), part.to_dicts(), names)
        for (table, row), part in cells.group_by("table", "row", maintain_order=True)
    ]


def _row_sentence(table: str, row: str, cells: list[dict[str, Any]], names: dict[str, Any]) -> str:
    key = row.split(_KEY_MARK)
    changed = {cell["field"]: (cell["old"], cell["new"]) for cell in cells}
    if table == "scores" and len(key) == 3:
        subject, benchmark, source = key
        who = f"{names['models'].get(subject, subject)} on {names['benchmarks'].get(benchmark, benchmark)}"
        if "score" in changed:
            unit = changed.get("unit", (None, None))
            units = [one or names["units"].get((subject, benchmark, source), "") for one in unit]
            old, new = (_score(value, one) for value, one in zip(changed["score"], units, strict=True))
            return f"{who}: {_moved(old, new)} ({names['sources'].get(source, source)})"
        return f"{who} ({names['sources'].get(source, source)}): {_fields(changed)}"
    title = names["models"].get(key[0], key[0]) if table in ("models", "policy", "costs") else key[0]
    where = ", ".join([title, *key[1:]])
    return f"{table.replace('_', ' ').capitalize()}, {where}: {_fields(changed)}"


def _score(value: str | None, unit: str) -> str | None:
    try:
        return None if value is None else show(float(value), unit)
    except ValueError:
        return value


def _moved(old: str | None, new: str | None) -> str:
    if old is None:
        return f"new, {new}"
    return f"taken out, was {old}" if new is None else f"{old} → {new}"


def _fields(changed: dict[str, tuple[str | None, str | None]]) -> str:
    return "; ".join(f"{field.replace('_', ' ')} {_moved(*values)}" for field, values in changed.items())


def _names(evidence: Evidence) -> dict[str, Any]:
    """Return names for people of models, benchmarks and sources, and the unit in which its source prints each score."""
    key = ("subject", "benchmark", "source")
    return {
        "models": dict(evidence.models.select("subject", "name").iter_rows()),
        "benchmarks": dict(evidence.benchmarks.select("benchmark", "name").iter_rows()),
        "sources": dict(evidence.sources.select("source", "name").iter_rows()),
        "units": {row[:3]: row[3] for row in evidence.scores.select(*key, "source_unit").iter_rows()},
    }


def reason(log: EvidenceLog, subject: str, evidence: Evidence) -> str:
    """Say why a model moved, as far as the log tells: its own scores, or entries about others."""
    own = log.scores_of(subject)
    if own.is_empty():
        return f"scores of other models ({_entries(log.entries['entry'])})"
    sentences = row_sentences(own.filter(pl.col("field") == "score"), _names(evidence)) or ["its own scores"]
    on = [sentence.partition(" on ")[2] or sentence for sentence in sentences]
    more = f" and {len(on) - 2} more" if len(on) > 2 else ""
    return f"{'; '.join(on[:2])}{more} ({_entries(own['entry'])})"


def _entries(numbers: Iterable[int]) -> str:
    ordered = sorted(set(numbers))
    return f"{'entries' if ordered[1:] else 'entry'} {listed(map(str, ordered), len(ordered))} of the log"
