"""The closed-form updates of the default model, against dense algebra, invariants and known truth."""

from dataclasses import replace

import numpy as np
import pytest

from mensura.stitching import encode, read_scores
from mensura.stitching.layout import bounded, levels
from mensura.stitching.surprise import Background
from mensura.stitching.sweeps import (
    Cells,
    Expected,
    Pooled,
    eta_variance,
    expect,
    fitted_eta,
    learn_benchmark_prior,
    learn_dispersion,
    learn_subject_prior,
    linearise,
    posterior_precision,
    score_variance,
    update_benchmarks,
    update_subjects,
)

from .conftest import simulate

M, B, K = 9, 5, 2


@pytest.fixture(scope="module")
def state():
    """A random posterior on a sparse layout with chance levels, weights and sampling variances."""
    rng = np.random.default_rng(0)
    data = encode(read_scores(simulate(M, B, seed=1, density=0.7)[0]), "mean")
    n = data.y.size
    x = np.column_stack([np.ones(M), np.linspace(-1, 1, M)])
    cells = Cells(
        data.layout, data.y, np.full(B, 0.1), np.full(B, 0.95), rng.uniform(0, 0.01, n), rng.uniform(0.5, 2, n), x
    )

    def covariances(count, size):
        root = rng.normal(0, 0.3, (count, size, size))
        return root @ root.transpose(0, 2, 1) + 0.05 * np.eye(size)

    fit = Pooled(
        theta=rng.normal(0, 1, (M, K)),
        theta_cov=covariances(M, K),
        phi=rng.normal(0, 0.7, (B, 1 + K)) + np.array([0, 1, 0]),
        phi_cov=covariances(B, 1 + K),
        gamma=rng.normal(0, 0.3, (2, K)),
        phi_mean=np.array([0.2, 1.0, 0.0]),
        phi_spread=np.diag([2.0, 0.5, 0.3]),
        dispersion=rng.uniform(0.02, 0.1, B),
    )
    return cells, fit


def test_working_responses_are_one_newton_step_of_each_score(state):
    cells, fit = state
    at = expect(cells, fit)
    z, w = linearise(cells, fit, at)
    cols, eta = cells.layout.cols, at.eta
    s = 1 / (1 + np.exp(-eta))
    f, slope = 0.1 + 0.85 * s, 0.85 * s * (1 - s)
    variance = cells.sampling + fit.dispersion[cols] * (f * (1 - f) + 0.01)
    near = np.abs((cells.y - f) / slope) < 4
    np.testing.assert_allclose((z - eta)[near], ((cells.y - f) / slope)[near])
    np.testing.assert_allclose(w, cells.weights * slope**2 / variance)


def test_a_step_is_bounded_by_four_or_by_four_deviations():
    slope, variance = np.array([0.1, 0.1]), np.array([1e-6, 0.09])
    assert bounded(np.array([1.0, 1.0]), slope, variance).tolist() == pytest.approx([4.0, 10.0])
    assert bounded(np.array([-9.0, -9.0]), slope, variance).tolist() == pytest.approx([-4.0, -12.0])


def test_subjects_are_a_ridge_regression_when_the_benchmarks_are_known(state):
    cells, fit = state
    sharp = replace(fit, phi_cov=np.zeros_like(fit.phi_cov))
    z, w = np.linspace(-1, 1, cells.y.size), cells.weights
    found = update_subjects(cells, sharp, z, w)
    for m in range(M):
        mine = cells.layout.rows == m
        phi = fit.phi[cells.layout.cols[mine]]
        A = (phi[:, 1:].T * w[mine]) @ phi[:, 1:] + np.eye(K)
        b = (phi[:, 1:].T * w[mine]) @ (z[mine] - phi[:, 0]) + cells.x[m] @ fit.gamma
        np.testing.assert_allclose(found.theta[m], np.linalg.solve(A, b))
        np.testing.assert_allclose(found.theta_cov[m], np.linalg.inv(A))


