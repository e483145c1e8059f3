"""Intervals of new scores: closed forms, known noise, the prior where nothing is known."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import beta

from mensura.stitching import stitch
from mensura.stitching.fitted import PooledModel
from mensura.stitching.predict import point_scores, predictive

from .conftest import simulate


def test_limits_beside_zero_and_one_are_zero_and_one():
    """One model solves nothing, another everything; bounds within the resolution of scores are exact."""
    frame, *_ = simulate(30, 8, seed=2, noise=0.02)
    own = pl.col("model").replace_strict({"m000": 0.0, "m001": 1.0}, default=None)
    fit = stitch(frame.with_columns(score=pl.coalesce(own, "score")), dimensions=1)
    weak, strong = fit.predict({"model": ["m000", "m001"], "benchmark": ["b00", "b00"]}).iter_rows(named=True)
    assert weak["low"] == 0.0 < weak["high"] < 0.5
    assert 0.5 < strong["low"] < strong["high"] == 1.0


@pytest.mark.parametrize(("method", "rho", "noise"), [("rosetta", 0.0, 0.06), ("pooled", 0.02, 0.0)])
def test_interval_of_a_new_score_is_as_wide_as_its_noise(method, rho, noise):
    """On the mean of three simulations: one alone is off by up to 0.14."""
    ratios = []
    for seed in range(3):
        frame, *_ = simulate(80, 12, seed=4 + seed, noise=0, density=0.9)
        f = frame["score"].to_numpy()
        error = np.sqrt(noise**2 + rho * (f * (1 - f) + 0.01))
        drawn = error * np.random.default_rng(seed).standard_normal(f.size)
        noisy = frame.with_columns(score=np.clip(f + drawn, 0, 1))
        found = stitch(noisy, method=method, dimensions=1 if method == "pooled" else None).predict(frame)
        middle = np.abs(f - 0.5) < 0.15
        half = ((found["high"] - found["low"]) / 2).to_numpy()[middle]
        ratios.append(np.median(half / (1.645 * error[middle])))
    assert np.mean(ratios) == pytest.approx(1, abs=0.1)


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


@pytest.fixture(scope="module")
def fit():
    return stitch(simulate(40, 10, seed=6, noise=0.05, chance=0.2)[0].with_columns(chance=pl.lit(0.2)), dimensions=2)


def drawn(mean, covariance, n, rng):
    return rng.multivariate_normal(mean, covariance, n)


def beta_ends(mean, variance):
    """The 5% and 95% quantiles of the beta distribution with this mean and variance."""
    size = mean * (1 - mean) / variance - 1
    return tuple(beta.ppf([0.05, 0.95], mean * size, (1 - mean) * size))


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
    mean, low, high = predictive(model, model.positions, np.array([row]), np.array([col]), 0.9)
    assert mean[0] == pytest.approx(f.mean(), abs=0.02)
    noise = rho * (f.mean() * (1 - f.mean()) + 0.01)
    assert (low[0], high[0]) == pytest.approx(beta_ends(mean[0], f.var() + noise), abs=0.02)


def test_point_predictions_average_over_the_error_of_position(fit):
    model = fit.model
    rows, cols = np.array([0, 15, 39]), np.array([0, 5, 9])
    at, rng = model.fitted, np.random.default_rng(4)
    for row, col, found in zip(rows, cols, point_scores(model, rows, cols), strict=True):
        theta = drawn(at.theta[row], at.theta_cov[row], 40_000, rng)
        phi = drawn(at.phi[col], at.phi_cov[col], 40_000, rng)
        s = 1 / (1 + np.exp(-(phi[:, 0] + (phi[:, 1:] * theta).sum(axis=1))))
        ceiling = model.data.ceiling[col]
        assert found == pytest.approx(0.2 + (ceiling - 0.2) * s.mean(), abs=2e-3)
