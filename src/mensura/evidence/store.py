"""Where evidence lives: a folder of CSV files, or one SQLite file with the same tables."""

import hashlib
import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

import polars as pl

from mensura.core.errors import EvidenceError, MensuraError
from mensura.core.files import write_csv
from mensura.core.folders import whole_folder
from mensura.evidence.checks import RawTable, check_table
from mensura.evidence.schema import OBSERVED, TABLES
from mensura.intake.tables import read_table
from mensura.scale import Calibration

STORE_SUFFIXES = {".db", ".sqlite", ".sqlite3"}
SCHEMA = 1
"""Version of the store's tables (SQLite's ``user_version``): 0 has the evidence alone, 1 also how it came about."""
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
    if missing := [name for name in OBSERVED if name not in raws]:
        raise MensuraError(
            f"evidence: {path} lacks the table {', '.join(missing)}; a folder must hold models.csv, benchmarks.csv and "
            "scores.csv (docs/tables.md lists every table and column)"
        )
    return raws


def read_text_csv(file: Path) -> pl.DataFrame:
    """Read a CSV file with every cell as text, blanks trimmed, empty cells null."""
    return read_table(file, infer=False)


def require_folder(folder: Path) -> None:
    """Refuse the name of a store where a folder is to be written."""
    if folder.suffix.lower() in STORE_SUFFIXES:
        raise MensuraError(
            f"{folder}: a store comes with its history; expected a folder. To make a store of it: mensura evidence "
            f"init --from FOLDER --store {folder}"
        )


def write_folder(tables: Mapping[str, pl.DataFrame], folder: Path) -> None:
    """Write tables as CSV files, all of them or none; flags as yes and no. Files of others are left as they are."""
    require_folder(folder)
    with whole_folder(folder, "evidence") as stage:
        for name, frame in tables.items():
            write_csv(as_text(frame), stage / f"{name}.csv")


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
            present = {row[0] for row in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            tables = {name: _read_table(store, path, name) for name in TABLES if name in present}
            _refuse_damaged(store, path, tables)
            return tables
    except (sqlite3.DatabaseError, pl.exceptions.PolarsError, UnicodeError) as fault:
        raise MensuraError(
            f"{path}: not an evidence store (SQLite), or a damaged one: {fault}; give a folder of CSV tables, a backup "
            "or a store of mensura evidence init"
        ) from fault


def _refuse_damaged(store: sqlite3.Connection, path: Path, tables: Mapping[str, RawTable]) -> None:
    """Refuse a store whose tables differ from the fingerprint of its last entry; one without a history has none."""
    if not store.execute("SELECT 1 FROM sqlite_master WHERE name = 'ledger_entries'").fetchone():
        return
    last = store.execute("SELECT fingerprint FROM ledger_entries ORDER BY entry DESC LIMIT 1").fetchone()
    cells = {name: _rows(table.frame, TABLES[name].key) for name, table in tables.items()}
    if last is None or fingerprint_of(cells) != last[0]:
        raise MensuraError(
            f"{path}: the store is damaged: its tables differ from the checksum. Restore a backup, or make the "
            "store again from an exported folder (mensura evidence init --from FOLDER)"
        )


def _read_table(store: sqlite3.Connection, path: Path, name: str) -> RawTable:
    cursor = store.execute(f'SELECT * FROM "{name}"')
    columns = [description[0] for description in cursor.description]
    rows = [[None if cell is None or cell == "" else str(cell) for cell in row] for row in cursor]
    return RawTable(f"{path}:{name}", pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row"))


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
    return {
        at: {name: cell for name, cell in zip(fields, row, strict=True) if cell is not None}
        for at, row in zip(keys, frame.select(fields).iter_rows(), strict=True)
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