def test_uncertain_benchmarks_act_as_their_average_over_draws(state):
    cells, fit = state
    z, w = np.linspace(-1, 1, cells.y.size), cells.weights
    found = update_subjects(cells, fit, z, w)
    rng, m = np.random.default_rng(2), 3
    A, b = np.eye(K), cells.x[m] @ fit.gamma
    for i in np.flatnonzero(cells.layout.rows == m):
        col = cells.layout.cols[i]
        phi = rng.multivariate_normal(fit.phi[col], fit.phi_cov[col], 200_000)
        A = A + w[i] * phi[:, 1:].T @ phi[:, 1:] / len(phi)
        b = b + w[i] * (phi[:, 1:] * (z[i] - phi[:, :1])).mean(axis=0)
    np.testing.assert_allclose(found.theta[m], np.linalg.solve(A, b), atol=0.01)


def test_benchmarks_are_a_regression_with_their_prior_when_the_subjects_are_known(state):
    cells, fit = state
    sharp = replace(fit, theta_cov=np.zeros_like(fit.theta_cov))
    z, w = np.linspace(-1, 1, cells.y.size), cells.weights
    found = update_benchmarks(cells, sharp, z, w, pooling=2.0)
    prior = 2.0 * np.linalg.inv(fit.phi_spread)
    for b in range(B):
        mine = cells.layout.cols == b
        X = np.column_stack([np.ones(mine.sum()), fit.theta[cells.layout.rows[mine]]])
        A = (X.T * w[mine]) @ X + prior
        np.testing.assert_allclose(found.phi[b], np.linalg.solve(A, (X.T * w[mine]) @ z[mine] + prior @ fit.phi_mean))
        np.testing.assert_allclose(found.phi_cov[b], np.linalg.inv(A))


def test_learning_the_subjects_prior_moves_no_expectation_and_sets_its_unit(state):
    """The date informs capability alone: here all regressors but the constant count as dates."""
    cells, fit = state
    found = learn_subject_prior(cells, fit)
    np.testing.assert_allclose(fitted_eta(cells.layout, found), fitted_eta(cells.layout, fit))
    rows, cols = cells.layout.rows, cells.layout.cols
    np.testing.assert_allclose(eta_variance(found, rows, cols), eta_variance(fit, rows, cols))
    np.testing.assert_allclose(score_variance(cells.layout, fit), eta_variance(fit, rows, cols))
    cells = replace(cells, lasting=1)
    found = learn_subject_prior(cells, fit)
    capability = cells.x @ np.linalg.lstsq(cells.x, fit.theta[:, 0], rcond=None)[0]
    spread = ((found.theta - cells.x @ found.gamma) ** 2).sum(axis=0) + np.einsum("mii->i", found.theta_cov)
    predicted = np.stack([capability, np.full(M, fit.theta[:, 1].mean())], axis=1)
    unit = np.sqrt((((fit.theta - predicted) ** 2).sum(axis=0) + np.einsum("mii->i", fit.theta_cov) + 1) / (M + 1))
    np.testing.assert_allclose(spread, (unit**2 * (M + 1) - 1) / unit**2, rtol=1e-5)
    np.testing.assert_allclose(found.gamma[0], 0)
    assert (found.gamma[1:, 0] != 0).all()
    np.testing.assert_allclose(found.gamma[:, 1], 0)


def test_learning_the_benchmarks_prior_takes_their_mean_and_shrunken_spread(state):
    _, fit = state
    found = learn_benchmark_prior(fit)
    np.testing.assert_allclose(found.phi_mean, [fit.phi[:, 0].mean(), fit.phi[:, 1].mean(), 0])
    deviation = fit.phi - found.phi_mean
    total = deviation.T @ deviation + fit.phi_cov.sum(axis=0)
    expected = (4 * fit.phi_spread + total) / (4 + B)
    np.testing.assert_allclose(found.phi_spread[:2, :2], expected[:2, :2])
    assert found.phi_spread[2, 2] == pytest.approx(expected[2, 2])
    assert found.phi_spread[2, 0] == found.phi_spread[0, 2] == 0


