"""Embedded runs and times, and minutes that people would need: estimates corrected by what those times taught."""

import polars as pl

from mensura.horizon import estimate_minutes, load_runs


def test_anchors_narrow_minutes_and_remove_a_bias():
    names = [f"i{place}" for place in range(30)]
    estimates = {"item": names, "minutes": [0.25 * 2 ** (place / 5) for place in range(30)]}
    anchors = {"item": names[::5], "minutes": [4 * 2 ** (place / 5) for place in range(0, 30, 5)]}
    alone, tied = estimate_minutes(estimates), estimate_minutes(estimates, anchors)
    truth = pl.Series([4 * 2 ** (place / 5) for place in range(30)])
    error = [((table["minutes"] / truth).log(2) ** 2).mean() for table in (alone, tied)]
    width = [(table["minutes_high"] / table["minutes_low"]).log(2).mean() for table in (alone, tied)]
    assert error[1] < error[0] / 2
    assert width[1] < width[0]
    assert tied.filter(pl.col("status") == "measured").height == 6


def test_embedded_runs_name_no_person():
    persons = load_runs().times[1]["person"].cast(pl.String).to_list()
    assert all(person.isdigit() for person in persons)
