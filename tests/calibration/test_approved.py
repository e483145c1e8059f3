"""Tables of calibrations, profiles and equated tests on small invented items beside the approved ones."""

import numpy as np
import polars as pl
import pytest

from mensura.calibration import calibrate, equate, profile
from mensura.scale import Calibration, LevelLine
from tests.approved_tables import assert_approved


@pytest.mark.parametrize("method", ["hierarchical", "largest", "means"])
def test_bases_and_what_stands_behind_them(simulated, method):
    rates, demands, _ = simulated
    made = calibrate(rates, demands, method=method, draws=30)
    for name, table in made.tables().items():
        assert_approved(f"calibration/{method}_{name}", table if table.height < 60 else table[::20])


def test_two_tests_that_are_equated(simulated):
    rng = np.random.default_rng(3)
    level = np.sort(rng.uniform(0.8, 2.6, 8))
    tests = [
        pl.DataFrame(
            {"item": range(8), "observed": 10 ** (0.5 - level), "rate": 10 ** (0.5 - level - shift)}
        ).with_columns(low=pl.col("rate") * 0.8, high=pl.col("rate") * 1.2)
        for shift in (0.2, 0.5)
    ]
    found = equate(*tests, draws=200)
    assert_approved("calibration/equated_levels", found.levels)
    assert_approved("calibration/equated_scores", found.scores)


def test_profiles_of_three_subjects():
    rng = np.random.default_rng(4)
    codes = ("KNn", "QLl", "VO")
    levels = rng.integers(0, 6, (120, 3))
    demands = pl.DataFrame({"item": [f"i{k}" for k in range(120)]} | dict(zip(codes, levels.T, strict=True)))
    rows = []
    for name, ability in (("weak", 1.0), ("able", 2.5), ("strong", 4.0)):
        right = rng.random(120) < 1 / (1 + np.exp(1.5 * (levels.max(axis=1) - ability)))
        rows += [(name, f"i{k}", int(right[k])) for k in range(120)]
    outcomes = pl.DataFrame(rows, schema=["subject", "item", "correct"], orient="row")
    lines = Calibration(tuple(LevelLine(code, 0.6, 0.5, code, r_squared=0.9) for code in codes))
    found = profile(outcomes, demands, calibration=lines)
    for name, table in found.tables().items():
        assert_approved(f"calibration/profile_{name}", table)
    asked = pl.DataFrame({"item": ["a", "b"], "KNn": [1, 4], "QLl": [2, 1], "VO": [0, 3]})
    assert_approved("calibration/profile_predicted", found.predict(asked))