def test_overdispersion_is_found_where_sampling_explains_the_rest():
    rng = np.random.default_rng(5)
    m, b, rho, sampling = 400, 4, 0.05, 0.004
    rows, cols = np.repeat(np.arange(m), b), np.tile(np.arange(b), m)
    eta = rng.normal(0, 1, rows.size)
    f, steepness = levels(np.zeros(1), np.ones(1), eta)
    y = f + np.sqrt(rho * (f * (1 - f) + 0.01) + sampling) * rng.standard_normal(f.size)
    data = encode(
        read_scores({"subject": [f"s{i:03}" for i in rows], "benchmark": cols, "score": np.clip(y, 0, 1)}), "mean"
    )
    n = y.size
    cells = Cells(data.layout, y, np.zeros(b), np.ones(b), np.full(n, sampling), np.ones(n), np.ones((m, 1)))
    fit = Pooled(*(np.zeros(0),) * 2, np.zeros((b, 2)), *(np.zeros(0),) * 4, dispersion=np.full(b, 0.2))
    for _ in range(60):
        fit = learn_dispersion(cells, fit, Expected(eta, f, steepness), np.zeros(n))
    np.testing.assert_allclose(fit.dispersion, rho, rtol=0.2)


def test_joint_precision_is_the_dense_normal_matrix(state):
    cells, fit = state
    found = posterior_precision(cells, fit, 1.5)
    _, w = linearise(cells, fit, expect(cells, fit))
    design = np.zeros((cells.y.size, M * K + B * (1 + K)))
    for i, (row, col) in enumerate(zip(cells.layout.rows, cells.layout.cols, strict=True)):
        design[i, row * K : (row + 1) * K] = fit.phi[col, 1:]
        start = M * K + col * (1 + K)
        design[i, start : start + 1 + K] = [1, *fit.theta[row]]
    prior = np.zeros((design.shape[1],) * 2)
    prior[: M * K, : M * K] = np.eye(M * K)
    for col in range(B):
        start = M * K + col * (1 + K)
        prior[start : start + 1 + K, start : start + 1 + K] = 1.5 * np.linalg.inv(fit.phi_spread)
    dense = (design.T * w) @ design + prior
    subject = [slice(m * K, (m + 1) * K) for m in range(M)]
    benchmark = [slice(M * K + b * (1 + K), M * K + (b + 1) * (1 + K)) for b in range(B)]
    np.testing.assert_allclose(found.subjects, [dense[block, block] for block in subject])
    np.testing.assert_allclose(found.benchmarks, [dense[block, block] for block in benchmark])
    pairs = zip(cells.layout.rows, cells.layout.cols, strict=True)
    between = [dense[subject[row], benchmark[col]] for row, col in pairs]
    np.testing.assert_allclose(found.coupling(slice(None)), between)


def test_the_variance_of_an_expected_logit_is_taken_at_single_pairs(state):
    """Var(φ·(1, θ)) for independent φ and θ, by its definition, against many draws."""
    _, fit = state
    rng = np.random.default_rng(4)
    for row, col in ((0, 0), (3, 2), (8, 4)):
        theta = rng.multivariate_normal(fit.theta[row], fit.theta_cov[row], 200_000)
        phi = rng.multivariate_normal(fit.phi[col], fit.phi_cov[col], 200_000)
        eta = phi[:, 0] + (phi[:, 1:] * theta).sum(axis=1)
        assert eta_variance(fit, np.array([row]), np.array([col]))[0] == pytest.approx(eta.var(), rel=0.02)


def test_prior_regressors_are_a_constant_the_dates_and_nothing_when_uninformed():
    layout = encode(read_scores(simulate(6, 4, density=1.0)[0]), "mean").layout
    years = np.array([50.0, 51.0, 52.0, 53.0, 54.0, np.nan])
    x = Background.of(layout, np.ones(layout.n_scores), years, informed=True).x
    np.testing.assert_allclose(x[:, 0], 1)
    np.testing.assert_allclose(x[:5, -1], np.array([-2, -1, 0, 1, 2]) / np.sqrt(2))
    assert x[5, -1] == 0
    assert Background.of(layout, np.ones(layout.n_scores), years, informed=False).x.shape == (6, 1)
    for year in (50.0, 50.3, 55.7):  # whose mean misses some of them by a last bit
        assert Background.of(layout, np.ones(layout.n_scores), np.full(6, year), informed=True).x.shape == (6, 1)
