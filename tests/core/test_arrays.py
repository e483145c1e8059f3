"""Odds, rates and bounds."""

import numpy as np
import pytest
from scipy import stats

from mensura.core.arrays import correlation, expit, just_above, just_below, logit, mean_ranks, rank_correlation


def test_three_to_one_is_a_rate_of_three_quarters():
    assert logit(np.array([0.75, 0.5, 0.25])) == pytest.approx([np.log(3), 0.0, -np.log(3)])
    assert expit(np.log([3.0, 1.0, 1 / 3])) == pytest.approx([0.75, 0.5, 0.25])


def test_certainty_is_infinite_without_a_warning():
    assert logit(np.array([0.0, 1.0])).tolist() == [-np.inf, np.inf]
    assert expit(np.array([-1e4, 1e4])).tolist() == [0.0, 1.0]


def test_rates_near_an_end_keep_their_digits():
    assert logit(np.array([1e-300])) == pytest.approx([-300 * np.log(10)])


@pytest.mark.parametrize("bound", [0.1, -0.1, 0.0, 8.0, 2024.37])
def test_a_number_that_misses_a_bound_by_its_last_bits_meets_it(bound):
    above, below = np.nextafter(bound, np.inf), np.nextafter(bound, -np.inf)
    assert above <= just_above(bound) < bound + 1e-5
    assert below >= just_below(bound) > bound - 1e-5


def test_ties_share_their_mean_rank():
    assert mean_ranks(np.array([5.0, 1.0, 5.0, 9.0, 5.0])).tolist() == [3.0, 1.0, 3.0, 5.0, 3.0]
    assert mean_ranks(np.array([[2.0, 1.0], [7.0, 7.0]])).tolist() == [[2.0, 1.0], [1.5, 1.5]]


def test_correlations_agree_with_scipy_row_by_row():
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=(4, 20)), rng.normal(size=(4, 20)).round(0)
    rows = list(zip(one, other, strict=True))
    assert correlation(one, other) == pytest.approx([stats.pearsonr(*row).statistic for row in rows])
    assert rank_correlation(one, other) == pytest.approx([stats.spearmanr(*row).statistic for row in rows])


def test_a_side_that_does_not_vary_has_no_correlation():
    assert np.isnan(correlation(np.ones(5), np.arange(5.0)))
    assert np.isnan(rank_correlation(np.arange(5.0), np.full(5, 0.1)))
