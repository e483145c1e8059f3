"""A damaged store is refused in a sentence that names the file, the damage and the way out."""

import sqlite3
from contextlib import closing

import pytest

from mensura.core.errors import MensuraError
from mensura.ledger import open_ledger
from tests.ledger.small import small_ledger

MALFORMED = """
PRAGMA writable_schema = 1;
UPDATE sqlite_master SET sql = 'CREATE TABL scores(' WHERE name = 'scores';
"""


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ("DROP TABLE ledger_entries", "the table ledger_entries is missing"),
        ("DROP TABLE scores", "the table scores is missing"),
        ("DROP TABLE ledger_captures", "the table ledger_captures is missing"),
        ("ALTER TABLE scores RENAME COLUMN subject TO s", "column subject of the table scores is missing"),
        ("ALTER TABLE ledger_cells DROP COLUMN line", "column line of the table ledger_cells is missing"),
        ("DELETE FROM ledger_entries", "its log has no first entry"),
        ("UPDATE scores SET score = x'00ff'", "a cell of the table scores is no text"),
        (MALFORMED, "the file is damaged"),
    ],
)
def test_a_damaged_store_is_refused_in_words(tmp_path, damage, words):
    path = small_ledger(tmp_path / "evidence.db").path
    with closing(sqlite3.connect(path)) as store:
        store.executescript(damage)
        store.commit()
    with pytest.raises(MensuraError, match=words) as told:
        open_ledger(path).evidence()
    assert str(told.value).startswith(f"{path}: ")
    assert "restore a backup" in str(told.value)
