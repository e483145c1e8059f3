"""Fits of both methods: residual errors, refits with other weights, and draws around the optimum."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from mensura.stitching import benchmark_influence, rosetta, stitch
from mensura.stitching.fitted import RosettaModel
from mensura.stitching.rosetta import RIDGE

from .conftest import simulate


def test_residual_variance_is_the_error_per_degree_of_freedom():
    frame, *_ = simulate(80, 12, seed=5, noise=0.04, density=0.9)
    assert np.sqrt(stitch(frame, method="rosetta").model.residual_variance) == pytest.approx(0.04, rel=0.1)
    small, *_ = simulate(10, 5, seed=5, noise=0.04, density=1.0)
    fit = stitch(small, method="rosetta")
    error = fit.predict(small)["score"] - small["score"]
    assert fit.model.residual_variance == pytest.approx((error**2).sum() / (50 - 10 - 2 * 5))


def test_draws_of_the_published_fit_have_the_covariance_of_least_squares():
    data_frame, *_ = simulate(12, 6, seed=3, noise=0.05, density=1.0)
    model = stitch(data_frame, method="rosetta", anchor_benchmark="b02").model
    at, layout, m, b = model.solution, model.data.layout, 12, 6
    slope, distance = at.slope[0, layout.cols], at.C[0, layout.rows] - at.D[0, layout.cols]
    s = 1 / (1 + np.exp(-slope * distance))
    J = np.zeros((s.size, m + 2 * b))
    i = np.arange(s.size)
    J[i, layout.rows] = s * (1 - s) * slope
    J[i, m + layout.cols] = -s * (1 - s) * slope
    J[i, m + b + layout.cols] = s * (1 - s) * distance
    free = np.delete(np.arange(m + 2 * b), m + b + 2)
    H = (J.T @ J + model.penalty * np.eye(m + 2 * b))[np.ix_(free, free)]
    expected = np.sqrt(model.residual_variance * np.diag(np.linalg.inv(H)))
    draws = model.sample(20_000, np.random.default_rng(0))
    np.testing.assert_allclose(draws.capability.std(axis=0), expected[:m], rtol=0.04)
    sharp = expected[m : m + b] < 0.4
    np.testing.assert_allclose(draws.difficulty.std(axis=0)[sharp], expected[m : m + b][sharp], rtol=0.06)
    np.testing.assert_allclose(draws.slope[:, 2], 1, atol=1e-4)


def test_replicates_that_did_not_arrive_are_counted(simulated, monkeypatch):
    fit = stitch(simulated[0], method="rosetta", anchor_benchmark="b00")
    assert fit.bootstrap(6).unconverged == 0
    assert fit.bootstrap(6).warnings == ()
    monkeypatch.setattr(rosetta, "solve_rosetta", partial(rosetta.solve_rosetta, max_iterations=1))
    draws = fit.bootstrap(6)
    assert draws.unconverged == 6
    assert "6 of 6 draws (bootstrap) did not converge" in str(draws)
    assert not benchmark_influence(fit)["converged"].any()


@pytest.fixture(scope="module")
def published(simulated):
    return stitch(simulated[0], method="rosetta", anchor_benchmark="b05").model


def test_a_refit_with_every_score_once_is_the_fit_and_reports_each_replicate(published):
    done = []
    found, converged = published.refit(np.ones((3, published.data.y.size)), lambda: done.append(1))
    assert converged.tolist() == [True] * 3 and len(done) == 3
    np.testing.assert_allclose(found.theta, np.repeat(published.positions.theta, 3, axis=0), atol=1e-6)


def test_a_weight_of_two_is_the_same_score_twice(published, simulated):
    """The published penalty depends on the numbers of subjects and benchmarks alone, so the optimum is the same."""
    twice = np.ones((1, published.data.y.size))
    twice[0, :5] = 2.0
    found, _ = published.refit(twice)
    data = replace(published.data, counts=published.data.counts * twice[0])
    again = RosettaModel.fit(data, published.anchor, RIDGE)
    np.testing.assert_allclose(found.theta[0], again.positions.theta[0], atol=1e-5)


def test_the_noise_of_least_squares_is_the_same_everywhere_and_the_anchor_keeps_its_slope(published):
    assert (published.noise(np.array([0.1, 0.9]), np.array([0, 3])) == published.residual_variance).all()
    anchor = published.data.benchmarks.index("b05")
    draws = published.sample(50, np.random.default_rng(0))
    assert (draws.slope[:, anchor] == 1.0).all()
    assert (draws.slope >= 0.01).all()
    assert published.convergence.converged and (published.shares == 1).all()
