"""Checksums of folders and of tables that change: a sum follows every change, and damage is named."""

import sqlite3

import pytest

from mensura.core.checksums import (
    check_sums,
    checksum_of,
    damaged_tables,
    keep_sums,
    note_sums,
    replaced_store,
    row_sum,
    sums_of,
)
from mensura.core.errors import MensuraError

TABLES = {"cells": "name, value", "meta": "name, value"}


@pytest.fixture
def db():
    db = sqlite3.connect(":memory:")
    for table in TABLES:
        db.execute(f"CREATE TABLE {table} (name TEXT PRIMARY KEY, value TEXT)")
    db.executemany("INSERT INTO meta VALUES (?, NULL)", [(f"checksum {table}",) for table in TABLES])
    keep_sums(db, TABLES)
    return db


def kept(db, table):
    return db.execute("SELECT value FROM meta WHERE name = ?", (f"checksum {table}",)).fetchone()[0]


def test_a_checksum_is_of_the_values_in_their_order():
    assert checksum_of("a", 1) == checksum_of("a", 1)
    assert len({checksum_of("a", 1), checksum_of("a", "1"), checksum_of(1, "a"), checksum_of("a1")}) == 4
    assert len(checksum_of()) == 32


def test_the_sum_of_a_table_follows_every_change(db):
    db.execute("INSERT INTO cells VALUES ('a', '1'), ('b', '2')")
    assert int(kept(db, "cells"), 16) == (row_sum("a", "1") + row_sum("b", "2")) % 2**64
    db.execute("UPDATE cells SET value = '3' WHERE name = 'a'")
    db.execute("INSERT OR REPLACE INTO cells VALUES ('b', '4')")
    db.execute("DELETE FROM cells WHERE name = 'a'")
    assert int(kept(db, "cells"), 16) == row_sum("b", "4")
    assert sums_of(db, TABLES)["checksum cells"] == kept(db, "cells")


def test_the_table_of_facts_has_a_sum_of_all_but_sums(db):
    db.execute("INSERT INTO meta VALUES ('version', '7')")
    db.execute("INSERT INTO cells VALUES ('a', '1')")
    assert int(kept(db, "meta"), 16) == row_sum("version", "7")
    assert damaged_tables(db, TABLES) == []


def test_a_table_that_differs_from_its_sum_is_damaged(db):
    db.execute("INSERT INTO meta VALUES ('version', '7')")
    db.execute("INSERT INTO cells VALUES ('a', '1')")
    db.execute("DROP TRIGGER sum_cells_update")
    db.execute("UPDATE cells SET value = '2'")
    assert damaged_tables(db, TABLES) == ["cells"]
    db.execute("DROP TABLE cells")
    assert damaged_tables(db, TABLES) == ["cells"]


def test_a_file_that_was_changed_by_hand_is_refused(tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    check_sums(tmp_path, "my writer")
    note_sums(tmp_path, "my writer")
    check_sums(tmp_path, "my writer")
    (tmp_path / "a.csv").unlink()
    check_sums(tmp_path, "my writer")  # what is gone is not changed
    (tmp_path / "b.csv").write_text("other", encoding="utf-8")
    with pytest.raises(MensuraError, match=r"b\.csv: differs from what mensura wrote .*remove \.my-writer\.sums\.json"):
        check_sums(tmp_path, "my writer")
    (tmp_path / ".my-writer.sums.json").write_text("[1", encoding="utf-8")
    with pytest.raises(MensuraError, match=r"\.my-writer\.sums\.json: damaged"):
        check_sums(tmp_path, "my writer")


def test_a_replaced_store_leaves_the_damaged_one_under_a_free_name(tmp_path):
    path = tmp_path / "s.db"
    path.write_text("old", encoding="utf-8")
    (tmp_path / "s.db-wal").write_text("log", encoding="utf-8")
    (tmp_path / "s.db.damaged").write_text("older", encoding="utf-8")
    with replaced_store(path) as (copy, fresh, damaged):
        assert (copy.read_text(encoding="utf-8"), copy.with_name("old.db-wal").read_text(encoding="utf-8")) == (
            "old",
            "log",
        )
        fresh.write_text("new", encoding="utf-8")
    assert damaged.name == "s.db.damaged-2"
    assert {one.name: one.read_text(encoding="utf-8") for one in tmp_path.iterdir()} == {
        "s.db": "new",
        "s.db.damaged": "older",
        "s.db.damaged-2": "old",
    }
    with pytest.raises(MensuraError, match="nothing can be read from it"), replaced_store(path):
        raise sqlite3.DatabaseError("malformed")
    assert path.read_text(encoding="utf-8") == "new"
