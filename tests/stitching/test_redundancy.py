"""A benchmark entered twice counts once."""

import numpy as np
import polars as pl
import pytest

from mensura.stitching import stitch

from .conftest import simulate


def moved(frame, again, **settings):
    """Largest change of a capability when the rows ``again`` are added."""
    before = stitch(frame, **settings)
    after = stitch(pl.concat([frame, again]), **settings)
    return np.abs(after.estimate.capability - before.estimate.capability).max(), after


@pytest.mark.slow
def test_copies_of_a_benchmark_share_its_weight_and_move_nobody():
    frame = simulate(60, 10, seed=4, noise=0.08, density=0.7)[0].with_columns(chance=pl.lit(0.0))
    copies = frame.filter(pl.col("benchmark") == "b04")
    twice = copies.with_columns(benchmark=pl.lit("b04 again"))
    shift, fit = moved(frame, twice, dimensions=1)
    weights = dict(fit.floors.select("benchmark", "weight").iter_rows())
    assert abs(weights["b04"] - 0.5) < 0.02 and abs(weights["b04 again"] - 0.5) < 0.02
    assert min(weight for name, weight in weights.items() if "b04" not in name) == 1
    assert shift < 0.03
    thrice = pl.concat([twice, copies.with_columns(benchmark=pl.lit("b04 once more"))])
    assert moved(frame, thrice, dimensions=1)[0] < 0.05


def test_the_published_method_counts_copies_as_published():
    frame = simulate(60, 10, seed=4, noise=0.08, density=0.7)[0]
    twice = frame.filter(pl.col("benchmark") == "b04").with_columns(benchmark=pl.lit("b04 again"))
    shift, fit = moved(frame, twice, method="rosetta", anchor_benchmark="b00")
    assert shift > 0.03
    assert set(fit.floors["weight"]) == {1.0}


def test_different_tests_keep_their_weight(simulated):
    assert stitch(simulated[0]).floors["weight"].to_list() == [1.0] * 12
