"""The interval of a rate: Wilson's, in one place, right where all tries or none succeeded."""

import numpy as np
import pytest
from scipy import stats

from mensura.scale import Z90, rate_interval


@pytest.mark.parametrize(("right", "n"), [(0, 70), (70, 70), (1, 3), (12.5, 31.25)])
def test_ends_are_the_rates_from_which_the_share_lies_z_errors_away(right, n):
    for end in rate_interval(right, n):
        assert abs(right / n - end) == pytest.approx(Z90 * np.sqrt(end * (1 - end) / n), abs=1e-9)


def test_published_values():
    """The intervals that scipy's own implementation gives."""
    for right, n in ((0, 10), (3, 17), (41, 70), (198, 198)):
        other = stats.binomtest(right, n).proportion_ci(0.9, method="wilson")
        assert [float(end) for end in rate_interval(right, n)] == pytest.approx([other.low, other.high], abs=1e-12)


@pytest.mark.parametrize(("side", "bounded"), [("lower", 0), ("upper", 1)])
def test_one_side_covers_as_often_as_both(side, bounded):
    z = stats.norm.ppf(0.9)
    ends = rate_interval(30, 70, side)
    assert abs(30 / 70 - ends[bounded]) == pytest.approx(z * np.sqrt(ends[bounded] * (1 - ends[bounded]) / 70))
    assert ends[1 - bounded] == 1 - bounded
    assert rate_interval(70, 70, "lower")[0] > rate_interval(70, 70)[0]


def test_nobody_tried():
    assert [float(end) for end in rate_interval(0, 0)] == [0.0, 1.0]
    assert np.isnan(rate_interval(np.nan, np.nan)).all()


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.5, 0.97])
@pytest.mark.parametrize("n", [10, 70, 400])
def test_nine_of_ten_intervals_hold_the_rate_on_average_over_near_rates(rate, n):
    """Coverage by the exact binomial distribution, averaged over rates near by (it jumps from rate to rate)."""
    counts = np.arange(n + 1)
    low, high = rate_interval(counts, np.full(n + 1, n))
    near = rate + np.linspace(-0.5, 0.5, 41) * min(rate, 1 - rate)
    covered = [stats.binom.pmf(counts, n, p)[(low <= p) & (p <= high)].sum() for p in near]
    assert 0.86 < np.mean(covered) < 0.97
