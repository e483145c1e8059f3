"""Error against cultural distance: steps from the countries where most tests are written."""

import numpy as np
import polars as pl
import pytest

from mensura.extrapolation.breakdown import by_distance, cultural_distance, differential_items, distance_slopes
from mensura.extrapolation.straight_line import Prior


@pytest.mark.parametrize(
    ("country", "steps"),
    [("USA", 0), ("Ireland", 0), ("DEU", 1), ("JPN", 2), ("RUS", 2), ("CHN", 3), ("IND", 4), ("Ethiopia", 5)],
)
def test_steps_from_the_english_speaking_countries(country, steps):
    assert cultural_distance(country) == steps
    assert cultural_distance("Atlantis") is None


def pairs(error):
    """Every pair of six countries; ``error`` of the predicted one."""
    names = ["USA", "DEU", "JPN", "CHN", "IND", "ETH"]
    rows = [
        {"focal": f"country={a}", "reference": f"country={b}", "mae": error(b), "bias": -error(b), "coverage": 0.9}
        for a in names
        for b in names
        if a != b
    ]
    return pl.DataFrame(rows).with_columns(mae_identity=pl.lit(0.2))


def test_the_slope_is_the_error_per_step():
    table = by_distance(pairs(lambda country: 0.05 + 0.02 * cultural_distance(country)))
    assert table["distance"].to_list() == [0, 1, 2, 3, 4, 5]
    slopes = {row["measure"]: row for row in distance_slopes(table).iter_rows(named=True)}
    assert slopes["mae"]["slope"] == pytest.approx(0.02)
    assert slopes["bias"]["slope"] == pytest.approx(-0.02)
    assert slopes["mae_identity"]["slope"] == pytest.approx(0.0)


def test_the_interval_of_a_slope_holds_zero_where_distance_says_nothing():
    rng = np.random.default_rng(4)
    noise = {name: 0.1 + 0.02 * rng.standard_normal() for name in ("USA", "DEU", "JPN", "CHN", "IND", "ETH")}
    row = distance_slopes(by_distance(pairs(noise.get))).row(0, named=True)
    assert row["low"] < 0 < row["high"] and row["countries"] == 6


def test_few_countries_or_one_distance_have_no_slope():
    assert by_distance(pairs(lambda _: 0.1).filter(pl.col("reference").str.contains("USA|DEU|JPN"))).is_empty()
    alike = by_distance(pairs(lambda _: 0.1)).with_columns(distance=pl.lit(1.0))
    assert distance_slopes(alike).is_empty()
    assert by_distance(pl.DataFrame()).is_empty()


def test_items_that_depart_are_found_and_groups_of_three_items_tell_nothing(new_case):
    rng = np.random.default_rng(3)
    unlike = Prior(shift_sd=0.3, slope=0.9, slope_sd=0.1, interaction=0.6)
    found = differential_items([new_case(rng, unlike, items=3, n=20_000), new_case(rng, unlike, items=60, n=20_000)])
    assert found.height > 10 and set(found["size"]) == {"B", "C"}
    assert found["difference"].abs().is_sorted(descending=True)
    assert differential_items([new_case(rng, unlike, items=3)]).is_empty()
