"""Where evidence lives: a folder of CSV files, or one SQLite file with the same tables."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

import polars as pl

from mensura.core.checksums import checksum_of
from mensura.core.errors import EvidenceError, MensuraError
from mensura.core.files import atomic_path, write_csv
from mensura.core.folders import whole_folder
from mensura.evidence.checks import RawTable, check_table
from mensura.evidence.schema import OBSERVED, TABLES
from mensura.intake.tables import read_table
from mensura.scale import Calibration

STORE_SUFFIXES = {".db", ".sqlite", ".sqlite3"}
SCHEMA = 1
"""Version of the store's tables (SQLite's ``user_version``): 0 has the evidence alone, 1 also how it came about."""
_WITH_SUMS = 0x4D656E73  # SQLite's application_id of a store with checksums
_PATIENCE = 20.0  # seconds a reader waits for a writer who is just committing


def read_raw(path: Path) -> dict[str, RawTable]:
    """Read every evidence table found at a folder or store, all cells as text."""
    if path.is_dir():
        files = {name: path / f"{name}.csv" for name in TABLES}
        raws = {name: RawTable(str(file), read_text_csv(file)) for name, file in files.items() if file.is_file()}
    elif path.is_file():
        raws = _read_store(path)
    else:
        raise MensuraError(f"evidence: no folder or store at {path}; give a folder of CSV files or an SQLite file")
    missing = [name for name in OBSERVED if name not in raws]
    if missing:
        raise MensuraError(
            f"evidence: {path} lacks the table {', '.join(missing)}; a folder must hold models.csv, benchmarks.csv and "
            "scores.csv (docs/tables.md lists every table and column)"
        )
    return raws


def read_text_csv(file: Path) -> pl.DataFrame:
    """Read a CSV file with every cell as text, blanks trimmed, empty cells null."""
    return read_table(file, infer=False)


def write_folder(tables: Mapping[str, pl.DataFrame], folder: Path) -> None:
    """Write tables as CSV files, all of them or none; flags as yes and no. Files of others are left as they are."""
    with whole_folder(folder, "evidence") as stage:
        for name, frame in tables.items():
            write_csv(as_text(frame), stage / f"{name}.csv")


def write_store(tables: Mapping[str, pl.DataFrame], path: Path) -> None:
    """Write tables into one SQLite file, whole or not at all; only an earlier store is replaced."""
    _refuse_foreign(path)
    try:
        with atomic_path(path) as part, closing(sqlite3.connect(part)) as store, store:
            for name, frame in tables.items():
                columns = ", ".join(f'"{column}" TEXT' for column in frame.columns)
                store.execute(f'CREATE TABLE "{name}" ({columns})')
                marks = ", ".join("?" * frame.width)
                store.executemany(f'INSERT INTO "{name}" VALUES ({marks})', as_text(frame).iter_rows())
            store.execute("CREATE TABLE checksums (name TEXT, value TEXT)")
            store.executemany("INSERT INTO checksums VALUES (?, ?)", _sums(_all_tables(store, path)).items())
            store.execute(f"PRAGMA application_id = {_WITH_SUMS}")
    except sqlite3.Error as fault:
        raise MensuraError(
            f"{path}: could not be written ({fault}); nothing was changed there. Check its folder and the free disk "
            "space"
        ) from fault


def _refuse_foreign(path: Path) -> None:
    """Refuse to replace a file that is no evidence store, or one that another program is writing."""
    for suffix in ("-journal", "-wal"):
        if Path(f"{path}{suffix}").exists():
            raise MensuraError(f"{path}{suffix}: another program is writing this store, or died doing so; open it once")
    if not path.is_file() or not path.stat().st_size:
        return
    tables = _tables_of(path)
    if not set(OBSERVED) <= tables:
        raise MensuraError(f"{path}: exists and is no evidence store; choose another name, or move it away first")
    if "ledger_entries" in tables:
        raise MensuraError(
            f"{path}: this store keeps the history of its updates, which would be lost; choose another name, or change "
            "it by mensura evidence apply"
        )


def _tables_of(path: Path) -> set[str]:
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as store:
            return {row[0] for row in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except sqlite3.DatabaseError:
        return set()


def refuse_newer(version: int, path: Path) -> None:
    """Refuse a store that a later Mensura wrote: what its tables mean is not known here."""
    if version > SCHEMA:
        raise MensuraError(
            f"{path}: a store of schema {version}, this Mensura knows up to {SCHEMA}; update Mensura (pip install -U "
            "mensura), or let the newer one write its evidence as a folder (mensura export "
            "evidence --to file --out FOLDER)"
        )


def as_text(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the table with every cell as the text it has in a file: yes and no, whole numbers without ".0"."""
    cells = []
    for name, dtype in frame.schema.items():
        cell = pl.col(name)
        if dtype == pl.Boolean:
            cell = pl.when(cell).then(pl.lit("yes")).when(cell.not_()).then(pl.lit("no")).alias(name)
        elif dtype.is_float():
            cell = cell.cast(pl.String).str.replace(r"\.0$", "")
        cells.append(cell.cast(pl.String))
    return frame.select(cells)


