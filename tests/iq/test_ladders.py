"""Ladders: the expected score at IQ 70, 85, …, 160, and the way from a score to an IQ and back."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import mensura
from mensura.iq import Ladder, ladder_table
from mensura.iq.ladders import Metric


@pytest.mark.slow
@pytest.mark.parametrize(
    ("unit", "score", "log_odds"),
    [
        ("percent", 50.0, 0.0),
        ("fraction", 0.0, np.log(0.5 / 100.5)),
        ("percent", 100.0, np.log(100.5 / 0.5)),
        ("index", 0.0, 0.0),
        ("index", -100.0, np.log(0.5 / 100.5)),
    ],
)
def test_scores_as_log_odds_by_hand(unit, score, log_odds):
    metric = Metric.of(unit, np.array([score]))
    assert metric.log_odds(np.array(score)) == pytest.approx(log_odds)
    assert metric.score(np.array(log_odds)) == pytest.approx(score)


@pytest.mark.slow
def test_four_hundred_elo_points_are_ten_to_one():
    metric = Metric.of("elo", np.array([1200.0, np.nan, 1300.0, 1250.0]))
    assert metric.log_odds(np.array([1250.0, 1650.0])) == pytest.approx([0.0, np.log(10)])
    assert metric.score(np.array([0.0, np.log(10)])) == pytest.approx([1250.0, 1650.0])


@pytest.mark.slow
def test_a_unit_without_a_rate_is_refused():
    with pytest.raises(mensura.MensuraError, match="no log odds of scores in 'parsecs'"):
        Metric.of("parsecs", np.array([1.0]))


@given(st.floats(0, 130, allow_nan=False))
def test_a_ladder_is_clamped_and_goes_back(score):
    ladder = Ladder("aime", (-15, 5, 30, 65, 92, 112, 132))
    iq = float(ladder.iq(np.array(score)))
    assert 70 <= iq <= 160
    assert float(ladder.score(np.array(iq))) == pytest.approx(score)


def test_recut_lies_over_the_published_set():
    evidence = mensura.load()
    tables = [ladder_table(evidence, name).sort("benchmark") for name in ("published", "recut")]
    changed = tables[0].join(tables[1], on=tables[0].columns, how="anti")
    assert changed["benchmark"].to_list() == ["frontiermath_t1_3"]
    assert tables[0].height == tables[1].height == 32
