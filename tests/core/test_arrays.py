"""Odds, rates and bounds."""

import numpy as np
import pytest

from mensura.core.arrays import expit, just_above, just_below, logit


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
