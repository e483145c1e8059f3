"""Errors in levels: what an item's true demands are, on average, given its annotated ones."""

import numpy as np
import pytest
from scipy.special import ndtr

from mensura.calibration.reliability import (
    implied_by_others,
    pool_means,
    predicted_levels,
    reading_chances,
    reading_noise,
)


def test_a_reading_is_drawn_towards_what_is_common_in_its_pool():
    pool = np.repeat([0, 1], 200)
    levels = np.concatenate([np.repeat([0, 1, 3], [150, 49, 1]), np.repeat([2, 3, 4], [60, 80, 60])])[:, None] * 1.0
    read, left = predicted_levels(levels, pool, np.ones(400, dtype=int), np.array([0.5]))
    assert read[199, 0] < read[280, 0]  # both read as 3
    assert read[280, 0] == pytest.approx(3.0, abs=0.05)
    assert (left[280, 0] > 0.1) and (read >= 0).all()
    exact, none = predicted_levels(levels, pool, np.ones(400, dtype=int), np.array([0.0]))
    assert (exact == levels).all() and not none.any()


def test_two_readings_have_the_chances_of_their_sum():
    """Of a true 2 with error 0.35: a reading is right with chance 0.847, one off with 0.0766 either way."""
    told, twice = np.array([2.0, 2.5, 3.0]), np.full(3, 2)
    right, off = 0.84686, 0.07656
    expected = [right**2 + 2 * off**2, 2 * right * off, off**2]
    assert reading_chances(told, twice, 0.35)[:, 2] == pytest.approx(expected, abs=2e-5)
    every = np.arange(0, 5.25, 0.5)
    assert reading_chances(every, np.full(11, 2), 0.6).sum(axis=0) == pytest.approx(np.ones(6))


def test_means_of_pools_are_of_each_column():
    values = np.array([[1.0, 5.0], [3.0, 7.0], [10.0, 0.0]])
    assert pool_means(values, np.array([0, 0, 1])).tolist() == [[2, 6], [10, 0]]


def test_the_noise_of_a_reading_scatters_as_the_readings_do():
    """Rounded normal errors around levels 2 and 3 with the noise found have the spread asked for."""
    levels = np.repeat([2.0, 3.0], 50)
    noise = reading_noise(levels, 0.6)
    drawn = np.clip(
        np.round(np.repeat([2.0, 3.0], 200_000) + noise * np.random.default_rng(0).normal(size=400_000)), 0, 5
    )
    assert np.mean([part.var() for part in np.split(drawn, 2)]) == pytest.approx(0.36, rel=0.01)
    assert reading_noise(np.zeros(10), 0.3) > reading_noise(levels, 0.3), "an open end swallows half of the errors"


def test_one_reading_is_a_rounded_normal_with_open_ends():
    chances = reading_chances(np.arange(6.0), np.ones(6, dtype=int), 0.7)
    expected = [ndtr((read + 0.5 - 1) / 0.7) - ndtr((read - 0.5 - 1) / 0.7) for read in range(6)]
    expected[0] = ndtr((0.5 - 1) / 0.7)
    expected[5] = 1 - ndtr((4.5 - 1) / 0.7)
    assert chances[:, 1] == pytest.approx(expected, abs=1e-9)
    assert reading_chances(np.array([5.0]), np.array([1]), 0.1)[0, 0] == 1e-12


def test_demands_that_stand_alone_say_nothing_of_one_another():
    rng = np.random.default_rng(0)
    alone = rng.normal(2, 1, (60, 1))
    pull, grip = implied_by_others(alone, np.array([0.3]), np.zeros(60, dtype=int), np.ones(60, dtype=int))
    assert pull == pytest.approx(np.zeros((60, 1)), abs=1e-9)
    assert grip == pytest.approx(np.zeros((60, 1)), abs=1e-9)


def test_a_demand_that_goes_along_with_another_is_known_from_it():
    """Equal demands, the first read with much error: it is drawn to the reading of the second."""
    rng = np.random.default_rng(0)
    true = rng.integers(0, 6, 300).astype(float)
    first = np.clip(np.round(true + rng.normal(0, 0.8, 300)), 0, 5)
    levels = np.column_stack([first, true])
    pool, readings = np.zeros(300, dtype=int), np.ones(300, dtype=int)
    read, _ = predicted_levels(levels, pool, readings, np.array([0.8, 0.05]))
    alone, _ = predicted_levels(first[:, None], pool, readings, np.array([0.8]))
    assert np.abs(read[:, 0] - true).mean() < 0.7 * np.abs(alone[:, 0] - true).mean()
    assert read[:, 1] == pytest.approx(true, abs=0.1)


def test_more_readings_leave_less_open_and_the_order_of_items_does_not_matter():
    rng = np.random.default_rng(1)
    levels = rng.integers(0, 6, (100, 1)).astype(float)
    pool = np.arange(100) % 2
    one, left_by_one = predicted_levels(levels, pool, np.ones(100, dtype=int), np.array([0.6]))
    many, left_by_many = predicted_levels(levels, pool, np.full(100, 4), np.array([0.6]))
    assert left_by_many.mean() < 0.5 * left_by_one.mean()
    assert np.abs(many - levels).mean() < np.abs(one - levels).mean()
    order = rng.permutation(100)
    turned, _ = predicted_levels(levels[order], pool[order], np.ones(100, dtype=int), np.array([0.6]))
    assert turned == pytest.approx(one[order])
