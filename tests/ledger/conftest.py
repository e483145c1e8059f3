"""A small store, and what a score in it is now."""

import pytest

from tests.ledger.small import small_ledger, write_small


@pytest.fixture(scope="session")
def small_folder(tmp_path_factory):
    return write_small(tmp_path_factory.mktemp("evidence") / "small")


@pytest.fixture
def ledger(tmp_path):
    return small_ledger(tmp_path / "store.sqlite")


@pytest.fixture
def value(ledger):
    """What a score is now, as printed."""

    def read(subject, benchmark, source="board"):
        rows = ledger.evidence().scores.filter(subject=subject, benchmark=benchmark, source=source)
        return None if rows.is_empty() else rows["source_score"].item()

    return read
