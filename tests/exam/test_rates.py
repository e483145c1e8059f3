"""Rates of people, of each item and of the whole exam: from answers, weighted or not, and from estimates as well."""

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.exam.rates import (
    AnswerMatrix,
    _fit_line,
    answer_matrix,
    combine,
    item_rates,
    mean_rate,
    rates_by_regression,
    shared_variance,
)


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


def test_the_mean_of_one_person_has_no_error_and_the_widest_interval():
    score = np.array([[1.0, 0.0, 1.0]])
    mean = mean_rate(AnswerMatrix(score, np.ones((1, 3), dtype=bool), np.ones(1)))
    assert (mean.rate, mean.low, mean.high, mean.n) == (2 / 3, 0.0, 1.0, 1)
    assert np.isnan(mean.se)
    nobody = AnswerMatrix(score, np.zeros((1, 3), dtype=bool), np.ones(1))
    with pytest.raises(MensuraError, match="exam: nobody answered any of these items"):
        mean_rate(nobody)


def test_weights_count_by_their_effective_number():
    """Weights 1, 1 and 2: the rate is weighted, and 4²/6 people count."""
    answers = AnswerMatrix(np.array([[1.0, 0], [0, 0], [1, 1]]), np.ones((3, 2), dtype=bool), np.array([1.0, 1, 2]))
    rate, low, high, n = item_rates(answers)
    assert rate.tolist() == [0.75, 0.5]
    assert n == pytest.approx([16 / 6] * 2)
    assert (low < rate).all() and (rate < high).all()
    assert mean_rate(answers).rate == 0.625
    assert mean_rate(answers, np.array([False, True])).rate == 0.5


def test_answers_are_those_of_the_named_people_and_items():
    rows = [("a", "x", 1.0), ("b", "x", 0.5), ("b", "y", None), ("c", "x", 1.0), ("a", "z", 1.0)]
    outcomes = pl.DataFrame(rows, ["subject", "item", "score"], orient="row")
    answers = answer_matrix(outcomes, ["y", "x"], {"b": 2.0, "a": 1.0})
    assert answers.score.tolist() == [[0.0, 0.5], [0.0, 1.0]]
    assert answers.given.tolist() == [[False, True], [False, True]]
    assert answers.weight.tolist() == [2.0, 1.0]


def test_estimates_need_answers_to_five_items():
    rng = np.random.default_rng(3)
    given = np.zeros((30, 8), dtype=bool)
    given[:, :5] = True
    answers = AnswerMatrix((rng.random((30, 8)) < 0.5) * given * 1.0, given, np.ones(30))
    joint = combine(answers, np.linspace(0.2, 0.9, 8))
    assert ((joint.low < joint.rate) & (joint.rate < joint.high)).all()
    assert joint.mean.low < joint.mean.rate < joint.mean.high
    assert joint.mean.n == 30
    given[:, 4] = False
    with pytest.raises(MensuraError, match="estimates: 4 items have answers; expected at least 5"):
        combine(answers, np.linspace(0.2, 0.9, 8))


def test_what_people_share_is_the_variance_beyond_that_of_single_answers():
    """Two items with rate ½ from 10 answers: (¼/10 + ¼/10) / 2² of the variance is chance."""
    rate, n = np.array([0.5, 0.5]), np.array([10.0, 10.0])
    assert shared_variance(0.2, rate, n) == pytest.approx(0.04 - 0.0125)
    assert shared_variance(0.1, rate, n) == 0.0


def test_the_line_of_estimates_is_a_bayesian_regression():
    """Without answers it is the prior, N(0, 4) and N(1, 1); with very many, logits are observed and the rest linear."""
    line = np.column_stack([np.ones(6), np.linspace(-1.0, 1.0, 6)])
    grid = np.linspace(-7.0, 7.0, 141)
    _, start, covariance = _fit_line(line, np.zeros((6, 141)), 0.5)
    assert start == pytest.approx([0.0, 1.0], abs=1e-4)
    assert covariance == pytest.approx(np.diag([4.0, 1.0]), rel=1e-3, abs=1e-6)
    logits = np.array([-0.5, -0.2, 0.3, 0.2, 1.0, 1.3])
    known = np.where(np.abs(grid - logits[:, None]) < 1e-6, 0.0, -1e6)
    _, slope, covariance = _fit_line(line, known, 0.5)
    precision = line.T @ line / 0.25 + np.diag([0.25, 1.0])
    assert covariance == pytest.approx(np.linalg.inv(precision))
    assert slope == pytest.approx(np.linalg.solve(precision, line.T @ logits / 0.25 + [0.0, 1.0]), abs=1e-4)
