"""From item rates to the scores of persons."""

import numpy as np
import pytest

from benchmarks.baseline_persons import ability_sd, slope_spread
from mensura.baseline.persons import PersonScores, PersonSpread, majority_rate, score_persons
from mensura.core.arrays import expit


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
