"""Simulated scores with known truth, small enough to be fitted many times."""

import numpy as np
import polars as pl
import pytest


def simulate(subjects=40, benchmarks=12, *, seed=0, noise=0.03, density=0.6, chance=0.0):
    """Scores of a one-dimensional truth, with the truth: C, D, slope."""
    rng = np.random.default_rng(seed)
    C, D = np.sort(rng.normal(0, 1, subjects)), np.sort(rng.normal(0, 1, benchmarks))
    slope = rng.uniform(0.8, 2.5, benchmarks)
    taken = rng.random((subjects, benchmarks)) < density
    taken[:, 0] = taken[0] = True
    rows, cols = np.nonzero(taken)
    f = chance + (1 - chance) / (1 + np.exp(-slope[cols] * (C[rows] - D[cols])))
    score = np.clip(f + rng.normal(0, noise, rows.size), 0, 1)
    frame = pl.DataFrame({"model": [f"m{i:03}" for i in rows], "benchmark": [f"b{j:02}" for j in cols], "score": score})
    return frame, C, D, slope


@pytest.fixture(scope="session")
def simulated():
    return simulate()
