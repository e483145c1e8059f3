"""Making a store and opening one: from evidence or from a folder; and writing one as a folder.

A folder has the evidence tables as CSV, and under ``ledger/`` how they came about, for git: ``entries.csv`` and
``cells.csv`` are the log, ``updates.csv`` and ``updates/`` the update files, ``captures.csv`` and ``captures/`` the raw
text, each file named by its hash. A folder gives back the same store.
"""

import csv
import hashlib
import io
import re
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from mensura.core.errors import MensuraError
from mensura.core.folders import whole_folder
from mensura.evidence.evidence import EMBEDDED, Evidence, completed, from_raw
from mensura.evidence.schema import TABLES
from mensura.evidence.store import SCHEMA, as_text, fingerprint_of, read_raw, refuse_newer, require_folder
from mensura.ledger import log
from mensura.ledger.book import Ledger
from mensura.ledger.captures import MOST_BYTES
from mensura.ledger.store import (
    check_layout,
    create_tables,
    ledger_columns,
    marked_primary,
    new_store,
    read_state,
    schema_of,
    signed,
    transaction,
    written_time,
)
from mensura.ledger.update import ID_DIGITS, MOST_TEXT

LEDGER = "ledger"
_FILES = {name: f"ledger_{name}" for name in ("entries", "cells", "updates", "captures")}
_CONTENTS = {"updates": "text", "captures": "data"}  # columns that are files of their own
_NUMBERS = {"entry", "undoes", "place", "line", "pending"}


def _listed_columns(name: str) -> list[str]:
    """Return the columns of a CSV file of the ledger."""
    return [column for column in ledger_columns(_FILES[name]) if column != _CONTENTS.get(name)]


def init_ledger(path: Path, source: Evidence | Path | None = None, *, by: str, when: datetime) -> Ledger:
    """Make a store; entry 0 of its log says where it came from.

    Parameters
    ----------
    path : Path
        The new file; one that exists is never written over.
    source : Evidence or Path, optional
        Evidence, a folder or a plain store; the embedded evidence where left out.
    by : str
        Who makes it.
    when : datetime
        The time, with its zone.

    Returns
    -------
    Ledger
        The store.

    Raises
    ------
    MensuraError
        If the file exists, or the evidence is not sound.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> ledger = init_ledger(Path(mkdtemp()) / "store.db", by="Ann", when=datetime.now(UTC))
    >>> ledger.version().entry
    0

    """
    if path.exists():
        raise MensuraError(f"{path}: exists; choose another name (mensura evidence log --store {path} shows it)")
    if isinstance(source, Evidence):
        tables, origin = {name: as_text(frame) for name, frame in source.tables().items()}, source.origin
    else:
        raws = completed(read_raw(source or EMBEDDED))
        from_raw(raws, origin=str(source))
        tables = {name: raw.frame for name, raw in raws.items()}
        origin = "embedded evidence" if source is None else str(source)
    with new_store(path) as store:
        create_tables(store, {**tables, "scores": marked_primary(tables["scores"])})
        signature = signed(by), written_time(when), fingerprint_of(read_state(store))
        log.write_entry(store, log.LedgerEntry(0, "init", f"from {origin}", None, None, *signature), ())
    return open_ledger(path)


def open_ledger(path: Path) -> Ledger:
    """Open a store; no connection stays open, because every call is one transaction.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    Ledger
        The store.

    Raises
    ------
    MensuraError
        If the file is no store, is damaged, has no history, or has a newer schema.

    Examples
    --------
    >>> open_ledger(Path("store.db")).entries()  # doctest: +SKIP

    """
    with transaction(path, writing=False) as store:
        version = schema_of(store)
        refuse_newer(version, path)
        if version < SCHEMA:
            raise MensuraError(
                f"{path}: a store without a history (--evidence reads it); "
                f"mensura evidence init --from {path} --store NEW makes one with a history"
            )
        check_layout(store, path)
    return Ledger(path)


def has_history(path: Path) -> bool:
    """Check whether a path is a store that keeps a history.

    Parameters
    ----------
    path : Path
        Any path.

    Returns
    -------
    bool
        False too where nothing is there.

    Examples
    --------
    >>> has_history(Path("nowhere.db"))
    False

    """
    if not path.is_file():
        return False
    try:
        with transaction(path, writing=False) as store:
            return store.execute("SELECT 1 FROM sqlite_master WHERE name = 'ledger_entries'").fetchone() is not None
    except MensuraError:
        return False


# A ledger as a folder of text files


def export_ledger(ledger: Ledger, folder: Path) -> None:
    """Write a store as a folder of text: all of it or nothing. Files of others are left as they are.

    Parameters
    ----------
    ledger : Ledger
        The store.
    folder : Path
        The folder.

    Examples
    --------
    >>> export_ledger(open_ledger(Path("store.db")), Path("folder"))  # doctest: +SKIP

    """
    require_folder(folder)
    with transaction(ledger.path, writing=False) as store, whole_folder(folder, "evidence") as stage:
        (stage / LEDGER / "updates").mkdir(parents=True)
        (stage / LEDGER / "captures").mkdir()
        for table in TABLES.values():
            _write(stage / f"{table.name}.csv", store, table.name, tuple(table.dtypes), "rowid")
        for name, table_name in _FILES.items():
            columns = _listed_columns(name)
            order = "entry, place" if name == "cells" else columns[0]
            _write(stage / LEDGER / f"{name}.csv", store, table_name, columns, order)
        for ident, text in store.execute("SELECT update_id, text FROM ledger_updates"):
            (stage / LEDGER / "updates" / f"{ident}.toml").write_text(text, encoding="utf-8", newline="")
        for ident, data in store.execute("SELECT capture, data FROM ledger_captures"):
            (stage / LEDGER / "captures" / f"{ident}.txt").write_bytes(data)


