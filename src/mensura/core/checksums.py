"""Checksums of stored data: of texts and files, and of the tables of an SQLite file while they change.

The sum of a table is over its rows in any order, so that a change costs one row. It is kept in the file's table of
facts (``meta``: name, value) by triggers of the connection that writes, in the transaction of the change.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping

_BYTES = 8
_SPACE = 1 << 8 * _BYTES
FACT = "checksum"
"""How the facts are called that contain sums: ``checksum answers``."""


def checksum_of(*parts: object) -> str:
    """Return the checksum of values: 32 hexadecimal digits of SHA-256."""
    return hashlib.sha256(repr(parts).encode("utf-8", errors="surrogatepass")).hexdigest()[:32]


def row_sum(*cells: object) -> int:
    """Return the share of one row in the sum of its table."""
    return int.from_bytes(hashlib.blake2b(repr(cells).encode("utf-8", "surrogatepass"), digest_size=_BYTES).digest())


def keep_sums(db: sqlite3.Connection, tables: Mapping[str, str]) -> None:
    """Keep the sums of tables (with their columns) in ``meta``, as long as this connection is open."""

    def moved(value: str | None, sign: int, *cells: object) -> str:
        return f"{(int(value or '0', 16) + sign * row_sum(*cells)) % _SPACE:016x}"

    db.create_function("moved_sum", -1, moved, deterministic=True)
    db.execute("PRAGMA recursive_triggers = ON")  # a row that is replaced counts as deleted
    for table, columns in tables.items():
        steps = {}
        for side, sign in (("OLD", -1), ("NEW", 1)):
            cells = ", ".join(f"{side}.{column.strip()}" for column in columns.split(","))
            steps[side] = f"UPDATE meta SET value = moved_sum(value, {sign}, {cells}) WHERE name = '{FACT} {table}';"
        for event, parts in (("INSERT", ("NEW",)), ("DELETE", ("OLD",)), ("UPDATE", ("OLD", "NEW"))):
            side = parts[0]
            guard = f"WHEN {side}.name NOT LIKE '{FACT}%'" if table == "meta" else ""
            body = " ".join(steps[part] for part in parts)
            name = f"sum_{table}_{event}".lower()
            db.execute(f"CREATE TEMP TRIGGER {name} AFTER {event} ON main.{table} {guard} BEGIN {body} END")


def sums_of(db: sqlite3.Connection, tables: Mapping[str, str]) -> dict[str, str]:
    """Return the sums of tables as they are in the file, by the names of their facts."""
    sums = {}
    for table, columns in tables.items():
        where = f"WHERE name NOT LIKE '{FACT}%'" if table == "meta" else ""
        rows = db.execute(f"SELECT {columns} FROM {table} {where}")
        sums[f"{FACT} {table}"] = f"{sum(row_sum(*row) for row in rows) % _SPACE:016x}"
    return sums


def damaged_tables(db: sqlite3.Connection, tables: Mapping[str, str]) -> list[str]:
    """Return the tables whose rows differ from their sums, or that cannot be read."""
    kept = dict(db.execute("SELECT name, value FROM meta WHERE name LIKE ?", (f"{FACT}%",)).fetchall())
    damaged = []
    for table, columns in tables.items():
        try:
            if sums_of(db, {table: columns})[f"{FACT} {table}"] != kept.get(f"{FACT} {table}"):
                damaged.append(table)
        except sqlite3.Error:
            damaged.append(table)
    return damaged
