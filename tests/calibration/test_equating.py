"""Equating: which level or score of one test corresponds to which of another, through the world population."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm

from mensura.calibration import equate
from mensura.calibration.equating import LOADING


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


@pytest.mark.parametrize("items", [6, 60])
def test_half_of_the_error_of_each_rate_is_shared_by_the_whole_test(items):
    """Items that a tenth of the world solves: errors of single items average out, the shared half stays."""
    rate, error = 0.1, 0.05
    known = pl.DataFrame({"item": range(items), "observed": np.linspace(0.2, 0.6, items), "rate": rate})
    ends = (rate * 10 ** (sign * 1.645 * error) for sign in (-1, 1))
    uncertain = known.with_columns(**{name: pl.lit(end) for name, end in zip(("low", "high"), ends, strict=True)})
    row = equate(known, uncertain, draws=4000).scores.row(4, named=True)
    assert row["score"] == pytest.approx(0.5)
    noise, threshold = np.sqrt(1 - LOADING**2), norm.isf(rate)
    per_decade = norm.pdf(0.0) / noise * rate * np.log(10) / norm.pdf(threshold)
    expected = 2 * 1.645 * per_decade * error * np.sqrt(0.5 * (1 + 1 / items))
    assert row["high"] - row["low"] == pytest.approx(expected, rel=0.05)
