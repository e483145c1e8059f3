"""Equating: which level or score of one test corresponds to which of another, through the world population."""

import polars as pl
import pytest

from mensura.calibration import equate


def test_a_straight_line_between_two_tests_is_found():
    """World level = observed + 0.2 on A, observed + 0.5 on B: a level of A is 0.3 less on B."""
    level = pl.Series([0.8, 1.0, 1.3, 1.7, 2.0, 2.4])
    tests = [
        pl.DataFrame({"item": range(6), "observed": 10 ** (0.5 - level), "rate": 10 ** (0.5 - level - shift)})
        for shift in (0.2, 0.5)
    ]
    table = equate(*tests).levels
    assert (table["level"] - table["other_level"]).to_list() == pytest.approx([0.3] * table.height)
    assert table.filter(pl.col("level") == 2.5)["covered"].to_list() in ([], [False])


@pytest.mark.parametrize("hardest", [2.3, 2.4, 2.5])
def test_the_table_of_levels_goes_in_quarters_past_the_easiest_and_the_hardest_item(hardest):
    level = pl.Series([0.8, 1.0, 1.3, 1.7, 2.0, hardest])
    table = pl.DataFrame({"item": range(6), "observed": 10 ** (0.5 - level), "rate": 10 ** (0.5 - level)})
    found = equate(table, table, draws=20).levels
    quarters = [0.75 + 0.25 * step for step in range(8)]
    assert found["level"].to_list()[:8] == pytest.approx(quarters)
    assert found["level"].max() >= hardest - 1e-9
