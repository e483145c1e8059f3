"""How much scores tell: few answers and flat ends tell less, leaps past all others are shortened."""

import numpy as np
import pytest

from mensura.core.arrays import logit
from mensura.iq.doubt import shorten, weigh_scores
from mensura.iq.ladders import Metric

PERCENT = Metric.of("percent", np.array([]))


def weigh(scores, tries, chance=None, ceiling=None):
    column = np.array(scores, dtype=float)[:, None]
    return weigh_scores(column, np.array(tries, dtype=float)[:, None], [PERCENT], [chance], [ceiling])


def test_scores_with_a_usual_number_of_answers_are_not_doubtful():
    assert not weigh([40, 50, 60], [400, 400, 400]).doubtful.any()
    few = weigh([40, 50, 60], [400, 400, 20])
    assert few.doubtful.ravel().tolist() == [False, False, True]
    assert 20 < few.tries[2, 0] < 30  # what the error beyond the usual one amounts to
    unknown = weigh([40, 50, 60], [400, np.nan, 400])
    assert not unknown.doubtful.any()


def test_guessing_explains_what_lies_near_chance():
    doubt = weigh([25, 31, 60, np.nan], [100, 100, 100, 100], chance=25)
    assert doubt.guessed.ravel().tolist() == [True, True, False, False]
    assert (doubt.floor.tolist(), doubt.top.tolist()) == ([0.25], [1.0])
    assert not weigh([0, 1], [100, 100]).guessed.any()
    assert weigh([24, 26], [np.nan, np.nan], chance=25).guessed.ravel().tolist() == [True, False]


def test_a_doubtful_score_in_the_middle_is_its_binomial_likelihood():
    """Of 100 answers half right the log odds are 0 with variance 1 / (100 · ¼), whatever was predicted."""
    doubt = weigh([50, 50, 50], [100, 10_000, 10_000])
    assert doubt.doubtful.ravel().tolist() == [True, False, False]
    assert doubt.tries[0, 0] == pytest.approx(100, rel=0.02)
    for mean, variance in ((0.0, 1.0), (0.5, 4.0)):
        middle, width = doubt.match(np.array([mean]), np.array([variance]))
        assert middle == pytest.approx([0.0], abs=0.02)
        assert width == pytest.approx([4 / 100], rel=0.06)


def test_a_score_of_nothing_right_says_at_most():
    """The normal likelihood that stands for it lies below any prediction, and tells less the lower that is."""
    doubt = weigh([0, 50, 50], [20, 10_000, 10_000])
    high, low = (doubt.match(np.array([mean]), np.array([1.0])) for mean in (0.0, -8.0))
    assert high[0][0] < -2
    assert low[1][0] > 10 * high[1][0]


def test_parts_keep_what_belongs_to_them():
    doubt = weigh([25, 60, 50], [10, 400, 400], chance=25)
    both = doubt.of(np.array([0, 0]))
    assert both.rates.shape == (3, 2)
    assert both.floor.tolist() == [0.25, 0.25]
    left = doubt.among(np.array([[False], [True], [True]]))
    assert np.isnan(left.odds).ravel().tolist() == [True, False, False]
    assert not left.guessed.any()
    assert doubt.guessed[0, 0]


def test_a_leap_past_all_others_counts_by_its_logarithm():
    odds = np.array([[0.0, -5.0], [1.0, np.nan], [4.0, 0.0], [np.nan, np.nan]])
    short = shorten(odds)
    assert short[:3, 0].tolist() == pytest.approx([1 - np.log(2), 1.0, 1 + np.log(4)])
    assert odds[0, 0] == 0.0  # the original stays
    lone = np.array([[logit(0.9)], [np.nan]])
    assert shorten(lone)[0, 0] == lone[0, 0]
