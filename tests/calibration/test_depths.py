"""The depth of every item: what its rate and its demands say of it together."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from mensura.calibration.depths import (
    Depths,
    Moments,
    Spreads,
    given_rates,
    integrate,
    marginal,
    plain_depth,
    pool_departures,
    prior_precision,
    residual_variance,
    shown_depth,
    standing_in,
)


def test_the_shown_depth_is_the_depth_without_a_floor_and_its_slope_the_derivative():
    depth, floor = np.array([0.1, 0.8, 2.0]), np.array([0.0, 0.25, 0.5])
    shown, slope = shown_depth(depth, floor)
    assert 10**-shown == pytest.approx(floor + (1 - floor) * 10**-depth)
    step = 1e-6
    assert slope == pytest.approx((shown_depth(depth + step, floor)[0] - shown) / step, rel=1e-4)


def test_moment_sums_give_the_likelihood_of_the_whole_covariance():
    """Against the density of the responses with pools' shifts and slopes written out as one big covariance."""
    rng = np.random.default_rng(0)
    design = np.column_stack([np.ones(12), rng.normal(size=(12, 2))])
    response, variance, pool = rng.normal(size=12), rng.uniform(0.5, 2, 12), np.repeat([0, 1, 2], 4)
    spreads = Spreads(0.7, 0.3, 1.0)
    information, pull, constant = marginal(Moments.of(design, response, 1 / variance, pool, 3), spreads)
    departures = np.diag([0.49, 0.09, 0.09])
    whole = np.diag(variance) + np.where(pool[:, None] == pool, design @ departures @ design.T, 0.0)
    inverse = np.linalg.inv(whole)
    assert information == pytest.approx(design.T @ inverse @ design)
    assert pull == pytest.approx(design.T @ inverse @ response)
    logdet = np.linalg.slogdet(whole)[1] - np.log(variance).sum()
    assert constant == pytest.approx(-0.5 * (response @ inverse @ response + logdet))


def rated(rate, n=np.nan, floor=0.0, se=0.01):
    rate = np.array(rate, dtype=float)
    columns = {
        name: np.broadcast_to(value, rate.shape).astype(float)
        for name, value in (("n", n), ("floor", floor), ("se", se))
    }
    return SimpleNamespace(rate=rate, observed=rate, dimensions=("a", "b"), **columns)


def state_of(items, fitted, variance, extra=0.0):
    start = Depths.start(items)
    return replace(
        start, fitted=np.full_like(start.depth, fitted), variance=variance, extra=np.full_like(start.depth, extra)
    )


def test_a_depth_is_read_without_what_guessing_adds():
    """Of 10% that know and a floor of a quarter, 0.325 are right; a rate at its floor is read as a tenth above it."""
    assert plain_depth(np.array([0.325, 0.01]), np.array([0.25, 0.0])) == pytest.approx([1.0, 2.0])
    assert plain_depth(np.array([0.25, 0.2]), np.array([0.25, 0.25])) == pytest.approx(-np.log10([0.025, 0.02]))
    start = Depths.start(rated([0.1, 0.001], se=[0.01, 1e-9]))
    assert start.depth == pytest.approx([1.0, 3.0]) and start.shown == pytest.approx([1.0, 3.0])
    assert start.error == pytest.approx([0.1 / np.log(10), 0.005])
    assert (start.variance, start.used) == (pytest.approx(0.5), 3.0)


def test_a_rate_with_an_error_and_its_demands_are_weighed_by_their_precision():
    """Both normal in depths: error se / (p ln 10), prior σ² + extra."""
    items = rated([0.1], se=0.046051702)
    state = state_of(items, 1.5, 0.03, extra=0.01)
    mean, variance = given_rates(state, items)
    error = 0.2**2
    assert mean[0] == pytest.approx((1.0 / error + 1.5 / 0.04) / (1 / error + 1 / 0.04), abs=5e-3)
    assert variance[0] == pytest.approx(1 / (1 / error + 1 / 0.04), rel=0.05)


def test_a_counted_rate_errs_as_counts_do():
    """Posterior of the depth of 3 of 50 right under N(1, 0.3²), by a fine grid."""
    items = rated([0.06], n=50)
    mean, variance = given_rates(state_of(items, 1.0, 0.09), items)
    grid = np.linspace(0, 4, 20_001)
    q = 10.0**-grid
    log = 3 * np.log(q) + 47 * np.log(np.clip(1 - q, 1e-12, 1)) - 0.5 * ((grid - 1.0) / 0.3) ** 2
    mass = np.exp(log - log.max())
    mass /= mass.sum()
    assert mean[0] == pytest.approx(mass @ grid, abs=2e-3)
    assert variance[0] == pytest.approx(mass @ (grid - mass @ grid) ** 2, rel=0.05)


