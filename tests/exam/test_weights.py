"""Who counts and how much: exclusion by the exam's rules, raking to a population, and groups that stay hidden."""

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.exam.weights import TRIM, count_people, hidden_groups, rake, shared_weights


@pytest.mark.parametrize(
    ("counts", "hidden"),
    [
        ({"a": 30, "b": 20, "c": 10}, ""),
        ({"a": 30, "b": 20, "c": 3}, "bc"),  # all − a − b would tell of c
        ({"a": 30, "b": 20, "c": 3, "d": 0}, "bcd"),  # nobody in d: the rest is c
        ({"a": 30, "b": 2, "c": 3}, "bc"),  # five people, and nobody knows which are of c
        ({"a": 30, "b": 1, "c": 3}, "abc"),
        ({"a": 30, "b": 20, "d": 0}, "d"),  # an empty group hides nobody
        ({"a": 4}, "a"),
    ],
)
def test_small_groups_cannot_be_found_by_subtraction(counts, hidden):
    assert hidden_groups(counts) == set(hidden)


def test_shown_weights_are_means_of_neighbours_and_common_ones_stay():
    weights = {f"a{i}": 0.5 for i in range(6)} | {f"b{i}": 1.0 for i in range(5)} | {"c": 2.0, "d": 3.0}
    shown = shared_weights(weights)
    assert shown["a0"] == 0.5
    assert shown["b0"] == shown["c"] == shown["d"] == pytest.approx(10.0 / 7.0)
    assert shared_weights({"x": 1.5, "y": 0.5}) == {"x": 1.0, "y": 1.0}


def test_raked_weights_reach_the_margins_and_cost_precision():
    takers = pl.DataFrame({"subject": [f"p{n}" for n in range(100)], "age": ["young"] * 80 + ["old"] * 20})
    takers = takers.with_columns(school=pl.Series(["low", "high"] * 50))
    rows = [("age", "young", 0.5), ("age", "old", 0.5), ("school", "low", 0.7), ("school", "high", 0.3)]
    margins = pl.DataFrame(rows, schema=["question", "answer", "share"], orient="row")
    found = rake(takers, margins)
    assert found.margins["weighted"].to_list() == pytest.approx([0.5, 0.5, 0.7, 0.3], abs=1e-6)
    assert np.mean(list(found.weights.values())) == pytest.approx(1.0)
    only_age = rake(takers, margins.head(2))
    assert only_age.design_effect == pytest.approx(0.8 * 0.625**2 + 0.2 * 2.5**2)


def test_margins_may_cross_questions_and_must_fit_the_sample():
    takers = pl.DataFrame({"subject": ["a", "b", "c"], "age": ["x", "y", None], "land": ["k", "k", "k"]})
    crossed = pl.DataFrame({"question": ["age × land"] * 2, "answer": ["x × k", "y × k"], "share": [0.75, 0.25]})
    weights = rake(takers, crossed).weights
    assert weights["a"] == pytest.approx(3 * weights["b"])
    with pytest.raises(MensuraError, match="nobody in the sample answered 'age' with z"):
        rake(takers, pl.DataFrame({"question": ["age"] * 3, "answer": ["x", "y", "z"], "share": [0.4, 0.4, 0.2]}))
    with pytest.raises(MensuraError, match=r"add up to 0\.900"):
        rake(takers, pl.DataFrame({"question": ["age"] * 2, "answer": ["x", "y"], "share": [0.4, 0.5]}))
    rounded = pl.DataFrame({"question": ["age"] * 3, "answer": ["x", "y", "w"], "share": [0.06, 0.57, 0.35]})
    assert rounded["share"].sum() < 0.98 - 1e-17, "shares of whole percents may add up to a last bit below 98%"
    assert len(rake(takers.with_columns(age=pl.Series(["x", "y", "w"])), rounded).weights) == 3


@pytest.mark.parametrize(
    ("questions", "message"),
    [
        ({"question": ["land"] * 2, "answer": ["x", "y"], "share": [0.5, 0.5]}, "'land' is no question of the exam"),
        ({"question": ["age"], "answer": ["x"], "share": [1.0]}, "'age' lacks a share for y; add it"),
        ({"question": ["age"] * 2, "answer": ["x", "y"], "share": [1.0, 0.0]}, "'age' add up to 1.000; expected pos"),
        ({"question": ["age"] * 2, "answer": ["x", "y"], "share": [0.5, 0.53]}, "add up to 1.030"),
        ({"question": ["age"], "share": [1.0]}, "answer"),
    ],
)
def test_margins_that_do_not_fit_are_refused(questions, message):
    takers = pl.DataFrame({"subject": ["a", "b", "c"], "age": ["x", "y", None]})
    with pytest.raises(MensuraError, match=f"margins: .*{message}"):
        rake(takers, pl.DataFrame(questions))


def test_weights_are_trimmed_at_five_times_the_mean_and_people_who_declined_keep_theirs():
    ages = ["rare"] * 1 + ["usual"] * 18 + [None]
    takers = pl.DataFrame({"subject": [f"p{n}" for n in range(20)], "age": ages})
    margins = pl.DataFrame({"question": ["age"] * 2, "answer": ["rare", "usual"], "share": [0.9, 0.1]})
    weights = rake(takers, margins).weights
    assert max(weights.values()) / min(weights.values()) == pytest.approx(TRIM**2, rel=0.01)
    assert sum(weights.values()) == pytest.approx(20)
    plain = rake(takers, None)
    assert (set(plain.weights.values()), plain.design_effect, plain.margins.height) == ({1.0}, 1.0, 0)


def test_one_person_and_several_people():
    assert [count_people(number) for number in (0, 1, 2)] == ["0 people", "1 person", "2 people"]
