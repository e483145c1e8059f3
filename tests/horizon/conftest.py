"""Runs and times of invented tasks whose lengths double."""

import numpy as np
import polars as pl
import pytest

import mensura


@pytest.fixture(scope="session")
def runs():
    """Three systems on two suites: short, middle and long horizons."""
    rng = np.random.default_rng(0)
    rows = []
    for subject, horizon in (("short", 2.0), ("middle", 5.0), ("long", 8.0)):
        for place in range(48):
            x = place / 4
            right = rng.random() < 1 / (1 + np.exp(x - horizon))
            rows.append((subject, f"suite {place % 2}", f"t{place}", float(right)))
    return pl.DataFrame(rows, schema=["subject", "suite", "task", "score"], orient="row")


@pytest.fixture(scope="session")
def times():
    """One measured time per task, from a minute to two days."""
    return pl.DataFrame({"task": [f"t{i}" for i in range(48)], "minutes": [2 ** (i / 4) for i in range(48)]})


@pytest.fixture(scope="session")
def fit(runs, times):
    """The fit of these, made once for the tests that only read it."""
    return mensura.fit_horizons(runs, times)
