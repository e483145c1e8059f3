"""Did the slope change? Statistics of a kink at an unknown time, for every look of a watch and many worlds at once."""

import numpy as np
import pytest

from mensura.trends.kinks import KinkDesign, Plan, calibrate

CHANGE = 57.0


def kink_t(t, y, at, share, fading):
    """t value of a kink by generalised least squares, written out; and its restricted log likelihood."""
    R = (1 - share) * np.eye(t.size) + share * np.exp(-np.abs(t[:, None] - t) / fading)
    x = np.column_stack([np.ones_like(t), t, np.maximum(t - at, 0)])
    information = x.T @ np.linalg.solve(R, x)
    beta = np.linalg.solve(information, x.T @ np.linalg.solve(R, y))
    rest = y - x @ beta
    square = rest @ np.linalg.solve(R, rest)
    likelihood = np.linalg.slogdet(R)[1] + np.linalg.slogdet(information)[1] + (t.size - 3) * np.log(square)
    return beta[2] / np.sqrt(square / (t.size - 3) * np.linalg.inv(information)[2, 2]), -likelihood / 2


def test_statistic_is_the_largest_averaged_t_value_of_generalised_least_squares():
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0, 6, 40))
    y = 0.5 * t + rng.normal(0, 0.2, 40)
    ways = {(0, 0.5): 0.3, (0.15, 0.4): 1, (0.3, 0.2): 1, (0.3, 0.7): 1, (0.5, 0.5): 1}
    averages = []
    for at in 3 + np.arange(12) / 12 * (t[-1] - 3):
        values, logs = np.array([kink_t(t, y, at, *way) for way in ways]).T
        weight = np.exp(logs - logs.max()) * np.array(list(ways.values()))
        averages.append(weight @ values / weight.sum())
    design = KinkDesign.of(t, 3.0, np.array([40]))
    assert design.statistics(y[None, None])[0, 0] == pytest.approx(max(averages), rel=1e-9)


def test_statistic_ignores_unit_and_zero_of_the_scale():
    rng = np.random.default_rng(1)
    t, y = np.sort(rng.uniform(0, 6, 50)), rng.normal(0, 1, (2, 1, 50))
    design = KinkDesign.of(t, 3.0, np.array([50]))
    assert np.allclose(design.statistics(y), design.statistics(7 + 3 * y))


@pytest.mark.parametrize("worlds", [19, 39, 59])
def test_one_more_path_without_change_passes_the_threshold_as_often_as_asked(worlds):
    rng, years, watches = np.random.default_rng(2), np.linspace(57.1, 60, 24), 2000
    passed = 0
    for _ in range(watches):
        seen, *paths = rng.normal(0, 1, (worlds + 1, 24)).cumsum(axis=1)
        plan = calibrate(seen, np.array(paths), years, CHANGE, 0.05)
        passed += plan.standardise(seen).max() > plan.threshold
    assert passed / watches == pytest.approx(0.05, abs=0.012)  # by the worlds' own ruler 19 worlds give .09


def test_ruler_boundary_and_threshold_have_their_closed_forms():
    paths = np.arange(20.0)[:, None] + np.linspace(0, 3, 31)
    plan = calibrate(paths[19], paths[:19], np.linspace(57.1, 60, 31), CHANGE, 0.1)
    assert plan.threshold == pytest.approx(plan.peaks[-2])
    np.testing.assert_allclose(plan.mean, 9.5 + np.linspace(0, 3, 31))
    np.testing.assert_allclose(plan.standardise(paths[19]), 9.5 / np.std(np.arange(20), ddof=1))
    assert plan.standardise(paths[17]).max() == pytest.approx(plan.threshold)
    rare = calibrate(paths[19], paths[:19], plan.years, CHANGE, 0.04)
    assert rare.threshold == np.inf  # 19 worlds cannot tell 4% from none
    assert (plan.table["boundary"] - plan.mean).to_list() == pytest.approx(list(plan.threshold * plan.spread))


def test_four_releases_show_no_change_of_pace():
    t = np.array([0.0, 1.0, 2.0, 3.0])
    design = KinkDesign.of(t, 1.0, np.array([4]))
    assert design.statistics(np.array([[[0.0, 1.0, 5.0, 2.0]]])).tolist() == [[0.0]]


def test_a_plan_in_words_and_as_a_table():
    years = np.array([57.0, 57.5, 58.0])
    plan = Plan(
        start=56.5,
        years=years,
        rate=0.05,
        threshold=2.0,
        mean=np.array([0.1, 0.2, 0.3]),
        spread=np.array([1.0, 0.5, 0.5]),
        peaks=np.zeros(19),
        unconverged=3,
    )
    assert (
        plan.heading == "watch from 2026-07-03 to 2028-01-01, 3 looks: 5.0% false alarms, from 19 worlds without change"
    )
    assert plan.table["boundary"].to_list() == pytest.approx([2.1, 1.2, 1.3])
    assert plan.standardise(np.array([1.1, 0.2, 0.8])).tolist() == pytest.approx([1.0, 0.0, 1.0])
    assert len(plan.warnings) == 1 and "3 of 19" in plan.warnings[0]
