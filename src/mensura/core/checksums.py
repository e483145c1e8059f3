"""Checksums of stored data: of texts and files, and of the tables of an SQLite file while they change.

The sum of a table is over its rows in any order, so that a change costs one row. It is kept in the file's table of
facts (``meta``: name, value) by triggers of the connection that writes, in the transaction of the change.
"""

import hashlib
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from mensura.core.errors import MensuraError

_BYTES = 8
_SPACE = 1 << 8 * _BYTES
UNREADABLE = (sqlite3.Error, UnicodeDecodeError)
"""Faults of a damaged file: SQLite's own, and a message of SQLite that repeats damaged bytes."""
FACT = "checksum"
"""How the facts are called that contain sums: ``checksum answers``."""


def checksum_of(*parts: object) -> str:
    """Return the checksum of values: 32 hexadecimal digits of SHA-256."""
    return hashlib.sha256(repr(parts).encode("utf-8", errors="surrogatepass")).hexdigest()[:32]


def note_sums(folder: Path, writer: str) -> None:
    """Write the checksums of the files of a folder beside them, for :func:`check_sums`."""
    sums = {path.name: _file_sum(path) for path in sorted(folder.iterdir()) if path.is_file()}
    _sums_file(folder, writer).write_text(json.dumps(sums, ensure_ascii=False, indent=1), encoding="utf-8")


def check_sums(folder: Path, writer: str) -> None:
    """Refuse a file that differs from what its writer left; a folder without checksums is taken as it is."""
    file = _sums_file(folder, writer)
    try:
        sums = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
        differing = [
            name for name, kept in sums.items() if (folder / name).is_file() and _file_sum(folder / name) != kept
        ]
    except (ValueError, AttributeError) as fault:
        raise MensuraError(f"{file}: damaged ({fault}). Restore the folder, or write it again") from fault
    if differing:
        raise MensuraError(
            f"{folder / differing[0]}: differs from what mensura wrote (its checksum). Restore it, or write the folder "
            f"again; if you changed it yourself, remove {file.name}"
        )


def _sums_file(folder: Path, writer: str) -> Path:
    return folder / f".{writer.replace(' ', '-')}.sums.json"


def _file_sum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:32]


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
        except UNREADABLE:
            damaged.append(table)
    return damaged


@contextmanager
def replaced_store(path: Path) -> Iterator[tuple[Path, Path, Path]]:
    """Yield a copy of a damaged SQLite file, the file that will replace it, and the name that keeps the damaged one."""
    names = (f"{path.name}.damaged{f'-{number}' if number > 1 else ''}" for number in count(1))
    damaged = next(free for name in names if not (free := path.with_name(name)).exists())
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        copy, fresh = Path(folder) / "old.db", Path(folder) / "new.db"
        for ending in ("", "-wal"):
            if (part := path.with_name(path.name + ending)).is_file():
                shutil.copyfile(part, copy.with_name(copy.name + ending))
        try:
            yield copy, fresh, damaged
        except UNREADABLE as fault:
            raise MensuraError(f"{path}: nothing can be read from it ({fault}). Restore a backup") from fault
        path.rename(damaged)
        for ending in ("-wal", "-shm"):
            path.with_name(path.name + ending).unlink(missing_ok=True)
        fresh.rename(path)
