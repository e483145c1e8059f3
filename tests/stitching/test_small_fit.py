"""Results on one small table, digit by digit, so that no constant of the method changes unnoticed.

The scripts in benchmarks/ measure coverage and errors of the method that gives these numbers. A change of the method
that is meant changes them too: write down the new ones, and say in the commit what became better.
"""

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

from mensura.stitching import benchmark_influence, place, stitch

from .conftest import simulate


@pytest.fixture(scope="module")
def frame():
    """Scores of 24 dated subjects on 10 tests of a stated chance, one score raised and one test entered twice."""
    table = simulate(24, 9, seed=12, noise=0.04, density=0.8, chance=0.1)[0].rename({"model": "subject"})
    raised = (pl.col("subject") == "m005") & (pl.col("benchmark") == "b06")
    table = table.with_columns(score=pl.when(raised).then(0.93).otherwise("score"))
    twice = table.filter(benchmark="b04").with_columns(benchmark=pl.lit("b04 again"), score=pl.col("score") + 0.003)
    table = pl.concat([table, twice]).with_columns(pl.col("score").clip(0, 1), chance=pl.lit(0.1), ceiling=pl.lit(1.0))
    days = [date(2024, 1, 1) + timedelta(days=30 * int(name[1:])) for name in table["subject"]]
    return table.with_columns(pl.Series("released", days), stderr=pl.lit(0.02))


@pytest.fixture(scope="module")
def fit(frame):
    return stitch(frame, dimensions=3)


def near(*values, by=2e-3):
    return pytest.approx(list(values), abs=by)


def test_capabilities_and_their_lower_ends(fit):
    table = fit.capabilities.sort("subject")[::4]
    assert table["capability"].to_list() == near(-2.0951, -0.8208, -0.4063, -0.0308, 0.6226, 1.1907)
    assert table["low"].to_list() == near(-2.2904, -0.9825, -0.5506, -0.1895, 0.4069, 0.9977)


def test_benchmarks_and_the_weight_of_the_one_that_is_entered_twice(fit):
    difficulty = [-2.1415, -1.1881, -0.4188, -0.8263, -0.3158, -0.3354, -0.6976, -0.4439, 0.7673, 0.6687]
    assert fit.benchmarks["difficulty"].to_list() == near(*difficulty)
    slope = [0.8805, 0.7986, 1.1909, 0.7216, 1.1717, 1.1755, 1.0098, 1.4676, 1.289, 1.0966]
    assert fit.benchmarks["slope"].to_list() == near(*slope)
    assert fit.model.shares.tolist() == near(1, 1, 1, 1, 0.5017, 0.5017, 1, 1, 1, 1)


def test_priors_and_dispersions_that_were_learned(fit):
    learned = fit.model.fitted
    dispersion = [0.0113, 0.0059, 0.008, 0.0061, 0.0123, 0.012, 0.005, 0.0115, 0.0063, 0.0043]
    assert learned.dispersion.tolist() == near(*dispersion, by=1e-4)
    assert learned.phi_mean.tolist() == near(0.4328, 0.2485, 0, 0, by=1e-3)
    assert np.diag(learned.phi_spread).tolist() == near(0.6052, 0.0031, 0.0003, 0.0003, by=5e-4)
    assert learned.gamma.ravel().tolist() == near(0, 0, 0, 4.2573, 0, 0, by=5e-3)


def test_the_raised_score_surprises_and_no_other(fit):
    surprise = fit.model.fitted.surprise
    assert fit.suspicious.select("subject", "benchmark").rows() == [("m005", "b06")]
    assert fit.suspicious.select("expected", "logits").row(0) == near(0.4661, 2.7226)
    values = [surprise.share.mean(), surprise.spread, surprise.chance.max(), surprise.trust.min()]
    assert values == near(0.0128, 2.2173, 1.0, 0.0311, by=5e-4)


def test_a_new_subject_and_predictions(fit):
    scores = {"subject": ["new"] * 3, "benchmark": ["b00", "b03", "b08"], "score": [0.9, 0.6, 0.2]}
    placed = place(fit, scores | {"released": ["2025-01-01"] * 3}).capabilities.filter(subject="new")
    assert placed.row(0)[1:] == near(-0.4888, -0.8143, -0.2005, by=5e-3)
    pairs = {"subject": ["m003", "nobody", "m010", "nobody"], "benchmark": ["b05", "b05", "unknown", "unknown"]}
    rows = fit.predict(pairs).select("score", "low", "high").rows()
    assert rows[0] == near(0.4354, 0.3547, 0.5176)
    assert rows[1] == near(0.6799, 0.3513, 0.9334)
    assert rows[2] == near(0.5589, 0.2582, 0.8391)
    assert rows[3] == near(0.5817, 0.1419, 0.9499)


def test_the_most_influential_benchmark(fit):
    row = benchmark_influence(fit).row(0, named=True)
    assert (row["benchmark"], row["scores"], row["subject"], row["converged"]) == ("b05", 23, "m022", True)
    assert [row["shift"], row["largest"], row["rank_correlation"]] == near(0.0313, -0.1356, 0.9948)
