"""When a level was passed: one definition, on joint draws of models and levels."""

from datetime import date

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from mensura.stitching import place_people, stitch, to_date
from mensura.trends import find_crossings
from mensura.trends.crossings import first_passages


@given(st.lists(st.integers(0, 9), min_size=1, max_size=8), st.lists(st.integers(-1, 10), min_size=1, max_size=4))
def test_first_passage_agrees_with_its_definition(values, heights):
    years = np.arange(float(len(values)))
    found = first_passages(years, np.array([values], dtype=float), np.array([heights], dtype=float))
    for height, when in zip(heights, found[0], strict=True):
        reached = [year for year, value in zip(years, values, strict=True) if value >= height]
        assert when == min(reached, default=np.inf)


def test_an_error_that_models_and_level_share_cancels():
    days = [date(2020, 1, 1), date(2021, 1, 1), date(2022, 1, 1)]
    points = pl.DataFrame({"subject": ["a", "b", "c"], "released": days, "capability": [0.0, 1.0, 2.0]})
    shift = np.random.default_rng(0).normal(0, 5, 50)
    draws = np.array([[0.0, 1.0, 2.0]]) + shift[:, None]
    together = first_passages(np.array([0.0, 1.0, 2.0]), draws, 0.5 + shift[:, None])
    assert set(together[:, 0]) == {1.0}
    long = pl.concat(points.select("subject", draw=pl.lit(i), capability=pl.Series(row)) for i, row in enumerate(draws))
    apart = find_crossings(points, {"group": ["them"], "capability": [0.5]}, draws=long)
    assert 0 < apart["probability"][0] < 1


@pytest.fixture(scope="module")
def people():
    return place_people(stitch(method="rosetta"))


def test_groups_of_people_are_passed_in_every_joint_draw_by_itself(people):
    table = find_crossings(people.fit, people)
    assert people.draws.unconverged == 0
    dated = people.fit.dated.sort("released", "subject")
    C = dict(zip(people.draws.subjects, people.draws.positions.capability.T, strict=True))
    for group in ("experts, measured", table["group"][-1]):
        when = []
        for draw, height in enumerate(C[group]):
            over = [day for name, day in dated.select("subject", "released").iter_rows() if C[name][draw] >= height]
            when.append(min(over, default=date.max))
        when.sort()
        row = table.filter(pl.col("group") == group).row(0, named=True)
        assert row["probability"] == np.mean([day < date.max for day in when])
        for name, rank in (("passed_low", 25), ("passed", 250), ("passed_high", 475)):
            assert row[name] == (None if when[rank - 1] == date.max else when[rank - 1])


def test_a_fit_and_its_people_are_enough(people):
    found = find_crossings(people.fit, people)
    assert found["group"].to_list() == list(people.groups)
    best = people.fit.capabilities["subject"][0]
    first = people.fit.dated.filter(pl.col("subject") == best)["released"][0]
    assert found["passed"].drop_nulls().max() <= first
    assert to_date(people.fit.data.years[0]) == people.fit.dated["released"][0]
