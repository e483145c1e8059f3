"""The published regression comes back: its formula, its example and the reference on five suites."""

import json

import numpy as np
import polars as pl
import pytest

import mensura
from mensura.horizon.metr import fit_logistic


def test_the_gradient_of_the_objective_vanishes():
    rng = np.random.default_rng(1)
    x, y = rng.normal(5, 2, 80), (rng.random(80) < 0.5).astype(float)
    weight = np.full(80, 1 / 80)
    alpha, beta = fit_logistic(x, y, weight, 0.1)
    error = weight * (1 / (1 + np.exp(-alpha - beta * x)) - y)
    assert abs(error.sum()) < 1e-9
    assert abs(error @ x + 0.1 * beta) < 1e-9


def test_one_family_has_equal_weights(runs, times):
    one = runs.with_columns(suite=pl.lit("one"))
    by_root = mensura.fit_horizons(one, times, method="metr", draws=5).horizons
    equal = mensura.fit_horizons(one, times, method="metr", draws=5, weights="equal").horizons
    assert by_root["p50"].to_list() == pytest.approx(equal["p50"].to_list(), rel=1e-9)


@pytest.mark.parametrize("score", ["score_binarized", "score_cont"])
def test_the_example_of_the_format_comes_back(score, shared):
    folder = shared / "data" / "formats" / "metr"
    expected = json.loads((folder / "fit_expected.json").read_text())["fits"]
    fit = mensura.fit_horizons(folder / "runs_synthetic.jsonl", method="metr", score=score, draws=5)
    for row in fit.horizons.iter_rows(named=True):
        values = expected[row["subject"]][score]
        assert row["intercept"] == pytest.approx(values["intercept"], abs=2e-5)
        assert row["p50"] == pytest.approx(values["p50"], rel=1e-4)
        assert row["p80"] == pytest.approx(values["p80"], rel=1e-4)
    assert set(fit.horizons["subject"]) == set(expected)


@pytest.mark.parametrize(
    ("weights", "penalty", "label"),
    [("invsqrt", 0.1, "inverse square root weights, penalty 0.1"), ("equal", 0.0, "equal weights, no penalty")],
)
def test_the_reference_on_five_suites_comes_back(weights, penalty, label, shared):
    folder = shared / "data" / "human_times"
    reference = pl.read_csv(folder / "reference_five_suites.csv").filter(pl.col("method") == label)
    outcomes = pl.read_csv(folder / "outcomes.csv").filter(pl.col("subject").is_in(reference["subject"].to_list()))
    fit = mensura.fit_horizons(outcomes, folder / "tasks.csv", method="metr", weights=weights, penalty=penalty, draws=2)
    both = reference.join(fit.horizons, on="subject")
    assert both.height == 16
    assert (both["p50"] / both["p50_minutes"] - 1).abs().max() < 0.005
    assert (both["p80"] / both["p80_minutes"] - 1).abs().max() < 0.005
    assert both["tasks"].to_list() == both["tasks_right"].to_list()
