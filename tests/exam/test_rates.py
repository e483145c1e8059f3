"""Rates of people, of each item and of the whole exam: from answers, weighted or not, and from estimates as well."""

import numpy as np
import pytest

from mensura.exam.rates import AnswerMatrix, item_rates, mean_rate, rates_by_regression


def test_the_mean_rate_of_complete_answers_is_that_of_a_plain_t_interval():
    score = (np.random.default_rng(0).random((30, 8)) < 0.6).astype(float)
    found = mean_rate(AnswerMatrix(score, np.ones((30, 8), dtype=bool), np.ones(30)))
    means = score.mean(axis=1)
    assert found.rate == pytest.approx(means.mean())
    assert found.se == pytest.approx(means.std(ddof=1) / np.sqrt(30))


def test_an_item_that_all_got_right_has_an_interval_up_to_one():
    rate, low, high, n = item_rates(AnswerMatrix(np.ones((10, 1)), np.ones((10, 1), dtype=bool), np.ones(10)))
    assert (rate[0], high[0], n[0]) == (1.0, 1.0, 10.0)
    assert 0.75 < low[0] < 0.9


def test_an_item_that_abler_people_happened_to_get_is_corrected_by_their_other_answers():
    """People answer ten of 20 items; the able half got the first item by chance. All would reach 60% on it."""
    rng = np.random.default_rng(5)
    able = np.arange(2000) % 2 == 0
    chance = np.where(able, 0.8, 0.4)[:, None]
    given = rng.random((2000, 20)) < 0.5
    given[:, 0] = rng.random(2000) < np.where(able, 0.8, 0.2)
    answers = AnswerMatrix(np.where(given, rng.random(given.shape) < chance, 0).astype(float), given, np.ones(2000))
    plain, corrected = item_rates(answers)[0][0], rates_by_regression(answers)[0][0]
    assert plain == pytest.approx(0.72, abs=0.03)
    assert abs(corrected - 0.6) < abs(plain - 0.6) / 2


def test_answers_to_everything_need_no_correction():
    rng = np.random.default_rng(6)
    score = (rng.random((50, 8)) < 0.6).astype(float)
    answers = AnswerMatrix(score, np.ones((50, 8), dtype=bool), np.ones(50))
    rate, n = rates_by_regression(answers)
    assert rate == pytest.approx(score.mean(axis=0))
    assert n == pytest.approx(np.full(8, 50.0))


def test_the_error_of_the_mean_rate_is_right_with_few_answers_per_item():
    """40 people answer two of 20 items each: the error must be that of many such samples, not one that is too small."""
    rng = np.random.default_rng(8)
    found = []
    for _ in range(1500):
        given = np.zeros((40, 20), dtype=bool)
        given[np.arange(40)[:, None], np.argsort(rng.random((40, 20)), axis=1)[:, :2]] = True
        answers = AnswerMatrix((rng.random(given.shape) < 0.5) * given * 1.0, given, np.ones(40))
        if given.sum(axis=0).min() > 1:
            found.append(mean_rate(answers))
    errors = np.array([one.rate - 0.5 for one in found])
    assert np.mean([one.se**2 for one in found]) == pytest.approx(errors.var(), rel=0.1)
