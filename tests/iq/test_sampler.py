"""One model of all scores, from which every missing one is drawn: errors of one model's gaps agree with each other."""

import numpy as np
import pytest

from mensura.iq.sampler import sample

DIMENSIONS = np.repeat([0, 1, 2], 4)


def simulate(seed: int, models: int = 60, kept: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores of models in lines of three on twelve benchmarks: η, regressors, predecessors."""
    rng = np.random.default_rng(seed)
    regressors = rng.standard_normal((models, 1))
    parents = np.where(np.arange(models) % 3 == 0, -1, np.arange(models) - 1)
    strength = rng.standard_normal((models, 2))
    for row in np.flatnonzero(parents >= 0):
        strength[row] = kept * strength[row - 1] + np.sqrt(1 - kept**2) * strength[row]
    factors = strength + regressors * [0.8, 0.0]
    lines = np.column_stack([rng.normal(0, 1, 12), rng.normal(1, 0.2, 12), rng.normal(0, 0.3, 12)])
    own = rng.normal(0, 0.3, (models, 3))[:, DIMENSIONS]
    noise = rng.normal(0, 0.4, (models, 12))
    return lines[:, 0] + factors @ lines[:, 1:].T + own + noise, regressors, parents


def hidden(eta: np.ndarray, seed: int, share: float = 0.6) -> np.ndarray:
    gaps = np.random.default_rng(seed).random(eta.shape) < share
    gaps[np.arange(len(eta)), np.random.default_rng(seed + 1).integers(0, 12, len(eta))] = False
    return np.where(gaps, np.nan, eta)


def test_intervals_of_cells_and_of_whole_models_hold_the_truth():
    """Independent errors would hold single cells as often, but a model's mean over its gaps far too rarely."""
    cells, means = [], []
    for seed in range(6):
        eta, regressors, _ = simulate(seed)
        known = hidden(eta, seed)
        draws = sample(known, regressors, DIMENSIONS, np.full(60, -1), 150, np.random.default_rng(seed)).draws
        gaps = np.isnan(known)
        low, high = np.quantile(draws, [0.05, 0.95], axis=0)
        cells.append(((low <= eta) & (eta <= high))[gaps])
        low, high = np.quantile(draws.mean(axis=2), [0.05, 0.95], axis=0)
        means.append((low <= eta.mean(axis=1)) & (eta.mean(axis=1) <= high))
    assert 0.87 < np.concatenate(cells).mean() < 0.93
    assert 0.86 < np.concatenate(means).mean() < 0.95


def test_what_was_measured_stays_and_a_seed_gives_the_same_draws():
    eta, regressors, parents = simulate(3)
    known = hidden(eta, 3)
    first, second = (
        sample(known, regressors, DIMENSIONS, parents, 5, np.random.default_rng(1)).draws for _ in range(2)
    )
    assert np.array_equal(first, second)
    there = ~np.isnan(known)
    assert np.array_equal(first[:, there], np.broadcast_to(eta[there], (5, there.sum())))


@pytest.mark.slow
def test_a_predecessor_helps_where_lines_keep_their_strength_and_hardly_counts_where_they_do_not():
    def error(kept: float, known_parents: bool) -> float:
        found = []
        for seed in range(4):
            eta, regressors, parents = simulate(seed, kept=kept)
            known = np.where((np.arange(60) % 3 == 2)[:, None] & (np.arange(12) > 0), np.nan, eta)
            used = parents if known_parents else np.full(60, -1)
            draws = sample(known, regressors, DIMENSIONS, used, 100, np.random.default_rng(seed)).draws
            found.append(np.abs(draws.mean(axis=0) - eta)[np.isnan(known)].mean())
        return float(np.mean(found))

    assert error(0.95, known_parents=True) < 0.85 * error(0.95, known_parents=False)
    assert error(0.0, known_parents=True) < 1.05 * error(0.0, known_parents=False)


def test_where_the_chains_begin_is_forgotten():
    """Unit and level of the factors are not in the scores; left to Gibbs alone they drift for hundreds of sweeps."""
    eta, regressors, parents = simulate(2)
    known = hidden(eta, 2)

    def mean(offset: float, seed: int) -> np.ndarray:
        draws = sample(known + offset, regressors, DIMENSIONS, parents, 200, np.random.default_rng(seed)).draws
        return draws.mean(axis=0)[np.isnan(known)] - offset

    first, again, moved = mean(0.0, 1), mean(0.0, 2), mean(3.0, 3)
    chance = np.abs(first - again).mean()
    assert chance < 0.12
    assert np.abs(first - moved).mean() < 1.5 * chance


def test_chains_that_go_on_give_the_draws_they_would_have_given_at_once():
    eta, regressors, parents = simulate(3)
    known = hidden(eta, 3)
    begun, whole = (
        sample(known, regressors, DIMENSIONS, parents, draws, np.random.default_rng(1)) for draws in (20, 60)
    )
    for draws in (60, 40, 20):  # going on leaves the chains as they were
        further, rng = begun.longer(draws)
        assert np.array_equal(further.draws, whole.draws[:draws])
    assert further is begun
    _, after = begun.longer(60)
    assert after.random() == whole.longer(60)[1].random() != rng.random()


@pytest.mark.parametrize(("models", "chains", "exact"), [(5, 10, np.float64), (6, 4, np.float32)])
def test_many_models_have_fewer_chains_and_draws_in_single_precision(monkeypatch, models, chains, exact):
    monkeypatch.setattr("mensura.iq.sampler.MANY_MODELS", 6)
    eta, regressors, _ = simulate(3, models=models)
    alone = np.full(models, -1)
    sampled = sample(eta, regressors, DIMENSIONS, alone, 12, np.random.default_rng(1))
    assert (len(sampled._states[-1].noise), len(sampled.draws), sampled.draws.dtype) == (chains, 12, exact)
