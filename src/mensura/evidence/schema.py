"""What each evidence table holds: columns, types, units, ranges, keys and references.

``schema.csv`` is the one place where a table's shape is said; reading, checking, writing and the documentation all
follow it. A row without a column says what its table is; ``key`` numbers the columns that identify a row.
"""

import csv
from pathlib import Path

from mensura.evidence.checks import Column, Table

UNIT_RANGES: dict[str, tuple[float, float]] = {
    "percent": (0.0, 100.0),
    "fraction": (0.0, 1.0),
    "elo": (0.0, 5000.0),
    "index": (-100.0, 100.0),
    "composite": (0.0, 100.0),
}
"""The units a score may have, with the values each can take."""

LADDER_LEVELS = (70, 85, 100, 115, 130, 145, 160)
"""The IQs at which a ladder says what score to expect."""


def _read_tables() -> dict[str, Table]:
    """Read every table with its columns."""
    with (Path(__file__).parent / "schema.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    tables = {}
    for head in (row for row in rows if not row["column"]):
        mine = [row for row in rows if row["column"] and row["table"] == head["table"]]
        key = tuple(row["column"] for row in sorted(mine, key=lambda row: row["key"]) if row["key"])
        tables[head["table"]] = Table(head["table"], head["about"], key, tuple(map(_column, mine)))
    return tables


def _column(row: dict[str, str]) -> Column:
    return Column(
        row["column"],
        row["about"],
        row["kind"],  # type: ignore[arg-type]
        required=row["required"] == "yes",
        low=float(row["low"]) if row["low"] else None,
        high=float(row["high"]) if row["high"] else None,
        one_of=tuple(row["one_of"].split("; ")) if row["one_of"] else (),
        references=row["references"],
    )


TABLES = _read_tables()
"""The tables of the evidence by name."""
CHART_SETTINGS = TABLES["chart_rules"].column("setting").one_of
"""The rules of ``chart_rules``; each has one row. All but ``top_labs`` are whole numbers."""
OBSERVED = ("models", "benchmarks", "scores")
"""Tables a folder of one's own must hold. Absent others: costs and human references are empty, the rest published."""
