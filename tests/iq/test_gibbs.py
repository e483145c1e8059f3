"""The steps of the sampler against the plain definitions of what they sum and draw."""

from dataclasses import replace

import numpy as np
import pytest

from mensura.iq.gibbs import GibbsData, draw_descent, draw_models, draw_normals, draw_scores, start_chains, sweep
from mensura.iq.score_sums import BenchmarkSums, Descent, ModelSums
from mensura.iq.uncertainty import interval

CHAINS, MODELS, BENCHMARKS, FACTORS = 3, 6, 5, 2
DIMENSION_OF = np.array([0, 1, 0, 2, 1])


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(4)


@pytest.fixture
def data(rng: np.random.Generator) -> GibbsData:
    known = rng.random((MODELS, BENCHMARKS)) < 0.6
    known[0], known[1] = False, True  # one model without any score, one with all
    return GibbsData(
        eta=np.where(known, rng.normal(size=known.shape), 0.0),
        weights=known.astype(float),
        dimension_of=DIMENSION_OF,
        members=np.eye(3)[DIMENSION_OF],
        regressors=rng.normal(size=(MODELS, 2)),
        descent=Descent.of(np.array([-1, 0, -1, 1, -1, -1])),
    )


def test_a_models_sums_run_over_its_own_scores(data: GibbsData, rng: np.random.Generator) -> None:
    lines, noise = rng.normal(size=(CHAINS, BENCHMARKS, 1 + FACTORS)), rng.uniform(0.1, 2.0, (CHAINS, BENCHMARKS))
    sums = ModelSums.of(data, lines, noise)
    for c, m in np.ndindex(CHAINS, MODELS):
        precision, residual = np.zeros(3), np.zeros(3)
        loadings, matrix, vector = np.zeros((3, FACTORS)), np.zeros((FACTORS, FACTORS)), np.zeros(FACTORS)
        for b in np.flatnonzero(data.weights[m]):
            (level, *slope), d = lines[c, b], DIMENSION_OF[b]
            precision[d] += 1 / noise[c, b]
            residual[d] += (data.eta[m, b] - level) / noise[c, b]
            loadings[d] += np.array(slope) / noise[c, b]
            matrix += np.outer(slope, slope) / noise[c, b]
            vector += (data.eta[m, b] - level) * np.array(slope) / noise[c, b]
        assert sums.precision[c, m] == pytest.approx(precision)
        assert sums.residual[c, m] == pytest.approx(residual)
        assert pytest.approx(loadings) == sums.loadings[:, c, m].T
        assert sums.matrix[c, m] == pytest.approx(matrix)
        assert sums.vector[c, m] == pytest.approx(vector)


def test_a_benchmarks_sums_run_over_the_models_that_took_it(data: GibbsData, rng: np.random.Generator) -> None:
    factors, dimensions = rng.normal(size=(CHAINS, MODELS, FACTORS)), rng.normal(size=(CHAINS, MODELS, 3))
    lines = rng.normal(size=(CHAINS, BENCHMARKS, 1 + FACTORS))
    sums = BenchmarkSums.of(data, factors, dimensions)
    left = sums.left(lines)
    for c, b in np.ndindex(CHAINS, BENCHMARKS):
        takers = np.flatnonzero(data.weights[:, b])
        x = np.column_stack([np.ones(takers.size), factors[c, takers]])
        y = data.eta[takers, b] - dimensions[c, takers, DIMENSION_OF[b]]
        assert sums.matrix[c, b] == pytest.approx(x.T @ x)
        assert sums.vector[c, b] == pytest.approx(x.T @ y)
        assert sums.square[c, b] == pytest.approx(y @ y)
        assert left[c, b] == pytest.approx(((y - x @ lines[c, b]) ** 2).sum())


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_normals_have_the_mean_and_covariance_asked_for(size: int, rng: np.random.Generator) -> None:
    root = rng.normal(size=(2, size, size))
    precision, vector = root @ root.swapaxes(1, 2) + 0.5 * np.eye(size), rng.normal(size=(2, size))
    covariance = np.linalg.inv(precision)
    mean = (covariance @ vector[..., None])[..., 0]
    draws = np.stack([draw_normals(precision, vector, np.random.default_rng(seed)) for seed in range(50)])
    normals = np.stack([np.random.default_rng(seed).standard_normal((2, size)) for seed in range(50)])
    lower = np.linalg.cholesky(covariance)
    assert draws == pytest.approx(mean + (lower @ normals[..., None])[..., 0])


