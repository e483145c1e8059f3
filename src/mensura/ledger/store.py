"""The SQLite file of a store: transactions, faults of the disk in words, its tables, and their cells."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from mensura.core.errors import MensuraError
from mensura.core.files import atomic_path
from mensura.evidence.checks import RawTable
from mensura.evidence.evidence import Evidence
from mensura.evidence.schema import TABLES
from mensura.evidence.store import SCHEMA, Cells, as_text
from mensura.ledger.update import CellChange

_PATIENCE = 20.0  # seconds to wait for another writer, who needs a fraction of one
_LONGEST_NAME = 100
BACKUP = "a backup, or make the store again from an exported folder (mensura evidence init --from FOLDER)"
"""What to restore in place of a damaged store."""
_WORDS = {
    sqlite3.SQLITE_FULL: "the disk is full (or a quota is); make room and try again",
    **dict.fromkeys(
        (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM),
        "the file or its folder cannot be written; copy the store to where you may write",
    ),
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened, or its folder cannot be written",
    sqlite3.SQLITE_BUSY: "another program holds the store for long; try again when it is done",
    sqlite3.SQLITE_IOERR: "the disk failed or took no more",
    sqlite3.SQLITE_CORRUPT: f"the file is damaged; restore {BACKUP}",
    sqlite3.SQLITE_NOTADB: "this is no SQLite file; expected a store made by mensura evidence init",
}
_PRIMARY = 0xFF  # the low byte of a result code is its kind


class ConflictError(MensuraError):
    """Refuse a change that collides with another one; nothing was changed. The message names the other."""


@contextmanager
def transaction(path: Path, *, writing: bool) -> Iterator[sqlite3.Connection]:
    """Yield a connection inside one transaction: all of it is kept, or on any fault nothing.

    A writer holds the only write lock from the first line on, so that what it reads is what it changes. Readers see
    one state throughout. A store that a killed writer left is rolled back by whoever opens it first.
    """
    if not path.is_file():
        raise MensuraError(f"{path}: no such store; mensura evidence init --store {path} makes one")
    try:
        with closing(sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)) as store:
            store.execute("PRAGMA synchronous = EXTRA" if writing else "PRAGMA query_only = ON")
            store.execute("BEGIN IMMEDIATE" if writing else "BEGIN")
            yield store
            store.execute("COMMIT" if writing else "ROLLBACK")  # closing rolls back what was not committed
    except sqlite3.Error as fault:
        raise in_words(fault, path) from fault


def in_words(fault: sqlite3.Error, path: Path) -> MensuraError:
    """Return a fault of SQLite as a refusal that says what to do."""
    code = getattr(fault, "sqlite_errorcode", None)
    words = _WORDS.get(code & _PRIMARY) if code is not None else None
    message = f"{path}: {words or fault}; nothing was changed"
    return MensuraError(f"{message} ({fault})" if words else f"{message}. Run mensura evidence check on the store")


# The tables of a store beside the evidence itself, and their version.
#
# Schema 0 is a plain store: the evidence tables, as ``Evidence.save`` writes them. Schema 1 adds the ledger.

LEDGER_TABLES = {
    "ledger_entries": "entry INTEGER PRIMARY KEY, kind TEXT NOT NULL, title TEXT NOT NULL, update_id TEXT, "
    "undoes INTEGER, by TEXT NOT NULL, time TEXT NOT NULL, fingerprint TEXT NOT NULL",
    "ledger_cells": "entry INTEGER NOT NULL, place INTEGER NOT NULL, table_name TEXT NOT NULL, row_key TEXT NOT NULL, "
    "field TEXT NOT NULL, old TEXT, new TEXT, line INTEGER",
    "ledger_updates": "update_id TEXT PRIMARY KEY, text TEXT NOT NULL, by TEXT NOT NULL, time TEXT NOT NULL, "
    "pending INTEGER NOT NULL",
    "ledger_captures": "capture TEXT PRIMARY KEY, source TEXT NOT NULL, address TEXT NOT NULL, by TEXT NOT NULL, "
    "time TEXT NOT NULL, format TEXT, data BLOB NOT NULL",
}


@contextmanager
def new_store(path: Path) -> Iterator[sqlite3.Connection]:
    """Yield a connection to a new store that appears whole under its name, or not at all."""
    try:
        with atomic_path(path) as part, closing(sqlite3.connect(part)) as store, store:
            yield store
    except sqlite3.Error as fault:
        raise in_words(fault, path) from fault


def ledger_columns(table: str) -> list[str]:
    """Return the columns of a table of the ledger."""
    return [column.split()[0] for column in LEDGER_TABLES[table].split(", ")]


def create_tables(store: sqlite3.Connection, tables: Mapping[str, pl.DataFrame]) -> None:
    """Make the tables of a store of this schema: the evidence given (cells as text), and an empty ledger."""
    for table in TABLES.values():
        columns = [column.name for column in table.columns]
        quoted = ", ".join(f'"{column}" TEXT' for column in columns)
        key = ", ".join(f'"{column}"' for column in table.key)
        store.execute(f'CREATE TABLE "{table.name}" ({quoted})')
        store.execute(f'CREATE UNIQUE INDEX "{table.name}_key" ON "{table.name}" ({key})')
        frame = tables[table.name]
        cells = frame.select(frame[name] if name in frame.columns else pl.lit(None).alias(name) for name in columns)
        rows = ([(cell or "").strip() or None for cell in row] for row in cells.iter_rows())
        store.executemany(f'INSERT INTO "{table.name}" VALUES ({", ".join("?" * len(columns))})', rows)
    for name, definition in LEDGER_TABLES.items():
        store.execute(f"CREATE TABLE {name} ({definition})")
    store.execute("CREATE INDEX ledger_cells_of ON ledger_cells (table_name, row_key, field)")
    store.execute(f"PRAGMA user_version = {SCHEMA}")


def marked_primary(scores: pl.DataFrame) -> pl.DataFrame:
    """Mark the primary scores of a table that marks none: the first of each model and benchmark, as loading takes it.

    Otherwise the first update that marks one would make all the others second sources.
    """
    if "primary" in scores.columns and scores["primary"].is_not_null().any():
        return scores
    first = pl.struct("subject", "benchmark").is_first_distinct()
    return scores.with_columns(primary=pl.when(first).then(pl.lit("yes")).otherwise(pl.lit("no")))


def schema_of(store: sqlite3.Connection) -> int:
    """Return the version of a store's tables."""
    return int(store.execute("PRAGMA user_version").fetchone()[0])


