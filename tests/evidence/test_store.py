"""A damaged store of evidence is refused or loads as it was; so is a frozen scale."""

import random
import sqlite3
from datetime import UTC, datetime

import pytest

from mensura.core.errors import MensuraError
from mensura.evidence import load
from mensura.ledger import init_ledger
from mensura.stitching import load_scale

WHEN = datetime(2026, 11, 18, tzinfo=UTC)


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """Evidence as a store with a history."""
    folder = tmp_path_factory.mktemp("stores")
    init_ledger(folder / "history.db", by="Ann", when=WHEN)
    return folder


@pytest.mark.slow
def test_a_flipped_bit_of_a_store_is_noticed_or_changes_nothing(stores, tmp_path):
    whole, rng, noticed = (stores / "history.db").read_bytes(), random.Random(3), 0
    before, copy = load(stores / "history.db").fingerprint, tmp_path / "history.db"
    for _ in range(12):
        data = bytearray(whole)
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        copy.write_bytes(data)
        try:
            assert load(copy).fingerprint == before
        except MensuraError:
            noticed += 1
    assert noticed > 3


def test_another_score_is_named_as_damage(stores, tmp_path):
    copy = tmp_path / "history.db"
    copy.write_bytes((stores / "history.db").read_bytes())
    with sqlite3.connect(copy) as store:
        store.execute("UPDATE scores SET score = '99' WHERE rowid = 7")
    with pytest.raises(MensuraError, match=r"the store is damaged: .*differ from the checksum. Restore a backup"):
        load(copy)


def test_a_frozen_scale_of_ones_own_notices_an_edit(tmp_path):
    path = tmp_path / "mine.json"
    scale = load_scale("2026-11")
    scale.write(path)
    assert load_scale(path).names == scale.names
    text = path.read_text(encoding="utf-8")
    place = text.index("0.")
    path.write_text(text[:place] + "1." + text[place + 2 :], encoding="utf-8")
    with pytest.raises(MensuraError, match="its checksum differs: the file is damaged or was edited"):
        load_scale(path)
