"""Both sides uncertain together: the arrow's algebra against the inverse of the whole matrix."""

from dataclasses import replace

import numpy as np
import pytest

from mensura.stitching import ScoreLayout, laplace
from mensura.stitching.laplace import ArrowPrecision, draw_deviations, factorise, joint_covariances

M, K, B, L = 5, 2, 4, 3


@pytest.fixture(scope="module")
def arrow():
    """A precision Σ g gᵀ + 1 with one gradient g per score, as an arrow and as the whole matrix."""
    rng = np.random.default_rng(3)
    rows, cols = np.nonzero(rng.random((M, B)) < 0.7)
    layout = ScoreLayout.of(rows, cols)
    on_subject, on_benchmark = rng.normal(size=(rows.size, K)), rng.normal(size=(rows.size, L))
    i = np.arange(rows.size)
    gradient = np.zeros((rows.size, M * K + B * L))
    gradient[i[:, None], rows[:, None] * K + np.arange(K)] = on_subject
    gradient[i[:, None], M * K + cols[:, None] * L + np.arange(L)] = on_benchmark
    whole = gradient.T @ gradient + np.eye(M * K + B * L)
    subjects = np.stack([whole[i * K : (i + 1) * K, i * K : (i + 1) * K] for i in range(M)])
    starts = [M * K + i * L for i in range(B)]
    benchmarks = np.stack([whole[at : at + L, at : at + L] for at in starts])
    precision = ArrowPrecision(
        layout, subjects, benchmarks, lambda which: on_subject[which, :, None] * on_benchmark[which, None]
    )
    return precision, whole, gradient


@pytest.mark.parametrize("sparse", [0.0, 1.0])
def test_laplace_draws_have_the_covariance_of_the_whole_matrix(arrow, sparse, monkeypatch):
    monkeypatch.setattr(laplace, "SPARSE", sparse)
    precision, whole, _ = arrow
    m, k = precision.subjects.shape[:2]
    b, width = precision.benchmarks.shape[:2]
    theta, phi = draw_deviations(factorise(precision), 40_000, np.random.default_rng(1))
    drawn = np.cov(np.concatenate((theta.reshape(-1, m * k), phi.reshape(-1, b * width)), axis=1).T)
    np.testing.assert_allclose(drawn, np.linalg.inv(whole), atol=0.03)


@pytest.mark.parametrize("way", ["as it is", "kind by kind", "sides turned", "thin", "one subject at a time"])
def test_joint_covariances_are_those_of_the_whole_matrix_however_it_is_eliminated(arrow, way, monkeypatch):
    precision, whole, gradient = arrow
    if way == "kind by kind":
        precision = replace(precision, by_kind=True)
    if way == "sides turned":
        monkeypatch.setattr(laplace, "WORTH_TURNING", 1)
        assert precision.upside_down
    if way in ("thin", "one subject at a time"):
        monkeypatch.setattr(laplace, "SPARSE", 1.0)
    if way == "one subject at a time":
        monkeypatch.setattr(laplace, "NUMBERS_AT_ONCE", 1)
    found = joint_covariances(factorise(precision))
    covariance = np.linalg.inv(whole)
    m, k = precision.subjects.shape[:2]
    b, width = precision.benchmarks.shape[:2]
    subject = [slice(i * k, (i + 1) * k) for i in range(m)]
    benchmark = [slice(m * k + i * width, m * k + (i + 1) * width) for i in range(b)]
    np.testing.assert_allclose(found.subjects, [covariance[at, at] for at in subject], atol=1e-10)
    np.testing.assert_allclose(found.benchmarks, [covariance[at, at] for at in benchmark], atol=1e-10)
    layout = precision.layout
    pairs = zip(layout.rows, layout.cols, strict=True)
    coupled = [(covariance[subject[r], benchmark[c]] * whole[subject[r], benchmark[c]]).sum() for r, c in pairs]
    np.testing.assert_allclose(found.coupled, coupled, atol=1e-10)
    variance = np.einsum("ij,jk,ik->i", gradient, covariance, gradient)
    one, other = gradient[:, : m * k].reshape(-1, m, k), gradient[:, m * k :].reshape(-1, b, width)
    i = np.arange(layout.n_scores)
    own = np.einsum("ik,ikl,il->i", one[i, layout.rows], found.subjects[layout.rows], one[i, layout.rows])
    own += np.einsum("ik,ikl,il->i", other[i, layout.cols], found.benchmarks[layout.cols], other[i, layout.cols])
    np.testing.assert_allclose(own + 2 * found.coupled, variance, atol=1e-10)


def test_the_smaller_side_must_fit_and_draws_come_back_on_their_own_sides(arrow, monkeypatch):
    precision, whole, _ = arrow
    monkeypatch.setattr(laplace, "WORTH_TURNING", 1)
    theta, phi = draw_deviations(factorise(precision), 40_000, np.random.default_rng(2))
    both = np.concatenate((theta.reshape(len(theta), -1), phi.reshape(len(phi), -1)), axis=1)
    np.testing.assert_allclose(np.cov(both.T), np.linalg.inv(whole), atol=0.03)
    assert precision.factorable
    monkeypatch.setattr(laplace, "LARGEST_SIDE", 9)
    assert not precision.factorable