def test_a_rate_of_0_says_deep_and_one_at_its_floor_says_little():
    nobody = rated([0.0005, 0.25], n=[20, 20], floor=[0.0, 0.25])
    nobody.observed = np.array([0.0, 0.25])
    state = state_of(nobody, 1.0, 0.09)
    mean, variance = given_rates(state, nobody)
    assert mean[0] > 1.1
    assert variance[1] > 0.7 * 0.09


def test_the_normal_stand_in_gives_mean_and_variance_back():
    items = rated([0.1, 0.02])
    state = state_of(items, 1.2, 0.05, extra=0.02)
    mean, variance = np.array([1.1, 1.6]), np.array([0.01, 0.05])
    response, error = standing_in(state, mean, variance)
    precision = 1 / error + 1 / 0.07
    assert 1 / precision == pytest.approx(variance)
    assert (response / error + 1.2 / 0.07) / precision == pytest.approx(mean)
    _, nothing = standing_in(state, mean, np.array([0.07, 0.2]))
    assert (nothing > 0).all() and np.isfinite(nothing).all()


def test_the_variance_about_the_demands_stays_where_it_is_likeliest():
    """Exact depths off by ±0.3: of many items σ² is 0.09, moved by no more than a factor of two at a time."""
    size = 20_000
    items = rated(np.full(size, 0.1))
    off = np.where(np.arange(size) % 2, 0.3, -0.3)
    state = state_of(items, 1.0, 0.09)
    for _ in range(3):
        state = replace(state, variance=residual_variance(state, 1.0 + off, np.zeros(size)))
    assert state.variance == pytest.approx(0.09, rel=0.002)
    assert residual_variance(replace(state, variance=0.01), 1.0 + off, np.zeros(size)) == pytest.approx(0.02)
    assert residual_variance(replace(state, variance=9.0), 1.0 + off, np.zeros(size)) == pytest.approx(4.5)
    nothing = replace(state, variance=0.05)
    assert residual_variance(nothing, np.full(size, 1.0), np.full(size, 0.05)) == pytest.approx(0.04), "the usual one"
    few = state_of(rated(np.full(10, 0.1)), 1.0, 0.09)
    used = residual_variance(few, 1.0 + off[:10], np.zeros(10)) > residual_variance(
        replace(few, used=0.0), 1.0 + off[:10], np.zeros(10)
    )
    assert used, "coefficients take up part of the residuals"


def test_slopes_scatter_around_a_common_mean_that_is_unknown():
    """The prior precision is the inverse of diag(10²) and s² I + 1."""
    precision = prior_precision(0.3, 4)
    covariance = np.linalg.inv(precision)
    assert covariance[0] == pytest.approx([100.0, 0, 0, 0])
    assert covariance[1:, 1:] == pytest.approx(0.3**2 * np.eye(3) + 1.0)


def test_the_posterior_of_one_pool_is_regression_with_that_prior():
    rng = np.random.default_rng(0)
    design = np.column_stack([np.ones(30), rng.normal(size=(30, 2))])
    response = design @ [0.5, 0.4, 0.2] + 0.1 * rng.normal(size=30)
    posterior = integrate(Moments.of(design, response, np.full(30, 100.0), np.zeros(30, dtype=int), 1))
    assert posterior.chance.sum() == pytest.approx(1)
    assert {(point.shift, point.slope) for point in posterior.points} == {(0.0, 0.0)}
    assert posterior.averaged("dimension") == pytest.approx(sum(posterior.chance * [0.1, 0.16, 0.3, 0.5, 0.9]))
    at = int(posterior.chance.argmax())
    precision = 100 * design.T @ design + prior_precision(posterior.likeliest.dimension, 3)
    assert posterior.mean[at] == pytest.approx(np.linalg.solve(precision, 100 * design.T @ response))
    assert posterior.covariance[at] == pytest.approx(np.linalg.inv(precision))
    drawn = posterior.drawn(20_000, rng)
    assert drawn.mean(axis=0) == pytest.approx(posterior.chance @ posterior.mean, abs=2e-3)
    assert drawn.std(axis=0) == pytest.approx(np.sqrt(np.diag(posterior.covariance[at])), rel=0.1)


def test_pools_depart_as_far_as_their_items_say():
    """Intercepts alone: n items of weight w at y lie n w τ² / (1 + n w τ²) of the way from the centre to y."""
    response, pool = np.repeat([1.0, -2.0], [4, 10]), np.repeat([0, 1], [4, 10])
    moments = Moments.of(np.ones((14, 1)), response, np.full(14, 5.0), pool, 2)
    departures, worth = pool_departures(moments, Spreads(0.4, 0.1, 1.0), np.array([0.2]))
    part = np.array([20, 50]) * 0.16 / (1 + np.array([20, 50]) * 0.16)
    assert departures[:, 0] == pytest.approx(part * (np.array([1.0, -2.0]) - 0.2))
    assert worth == pytest.approx(part.sum())
    turned = Moments.of(np.ones((14, 1)), response[::-1], np.full(14, 5.0), pool[::-1], 2)
    assert turned.cross == pytest.approx(moments.cross) and turned.square == pytest.approx([20.0, 200.0])
