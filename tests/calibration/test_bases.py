"""The published procedure, exactly."""

import math

import numpy as np
import polars as pl
import pytest

import mensura
from mensura.calibration import calibrate
from mensura.calibration.items import published_groups
from mensura.scale import scaling_of
from tests.calibration.conftest import MEMBER, TABLE_16, on_lines


def table(rates, demands, **settings):
    made = calibrate(rates, demands, method="means", **settings)
    return {row["dimension"]: row for row in made.bases.iter_rows(named=True)}, made


def rises(line):
    """The levels whose rate does not exceed 1."""
    return line[0] + line[1] >= 0.5


def test_data_on_the_published_lines_give_the_published_table_back():
    lines = {MEMBER[code]: line[:2] for code, line in TABLE_16.items()}
    for groups in (False, True):
        found, _ = table(*on_lines(lines), groups=groups)
        for code, (slope, intercept, _, scaling) in TABLE_16.items():
            row = found[code if groups else MEMBER[code]]
            assert row["slope"] == pytest.approx(slope, abs=1e-12)
            assert row["intercept"] == pytest.approx(intercept, abs=1e-12)
            assert row["base"] == pytest.approx(10**slope)
            assert row["r2"] == pytest.approx(1.0)
            assert row["n_items"] == 15
            assert row["verdict"] == scaling, code


def test_published_bases_are_shown_as_printed_and_not_as_ten_to_the_rounded_slope():
    lines = mensura.load().calibration
    assert {line.code: (line.base, line.scaling) for line in lines} == {
        code: (base, scaling) for code, (_, _, base, scaling) in TABLE_16.items()
    }
    assert lines["volume"].r_squared == 0.65
    assert lines["volume"].base != pytest.approx(10**1.50, abs=0.1)


def test_classes_begin_where_they_are_printed():
    assert [scaling_of(base) for base in (10.01, 10.0, 2.99, 2.9, 1.0)] == [
        "High", "Standard", "Standard", "Slow", "Slow",
    ]  # fmt: skip


def test_level_means_are_unweighted_so_a_crowded_level_counts_as_much_as_a_lonely_one():
    levels = [1] * 100 + [2, 3]
    empirical = np.array([1.0] * 100 + [2.0, 2.0])
    rates = pl.DataFrame({"item": [f"i{k}" for k in range(102)], "rate": 10 ** (0.5 - empirical)})
    found, made = table(rates, pl.DataFrame({"item": rates["item"], "KNn": levels}))
    assert found["KNn"]["slope"] == pytest.approx(0.5)  # through (1, 1), (2, 2), (3, 2)
    assert found["KNn"]["intercept"] == pytest.approx(2 / 3)
    assert found["KNn"]["r2"] == pytest.approx(0.75)
    assert made.stages["n"].to_list() == [100, 1, 1]
    assert made.stages["aligned"].to_list() == pytest.approx([7 / 6, 10 / 6, 13 / 6])


def test_ties_count_for_each_dimension_and_level_0_and_lower_demands_for_none():
    demands = pl.DataFrame({"item": ["a", "b", "c", "d"], "KNn": [2, 3, 1, 0], "QLl": [2, 1, 4, 0]})
    rates = pl.DataFrame({"item": ["a", "b", "c", "d"], "rate": [0.5, 0.4, 0.3, 0.9]})
    found, made = table(rates, demands)
    assert (found["KNn"]["n_items"], found["QLl"]["n_items"]) == (2, 2)
    assert made.points().select("dimension", "item").sort("dimension", "item").rows() == [
        ("KNn", "a"), ("KNn", "b"), ("QLl", "a"), ("QLl", "c"),
    ]  # fmt: skip


def test_a_group_decides_where_any_member_does_at_the_harmonic_mean_of_the_members_asked_for():
    demands = pl.DataFrame({"item": ["a", "b", "c"], "KNn": [4, 3, 0], "KNs": [2, 0, 1], "QLl": [3, 1, 5]})
    rates = pl.DataFrame({"item": ["a", "b", "c"], "rate": [0.5, 0.4, 0.3]})
    _, made = table(rates, demands, groups=True)
    points = {row["item"]: row["level"] for row in made.points().filter(dimension="KN").iter_rows(named=True)}
    assert points == {"a": pytest.approx(8 / 3), "b": 3.0}  # 2 / (1/4 + 1/2); the zero of b is left out
    assert published_groups()["KN"] == ["KNa", "KNc", "KNf", "KNn", "KNs"]


def test_a_falling_line_is_listed_and_flagged_and_no_ruler():
    rates, demands = on_lines({"KNn": (-0.2, 1.9), "VO": (0.5, 0.5)})
    found, made = table(rates, demands)
    assert found["KNn"]["verdict"] == "negative slope"
    assert found["KNn"]["base"] == pytest.approx(10**-0.2)
    assert made.lines["VO"].slope == pytest.approx(0.5)
    with pytest.raises(mensura.MensuraError, match="'KNn' cannot be read: negative slope; choose one of VO"):
        made.lines["KNn"]


def test_one_level_has_no_line_and_says_so():
    rates, demands = on_lines({"KNn": (0.4, 0.6), "VO": (0.5, 0.5)})
    only = demands.filter((pl.col("item").str.starts_with("KNn")) | (pl.col("item").str.starts_with("VO-2")))
    found, _ = table(rates, only)
    assert found["VO"]["verdict"] == "not identified: one level only"
    assert found["VO"]["base"] is None


def test_bootstrap_intervals_shrink_with_items_one_by_one_or_in_blocks():
    rng = np.random.default_rng(7)

    def width(per_level):
        rates, demands = on_lines({"KNn": (0.5, 0.8)}, per_level)
        noisy = rates.with_columns(rate=pl.col("rate") * pl.Series(10 ** rng.normal(0, 0.15, rates.height)))
        found, _ = table(noisy.with_columns(pl.col("rate").clip(upper_bound=1.0)), demands)
        assert found["KNn"]["low"] < found["KNn"]["base"] < found["KNn"]["high"]
        assert found["KNn"]["base"] == pytest.approx(10**0.5, rel=0.1)
        return math.log10(found["KNn"]["high"] / found["KNn"]["low"])

    few, many = width(25), width(800)  # 125 items one by one, 4,000 in blocks
    assert few / many == pytest.approx(math.sqrt(32), rel=0.25)


def test_a_regression_on_the_items_counts_levels_by_their_items():
    """On lines both agree; with nine items of ten at level 1 the means do not care and the regression does."""
    lines = {"KNn": (0.5, 0.6)}
    exact = calibrate(*on_lines(lines), method="means").raw_lines().row(0, named=True)
    assert (exact["base"], exact["base_raw"]) == (pytest.approx(10**0.5), pytest.approx(10**0.5))
    level = np.array([1] * 18 + [2, 3, 4, 5])
    empirical = np.where(level == 1, np.linspace(1.0, 1.4, 22), 1.2 + 0.1 * level**2)
    items = [f"i{at}" for at in range(22)]
    made = calibrate(
        {"item": items, "rate": 10 ** (0.5 - empirical), "n": [10**6] * 22},
        {"item": items, "KNn": level},
        method="means",
    )
    row = made.raw_lines().row(0, named=True)
    assert row["n"] == 22
    assert row["base_raw"] == pytest.approx(10 ** np.polyfit(level, empirical, 1)[0])
    assert row["base"] != pytest.approx(row["base_raw"], rel=0.05)
