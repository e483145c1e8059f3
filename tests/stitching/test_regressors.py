"""What is known of a subject before its scores: the pattern of tests it was given, and its release date."""

import numpy as np
import polars as pl
import pytest

from mensura.stitching.scores import encode, read_scores
from mensura.stitching.surprise import Background, pattern_axis

EASY, BOTH, HARD = ("e1", "e2"), ("b1", "b2"), ("h1", "h2", "h3")


def taken(tests, released=None):
    """Scores of subjects who took these tests each."""
    rows = [
        (f"s{i:02}", test, 0.5, released and released[i]) for i, own in enumerate(tests) for test in sorted(set(own))
    ]
    return encode(
        read_scores(pl.DataFrame(rows, schema=["subject", "benchmark", "score", "released"], orient="row")), "mean"
    )


@pytest.fixture(scope="module")
def two_camps():
    """Old subjects took easy tests, new ones hard tests; some took both, one took few."""
    old, new = [EASY + BOTH] * 6 + [EASY], [HARD + BOTH] * 5 + [("h1", "b1")]
    years = [f"202{0 if i < 7 else 4}-01-{1 + i:02}" for i in range(13)]
    return taken(old + new, [*years[:-1], None])


def test_who_took_which_test_orders_the_subjects(two_camps):
    axis = pattern_axis(two_camps.layout, two_camps.counts)
    assert (axis.mean(), axis.std()) == (pytest.approx(0, abs=1e-9), pytest.approx(1))
    old, new = axis[:7], axis[7:]
    assert max(old.min(), new.min()) > min(old.max(), new.max()), "the camps stand apart"
    assert abs(old[6]) > abs(old[0]), "who took none of the common tests stands further out"
    np.testing.assert_allclose(old[:6], old[0])


def test_a_pattern_that_says_nothing_is_not_used():
    same = taken([EASY + HARD] * 5)
    assert pattern_axis(same.layout, same.counts) is None
    assert Background.of(same.layout, same.counts, same.years, informed=True).x.shape == (5, 1)


def test_new_subjects_with_known_tests_and_dates_read_as_the_known_ones(two_camps):
    known = Background.of(two_camps.layout, two_camps.counts, two_camps.years, informed=True)
    again, complete = known.of_new(two_camps)
    np.testing.assert_allclose(again, known.x, atol=1e-6)
    assert complete.tolist() == [True] * 12 + [False]
    assert known.x[-1, 2] == 0, "an unknown date stands at the mean"
    assert np.nanmean(known.x[:12, 2]) == pytest.approx(0, abs=1e-9)
    assert known.x[:12, 2].std() == pytest.approx(1)
    assert (known.lasting, known.x.shape[1]) == (2, 3)
    assert Background.of(two_camps.layout, two_camps.counts, two_camps.years, informed=False).x.shape == (13, 1)
