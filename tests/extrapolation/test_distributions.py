"""Success of a whole population as a function of item difficulty, for every draw at once."""

import numpy as np
import pytest

from mensura.extrapolation.distributions import student_reach


def test_the_reach_of_a_sum_of_student_and_normal_parts_is_that_of_draws():
    rng = np.random.default_rng(0)
    shift, items = rng.standard_t(4, 10**6) * 0.5**0.5, rng.standard_t(6, 10**6) * (4 / 6) ** 0.5
    total = 0.6**0.5 * shift + 0.3**0.5 * items + 0.1**0.5 * rng.normal(size=10**6)
    reach = student_reach(0.9, np.array([0.6]), np.array([0.3]), 4.0, 6.0)
    assert reach == pytest.approx([np.quantile(np.abs(total), 0.9)], rel=0.005)
    assert student_reach(0.9, np.zeros(1), np.zeros(1), 4.0, 6.0) == pytest.approx([1.6448536], rel=1e-6)
