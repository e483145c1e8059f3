"""Success of a whole population as a function of item difficulty, for every draw at once."""

import numpy as np
import pytest
from scipy.special import ndtr, stdtrit

from mensura.extrapolation.distributions import (
    Abilities,
    moments,
    normal_reach,
    student_reach,
    success,
    unknown_variances,
)


def test_the_reach_of_a_sum_of_student_and_normal_parts_is_that_of_draws():
    rng = np.random.default_rng(0)
    shift, items = rng.standard_t(4, 10**6) * 0.5**0.5, rng.standard_t(6, 10**6) * (4 / 6) ** 0.5
    total = 0.6**0.5 * shift + 0.3**0.5 * items + 0.1**0.5 * rng.normal(size=10**6)
    reach = student_reach(0.9, np.array([0.6]), np.array([0.3]), 4.0, 6.0)
    assert reach == pytest.approx([np.quantile(np.abs(total), 0.9)], rel=0.005)
    assert student_reach(0.9, np.zeros(1), np.zeros(1), 4.0, 6.0) == pytest.approx([1.6448536], rel=1e-6)


def normal(mean, variance, present=1.0, able=1.0):
    """Return strata × one draw, each normal."""
    shape = np.broadcast(mean, variance, present, able).shape
    return Abilities(*(np.broadcast_to(part, shape)[None, :] for part in (mean, variance, present, able)))


@pytest.mark.parametrize("mean", [-0.5, 0.13, 1.0])
def test_success_of_a_normal_population_is_the_closed_form(mean):
    """P(right at b) = Φ((m − b) / √(v + 1/a²))."""
    population = success(np.array([1.0]), normal([mean], [0.8]), np.array([0.8]), np.array([1.3]))
    place = np.array([[-2.0], [-0.4], [0.0], [1.7]])
    expected = ndtr((mean - place) / np.sqrt(0.8 + 1 / 1.3**2))
    assert population.rate(place, np.zeros((4, 1))) == pytest.approx(expected, abs=1e-3)
    wider = success(np.array([1.0]), normal([mean], [0.8]), np.array([0.5]), np.array([1.3]))
    assert wider.rate(place, np.zeros((4, 1))) == pytest.approx(expected, abs=2e-3)


def test_success_counts_who_is_present_and_able_and_adds_guessing():
    strata = normal([0.0, 1.0], [0.6, 0.6], present=[0.9, 0.5], able=[0.8, 1.0])
    population = success(np.array([0.25, 0.75]), strata, np.array([0.6]), np.array([2.0]))
    assert population.present == pytest.approx([0.25 * 0.9 + 0.75 * 0.5])
    assert population.able == pytest.approx([0.25 * 0.9 * 0.8 + 0.75 * 0.5])
    floor = np.full((2, 1), 0.2)
    hard, easy = population.rate(np.array([[10.0], [-9.0]]), floor)[:, 0]
    assert hard == pytest.approx(0.2 * 0.6, abs=1e-6)
    assert easy == pytest.approx(0.2 * 0.6 + 0.8 * 0.555, abs=1e-6)


def test_a_difficulty_gives_back_the_rate_it_was_read_from():
    strata = normal([0.0, 1.0], [0.6, 0.9], present=[0.9, 0.5])
    population = success(np.array([0.5, 0.5]), strata, np.array([0.6]), np.array([2.0]))
    rate, floor = np.array([[0.2], [0.4], [0.65]]), np.array([[0.1], [0.25], [0.0]])
    difficulty = population.difficulty(rate, floor)
    assert population.rate(difficulty, floor) == pytest.approx(rate, abs=1e-3)
    assert np.diff(population.difficulty(rate, np.zeros((3, 1))), axis=0).max() < 0


def test_moments_are_those_of_the_mixture_of_those_who_can_answer():
    """Halves at 0 and 2 with variance 1 each have mean 1 and variance 1 + 1."""
    assert moments(np.array([0.5, 0.5]), normal([0.0, 2.0], [1.0, 1.0])) == pytest.approx((1.0, 2**0.5))
    one_absent = normal([0.0, 2.0, 7.0], [1.0, 1.0, 1.0], present=[1.0, 0.5, 1.0], able=[0.5, 1.0, 0.0])
    assert moments(np.array([1.0, 1.0, 1.0]), one_absent) == pytest.approx((1.0, 2**0.5))


@pytest.mark.parametrize("df", [2.5, 4.0, 9.0])
def test_the_unknown_variance_of_a_student_variable_has_mean_1(df):
    """w = (ν − 2) / χ²: its mean is 1, and that of 1 / w is ν / (ν − 2)."""
    value, weight = unknown_variances(df)
    assert weight.sum() == pytest.approx(1.0)
    assert weight @ value == pytest.approx(1.0)
    assert weight @ (1 / value) == pytest.approx(df / (df - 2))
    assert [part.tolist() for part in unknown_variances(60.0)] == [[1.0], [1.0]]
    assert len(unknown_variances(59.0)[0]) > 1


def test_the_reach_of_one_part_alone_is_that_of_its_distribution(level=0.8, quantile=1.2815516):
    assert [normal_reach(one) for one in (0.5, level, 0.95)] == pytest.approx([0.6744898, quantile, 1.959964])
    one, none = np.ones(1), np.zeros(1)
    alone = stdtrit(5.0, (1 + level) / 2) * (3 / 5) ** 0.5
    assert student_reach(level, one, none, 5.0, 30.0) == pytest.approx([alone], rel=0.003)
    assert student_reach(level, none, one, 30.0, 5.0) == pytest.approx([alone], rel=0.003)
    assert student_reach(level, one, none, 1e9, 5.0) == pytest.approx([quantile], rel=1e-6)
    assert student_reach(level, one, none, 1.0, 5.0) == student_reach(level, one, none, 2.5, 5.0)


def test_the_reach_between_the_shares_of_the_table_is_that_of_the_mixture():
    """P(|sum| < reach) is the mean of 2Φ − 1 over both unknown variances."""
    shift, items = 0.333, 0.472
    (w1, p1), (w2, p2) = unknown_variances(3.0), unknown_variances(8.0)
    reach = student_reach(0.95, np.array([shift]), np.array([items]), 3.0, 8.0)[0]
    sd = np.sqrt(1 - shift - items + shift * w1[:, None] + items * w2)
    assert p1 @ (2 * ndtr(reach / sd) - 1) @ p2 == pytest.approx(0.95, abs=2e-4)
