"""The depth of every item: what its rate and its demands say of it together."""

import numpy as np
import pytest

from mensura.calibration.depths import Moments, Spreads, marginal, shown_depth


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
