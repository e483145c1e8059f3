"""From item rates to the scores of persons."""

import numpy as np
import pytest

from benchmarks.baseline_persons import ability_sd, slope_spread
from mensura.baseline.estimator import PoolEstimate
from mensura.baseline.persons import (
    QUANTILES,
    PanelCost,
    PersonScores,
    PersonSpread,
    majority_rate,
    plan_panel,
    score_curve,
    score_persons,
)
from mensura.core.arrays import expit
from mensura.core.errors import MensuraError


def crowd(rate, sd, items=400, slopes=0.0):
    spread = PersonSpread(np.log(sd), 1e-9, slopes)
    return score_persons(np.full((5, items), rate), spread, np.random.default_rng(0))


@pytest.mark.parametrize("sd", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("rate", [0.3, 0.5, 0.85])
def test_the_mean_score_of_persons_is_the_mean_rate_however_far_they_differ(rate, sd):
    assert crowd(rate, sd).scores.mean() == pytest.approx(rate, abs=0.012)


def test_persons_who_do_not_differ_score_like_coins():
    """400 answers with chance 0.5: the SD of a score is 0.025, so the best tenth starts at 0.5 + 1.28 × 0.025."""
    found = crowd(0.5, 1e-3)
    assert found.quantiles(0.9)[0] == pytest.approx(0.5 + 1.2816 * 0.025, abs=0.002)


def test_the_more_people_differ_the_better_the_best_tenth():
    assert crowd(0.5, 2.0).quantiles(0.9)[0] > crowd(0.5, 1.0).quantiles(0.9)[0] > crowd(0.5, 0.3).quantiles(0.9)[0]


def test_a_score_stands_where_it_came_from():
    found = crowd(0.6, 1.0)
    for share in (0.1, 0.5, 0.9):
        assert found.share_below(found.quantiles(share)[0])[0] == pytest.approx(share, abs=0.01)


def test_a_majority_beats_single_people_as_votes_do_and_hides_behind_hard_items():
    rate = np.array([0.2, 0.5, 0.8])
    np.testing.assert_allclose(majority_rate(rate, 3), rate**3 + 3 * rate**2 * (1 - rate))
    np.testing.assert_allclose(majority_rate(rate, 2), rate)
    assert majority_rate(rate, 5)[2] > majority_rate(rate, 3)[2] > 0.8
    assert majority_rate(rate, 5)[0] < majority_rate(rate, 3)[0] < 0.2


def test_ties_count_half():
    assert PersonScores(np.array([[0.0, 0.5, 0.5, 1.0]])).share_below(0.5)[0] == 0.5


def simulated(sd, slopes, persons=3000, items=40):
    rng = np.random.default_rng(2)
    slope = sd * np.exp(slopes * rng.standard_normal(items))
    chance = expit(rng.normal(0.3, 1.0, items) + slope * rng.standard_normal((persons, 1)))
    return (rng.random(chance.shape) < chance).astype(float)


@pytest.mark.parametrize("sd", [0.5, 1.5])
def test_the_spread_of_ability_is_found_again(sd):
    assert ability_sd(simulated(sd, 0.0)) == pytest.approx(sd, rel=0.12)


def test_slopes_that_differ_are_told_from_slopes_that_do_not():
    assert slope_spread(simulated(1.0, 0.5)) > slope_spread(simulated(1.0, 0.0)) + 0.2


def test_the_best_of_ten_beats_the_nine_others_half_the_time():
    assert QUANTILES["best_of_10"] ** 10 == pytest.approx(0.5)
    assert QUANTILES["best_of_100"] ** 100 == pytest.approx(0.5)
    assert [QUANTILES[name] for name in ("median", "top_10", "top_1", "top_01")] == [0.5, 0.9, 0.99, 0.999]


def test_quantiles_and_shares_have_the_interval_of_the_crowds():
    """21 crowds of alike persons, who score 0, 0.05, …, 1: half of the crowds score below one half."""
    crowds = PersonScores(np.repeat(np.linspace(0, 1, 21)[:, None], 4, axis=1))
    assert crowds.quantiles(0.5) == pytest.approx((0.5, 0.05, 0.95))
    assert crowds.share_below(0.525) == (1.0, 0.0, 1.0)
    assert crowds.share_below(0.5)[0] == 0.5


def test_a_curve_without_ability_is_flat_and_one_with_it_keeps_its_mean():
    mean, variance = score_curve(np.array([0.2, 0.6]), np.zeros(2))
    assert mean == pytest.approx(np.full(61, 0.4)) and variance == pytest.approx(np.full(61, (0.16 + 0.24) / 2))
    steep, _ = score_curve(np.array([0.3]), np.array([1.5]))
    assert (np.diff(steep) > 0).all()
    assert steep.mean() == pytest.approx(0.3, abs=0.005)
    assert steep[30] == pytest.approx(expit(np.log(3 / 7) * (1 + np.pi / 8 * 2.25) ** 0.5))


def test_many_items_are_drawn_by_a_sample_and_count_as_many(monkeypatch):
    monkeypatch.setattr("mensura.baseline.persons._MOST_ITEMS", 50)
    found = crowd(0.5, 1e-3)
    assert found.quantiles(0.9)[0] == pytest.approx(0.5 + 1.2816 * 0.025, abs=0.002), "400 items, not 50"
    assert found.scores.shape == (5, 4000)


def test_a_panel_costs_its_hours_at_12_dollars_and_45_seconds():
    estimate = PoolEstimate(np.ones((12, 1)), np.zeros(1), np.eye(1) * 0.25, np.linspace(-1, 1, 12), np.full(12, 0.49))
    plan = plan_panel(estimate, 1.0, PanelCost())
    assert set(plan["items"]) == {5, 10} and set(plan["people"]) == {10, 20, 50, 100, 200}
    assert plan["cost"].is_sorted()
    row = plan.filter(items=10, people=20).row(0, named=True)
    assert (row["answers"], row["hours"], row["cost"]) == (200, 2.5, 30.0)
    few = PoolEstimate(np.ones((3, 1)), np.zeros(1), np.eye(1) * 0.25, np.zeros(3), np.full(3, 0.49))
    assert set(plan_panel(few, 1.0, PanelCost())["items"]) == {3}


def test_a_panel_leaves_the_error_of_its_answers_and_of_who_its_people_are():
    """One item: before s² + o²; after, the panel's noise 4/n and ability spread d²/n are as good as an anchor's."""
    estimate = PoolEstimate(np.ones((1, 1)), np.zeros(1), np.eye(1) * 0.25, np.zeros(1), np.array([0.49]))
    plan = plan_panel(estimate, 1.5, PanelCost())
    slope, now = 0.25, 0.74
    for people, width, before, halved in plan.select("people", "width", "width_now", "halved").iter_rows():
        panel = 4 / people + 1.5**2 / people
        after = now * panel / (now + panel)
        assert before == pytest.approx(2 * 1.6448536 * slope * now**0.5)
        assert width == pytest.approx(2 * 1.6448536 * slope * after**0.5)
        assert halved == (after <= now / 4)


@pytest.mark.parametrize(("hourly", "seconds", "wrong"), [(-1, 45, True), (0, 0, True), (0, 1, False)])
def test_pay_is_not_negative_and_answers_take_time(hourly, seconds, wrong):
    if not wrong:
        assert PanelCost(hourly, seconds).hourly == hourly
        return
    with pytest.raises(MensuraError, match="expected pay of 0 or more and seconds above 0"):
        PanelCost(hourly, seconds)