def _write(file: Path, store: sqlite3.Connection, table: str, columns: Sequence[str], order: str) -> None:
    quoted = ", ".join(f'"{column}"' for column in columns)
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(store.execute(f'SELECT {quoted} FROM "{table}" ORDER BY {order}'))


def is_ledger_folder(folder: Path) -> bool:
    """Check whether a folder contains a history beside its evidence.

    Parameters
    ----------
    folder : Path
        Any folder.

    Returns
    -------
    bool
        Whether :func:`export_ledger` may have written it.

    Examples
    --------
    >>> is_ledger_folder(Path("/"))
    False

    """
    return (folder / LEDGER / "entries.csv").is_file()


def import_ledger(path: Path, folder: Path) -> Ledger:
    """Make a store from a folder that :func:`export_ledger` wrote, with its whole history, and check it.

    Parameters
    ----------
    path : Path
        The new file.
    folder : Path
        The folder.

    Returns
    -------
    Ledger
        The store.

    Raises
    ------
    MensuraError
        If the file exists, the history does not lead to the tables, or a file is not what its name says.

    Examples
    --------
    >>> import_ledger(Path("copy.db"), Path("folder")).verify()  # doctest: +SKIP

    """
    if path.exists():
        raise MensuraError(f"{path}: exists; choose another name")
    raws = completed(read_raw(folder))
    from_raw(raws, origin=str(folder))
    with new_store(path) as store:
        create_tables(store, {name: raw.frame for name, raw in raws.items()})
        for name, table in _FILES.items():
            rows = _records(folder / LEDGER / f"{name}.csv", _listed_columns(name))
            if name == "updates":
                rows = [[ident, _update_text(folder, ident), *facts] for ident, *facts in rows]
            elif name == "captures":
                rows = [[*row, _named_file(folder, name, row[0], 64, ".txt", MOST_BYTES)] for row in rows]
            _insert(store, table, rows)
        log.verify_history(store, read_state(store), str(folder))
    return open_ledger(path)


def _insert(store: sqlite3.Connection, table: str, rows: Sequence[Sequence[Any]]) -> None:
    try:
        store.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(ledger_columns(table)))})", rows)
    except sqlite3.IntegrityError as fault:
        raise MensuraError(
            f"{table.removeprefix('ledger_')}.csv: {fault}; expected each row once, without missing cells. Export the "
            "store again"
        ) from fault


def _records(file: Path, columns: Sequence[str]) -> list[list[Any]]:
    """Read a CSV file of the ledger exactly: an empty cell is blank, nothing is trimmed."""
    if not file.is_file():
        raise MensuraError(f"{file}: no such file; the folder is not a complete ledger. Export the store again")
    try:
        records = list(csv.reader(io.StringIO(file.read_bytes().decode("utf-8"), newline=""), strict=True))
    except (csv.Error, UnicodeDecodeError) as fault:
        raise MensuraError(f"{file}: not a CSV file in UTF-8: {fault}; export the store again") from fault
    if not records or tuple(records[0]) != tuple(columns):
        raise MensuraError(f"{file}: expected the columns {', '.join(columns)}")
    return [_record(file, number, record, columns) for number, record in enumerate(records[1:], start=2)]


def _record(file: Path, number: int, record: Sequence[str], columns: Sequence[str]) -> list[Any]:
    if len(record) != len(columns):
        raise MensuraError(f"{file}, record {number}: {len(record)} cells; expected {len(columns)}")
    row: list[Any] = []
    for column, cell in zip(columns, record, strict=True):
        if column in _NUMBERS and cell and not re.fullmatch(r"\d{1,15}", cell):
            raise MensuraError(f"{file}, record {number}: {column} is {cell[:40]!r}; expected a whole number")
        row.append(None if not cell else int(cell) if column in _NUMBERS else cell)
    return row


def _named_file(folder: Path, kind: str, ident: object, digits: int, suffix: str, most: int) -> bytes:
    """Read a file that is named by its hash, and check that it is what its name says."""
    if not re.fullmatch(rf"[0-9a-f]{{{digits}}}", str(ident)):
        raise MensuraError(
            f"{folder / LEDGER / kind}.csv: {str(ident)[:80]!r} is not a hash; expected {digits} hexadecimal digits. "
            "Export the store again"
        )
    file = folder / LEDGER / kind / f"{ident}{suffix}"
    if not file.is_file() or file.stat().st_size > most:
        raise MensuraError(f"{file}: absent, or above {most:,} bytes, but {kind}.csv lists it; export the store again")
    data = file.read_bytes()
    if hashlib.sha256(data).hexdigest()[:digits] != ident:
        raise MensuraError(f"{file}: the content does not match its hash; restore the file or export the store again")
    return data


def _update_text(folder: Path, ident: object) -> str:
    return _named_file(folder, "updates", ident, ID_DIGITS, ".toml", MOST_TEXT * 4).decode("utf-8")
