"""The shipped parameters are those that the recordings teach (needs the development data)."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from benchmarks import baseline_pools as pools, optional_data
from benchmarks.baseline_ai import learn_raters, leave_out, read_benchmarks, summarise_ai
from benchmarks.baseline_learning import learn
from mensura.baseline.recordings import (
    COLUMNS,
    RECORDED,
    SIMULATED,
    UNNAMED,
    KnownMean,
    is_recorded,
    read_anchors,
    read_estimates,
    read_recorded,
    shipped_errors,
)
from mensura.core.errors import MensuraError

needs_data = pytest.mark.skipif(not optional_data("items", "zero_shot.csv"), reason="the development data are not here")


@needs_data
@pytest.mark.slow
def test_shipped_parameters_are_what_the_recordings_teach():
    shipped = shipped_errors()
    base = learn(pools.read(mend=True).cells, runs=pools.RUNS, models=pools.MODELS, usual_spread=shipped.usual_spread)
    again = learn_raters(base, read_benchmarks()[0])
    assert again.names == shipped.names
    np.testing.assert_allclose(again.mean, shipped.mean, atol=0.01)
    assert again.spreads == pytest.approx(dict(shipped.spreads), abs=0.01)


@needs_data
def test_ai_benchmarks_left_out_are_no_worse_than_raw_estimates_and_leave_the_correction_alone():
    shipped = shipped_errors()
    kept = [place for place, name in enumerate(shipped.names) if not name.startswith("trait:")]
    base = replace(
        shipped,
        names=tuple(shipped.names[place] for place in kept),
        mean=shipped.mean[kept],
        covariance=shipped.covariance[np.ix_(kept, kept)],
    )
    benchmarks, tasks = read_benchmarks()
    assert (len(benchmarks), len(tasks)) == (13, 24)
    figures = summarise_ai(leave_out(base, benchmarks, benchmarks))
    assert figures["ai_error"] <= figures["ai_raw_error"] + 0.005
    assert figures["ai_held"] >= 0.85
    assert figures["ai_width"] <= 0.40
    taught = learn_raters(base, benchmarks)
    np.testing.assert_array_equal(taught.mean[: len(kept)], base.mean)


@needs_data
def test_the_assumed_correlation_of_runs_is_the_measured_one():
    assert pools.correlation_of_runs() == pytest.approx(pools.RUNS, abs=0.05)


def test_rates_may_be_percentages_with_their_sign(tmp_path):
    path = tmp_path / "anchors.csv"
    path.write_text("item;rate;n\na;40%;30\nb;92.5 %;30\n", encoding="utf-8")
    assert read_anchors(path)["rate"].to_list() == [0.4, 0.925]


def test_estimates_have_all_columns_with_their_defaults():
    rows = {"Item": ["a", "b"], "rate": [0.5, 0.25], "model": [None, "m"], "remembered": ["yes", "no"], "run": [2, 3]}
    table = read_estimates(rows)
    assert table.columns == list(COLUMNS)
    assert table.select("item", "rate", "low", "model", "run", "remembered", "population").rows() == [
        ("a", 0.5, None, "unnamed", "2", True, None),
        ("b", 0.25, None, "m", "3", False, None),
    ]
    bare = read_estimates({"item": ["a"], "rate": [0.5]})
    assert bare.select("model", "run", "remembered").row(0) == ("unnamed", "1", False)
    assert read_estimates(rows, "us")["model"].to_list() == ["us", "us"]
    both = read_estimates({"item": ["a"], "estimate": [0.4], "rate": [0.9]})
    assert both["rate"].to_list() == [0.4], "beside an estimate, a rate is the truth"
    assert read_estimates(RECORDED).equals(read_recorded().select(list(COLUMNS)))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"rate": 1.01}, r"item a, rate: 1\.01 is no rate; expected a number from 0 to 1 \(1 such rows\); is it a"),
        ({"rate": -0.1}, r"item a, rate: -0\.1 is no rate; .*such rows\)\. Correct it"),
        ({"remembered_mean": 94.0}, r"item a, remembered_mean: 94 is no rate"),
        ({"low": 0.51}, r"item a: the interval 0\.51 to None does not contain the rate 0\.5; expected low ≤ rate"),
        ({"high": 0.49}, r"item a: the interval None to 0\.49 does not contain the rate 0\.5"),
    ],
)
def test_estimates_that_cannot_be_are_refused_with_their_file(row, message, tmp_path):
    path = tmp_path / "said.csv"
    pl.DataFrame({"item": ["a"], "rate": [0.5]} | {name: [cell] for name, cell in row.items()}).write_csv(path)
    with pytest.raises(MensuraError, match=rf"said\.csv, {message}"):
        read_estimates(path)
    with pytest.raises(MensuraError, match="estimates: no estimates; expected one row per item"):
        read_estimates(pl.DataFrame(schema={"item": pl.String, "rate": pl.Float64}))


def test_the_ends_of_an_interval_may_be_the_rate_or_0_and_1():
    ends = {"item": ["a", "b"], "rate": [0.0, 1.0], "low": [0.0, 1.0], "high": [0.0, 1.0]}
    assert read_estimates(ends).height == 2


def test_anchors_of_one_item_are_weighted_by_their_people():
    rows = {"item": ["a", "a", "b"], "rate": [0.5, 0.6, 1.0], "n": [100, 300, 5], "population": ["x", "x", None]}
    assert read_anchors(rows).rows() == [("a", "x", pytest.approx(0.575), 400.0), ("b", None, 1.0, 5.0)]
    assert read_anchors({"item": ["a"], "rate": [0.5]}, 60)["n"].to_list() == [60.0]
    mixed = read_anchors({"item": ["a", "b"], "rate": [0.5, 0.5], "n": [None, 7]}, 60)
    assert mixed["n"].to_list() == [60.0, 7.0]
    with pytest.raises(MensuraError, match=r"anchors: 1 anchors state no number of people \(a\)\. How many answered\?"):
        read_anchors({"item": ["a", "b"], "rate": [0.5, 0.5], "n": [None, 7]})


@pytest.mark.parametrize(("rate", "n"), [(-0.1, 5.0), (1.1, 5.0), (0.5, 0.0), (0.5, -1.0)])
def test_an_anchor_is_a_share_of_some_people(rate, n):
    with pytest.raises(MensuraError, match=r"anchors, item a: rate .* is no anchor; expected a rate from 0 to 1"):
        read_anchors({"item": ["a"], "rate": [rate], "n": [n]})


def test_two_rates_contradict_each_other_from_four_standard_errors_on():
    """Around one half with 100 people each the standard error is √(¼ · 2/100) = 0.0707."""
    near = {"item": ["a", "a"], "rate": [0.5 - 0.141, 0.5 + 0.141], "n": [100, 100]}
    assert read_anchors(near)["rate"].to_list() == pytest.approx([0.5])
    far = {**near, "rate": [0.5 - 0.143, 0.5 + 0.143]}
    with pytest.raises(MensuraError, match=r"rates 0\.357 \(n 100\) and 0\.643 \(n 100\) contradict each other \(4 st"):
        read_anchors(far)
    assert read_anchors({**far, "population": ["x", "y"]}).height == 2


@pytest.mark.parametrize(("mean", "n"), [(0.0, 5), (1.0, 5), (0.5, 0)])
def test_a_known_mean_lies_between_0_and_1_and_is_of_somebody(mean, n):
    with pytest.raises(MensuraError, match="expected a mean between 0 and 1, and n of 1 or more"):
        KnownMean(mean, n)
    assert KnownMean(0.5, 1).n == 1


def test_a_recorded_model_is_known_by_its_name_and_persons_that_it_plays_are_not():
    assert is_recorded(UNNAMED) and is_recorded("anthropic/Claude-next")
    assert not is_recorded("people") and not is_recorded(f"claude-9{SIMULATED}")
