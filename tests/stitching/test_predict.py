"""Intervals of new scores: closed forms, known noise, the prior where nothing is known."""

import numpy as np
import polars as pl
import pytest

from mensura.stitching import stitch
from mensura.stitching.pooled_model import PooledModel
from mensura.stitching.predict import _beta_interval, _from_prior, point_scores, predictive

from .conftest import simulate


def test_beta_interval_has_the_closed_form_of_known_distributions():
    low, high = _beta_interval(np.array([1 / 2, 1 / 3]), np.array([1 / 12, 1 / 18]), 0.9)
    assert (low[0], high[0]) == pytest.approx((0.05, 0.95))
    assert (low[1], high[1]) == pytest.approx((1 - np.sqrt(0.95), 1 - np.sqrt(0.05)))


def test_limits_beside_zero_and_one_are_zero_and_one():
    low, high = _beta_interval(np.array([0.01, 0.99, 0.0]), np.array([1e-4, 1e-4, 1e-3]), 0.9)
    assert low[0] == 0
    assert high[1] == 1
    assert np.isfinite([low[2], high[2]]).all()


@pytest.mark.parametrize(("method", "rho", "noise"), [("rosetta", 0.0, 0.06), ("pooled", 0.02, 0.0)])
def test_interval_of_a_new_score_is_as_wide_as_its_noise(method, rho, noise):
    frame, *_ = simulate(80, 12, seed=4, noise=0, density=0.9)
    f = frame["score"].to_numpy()
    error = np.sqrt(noise**2 + rho * (f * (1 - f) + 0.01))
    frame = frame.with_columns(score=np.clip(f + error * np.random.default_rng(0).standard_normal(f.size), 0, 1))
    found = stitch(frame, method=method, dimensions=1).predict(frame)
    middle = np.abs(f - 0.5) < 0.15
    half = ((found["high"] - found["low"]) / 2).to_numpy()[middle]
    assert np.median(half / (1.645 * error[middle])) == pytest.approx(1, abs=0.1)


def test_the_variance_of_a_prediction_is_that_of_its_expectation_plus_noise():
    frame, *_ = simulate(30, 8, seed=2, noise=0.05)
    fit = stitch(frame, method="rosetta", anchor_benchmark="b00")
    rows, cols = np.array([5, 12, 20]), np.array([1, 4, 6])
    exact = fit.model.positions
    draws = fit.model.sample(2000, np.random.default_rng(1))
    sharp = predictive(fit.model, type(exact)(exact.theta[[0, 0]], exact.phi[[0, 0]]), rows, cols, 0.9)
    wide = predictive(fit.model, draws, rows, cols, 0.9)
    np.testing.assert_allclose(sharp[0], wide[0])
    about = 1 / (1 + np.exp(-draws.eta(rows, cols)))
    ratio = np.sqrt(1 + about.var(axis=0) / fit.model.residual_variance)
    np.testing.assert_allclose((wide[2] - wide[1]) / (sharp[2] - sharp[1]), ratio, rtol=0.03)


def test_residual_variance_is_the_error_per_degree_of_freedom():
    frame, *_ = simulate(80, 12, seed=5, noise=0.04, density=0.9)
    assert np.sqrt(stitch(frame, method="rosetta").model.residual_variance) == pytest.approx(0.04, rel=0.1)
    small, *_ = simulate(10, 5, seed=5, noise=0.04, density=1.0)
    fit = stitch(small, method="rosetta")
    error = fit.predict(small)["score"] - small["score"]
    assert fit.model.residual_variance == pytest.approx((error**2).sum() / (50 - 10 - 2 * 5))


@pytest.fixture(scope="module")
def fit():
    return stitch(simulate(40, 10, seed=6, noise=0.05, chance=0.2)[0].with_columns(chance=pl.lit(0.2)), dimensions=2)


def drawn(mean, covariance, n, rng):
    return rng.multivariate_normal(mean, covariance, n)


@pytest.mark.parametrize(("row", "col"), [(-1, 3), (7, -1), (0, -1), (-1, 0), (-1, -1)])
def test_prior_predictions_agree_with_draws_from_the_prior(fit, row, col):
    model = fit.model
    assert isinstance(model, PooledModel)
    at, rng, n = model.fitted, np.random.default_rng(3), 40_000
    spread = at.theta.T @ at.theta / len(at.theta) + at.theta_cov.mean(axis=0)
    theta = drawn(np.zeros(2), spread, n, rng) if row < 0 else drawn(at.theta[row], at.theta_cov[row], n, rng)
    phi = drawn(at.phi_mean, at.phi_spread, n, rng) if col < 0 else drawn(at.phi[col], at.phi_cov[col], n, rng)
    s = 1 / (1 + np.exp(-(phi[:, 0] + (phi[:, 1:] * theta).sum(axis=1))))
    f = s if col < 0 else 0.2 + 0.8 * s
    rho = np.median(at.dispersion) if col < 0 else at.dispersion[col]
    mean, variance = _from_prior(model, np.array([row]), np.array([col]))
    assert mean[0] == pytest.approx(f.mean(), abs=0.02)
    assert variance[0] == pytest.approx(f.var() + rho * (f.mean() * (1 - f.mean()) + 0.01), rel=0.12)


def test_point_predictions_average_over_the_error_of_position(fit):
    model = fit.model
    rows, cols = np.array([0, 15, 39]), np.array([0, 5, 9])
    at, rng = model.fitted, np.random.default_rng(4)
    for row, col, found in zip(rows, cols, point_scores(model, rows, cols), strict=True):
        theta = drawn(at.theta[row], at.theta_cov[row], 40_000, rng)
        phi = drawn(at.phi[col], at.phi_cov[col], 40_000, rng)
        s = 1 / (1 + np.exp(-(phi[:, 0] + (phi[:, 1:] * theta).sum(axis=1))))
        assert found == pytest.approx(0.2 + 0.8 * s.mean(), abs=2e-3)
