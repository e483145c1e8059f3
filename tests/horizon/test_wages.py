"""What a task costs: the closed form of a break-even, wages by occupation, and what a careless user hands in."""

import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.horizon.wages import compare_wages, read_wages

PRICES = pl.DataFrame({"subject": ["m"], "input_price": [3.0], "output_price": [3.0]})
"""An attempt of 2 million tokens costs 6 dollars, read or written."""


def curve(rate, low=None, high=None):
    return pl.DataFrame({"subject": "m", "minutes": [1.0, 32.0, 1024.0]}).with_columns(
        rate=pl.lit(rate), low=pl.lit(low or rate), high=pl.lit(high or rate)
    )


def test_a_model_is_cheaper_where_pay_exceeds_the_cost_of_a_success():
    bounds, lengths = compare_wages(curve(0.5), PRICES, read_wages(45))
    assert bounds["cheaper_from"][0] == pytest.approx(16.0, rel=0.1)  # 6 / 0.5 dollars are 16 minutes at 45 an hour
    hour = lengths.filter(minutes=60.0).row(0, named=True)
    assert (hour["people"], hour["cost"], hour["cheaper"]) == (45.0, 12.0, "model")
    assert lengths.filter(minutes=4.0)["cheaper"][0] == "people"


def test_the_interval_contains_the_error_of_success_and_the_range_of_prices():
    dear = PRICES.with_columns(output_price=pl.lit(27.0))
    row = compare_wages(curve(0.5, 0.25, 1.0), dear, read_wages(45))[0].row(0, named=True)
    assert row["cheaper_from_low"] == pytest.approx(8.0, rel=0.1)  # all read, always solved
    assert row["cheaper_from_high"] == pytest.approx(160.0, rel=0.1)  # half written, a quarter solved
    assert row["cheaper_from_low"] < row["cheaper_from"] < row["cheaper_from_high"]


def test_a_model_that_is_never_cheaper_has_no_length():
    assert compare_wages(curve(1e-6), PRICES, read_wages(45))[0]["cheaper_from"][0] is None


def test_wages_by_occupation_give_a_row_each(tmp_path):
    (tmp_path / "wages.csv").write_text("occupation,wage\nanalyst,90\nclerk,30\n", encoding="utf-8")
    bounds, _ = compare_wages(curve(0.5), PRICES, read_wages(str(tmp_path / "wages.csv")))
    assert bounds["occupation"].to_list() == ["analyst", "clerk"]
    assert bounds["cheaper_from"][0] < bounds["cheaper_from"][1]


@pytest.mark.parametrize("wage", ["0", "-3", "nan", float("inf")])
def test_a_wage_that_nobody_is_paid_is_refused(wage):
    with pytest.raises(MensuraError, match="expected dollars above 0"):
        read_wages(wage)


def test_a_table_of_wages_needs_its_columns():
    with pytest.raises(MensuraError, match="occupation"):
        read_wages(pl.DataFrame({"job": ["clerk"], "wage": [30]}))
    with pytest.raises(MensuraError, match="expected a number"):
        read_wages(pl.DataFrame({"occupation": ["clerk"], "wage": ["much"]}))
