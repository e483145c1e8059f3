"""Sums over scores, each against its definition by loops, and who follows whom."""

import numpy as np
import pytest

from mensura.iq.score_sums import BenchmarkSums, Descent, KnownScores, ModelSums

RNG = np.random.default_rng(7)
CHAINS, MODELS, BENCHMARKS, FACTORS = 2, 4, 3, 2
OWN = np.array([0, 1, 0])
WEIGHTS = np.array([[1, 0.5, 0], [0, 0, 0], [1, 1, 1], [0.25, 0, 1]])
SCORES = KnownScores(RNG.normal(size=(MODELS, BENCHMARKS)), WEIGHTS, OWN, np.eye(2)[OWN])
LINES, NOISE = RNG.normal(size=(CHAINS, BENCHMARKS, 1 + FACTORS)), RNG.uniform(0.5, 2, (CHAINS, BENCHMARKS))
FACTOR, DIMENSION = RNG.normal(size=(CHAINS, MODELS, FACTORS)), RNG.normal(size=(CHAINS, MODELS, 2))


def test_sums_of_a_model_weigh_each_score_by_its_precision():
    sums = ModelSums.of(SCORES, LINES, NOISE)
    for c in range(CHAINS):
        for m in range(MODELS):
            share = WEIGHTS[m] / NOISE[c]
            slopes, off = LINES[c, :, 1:], SCORES.eta[m] - LINES[c, :, 0]
            assert sums.precision[c, m] == pytest.approx([share[d == OWN].sum() for d in (0, 1)])
            assert sums.residual[c, m] == pytest.approx([(share * off)[d == OWN].sum() for d in (0, 1)])
            loadings = [[(share * slopes[:, k])[d == OWN].sum() for d in (0, 1)] for k in range(FACTORS)]
            assert sums.loadings[:, c, m] == pytest.approx(np.array(loadings))
            assert sums.matrix[c, m] == pytest.approx((share[:, None] * slopes).T @ slopes)
            assert sums.vector[c, m] == pytest.approx((share * off) @ slopes)


def test_sums_of_a_benchmark_are_over_what_its_dimension_leaves():
    sums = BenchmarkSums.of(SCORES, FACTOR, DIMENSION)
    for c in range(CHAINS):
        for b in range(BENCHMARKS):
            x = np.column_stack([np.ones(MODELS), FACTOR[c]])
            y, w = SCORES.eta[:, b] - DIMENSION[c, :, OWN[b]], WEIGHTS[:, b]
            assert sums.matrix[c, b] == pytest.approx((w[:, None] * x).T @ x)
            assert sums.vector[c, b] == pytest.approx((w * y) @ x)
            assert sums.square[c, b] == pytest.approx((w * y**2).sum())
            left = (w * (y - x @ LINES[c, b]) ** 2).sum()
            assert sums.left(LINES)[c, b] == pytest.approx(left)


def test_what_is_left_is_never_negative():
    sums = BenchmarkSums(np.ones((1, 1, 1, 1)), np.ones((1, 1, 1)), np.full((1, 1), 1.0 - 1e-12))
    assert sums.left(np.ones((1, 1, 1))).tolist() == [[0.0]]


def test_generations_fall_into_two_halves_and_values_go_down_and_up():
    """0 and 4 follow nobody, 1 and 3 follow 0, 2 follows 1."""
    descent = Descent.of(np.array([-1, 0, 1, 0, -1]))
    assert descent.children.tolist() == [1, 2, 3]
    assert descent.parents.tolist() == [0, 1, 0]
    assert descent.halves[0].tolist() == [True, False, True, False, True]
    assert (descent.halves[0] ^ descent.halves[1]).all()
    values = np.arange(1.0, 11.0).reshape(5, 2)
    assert descent.before(values).tolist() == [[0, 0], [1, 2], [3, 4], [1, 2], [0, 0]]
    assert descent.after(values).tolist() == [[3 + 7, 4 + 8], [5, 6], [0, 0], [0, 0], [0, 0]]
    assert descent.after(values[None])[0].tolist() == descent.after(values).tolist()
