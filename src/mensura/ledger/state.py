"""The cells of a store: reading and writing single ones, and the way back in time."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path

import polars as pl

from mensura.evidence.checks import RawTable
from mensura.evidence.schema import TABLES
from mensura.evidence.store import Cells
from mensura.ledger.store import BACKUP
from mensura.ledger.update import CellChange


def read_state(store: sqlite3.Connection) -> Cells:
    """Read every cell of a store, in the order of its rows."""
    return {name: _rows(store, name) for name in TABLES}


def _rows(store: sqlite3.Connection, name: str) -> dict[tuple[str, ...], dict[str, str]]:
    table = TABLES[name]
    fields = [column.name for column in table.columns if column.name not in table.key]
    columns = ", ".join(f'"{column}"' for column in (*table.key, *fields))
    rows = {}
    for row in store.execute(f'SELECT {columns} FROM "{name}" ORDER BY rowid'):
        if any(isinstance(cell, bytes) for cell in row):
            raise sqlite3.DatabaseError(
                f"the store is damaged, for a cell of the table {name} is no text; restore {BACKUP}"
            )
        key = tuple(str(cell or "") for cell in row[: len(table.key)])
        rows[key] = {field: cell for field, cell in zip(fields, row[len(table.key) :], strict=True) if cell is not None}
    return rows


def cell_of(store: sqlite3.Connection, change: CellChange) -> str | None:
    """Return what the cell of a change holds now."""
    row = store.execute(
        f'SELECT "{change.field}" FROM "{change.table}" WHERE {_where(change.table)}', change.row
    ).fetchone()
    return None if row is None else row[0]


def write_cell(store: sqlite3.Connection, change: CellChange) -> None:
    """Give a cell its new value; a row that is not there is made, and one left without any cell is removed."""
    table, where = change.table, _where(change.table)
    done = store.execute(f'UPDATE "{table}" SET "{change.field}" = ? WHERE {where}', (change.new, *change.row))
    if not done.rowcount and change.new is not None:
        columns = ", ".join(f'"{column}"' for column in (*TABLES[table].key, change.field))
        marks = ", ".join("?" * (len(change.row) + 1))
        store.execute(f'INSERT INTO "{table}" ({columns}) VALUES ({marks})', (*change.row, change.new))
    elif change.new is None:
        blank = " AND ".join(
            f'"{column.name}" IS NULL' for column in TABLES[table].columns if column.name not in TABLES[table].key
        )
        store.execute(f'DELETE FROM "{table}" WHERE {where} AND {blank}', change.row)


def _where(table: str) -> str:
    return " AND ".join(f'"{column}" = ?' for column in TABLES[table].key)


def take_back(state: Cells, changes: Iterable[CellChange]) -> list[CellChange]:
    """Take changes back in a state, the last first; return those whose cell did not hold what they had written."""
    strange = []
    for change in changes:
        rows = state[change.table]
        row = rows.setdefault(change.row, {})
        if row.get(change.field) != change.new:
            strange.append(change)
        if change.old is None:
            row.pop(change.field, None)
        else:
            row[change.field] = change.old
        if not row:
            del rows[change.row]
    return strange


def raw_tables(state: Mapping[str, Mapping[tuple[str, ...], Mapping[str, str]]], path: Path) -> dict[str, RawTable]:
    """Return a state as the tables that checks of evidence take."""
    return {name: RawTable(f"{path}:{name}", _frame(name, rows)) for name, rows in state.items()}


def _frame(name: str, rows: Mapping[tuple[str, ...], Mapping[str, str]]) -> pl.DataFrame:
    table = TABLES[name]
    columns: dict[str, list[str | None]] = {column.name: [] for column in table.columns}
    for key, row in rows.items():
        full: dict[str, str] = {**dict(zip(table.key, key, strict=True)), **row}
        for column, cells in columns.items():
            cells.append(full.get(column))
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
