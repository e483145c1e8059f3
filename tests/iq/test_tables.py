"""Tables of a result: facts by subject and name, and emotional reasoning along its curves."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.iq import tables
from mensura.iq.tables import gather_facts, pick_known, score_emotional


def test_values_are_picked_where_others_are_known():
    where = np.array([[1.0, np.nan], [2.0, 3.0]])
    assert pick_known(np.array([[10.0, 20.0], [np.nan, 40.0]]), where).to_list() == [10.0, None, 40.0]


def test_facts_of_dimensions_and_benchmarks_are_found_by_name():
    dimensions = pl.DataFrame({"subject": ["m"], "dimension": ["Logic"], "low": [90.0], "high": [110.0], "iq": [100.0]})
    columns = {"low": 95.0, "high": 105.0, "score": 50.0, "unit": "percent", "source": "s", "date": "2026"}
    facts = gather_facts(dimensions, pl.DataFrame({"subject": ["m"], "benchmark": ["quiz"]} | columns))
    assert facts["m", "Logic"] == {"subject": "m", "dimension": "Logic", "low": 90.0, "high": 110.0}
    assert (facts["m", "quiz"]["score"], facts["m", "quiz"]["high"]) == (50.0, 105.0)


@pytest.fixture
def emotional(monkeypatch):
    """Two components with straight curves; ``score(rows, minimum)`` gives the EQ of each model."""
    ladders = pl.DataFrame(
        {"benchmark": ["x", "x", "y", "y"], "score": [100.0, 0.0, 0.0, 10.0], "eq": [140.0, 60.0, 80.0, 120.0]}
    )
    models = pl.DataFrame({"subject": ["a", "b", "c"], "provider": ["Acme", "Other", "Acme"]})

    def score(rows, minimum=1, ladders=ladders):
        scores = pl.DataFrame(rows, schema=["subject", "benchmark", "score"], orient="row")
        monkeypatch.setattr(tables, "scores_of", lambda evidence, source: scores)
        rule = SimpleNamespace(minimum=minimum, adjusted="x", provider="Acme", adjustment=-10.0)
        return score_emotional(SimpleNamespace(models=models, eq_ladders=ladders), rule)

    score.ladders = ladders
    return score


def test_the_eq_is_the_mean_of_components_along_their_curves(emotional):
    table = emotional([("a", "x", 60.0), ("b", "x", 60.0), ("b", "y", 5.0)])
    assert table.rows() == [("a", 100.0, 1, 100.0, None), ("b", 104.0, 2, 108.0, 100.0)]


def test_a_score_beyond_the_curve_is_its_end_and_too_few_components_have_no_eq(emotional):
    table = emotional([("a", "y", 11.0), ("b", "x", 50.0), ("b", "y", -1.0)], minimum=2)
    assert table.rows() == [("a", None, 1, None, 120.0), ("b", 90.0, 2, 100.0, 80.0)]


def test_a_curve_that_does_not_rise_is_refused(emotional):
    flat = emotional.ladders.with_columns(eq=pl.lit(100.0))
    with pytest.raises(MensuraError, match=r"eq_ladders\.csv, x: expected a rising curve, got \[100.0, 100.0\]"):
        emotional([("a", "x", 60.0)], ladders=flat)
