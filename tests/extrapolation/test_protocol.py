"""The contract of every method: what a task may hold, and how tables become one."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.extrapolation import Prediction, make_task
from mensura.extrapolation.protocol import check_level, empty_sensitivity
from mensura.people import World

ITEMS = pl.DataFrame({"item": ["a", "b", "c", "d"], "domain": ["mathematics"] * 4})


RATES = pl.DataFrame({"item": ["a", "b", "c", "d"], "n": [500] * 4, "rate": [0.2, 0.4, 0.6, 0.8]})


LINKS = pl.DataFrame({"item": ["a", "b"], "rate": [0.1, 0.25], "n": [900, 900]})


WORLD_TABLES = World.load()


JAPAN, KENYA = WORLD_TABLES.population("JPN"), WORLD_TABLES.population("KEN")


def task(links=LINKS, **changes):
    return make_task(ITEMS, RATES, JAPAN, KENYA, links=links, **changes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rate": np.array([0.2, 1.5, 0.6, 0.8])}, "rate must lie between 0 and 1, got 1.5 for 'b'"),
        ({"n": np.array([5.0, 5, -5, 5])}, "n must be above 0, got -5 for 'c'"),
        ({"share": np.array([0.0, 0, 0, 1.0])}, "share must be at least 0 and below 1, got 1 for 'd'"),
        ({"rate": np.array([0.5, 1, 0.6, 0.8]), "n": np.full(4, np.nan)}, "'b' has a rate of exactly 1 and no n"),
        ({"rate": np.array([0.5, 0, 1, 0.8]), "n": np.full(4, np.nan)}, "'b' has a rate of exactly 0 and no n"),
        ({"links": np.array([[np.nan, 2.0, 0.5, 0.5]])}, "links: rate must lie between 0 and 1, got 2 for 'b'"),
        ({"links": np.array([[0.5] * 4, [0.5, 0.5, 3.0, 0.5]])}, "links: rate must lie between 0 and 1, got 3 for 'c'"),
        ({"links_n": np.array([1.0, 0, 1, 1])}, "links: n must be above 0, got 0 for 'b'"),
        ({"rate": np.array([0.5])}, "rate must have one entry for each of 4 items"),
        ({"offset": np.zeros(3)}, "offset must have one entry for each of 4 items"),
        ({"links": np.full(4, np.nan)}, "links must be draws × 4 items"),
        ({"links": np.full((0, 4), np.nan)}, "links must be draws × 4 items"),
    ],
)
def test_impossible_tasks_are_refused_by_item(change, message):
    with pytest.raises(MensuraError, match=message):
        replace(task(None), **change)


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ({"item": ["z"], "rate": [0.5]}, "item 'z' has no focal rate"),
        ({"item": ["a"], "rate": [1.5]}, "links: rate must lie between 0 and 1, got 1.5 for 'a'"),
        ({"item": ["a"], "rate": [None]}, "links: 'a' has no rate"),
        ({"item": ["a", "a"], "rate": [0.5, 0.6]}, "links: item 'a' occurs more than once"),
        ({"item": ["a"], "rate": [0.5], "n": [0]}, "links: n must be above 0, got 0"),
        ({"item": ["a"]}, "links: missing column 'rate'"),
        ({"item": ["a"], "rate": ["half"]}, "column 'rate' must hold numbers"),
    ],
)
def test_bad_links_are_refused(links, message):
    with pytest.raises(MensuraError, match=message):
        task(links)


def test_focal_rates_are_read_by_item_and_from_counts():
    shuffled = ITEMS.reverse()
    counts = RATES.with_columns(correct=(pl.col("n") * pl.col("rate")).cast(pl.Int64)).drop("rate")
    posed = make_task(shuffled, counts, JAPAN, KENYA)
    assert posed.names == ["a", "b", "c", "d"]
    assert posed.rate.tolist() == [0.2, 0.4, 0.6, 0.8]
    with pytest.raises(
        MensuraError, match="item 'a' occurs more than once; remove the others, give the rates of one group"
    ):
        make_task(ITEMS, pl.concat([RATES, RATES]), JAPAN, KENYA)
    with pytest.raises(MensuraError, match="'a' has no rate; leave it out"):
        make_task(ITEMS, {"item": ["a"], "rate": [None]}, JAPAN, KENYA)


def test_a_level_is_a_probability_and_no_percentage():
    check_level(0.9)
    for wrong in (0.0, 1.0, 90.0):
        with pytest.raises(MensuraError, match=r"level: expected a probability between 0 and 1 \(exclusive\), got"):
            check_level(wrong)


def test_links_are_known_where_they_are_given_and_count_as_a_population_without_n():
    posed = task({"item": ["b", "a"], "rate": [0.25, 0.1], "n": [900, None]})
    assert posed.known.tolist() == [[True, True, False, False]]
    assert posed.links[0, :2].tolist() == [0.1, 0.25]
    assert posed.links_n.tolist() == [np.inf, 900, np.inf, np.inf]
    assert (posed.size, posed.draws) == (4, 1)


def test_a_share_that_is_not_stated_is_none():
    posed = make_task(ITEMS, RATES.with_columns(share=pl.Series([0.2, None, 0.0, None])), JAPAN, KENYA)
    assert posed.share.tolist() == [0.2, 0.0, 0.0, 0.0]


def test_a_prediction_makes_its_account_once_and_only_when_asked():
    made = []
    table = empty_sensitivity()

    def account():
        made.append(1)
        return table

    rate = np.full((1, 2), 0.5)
    found = Prediction(rate, rate, rate, account)
    assert made == []
    assert found.sensitivity is found.sensitivity is table
    assert made == [1] and table.columns[:2] == ["assumption", "value"]
