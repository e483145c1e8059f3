"""Where an ability stands among the people of the world: through a calibrated line, with the errors of both."""

import math

import numpy as np
import polars as pl
import pytest

from mensura.calibration import bases_beside
from mensura.calibration.placing import find_line, place, statement
from mensura.scale import Calibration, LevelLine
from tools.embed_open_pool import compare_bases


def test_published_bases_do_not_come_back_from_open_items():
    table = bases_beside()
    volume = table.row(by_predicate=pl.col("name") == "volume", named=True)
    assert volume["published"] == 31.95
    assert 1 < volume["low"] < volume["base"] < volume["high"] < 3
    assert table.filter(pl.col("high") >= pl.col("published"))["name"].to_list() == ["spatial-reasoning"]
    by_language_model, without = (table[name].log().mean() for name in ("asked", "carried"))
    assert by_language_model > without  # world rates of a language model raise bases


@pytest.mark.slow
def test_the_embedded_bases_are_those_these_items_give():
    embedded, made = bases_beside(), compare_bases()
    assert embedded["verdict"].to_list() == made["verdict"].to_list()
    for column in ("published", "base", "low", "high", "asked", "carried"):
        assert embedded[column].to_list() == pytest.approx(made[column].to_list(), rel=1e-3)


def test_a_place_is_read_off_the_line_with_both_errors():
    exact = Calibration((LevelLine("KNn", 0.5, 0.5, code="KNn", slope_error=1e-12, covered=(0, 5)),))
    where = place(find_line(exact, "KNn"), 2.0, 1.0, 3.0)
    assert where.rates == pytest.approx((0.1, 10**-1.5, 10**-0.5))
    rough = Calibration((LevelLine("KNn", 0.5, 0.5, code="KNn", slope_error=0.1, covered=(0, 5)),))
    _, low, high = place(find_line(rough, "KNn"), 2.0, 2.0, 2.0).rates
    half = 1.6448536 * 0.1 * np.sqrt(25 / 12 + 0.25)
    assert low == pytest.approx(0.1 * 10**-half)
    assert high == pytest.approx(0.1 * 10**half)


def test_a_published_line_gets_its_error_from_its_r_squared():
    """The standard error of a least-squares line through five points, from any textbook."""
    x, y = np.arange(1.0, 6.0), np.array([1.0, 1.9, 2.4, 3.8, 4.1])
    slope, start = np.polyfit(x, y, 1)
    left = ((y - slope * x - start) ** 2).sum()
    r2 = 1 - left / ((y - y.mean()) ** 2).sum()
    se = np.sqrt(left / 3 * (1 / 5 + (4 - 3) ** 2 / 10))
    line = Calibration((LevelLine("KN", slope, start, code="KN", r_squared=r2),))
    rate, low, _ = place(find_line(line, "KNn"), 4.0, 4.0, 4.0).rates
    assert np.log10(rate / low) == pytest.approx(2.353363 * se, rel=1e-5)


def test_below_the_start_of_a_line_there_is_no_place():
    lines = Calibration((LevelLine("volume", 1.5, -0.55, code="VO"),))
    where = place(find_line(lines, "VO"), 0.5, 0.4, 0.6)
    assert where.rates is None
    assert "below level 0.70" in where.note


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (97.4, 99.0, "above 97% of people in attention"),
        (96.9, 99.9, "above 95% of people in attention"),
        (99.95, 99.99, "above 99.9% of people in attention"),
        (99.995, 100.0, "above 99.99% of people in attention"),
        (50.0, 60.0, "above half of people in attention"),
        (49.9, 99.9, "not told apart from the median in attention"),
        (10.0, 49.9, "below the median in attention"),
        (None, None, "not placed among people"),
    ],
)
def test_statements_claim_no_more_than_the_near_end(low, high, said):
    row = {"name": "Attention", "percentile_low": low, "percentile_high": high, "note": ""}
    assert statement([row]) == said


def test_extrapolated_claims_say_so():
    row = {"name": "Attention", "percentile_low": 90.0, "percentile_high": 99.0, "note": "level 5.5 …: extrapolated"}
    assert statement([row]) == "above 90% of people in attention (extrapolated)"


def test_nobody_is_rarer_than_one_of_the_people_tested():
    """The line says 1 in 6,850,000; 142 people took the items."""
    line = LevelLine("volume", 1.5, 0.5 - 1.5 * 4 + math.log10(6_850_000), "VO", covered=(1, 4), tested=142)
    found = place(line, 4.0, 3.9, 4.1)
    assert found.at_least
    assert found.rates[:2] == pytest.approx((1 / 142, 1 / 142))
    assert found.note.endswith("at least 1 in 142 tested: no more people took the items of the calibration")


def test_an_interval_ends_at_the_people_tested():
    line = LevelLine("volume", 1.0, 0.5, "VO", covered=(0, 5), tested=1000)
    found = place(line, 2.0, 0.5, 3.5)
    assert not found.at_least
    assert found.rates[:2] == pytest.approx((0.01, 0.001))


def test_beyond_the_items_of_a_calibration_an_ability_is_at_least_so_rare():
    line = LevelLine("volume", 1.5, 0.5, "VO", covered=(1, 4))
    inside, beyond = place(line, 3.9, 3.8, 4.0), place(line, 5.0, 4.5, 5.5)
    assert inside.rates[0] == pytest.approx(10 ** (-1.5 * 3.9)) and "at least" not in inside.note
    assert beyond.rates[:2] == pytest.approx((1e-6, 1e-6))
    assert beyond.rates[2] >= 1e-6
    assert "at least 1 in 1,000,000 people: the items of the calibration end at level 4" in beyond.note
