"""The bytes of a file that a user brings, packed or not: measured before they are unpacked."""

import gzip

import pytest

from mensura import MensuraError
from mensura.intake import packed
from mensura.people import ItemPool


def test_a_pool_of_packed_tables_is_measured_too(tmp_path, monkeypatch):
    (tmp_path / "items.csv").write_bytes(gzip.compress(b"item,domain\n" + b"q1,math\n" * 10))
    monkeypatch.setattr(packed, "MOST_UNPACKED", 50)
    with pytest.raises(MensuraError, match="unpack to more than"):
        ItemPool.read(tmp_path)
