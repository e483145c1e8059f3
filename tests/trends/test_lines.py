from datetime import date

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from scipy.stats import linregress

from mensura.core.errors import MensuraError
from mensura.stitching import to_years
from mensura.trends import find_frontier, fit_line, frontier_line
from mensura.trends.lines import constancy_table, draw_residuals, fieller, is_record, joint_table, recent_releases

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


def models(*rows):
    return pl.DataFrame(rows, schema=["subject", "released", "capability"], orient="row")


def test_a_record_is_no_smaller_than_all_up_to_its_own_day():
    days = [date(2024, 1, 1), date(2024, 2, 1), date(2024, 2, 1), date(2024, 3, 1), date(2024, 4, 1), date(2024, 5, 1)]
    table = models(*zip("abcdef", days, [1.0, 1.5, 2.0, 2.0, 1.9, 3.0], strict=True))
    assert find_frontier(table)["subject"].to_list() == ["a", "c", "d", "f"]
    assert is_record(np.array([0.0, 0.0, 1.0]), np.array([2.0, 1.0, 2.0])).tolist() == [True, False, True]
    line = frontier_line(table)
    assert line.n == 4
    assert line.at(to_years(pl.Series([date(2024, 3, 1)])))[0] == pytest.approx(2.0, abs=0.3)


def test_the_last_three_years_count_where_they_have_ten_releases():
    years = np.array([0.0, 1.0, *np.linspace(2.0, 4.0, 10)])
    assert recent_releases(years).tolist() == [False] * 2 + [True] * 10
    assert recent_releases(years[:-1]).tolist() == [False, True] + [True] * 9
    assert recent_releases(years[:-3]).all()


def test_residuals_are_drawn_with_variance_1():
    x = np.arange(30.0)
    y = 0.1 * x + np.random.default_rng(1).normal(0, 0.3, 30)
    line = fit_line(x, y)
    residuals = (y - line.at(x)) / line.sd
    drawn = draw_residuals(line, residuals, (200, 1000), np.random.default_rng(0))
    assert drawn.shape == (200, 1000)
    assert drawn.std() == pytest.approx(1.0, abs=0.01)
    assert drawn.mean() == pytest.approx(0.0, abs=0.01)


def joint_data(noise=0.1):
    """Capability of 0.5 per decade of compute and 0.3 a year."""
    rng = np.random.default_rng(0)
    years, spent = rng.uniform(2020, 2026, 40), rng.uniform(50, 60, 40)
    return years, 0.5 * spent / np.log(10) + 0.3 * years + noise * rng.normal(size=40), spent


def test_the_joint_regression_gives_decades_of_compute_saved_a_year():
    row = joint_table(*joint_data(0.0), level=0.9, published=False).row(0, named=True)
    assert (row["per_decade"], row["per_year"], row["decades_saved"]) == pytest.approx((0.5, 0.3, 0.6))
    assert (row["r_squared"], row["n"]) == (pytest.approx(1.0), 40)
    with pytest.raises(MensuraError, match="3 subjects with compute; the joint regression needs at least 4"):
        joint_table(*(part[:3] for part in joint_data()), level=0.9, published=False)


def test_the_interval_of_the_ratio_is_that_of_a_t_test():
    """Fieller: at an end r of the interval, per year − r per decade differs from 0 by just the t quantile."""
    years, C, spent = joint_data()
    row = joint_table(years, C, spent, level=0.9, published=False).row(0, named=True)
    decades = spent / np.log(10)
    for ratio in (row["low"], row["high"]):
        x = np.column_stack([np.ones(40), decades + ratio * (years - years.mean()), years - years.mean()])
        beta = np.linalg.solve(x.T @ x, x.T @ C)
        rest = C - x @ beta
        error = np.sqrt(rest @ rest / 37 * np.linalg.inv(x.T @ x)[2, 2])
        assert abs(beta[2]) / error == pytest.approx(1.687094, rel=1e-4)
    assert row["low"] < row["decades_saved"] < row["high"]
    published = joint_table(years, C, spent, level=0.9, published=True).row(0, named=True)
    assert published["high"] - published["decades_saved"] == pytest.approx(
        published["decades_saved"] - published["low"]
    )


def test_fieller_without_error_is_the_ratio_and_open_where_the_bottom_may_be_0():
    assert fieller(3.0, 2.0, np.zeros((2, 2)), 2.0) == (1.5, 1.5)
    assert fieller(3.0, 2.0, np.diag([0.0, 0.99]), 2.0)[1] > 3
    assert fieller(3.0, 2.0, np.diag([0.0, 1.0]), 2.0) == (-np.inf, np.inf)
    low, high = fieller(0.0, 2.0, np.diag([0.25, 0.0]), 2.0)
    assert (low, high) == pytest.approx((-0.5, 0.5))
    together = fieller(3.0, 2.0, np.array([[0.09, 0.06], [0.06, 0.04]]), 1.0)
    assert together == pytest.approx((1.5, 1.5)), "errors in step leave the ratio alone"


@pytest.mark.parametrize(
    ("over", "bend"), [("scale", lambda x, t: 0.02 * x**2 / 2), ("date", lambda x, t: 0.02 * x * t)]
)
def test_what_compute_buys_may_change_with_scale_or_date(over, bend):
    years, _, spent = joint_data()
    x, t = spent - spent.mean(), years - years.mean()
    noise = 0.02 * np.random.default_rng(1).normal(size=40)
    table = constancy_table(years, 0.2 * x + 0.3 * t + bend(x, t) + noise, spent, level=0.9)
    row = table.row(by_predicate=pl.col("over") == over, named=True)
    unit = np.log(10) if over == "scale" else 1.0
    assert row["k"] == pytest.approx(0.2, abs=0.01)
    assert row["change"] == pytest.approx(0.02 * unit, rel=0.15)
    assert row["low"] < 0.02 * unit < row["high"] and row["p"] < 1e-6
    level = constancy_table(years, 0.2 * x + 0.3 * t + noise, spent, level=0.9)
    assert (level["low"] < level["high"]).all() and (level["p"] > 0.01).all()


def test_the_error_of_a_change_is_robust_to_unequal_scatter():
    """HC3 written out: (X'X)⁻¹ X' diag(e² / (1 − h)²) X (X'X)⁻¹."""
    years, C, spent = joint_data()
    x, t = spent - spent.mean(), years - years.mean()
    design = np.column_stack([np.ones(40), t, x, x * t])
    inverse = np.linalg.inv(design.T @ design)
    beta = inverse @ design.T @ C
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    meat = (design * (((C - design @ beta) / (1 - leverage)) ** 2)[:, None]).T @ design
    error = np.sqrt((inverse @ meat @ inverse)[3, 3])
    row = constancy_table(years, C, spent, level=0.9).row(by_predicate=pl.col("over") == "date", named=True)
    assert row["change"] == pytest.approx(beta[3])
    assert row["high"] - row["change"] == pytest.approx(1.688298 * error, rel=1e-5)
    assert constancy_table(years[:7], C[:7], spent[:7], level=0.9).is_empty()
    assert constancy_table(years, C, np.full(40, 50.0), level=0.9).is_empty()
