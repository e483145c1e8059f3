"""The slope ratio at a chosen break: found where there is one, with an honest rate of false readings."""

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.trends import slope_ratios


def stream(before, after, seed=0, n=160):
    """Four years of releases whose pace changes after two; m080 is about where it does."""
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(0, 4, n))
    days = [date(2022, 1, 1) + timedelta(days=round(x * 365.25)) for x in t]
    values = before * t + (after - before) * np.maximum(t - 2, 0) + rng.normal(0, 0.15, n)
    return pl.DataFrame({"subject": [f"m{i:03}" for i in range(n)], "released": days, "capability": values})


def test_a_doubled_pace_is_read_at_its_break():
    found = slope_ratios(stream(0.5, 1.0), at="m080", streams=40)
    row = found.table.row(0, named=True)
    assert row["subject"] == "m080"
    assert row["low"] < 2 < row["high"]
    assert row["low"] > 1.2
    assert row["faster"] > 0.99
    assert row["after"] == pytest.approx(row["ratio"] * row["before"], rel=0.1)


def test_quoting_the_best_of_many_breaks_is_wrong_more_often_than_one_chosen_before():
    found = slope_ratios(stream(0.5, 0.5, seed=2), at="m080", streams=200)
    row = found.table.row(0, named=True)
    assert row["low"] < 1 < row["high"]
    assert found.chosen_alarms < 0.12
    assert found.any_alarms > found.chosen_alarms
    assert f"{found.any_alarms:.0%}" in found.heading


def test_a_break_needs_releases_on_both_sides():
    with pytest.raises(MensuraError, match="fewer than 5 releases on one side"):
        slope_ratios(stream(0.5, 0.5), at="m001", streams=20)
    with pytest.raises(MensuraError, match="'nobody' is no model with a release date"):
        slope_ratios(stream(0.5, 0.5), at="nobody", streams=20)


def test_a_pace_that_may_be_zero_leaves_the_ratio_without_a_bound():
    found = slope_ratios(stream(0.0, 0.5), at="m080", streams=20)
    row = found.table.row(0, named=True)
    assert row["high"] == np.inf
    assert row["after"] == pytest.approx(0.5, abs=0.15)
    assert "their ratio has no upper bound" in found.heading