def _read_store(path: Path) -> dict[str, RawTable]:
    """Read a store in one transaction; one that a killed writer left is rolled back on the way, so not read-only."""
    try:
        with closing(sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)) as store:
            store.execute("PRAGMA query_only = ON")
            store.execute("BEGIN")
            refuse_newer(store.execute("PRAGMA user_version").fetchone()[0], path)
            tables = _all_tables(store, path)
            _refuse_damaged(store, path, tables)
            return tables
    except (sqlite3.DatabaseError, pl.exceptions.PolarsError, UnicodeError) as fault:
        raise MensuraError(
            f"{path}: not an evidence store (SQLite), or a damaged one: {fault}; give a folder of CSV tables, a backup "
            "or a store of mensura export evidence --to file"
        ) from fault


def _all_tables(store: sqlite3.Connection, path: Path) -> dict[str, RawTable]:
    present = {row[0] for row in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return {name: _read_table(store, path, name) for name in TABLES if name in present}


def _sums(tables: Mapping[str, RawTable]) -> dict[str, str]:
    """Return a checksum of each table; the order of rows counts, because the first of two sources does."""
    return {name: checksum_of(table.frame.columns, table.frame.rows()) for name, table in tables.items()}


def _refuse_damaged(store: sqlite3.Connection, path: Path, tables: Mapping[str, RawTable]) -> None:
    """Refuse a store whose tables differ from their checksums, or from the fingerprint of its last entry."""
    if store.execute("PRAGMA application_id").fetchone()[0] == _WITH_SUMS:
        kept, sums = dict(store.execute("SELECT name, value FROM checksums").fetchall()), _sums(tables)
        lost = sorted(name for name in kept.keys() | sums.keys() if kept.get(name) != sums.get(name))
    elif store.execute("SELECT 1 FROM sqlite_master WHERE name = 'ledger_entries'").fetchone():
        last = store.execute("SELECT fingerprint FROM ledger_entries ORDER BY entry DESC LIMIT 1").fetchone()
        cells = {name: _rows(table.frame, TABLES[name].key) for name, table in tables.items()}
        lost = [] if last is not None and fingerprint_of(cells) == last[0] else ["its tables"]
    else:
        lost = []  # written before stores had checksums
    if lost:
        raise MensuraError(
            f"{path}: the store is damaged: {', '.join(lost)} differ from the checksum. Restore a backup, or make the "
            "store again from an exported folder (mensura evidence init --from FOLDER)"
        )


def _read_table(store: sqlite3.Connection, path: Path, name: str) -> RawTable:
    cursor = store.execute(f'SELECT * FROM "{name}"')
    columns = [description[0] for description in cursor.description]
    rows = [[None if cell is None or cell == "" else str(cell) for cell in row] for row in cursor]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")
    return RawTable(f"{path}:{name}", frame)


# Which evidence a number was computed from: a date for people, a fingerprint for machines.

EMBEDDED_EDITION = "2026-12"
"""Year and month of the embedded tables; a later state of them is a later edition."""
FINGERPRINT_DIGITS = 12
"""Hexadecimal digits shown: two different states share them once in 10¹⁴."""

Cells: TypeAlias = dict[str, dict[tuple[str, ...], dict[str, str]]]
"""Every cell that is not blank, by table, key of the row, and field; the key cells themselves are left out."""


def fingerprint_of(cells: Cells) -> str:
    """Return the SHA-256 of every cell; the order of rows does not matter."""
    digest = hashlib.sha256()
    for name in sorted(cells):
        for key in sorted(cells[name]):
            row = json.dumps([name, key, sorted(cells[name][key].items())], ensure_ascii=False)
            digest.update(row.encode() + b"\n")
    return digest.hexdigest()


def cells_of(tables: Mapping[str, pl.DataFrame]) -> Cells:
    """Return tables as the cells that their files or a store would hold."""
    return {name: _rows(as_text(frame), TABLES[name].key) for name, frame in tables.items()}


def _rows(frame: pl.DataFrame, key: tuple[str, ...]) -> dict[tuple[str, ...], dict[str, str]]:
    fields = [name for name in frame.columns if name not in key]
    keys = frame.select(pl.col(key).fill_null("")).iter_rows()
    rows = frame.select(fields).iter_rows()
    return {
        at: {name: cell for name, cell in zip(fields, row, strict=True) if cell is not None}
        for at, row in zip(keys, rows, strict=True)
    }


def read_calibration(file: str | Path) -> Calibration:
    """Read a calibration of your own.

    Parameters
    ----------
    file : str or Path
        A CSV in the form of the table ``bases``.

    Returns
    -------
    Calibration
        The line of each dimension.

    Raises
    ------
    MensuraError
        If there is no such file, or a cell is wrong.

    Examples
    --------
    >>> from mensura.evidence import EMBEDDED, read_calibration
    >>> len(list(read_calibration(EMBEDDED / "bases.csv"))) > 0
    True

    """
    file = Path(file)
    if not file.is_file():
        raise MensuraError(f"{file}: no such file; expected a CSV with columns dimension, slope, intercept")
    typed, faults = check_table(RawTable(str(file), read_text_csv(file)), TABLES["bases"])
    if faults:
        raise EvidenceError(faults)
    return Calibration.from_rows(typed.iter_rows(named=True))
