import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import linregress

from mensura.core.errors import MensuraError
from mensura.trends import fit_line

numbers = st.floats(-100, 100, allow_nan=False)


@given(st.lists(st.tuples(numbers, numbers), min_size=4, max_size=30, unique_by=lambda p: round(p[0], 2)))
def test_line_agrees_with_scipy(points):
    x, y = np.array(points).T
    line, peer = fit_line(x, y), linregress(x, y)
    assert line.slope == pytest.approx(peer.slope, rel=1e-6, abs=1e-9)
    assert line.intercept == pytest.approx(peer.intercept, rel=1e-6, abs=1e-6)
    assert line.slope_error == pytest.approx(peer.stderr, rel=1e-4, abs=1e-6)
    if np.ptp(y) > 1:
        assert line.r_squared == pytest.approx(peer.rvalue**2, abs=1e-6)


def test_error_of_the_mean_and_of_one_more_observation():
    x = np.arange(5.0)
    line = fit_line(x, [0.0, 1.1, 1.9, 3.2, 3.8])
    assert line.error_at(2.0) == pytest.approx(line.sd / np.sqrt(5))
    assert line.error_at(2.0, new=True) == pytest.approx(line.sd * np.sqrt(1.2))


def test_too_few_or_equal_points_are_refused():
    with pytest.raises(MensuraError, match="at least 3 points, got 2"):
        fit_line([0, 1], [0, 1])
    with pytest.raises(MensuraError, match="different x"):
        fit_line([1, 1, 1], [0, 1, 2])


def test_a_level_line_explains_everything_there_is():
    line = fit_line([0, 1, 2, 3], [2.0, 2.0, 2.0, 2.0])
    assert (line.slope, line.r_squared, line.sd, line.n) == (0, 1, 0, 4)
    assert {fit_line(np.arange(n), np.full(n, 0.7)).r_squared for n in range(3, 30)} == {1}
    assert line.intercept == 2


def test_intervals_use_students_quantiles():
    line = fit_line(np.arange(5.0), [0.0, 1.1, 1.9, 3.2, 3.8])
    assert line.quantile(0.9) == pytest.approx(2.353363, abs=1e-6)
    assert line.error_at(4.0) == pytest.approx(line.sd * np.sqrt(1 / 5 + 4 / 10))
    assert line.at([0.0, 2.0]).tolist() == pytest.approx([line.intercept, 2.0])
