"""Errors in levels: what an item's true demands are, on average, given its annotated ones."""

import numpy as np
import pytest

from mensura.calibration.reliability import predicted_levels, reading_chances


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
