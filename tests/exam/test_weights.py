"""Who counts and how much: exclusion by the exam's rules, raking to a population, and groups that stay hidden."""

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.exam.weights import hidden_groups, rake, shared_weights


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
