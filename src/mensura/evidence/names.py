"""Names of models and benchmarks, and the ids they mean; the table ``aliases`` has names that no rule finds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import TypeAlias

from mensura.intake.model_names import ModelFacts, ModelNames
from mensura.intake.names import KnownNames

TextRow: TypeAlias = Mapping[str, str | None]
"""Cells of a row as a file writes them."""


def model_names(models: Iterable[TextRow], aliases: Iterable[TextRow]) -> ModelNames:
    """Return the names by which models of the tables ``models`` and ``aliases`` are called."""
    return ModelNames((_facts(row) for row in models), _aliases(aliases, "subject"))


def benchmark_names(benchmarks: Iterable[TextRow], aliases: Iterable[TextRow]) -> KnownNames:
    """Return the names by which benchmarks of the tables ``benchmarks`` and ``aliases`` are called."""
    rows = [(str(row["benchmark"]), str(row["name"])) for row in benchmarks]
    known = {ident for ident, _ in rows}
    aliases = list(aliases)
    absent = [str(row["alias"]) for row in aliases if not row.get("subject") and not row.get("benchmark")]
    named = [(ident, alias) for ident, alias in _aliases(aliases, "benchmark") if ident in known]
    return KnownNames(rows, named, absent)


def _facts(row: TextRow) -> ModelFacts:
    ident, released = str(row["subject"]), row.get("released")
    return ModelFacts(
        ident,
        row.get("name") or ident,
        row.get("provider") or "",
        date.fromisoformat(released) if released else None,
        row.get("open_weights") == "yes",
        row.get("reasoning") == "yes",
    )


def _aliases(rows: Iterable[TextRow], key: str) -> list[tuple[str, str]]:
    return [(str(row[key]), str(row["alias"])) for row in rows if row.get(key)]
