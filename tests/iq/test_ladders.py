"""Ladders: the expected score at IQ 70, 85, …, 160, and the way from a score to an IQ and back."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import mensura
from mensura.iq import Ladder, ladder_table
from mensura.iq.ladders import Metric


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


def test_four_hundred_elo_points_are_ten_to_one():
    metric = Metric.of("elo", np.array([1200.0, np.nan, 1300.0, 1250.0]))
    assert metric.log_odds(np.array([1250.0, 1650.0])) == pytest.approx([0.0, np.log(10)])
    assert metric.score(np.array([0.0, np.log(10)])) == pytest.approx([1250.0, 1650.0])


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


def test_elo_has_the_win_rate_against_the_median_and_no_ends():
    metric = Metric.of("elo", np.array([1200.0, 1300.0]))
    assert metric.rate(np.array([1250.0, 1650.0])) == pytest.approx([0.5, 10 / 11])
    assert metric.score_of_rate(np.array([0.0, 1.0])).tolist() == [-np.inf, np.inf]
    assert Metric.of("elo", np.array([np.nan]), middle=1100.0).middle == 1100.0
    assert Metric.of("elo", np.array([np.nan])).middle == 0.0


@pytest.mark.parametrize(("unit", "score", "rate"), [("percent", 35, 0.35), ("fraction", 0.2, 0.2), ("index", 20, 0.6)])
def test_rates_of_scores_and_back_within_the_range_of_the_unit(unit, score, rate):
    metric = Metric(unit)
    assert metric.rate(np.array(score)) == pytest.approx(rate)
    assert metric.score_of_rate(np.array(rate)) == pytest.approx(score)
    assert metric.rate(np.array([-1e9, 1e9])).tolist() == [0, 1]
    assert metric.rate(metric.score(np.array([-50.0, 50.0]))).tolist() == [0, 1]


def test_slopes_and_segments_of_a_ladder():
    """From 30 to 65 a score rises from IQ 100 to 115."""
    ladder = Ladder("aime", (-15, 5, 30, 65, 92, 112, 132))
    assert ladder.slope(np.array([30.0, 64.0, 65.0])) == pytest.approx([15 / 35, 15 / 35, 15 / 27])
    assert ladder.slope(np.array([-99.0, 999.0])) == pytest.approx([15 / 20, 15 / 20])
    assert [ladder.segment(score) for score in (-20, 29.9, 30, 131, 132, 200)] == [
        (70, 70),
        (85, 100),
        (100, 115),
        (145, 160),
        (160, 160),
        (160, 160),
    ]
    assert ladder.to_dict() == {
        "iq70": -15,
        "iq85": 5,
        "iq100": 30,
        "iq115": 65,
        "iq130": 92,
        "iq145": 112,
        "iq160": 132,
    }
    with pytest.raises(mensura.MensuraError, match="expected seven rising scores for IQ 70 to 160"):
        Ladder("aime", (0, 5, 5, 65, 92, 112, 132))
