"""The embedded items: what they are, what they give, and that the embedded calibration is theirs."""

import polars as pl
import pytest

from benchmarks.open_calibration import predict_left_out_pools
from benchmarks.what_predicts_people import LEFT_OUT
from mensura import MensuraError
from mensura.calibration import (
    calibrate,
    equate,
    list_pools,
    open_demands,
    open_items,
    open_rates,
    read_calibration_file,
    read_items,
)
from mensura.calibration.open_pool import ESTIMATES, FOLDER, READERS, open_lines


def test_every_open_pool_is_listed_with_its_items_beside_those_of_the_paper():
    table = list_pools()
    counted = dict(open_items().group_by("pool").agg(pl.len()).iter_rows())
    own = dict(table.filter(origin="open").select("pool", "subset").iter_rows())
    assert own == {pool: f"{count} items" for pool, count in counted.items()}
    assert table.filter(origin="published")["pool"].len() == 5
    assert table.null_count().sum_horizontal().item() == 0


def test_facts_without_texts_and_without_non_commercial_pools():
    items = open_items()
    assert items.height == 433 and items["pool"].n_unique() == 10
    assert not set(LEFT_OUT) & set(items["pool"])
    assert items["item"].str.contains(r"^[a-z-]+:\d{3}$").all()  # numbers: no id gives an item away
    assert set(open_demands()["item"]) == set(items["item"])
    assert not any(dtype == pl.String for name, dtype in items.schema.items() if name not in ("item", "pool"))


@pytest.mark.parametrize("estimate", ESTIMATES)
def test_every_estimate_is_a_rate_inside_its_interval(estimate):
    rates = open_rates(estimate)
    assert rates.filter(~((pl.col("low") <= pl.col("rate")) & (pl.col("rate") <= pl.col("high")))).is_empty()
    assert rates["rate"].is_between(0, 1, closed="none").all()


def test_both_lies_between_what_was_asked_and_what_was_carried():
    both, asked, carried = (open_rates(name)["rate"] for name in ESTIMATES)
    low = pl.min_horizontal(asked, carried)
    assert (
        pl.DataFrame({"b": both, "l": pl.select(low).to_series()}).filter(pl.col("b") < pl.col("l") - 1e-9).is_empty()
    )
    with pytest.raises(MensuraError, match="estimate: got 'guessed'; expected one of both, asked, carried"):
        open_rates("guessed")


def test_the_embedded_calibration_is_the_one_these_items_give():
    embedded = read_calibration_file(FOLDER / "open_calibration.json")
    made = calibrate(open_rates(), open_demands(), readers=READERS)
    assert embedded.inputs == made.inputs
    assert embedded.bases["slope"].to_list() == pytest.approx(made.bases["slope"].to_list(), abs=1e-4)
    assert embedded.dimensions["verdict"].to_list() == made.together["verdict"].to_list()
    usable = {line.dimension for line in open_lines()}
    assert usable == set(made.together.filter(~pl.col("verdict").str.contains(" "))["dimension"])
    assert "CEe" in open_lines().unusable  # nearly every item asks for level 1 of it
    assert made.together["slope"].abs().max() < 0.3  # nor does the little that is left of it move others along


def test_pools_left_out_are_predicted_from_demands():
    items = read_items(open_items().select("item", "pool", "options", "n", "rate"), open_demands())
    some = items.kept(items.pool <= 3)
    table = predict_left_out_pools(some, draws=200)
    assert table["pool"].to_list() == list(some.pools)
    assert table["coverage"].mean() > 0.6
    assert table["coverage"].min() < 1, "intervals of 90% miss some items"
    assert table["error"].mean() < 0.5


def test_equating_goes_there_and_back_and_a_test_equals_itself():
    tests = {
        name: open_items().filter(pool=name).select("item", observed="rate").join(open_rates().drop("pool"), on="item")
        for name in ("enem", "naep")
    }
    same = equate(tests["naep"], tests["naep"]).levels
    assert same["other_level"].to_list() == pytest.approx(same["level"].to_list())
    assert (same["low"] <= same["level"]).all() and (same["high"] >= same["level"]).all()
    there = equate(tests["enem"], tests["naep"])
    scores = there.scores
    assert scores["other_score"].is_sorted() and scores["percentile"].is_sorted()
    assert scores.filter(pl.col("score").round(1) == 0.4)["other_score"].item() > 0.4  # ENEM's items are harder
    with pytest.raises(MensuraError, match="A: 4 items; equating needs 5 or more"):
        equate(tests["enem"].head(4), tests["naep"])
    with pytest.raises(MensuraError, match="missing column 'observed'"):
        equate(tests["enem"].drop("observed"), tests["naep"])