def test_a_model_without_scores_is_drawn_from_its_prior_and_one_with_many_sure_scores_is_not(
    rng: np.random.Generator,
) -> None:
    benchmarks = 40
    truth = np.array([1.3, -0.7])
    lines = np.concatenate([np.zeros((2000, benchmarks, 1)), rng.normal(size=(2000, benchmarks, 2))], axis=2)
    lines[:] = lines[0]
    known = np.array([[False] * benchmarks, [True] * benchmarks])
    data = GibbsData(
        eta=np.where(known, lines[0, :, 1:] @ truth, 0.0),
        weights=known.astype(float),
        dimension_of=np.zeros(benchmarks, dtype=int),
        members=np.ones((benchmarks, 1)),
        regressors=np.zeros((2, 1)),
        descent=Descent.of(np.array([-1, -1])),
    )
    state = start_chains(data, 2000)
    noise = np.full((2000, benchmarks), 1e-4)
    drawn = draw_models(data, type(state)(**{**vars(state), "lines": lines, "noise": noise}), rng)
    assert drawn.factors[:, 0].mean(axis=0) == pytest.approx([0, 0], abs=0.1)
    assert drawn.factors[:, 0].var(axis=0) == pytest.approx([1, 1], abs=0.15)  # ω = 1 at the start
    assert drawn.factors[:, 1].mean(axis=0) == pytest.approx(truth, abs=0.01)
    assert drawn.dimensions[:, 0, 0].var() == pytest.approx(0.1, abs=0.02)  # τ at the start
    assert drawn.dimensions[:, 1, 0].std() < 0.01


def test_scores_are_drawn_about_what_line_factors_and_dimension_expect(
    data: GibbsData, rng: np.random.Generator
) -> None:
    state = sweep(data, start_chains(data, CHAINS), rng)
    drawn = np.stack([draw_scores(data, state, rng) for _ in range(4000)])
    expected = np.array(
        [
            [
                [
                    state.lines[c, b, 0]
                    + state.lines[c, b, 1:] @ state.factors[c, m]
                    + state.dimensions[c, m, DIMENSION_OF[b]]
                    for b in range(BENCHMARKS)
                ]
                for m in range(MODELS)
            ]
            for c in range(CHAINS)
        ]
    )
    error = np.sqrt(state.noise)[:, None]
    assert np.abs((drawn.mean(axis=0) - expected) / error).max() < 0.08
    assert drawn.std(axis=0) / error == pytest.approx(np.ones((CHAINS, MODELS, BENCHMARKS)), abs=0.06)


@pytest.mark.parametrize(("times", "kept"), [(-3.0, 0.0), (3.0, 1.0), (0.4, 0.4)])
def test_what_successors_keep_lies_between_nothing_and_all_of_it(times: float, kept: float) -> None:
    """Forty pairs of which the later is so many times the earlier, to a hundredth: far outside, the nearer end."""
    rng, pairs = np.random.default_rng(3), 40
    earlier = rng.normal(size=(1, pairs, FACTORS))
    none = np.zeros((2 * pairs, BENCHMARKS))
    data = GibbsData(
        eta=none,
        weights=none,
        dimension_of=DIMENSION_OF,
        members=np.eye(3)[DIMENSION_OF],
        regressors=np.zeros((2 * pairs, 1)),
        descent=Descent.of(np.concatenate([np.full(pairs, -1), np.arange(pairs)])),
    )
    factors = np.concatenate([earlier, times * earlier + 0.01 * rng.normal(size=earlier.shape)], axis=1)
    state = replace(start_chains(data, 1), factors=factors, moved=np.full((1, FACTORS), 1e-4))
    assert draw_descent(data, state, rng).kept == pytest.approx(np.full((1, FACTORS), kept), abs=0.02)


@pytest.mark.parametrize("draws", [1, 2, 20, 21, 233])
@pytest.mark.parametrize("exact", [np.float32, np.float64])
def test_an_interval_is_that_of_percentiles_also_where_there_is_no_value(
    draws: int, exact: type, rng: np.random.Generator
) -> None:
    drawn = rng.normal(100, 15, (draws, 7, 3)).astype(exact)
    drawn[:, 2] = np.nan
    low, high = np.percentile(drawn, [5, 95], axis=0)
    assert interval(drawn)[0] == pytest.approx(low, rel=1e-12, nan_ok=True)
    assert interval(drawn)[1] == pytest.approx(high, rel=1e-12, nan_ok=True)
