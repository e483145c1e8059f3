"""A small store, and what a score in it is now."""

import pytest

from mensura.evidence.ledger import init_ledger
from tests.evidence.ledger.small import ANN, TABLES


@pytest.fixture(scope="session")
def small_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    for name, text in TABLES.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def ledger(small_folder, tmp_path):
    return init_ledger(tmp_path / "store.sqlite", small_folder, **ANN)


@pytest.fixture
def value(ledger):
    """What a score is now, as printed."""

    def read(subject, benchmark, source="board"):
        rows = ledger.evidence().scores.filter(subject=subject, benchmark=benchmark, source=source)
        return None if rows.is_empty() else rows["source_score"].item()

    return read
