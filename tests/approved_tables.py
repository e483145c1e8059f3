"""Compare a table with the approved one, so that no number, word, column or order of rows changes unnoticed.

After a change that is meant, run the tests with ``APPROVE=1``, read the difference of the files, and commit it.
"""

import csv
import os
from pathlib import Path

import polars as pl
import pytest

TESTS = Path(__file__).parent


def assert_approved(name: str, table: pl.DataFrame, *, by: float = 1e-3) -> None:
    """Compare with ``PACKAGE/approved/NAME.csv``; numbers may differ by this part of themselves, or of 1."""
    package, file = name.split("/")
    path = TESTS / package / "approved" / f"{file}.csv"
    written = [table.columns, *([_written(value) for value in row] for row in table.rows())]
    if "APPROVE" in os.environ:
        path.parent.mkdir(exist_ok=True)
        with path.open("w", encoding="utf-8", newline="") as target:
            csv.writer(target, lineterminator="\n").writerows(written)
    with path.open(encoding="utf-8", newline="") as source:
        approved = list(csv.reader(source))
    assert [approved[0], len(approved)] == [table.columns, table.height + 1], name
    for number, (row, expected) in enumerate(zip(table.rows(), approved[1:], strict=True), start=2):
        for column, value, text in zip(table.columns, row, expected, strict=True):
            wanted = pytest.approx(float(text), rel=by, abs=by) if isinstance(value, float) and text else text
            assert (value if isinstance(value, float) else _written(value)) == wanted, f"{name}, row {number}, {column}"


def _written(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return "" if value is None else str(value)
