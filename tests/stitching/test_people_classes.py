"""Classes of people on a scale that models made: simulated people with known truth."""

import numpy as np
import pytest

from mensura.stitching.people import ClassScores, draw_classes
from mensura.stitching.positions import Positions


def fitted(slope, difficulty, draws, rng, error=0.0):
    """Draws of a fit with 50 models of mean 0 and spread 1 and these benchmarks, each draw off by ``error``."""
    models = rng.normal(size=50)
    models = (models - models.mean()) / models.std()
    moved = difficulty + rng.normal(0, error, (draws, difficulty.size))
    phi = np.stack((-slope * moved, np.broadcast_to(slope, moved.shape)), axis=2)
    return Positions(np.broadcast_to(models[None, :, None], (draws, 50, 1)), phi)


def simulated_people(rng, mu, omega, benchmarks, error=0.2):
    """Every class took every third benchmark, one in three of its scores only bounded."""
    slope, difficulty = rng.uniform(1, 3, benchmarks), rng.normal(0, 1, benchmarks)
    shift = rng.normal(0, omega, benchmarks)
    classes, cols = np.divmod(np.arange(len(mu) * benchmarks), benchmarks)
    taken = (cols + classes) % 3 > 0
    classes, cols = classes[taken], cols[taken]
    truth = slope[cols] * (np.array(mu)[classes] - difficulty[cols]) + shift[cols]
    logit = truth + rng.normal(0, error, truth.size)
    bound = np.where(logit < -3, -1, np.where(logit > 3, 1, 0))
    scores = ClassScores(np.clip(logit, -3, 3), np.full(truth.size, error), bound, cols, classes)
    return scores, slope, difficulty


@pytest.mark.slow
def test_intervals_of_classes_hold_the_truth_as_often_as_they_claim():
    rng = np.random.default_rng(0)
    hits, spreads = [], []
    for _ in range(32):
        mu = rng.normal(0, 1.5, 3)
        scores, slope, difficulty = simulated_people(rng, mu, omega=1.5, benchmarks=12)
        drawn, omega = draw_classes(scores, fitted(slope, difficulty, 60, rng, error=0.05), rng)
        low, high = np.quantile(drawn, [0.05, 0.95], axis=0)
        hits.append((low <= mu) & (mu <= high))
        spreads.append(np.median(omega))
    assert 0.74 <= np.mean(hits) <= 0.99  # .86 over a hundred sets; classes of one set hit or miss together
    assert np.mean(spreads) == pytest.approx(1.5, abs=0.25)


def test_about_zero_says_at_most_and_not_where():
    """One class with a bound alone: its posterior is the prior cut off, not a place near the models' mean."""
    rng = np.random.default_rng(2)
    slope, difficulty = np.array([2.0]), np.array([1.0])
    one = ClassScores(np.array([-3.0]), np.array([0.3]), np.array([-1]), np.array([0]), np.array([0]))
    drawn, _ = draw_classes(one, fitted(slope, difficulty, 600, rng), rng)
    assert np.quantile(drawn, 0.95) < 1.5
    assert np.median(drawn) < -1.5
    assert np.quantile(drawn, 0.05) < -4
    measured, _ = draw_classes(one._replace(bound=np.array([0])), fitted(slope, difficulty, 600, rng), rng)
    assert np.median(measured) == pytest.approx(-0.5, abs=0.3)
    assert np.quantile(measured, 0.05) > np.quantile(drawn, 0.05) + 1


def test_where_tests_disagree_about_people_the_interval_is_wide():
    rng = np.random.default_rng(3)
    slope, difficulty = np.full(8, 2.0), np.zeros(8)

    def width(logits):
        scores = ClassScores(
            np.array(logits), np.full(8, 0.1), np.zeros(8, dtype=int), np.arange(8), np.zeros(8, dtype=int)
        )
        drawn, omega = draw_classes(scores, fitted(slope, difficulty, 400, rng), rng)
        return np.ptp(np.quantile(drawn, [0.05, 0.95])), np.median(omega)

    agree, disagree = width([1.0] * 8), width([3.0, -1.0] * 4)
    assert agree[0] < 0.3 < 0.7 < disagree[0]
    assert agree[1] < 0.5 < 1.5 < disagree[1]
