"""Scores as the fits take them: read, checked, merged, encoded."""

import numpy as np
import polars as pl
import pytest

from benchmarks.published_robustness import anchor_change, link_shape
from mensura import MensuraError
from mensura.stitching.scores import encode, read_scores

from .conftest import simulate


@pytest.mark.slow
@pytest.mark.parametrize("better", ["sigmoid", "clipped line"])
def test_the_link_that_made_the_scores_predicts_them_better(better):
    rng = np.random.default_rng(0)
    C, D, slope = rng.normal(0, 1, 25), rng.normal(0, 1, 8), rng.uniform(0.8, 2, 8)
    eta = slope * (C[:, None] - D)
    y = 1 / (1 + np.exp(-2 * eta)) if better == "sigmoid" else np.clip(0.5 + eta / 4, 0, 1)
    rows, cols = np.nonzero(np.ones_like(y))
    table = {"subject": [f"s{i:02}" for i in rows], "benchmark": [f"b{j}" for j in cols], "score": y[rows, cols]}
    found = {row["link"]: row for row in link_shape(encode(read_scores(table), "max"), seed=0).to_dicts()}
    other = next(link for link in found if link != better)
    assert found[better]["mse"] < 0.5 * found[other]["mse"]
    assert found[better]["r2"] == pytest.approx(1 - found[better]["mse"] / np.var(y))


@pytest.mark.slow
def test_exact_scores_keep_their_order_under_every_anchor():
    anchors = anchor_change(encode(read_scores(simulate(25, 6, noise=0, density=1.0)[0]), "max"), 0)
    assert anchors.select("capability", "difficulty").min().row(0) == pytest.approx((1, 1), abs=0.02)
    assert anchors["converged"].all()


@pytest.mark.slow
def test_a_synthetic_anchor_that_everybody_took_hardly_moves_capabilities(simulated):
    moved = anchor_change(encode(read_scores(simulated[0]), "max"), 3)
    row = moved.filter(anchor="(synthetic)").row(0, named=True)
    assert row["converged"] and row["capability"] > 0.99
    assert row["shift"] < 0.1


def test_sampling_variance_comes_from_the_standard_error_the_items_or_is_unknown():
    table = pl.DataFrame(
        {
            "subject": ["a", "a", "b", "b", "c"],
            "benchmark": ["x", "y", "x", "y", "x"],
            "score": [0.5, 0.5, 1.0, 0.2, 0.3],
            "stderr": [0.06, None, None, None, None],
            "n": [100, 98, 8, None, 50],
        }
    )
    found = encode(read_scores(table), "mean").sampling
    assert found.tolist() == pytest.approx([0.0036, 0.25 / 98, 0.09 / 8, 0.0, (16 / 52) * (36 / 52) / 50])
    twice = encode(read_scores(pl.concat([table, table.with_columns(score=pl.lit(0.5))])), "mean")
    assert twice.sampling[0] == pytest.approx(0.0036 / 2)
    assert twice.y[2] == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("columns", "variance"),
    [
        ({}, 0.25 / 100),
        ({"epochs": [1, 1]}, 0.25 / 100),
        ({"epochs": [None, None]}, 0.25 / 100),
        ({"epochs": [4, 4]}, 0.0009),
    ],
)
def test_a_stated_error_below_the_binomial_one_counts_only_with_repeated_runs(columns, variance):
    """100 items of which every other one is always solved: four runs agree, one run has the binomial error."""
    table = {
        "subject": ["a", "b"],
        "benchmark": ["x", "x"],
        "score": [0.5, 0.5],
        "stderr": [0.03, 0.06],
        "n": [100, 100],
    }
    found = encode(read_scores(pl.DataFrame(table | columns)), "mean").sampling
    assert found.tolist() == pytest.approx([variance, 0.0036])


def test_impossible_epochs_are_refused():
    table = {"subject": ["a"], "benchmark": ["x"], "score": [0.5], "stderr": [0.03], "n": [100], "epochs": [-1]}
    with pytest.raises(MensuraError, match="values of epochs are impossible"):
        read_scores(pl.DataFrame(table))
