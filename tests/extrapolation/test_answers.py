"""Tables of language-model runs: errors in the published form, and the distance to the world, which is no error."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.extrapolation import dominant_dimensions, measure_distance, score_answers


def test_the_distance_to_the_world_is_headed_as_a_distance():
    observed = pl.DataFrame({"item": ["a", "b", "c"], "rate": [0.2, 0.5, 0.9]})
    world = pl.DataFrame({"item": ["c", "a", "b"], "rate": [0.6, 0.3, 0.3]})
    table = measure_distance(observed, {"whole-pool": world, "identity": observed})
    assert not {"mae", "rmse", "error"} & set(table.columns)
    assert table["distance"].to_list() == pytest.approx([0.2, 0.0])
    assert table["shift"].to_list() == pytest.approx([-0.4 / 3, 0.0])
    assert table["rms_distance"][0] == pytest.approx(np.sqrt((0.01 + 0.04 + 0.09) / 3))
    assert table["spearman"].to_list() == pytest.approx([0.866, 1.0], abs=0.001)
    with pytest.raises(MensuraError, match="no item in common"):
        measure_distance(observed, {"other": world.with_columns(item=pl.lit("z"))})


def test_the_dominant_dimension_is_the_highest_alone():
    demands = pl.DataFrame(
        {"item": ["a", "a", "b", "b", "b"], "dimension": ["QLq", "KNn", "QLq", "KNn", "AT"], "level": [3, 1, 2, 2, 0]}
    )
    assert dict(dominant_dimensions(demands).iter_rows()) == {"a": "QLq", "b": "several"}


def method_of(*answers):
    """Return a method whose answers, item and rate, are given case by case."""
    replies = iter(
        [pl.DataFrame(rows, schema={"item": pl.String, "rate": pl.Float64}, orient="row") for rows in answers]
    )
    return SimpleNamespace(model="mine", ask=lambda task: SimpleNamespace(answers=next(replies)))


def case_of(group, **truth):
    return SimpleNamespace(task=None, group=group, items=list(truth), truth=np.array(list(truth.values())))


def test_single_answers_and_the_means_of_items_are_scored_apart():
    """Two answers of 0.2 and 0.6 about a truth of 0.5 are off by 0.3 and 0.1, their mean by 0.1."""
    first = [("a", 0.2), ("a", 0.6), ("b", 0.9), ("b", None), ("c", None)]
    cases = [case_of("g", a=0.5, b=0.8, c=0.1), case_of("h", a=0.3)]
    table = score_answers(method_of(first, [("a", 0.3)]), cases)
    assert table["unit"].to_list() == ["answer", "mean of variants"]
    assert table["n"].to_list() == [4, 3]
    assert table["unread"].to_list() == [2, 1]
    assert table["mae"].to_list() == pytest.approx([0.5 / 4, 0.2 / 3])
    assert table["rmse"].to_list() == pytest.approx([(0.11 / 4) ** 0.5, (0.02 / 3) ** 0.5])
    assert table["pearson"][1] == pytest.approx(np.corrcoef([0.4, 0.9, 0.3], [0.5, 0.8, 0.3])[0, 1])
    assert table["spearman"][1] == pytest.approx(1.0)
    assert set(table["model"]) == {"mine"}


def test_without_a_readable_answer_there_is_no_error():
    table = score_answers(method_of([("a", None)]), [case_of("g", a=0.5)])
    assert table.select("n", "unread", "mae", "rmse", "pearson").rows() == [(0, 1, None, None, None)] * 2
    alone = score_answers(method_of([("a", 0.4)]), [case_of("g", a=0.5)])
    assert alone["mae"].to_list() == pytest.approx([0.1, 0.1])
    assert alone["pearson"].to_list() == [None, None]


def test_a_distance_counts_the_items_of_both():
    observed = pl.DataFrame({"item": ["a", "b", "c"], "rate": [0.2, 0.5, None]})
    table = measure_distance(
        observed, {"x": pl.DataFrame({"item": ["a", "b", "c", "d"], "rate": [0.1, 0.9, 0.4, 0.2]})}
    )
    assert table.select("method", "n").row(0) == ("x", 2)
    assert (table["distance"][0], table["shift"][0]) == pytest.approx((0.25, 0.15))