def check_layout(store: sqlite3.Connection, path: Path) -> None:
    """Refuse a store of this schema that lacks a table, a column or its first entry."""
    expected = {name: {column.name for column in table.columns} for name, table in TABLES.items()}
    expected |= {name: set(ledger_columns(name)) for name in LEDGER_TABLES}
    for name, columns in expected.items():
        if lacking := sorted(columns - {row[1] for row in store.execute(f'PRAGMA table_info("{name}")')}):
            what = f"the table {name}" if len(lacking) == len(columns) else f"column {lacking[0]} of the table {name}"
            raise MensuraError(f"{path}: the store is damaged, for {what} is missing; restore {BACKUP}")
    if store.execute("SELECT 1 FROM ledger_entries WHERE entry = 0").fetchone() is None:
        raise MensuraError(f"{path}: the store is damaged, for its log has no first entry; restore {BACKUP}")


def written_time(when: datetime) -> str:
    """Return an instant as the ledger writes it: UTC, to the second."""
    if when.tzinfo is None:
        raise MensuraError("when: a time without its zone; expected an aware datetime")
    return when.astimezone(UTC).isoformat(timespec="seconds")


def signed(by: str) -> str:
    """Refuse a reviewer's name that is empty, long, or would not show as one line."""
    name = by.strip()
    if not 0 < len(name) <= _LONGEST_NAME or not name.isprintable():
        raise MensuraError(f"by: got {by[:_LONGEST_NAME]!r}; expected a name of at most {_LONGEST_NAME} characters")
    return name


# The cells of a store: reading and writing single ones, and the way back in time.


def fields_of(table: str) -> list[str]:
    """Return the columns of a table of the evidence without its key."""
    return [column.name for column in TABLES[table].columns if column.name not in TABLES[table].key]


def read_state(store: sqlite3.Connection) -> Cells:
    """Read every cell of a store, in the order of its rows."""
    return {name: _rows(store, name) for name in TABLES}


def _rows(store: sqlite3.Connection, name: str) -> dict[tuple[str, ...], dict[str, str]]:
    fields, width = fields_of(name), len(TABLES[name].key)
    columns = ", ".join(f'"{column}"' for column in (*TABLES[name].key, *fields))
    rows = {}
    for row in store.execute(f'SELECT {columns} FROM "{name}" ORDER BY rowid'):
        if any(isinstance(cell, bytes) for cell in row):
            raise sqlite3.DatabaseError(
                f"the store is damaged: a cell of the table {name} is no text; restore {BACKUP}"
            )
        key = tuple(str(cell or "") for cell in row[:width])
        rows[key] = {field: cell for field, cell in zip(fields, row[width:], strict=True) if cell is not None}
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
        blank = " AND ".join(f'"{field}" IS NULL' for field in fields_of(table))
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
    fields, key = fields_of(name), TABLES[name].key
    cells = [(*place, *map(row.get, fields)) for place, row in rows.items()]
    frame = pl.DataFrame(cells, schema=dict.fromkeys((*key, *fields), pl.String), orient="row")
    return frame.select(column.name for column in TABLES[name].columns)


# What two versions of the evidence differ in, cell by cell.


def evidence_changes(before: Evidence, after: Evidence) -> pl.DataFrame:
    """Compare two versions of the evidence, cell by cell.

    Parameters
    ----------
    before, after : Evidence
        The two versions.

    Returns
    -------
    pl.DataFrame
        One row per cell that differs: table, row (its key), field, old, new. Blank cells are null.

    Examples
    --------
    >>> import mensura
    >>> evidence_changes(mensura.load(), mensura.load()).height
    0

    """
    return pl.concat([_changed(name, before, after) for name in TABLES])


def _changed(name: str, before: Evidence, after: Evidence) -> pl.DataFrame:
    old, new = (_long(name, evidence) for evidence in (before, after))
    joined = old.join(new, on=["row", "field"], how="full", coalesce=True, maintain_order="left_right", suffix="_new")
    changed = joined.filter(pl.col("cell").ne_missing(pl.col("cell_new")))
    return changed.select(table=pl.lit(name), row="row", field="field", old="cell", new="cell_new")


def _long(name: str, evidence: Evidence) -> pl.DataFrame:
    """Return a table as one row per cell that is not blank, its key joined to one text."""
    key = list(TABLES[name].key)
    frame = as_text(evidence.tables()[name])
    cells = frame.with_columns(row=pl.concat_str([pl.col(part).fill_null("") for part in key], separator=" · "))
    return cells.unpivot(fields_of(name), index="row", variable_name="field", value_name="cell").drop_nulls("cell")
