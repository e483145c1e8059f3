"""Making a store and opening one: from evidence, from a plain store of an older schema, and never over a file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from mensura.core.errors import MensuraError
from mensura.core.files import atomic_path
from mensura.evidence.evidence import EMBEDDED, Evidence, completed, from_raw
from mensura.evidence.store import SCHEMA, as_text, fingerprint_of, read_raw, refuse_newer
from mensura.ledger import log
from mensura.ledger.book import Ledger
from mensura.ledger.state import read_state
from mensura.ledger.store import (
    back_up,
    check_layout,
    create_tables,
    in_words,
    schema_of,
    signed,
    transaction,
    written_time,
)


def init_ledger(path: Path, source: Evidence | Path | None = None, *, by: str, when: datetime) -> Ledger:
    """Make a store: from evidence, a folder or plain store, or where nothing is given the embedded evidence.

    Entry 0 says where it came from. A file that is there is never written over.
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
        _first_entry(store, f"from {origin}", by, when)
    return open_ledger(path)


@contextmanager
def new_store(path: Path) -> Iterator[sqlite3.Connection]:
    """Yield a connection to a new store that appears whole under its name, or not at all."""
    try:
        with atomic_path(path) as part, closing(sqlite3.connect(part)) as store, store:
            yield store
    except sqlite3.Error as fault:
        raise in_words(fault, path) from fault


def _first_entry(store: sqlite3.Connection, title: str, by: str, when: datetime) -> None:
    made = log.LedgerEntry(
        0, "init", title, None, None, signed(by), written_time(when), fingerprint_of(read_state(store))
    )
    log.write_entry(store, made, ())


def open_ledger(path: Path, *, writing: bool = False) -> Ledger:
    """Open a store; one of an older schema is brought up to this one when it is to be written, after a backup.

    One of a newer schema is refused. No connection stays open: every call is one transaction.
    """
    with transaction(path, writing=False) as store:
        version = schema_of(store)
        refuse_newer(version, path)
        if version == SCHEMA:
            check_layout(store, path)
    if version < SCHEMA:
        if not writing:
            raise MensuraError(
                f"{path}: a store of schema {version} without a history (--evidence reads it); mensura evidence init "
                f"--upgrade --store {path} brings it up to date and keeps a copy"
            )
        _migrate(path, version)
    return Ledger(path)


def has_history(path: Path) -> bool:
    """Say whether a path is a store that keeps a history."""
    if not path.is_file():
        return False
    try:
        with transaction(path, writing=False) as store:
            query = "SELECT 1 FROM sqlite_master WHERE name = 'ledger_entries'"
            return store.execute(query).fetchone() is not None
    except MensuraError:
        return False


def _migrate(path: Path, version: int) -> None:
    raws = completed(read_raw(path))
    from_raw(raws, origin=str(path))
    copy = back_up(path, version)
    with transaction(path, writing=True) as store:
        if schema_of(store) == version:
            tables = {name: raw.frame for name, raw in raws.items()}
            create_tables(store, {**tables, "scores": marked_primary(tables["scores"])})
            title = f"upgraded from schema {version}; the store before it is {copy.name}"
            _first_entry(store, title, "mensura", datetime.now(UTC))


def marked_primary(scores: pl.DataFrame) -> pl.DataFrame:
    """Mark the primary scores of a table that marks none: the first of each model and benchmark, as loading takes it.

    Otherwise the first update that marks one would make all the others second sources.
    """
    if "primary" in scores.columns and scores["primary"].is_not_null().any():
        return scores
    first = pl.struct("subject", "benchmark").is_first_distinct()
    return scores.with_columns(primary=pl.when(first).then(pl.lit("yes")).otherwise(pl.lit("no")))
