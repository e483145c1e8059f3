"""Scores that ordinary noise does not make: named, and hardly counted."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm

from benchmarks.stitch_hard_worlds import simulate as hard_world
from mensura.stitching import stitch
from mensura.stitching.layout import ScoreLayout, levels, straighten
from mensura.stitching.pooled import solve_pooled
from mensura.stitching.surprise import PATIENCE, learn_surprise, mixed_variance
from mensura.stitching.sweeps import Cells, expect

from .conftest import simulate


@pytest.fixture
def leaked():
    """Scores of 40 models, of which m010 has seen two tests: 2 logits better there; and the true capabilities."""
    frame, C, _, _ = simulate(40, 12, seed=5, noise=0.02, density=0.9)
    mine = (pl.col("model") == "m010") & pl.col("benchmark").is_in(["b03", "b07"])
    odds = (pl.col("score") / (1 - pl.col("score"))) * np.exp(2)
    return frame.with_columns(score=pl.when(mine).then(odds / (1 + odds)).otherwise("score")), frame, C


@pytest.mark.slow
def test_leaked_scores_are_named_and_move_their_model_little(leaked):
    changed, clean, _ = leaked
    fit, before = stitch(changed), stitch(clean)
    named = fit.suspicious.filter(subject="m010")
    assert set(named["benchmark"]) == {"b03", "b07"}
    assert (named["logits"] > 1).all()
    assert (named["probability"] > 0.9).all()
    position = {f: dict(f.capabilities.select("subject", "capability").iter_rows())["m010"] for f in (fit, before)}
    assert abs(position[fit] - position[before]) < 0.1


@pytest.mark.slow
def test_most_leaks_are_found_where_a_fifth_of_the_models_has_seen_a_third_of_the_tests():
    frame = hard_world("leaked", np.random.default_rng([7070, 1]))[0]
    listed = stitch(frame.drop("leak"), parts="keep").suspicious
    found = listed.join(frame.filter("leak"), on=["subject", "benchmark"]).height
    assert found / frame["leak"].sum() > 0.6
    assert found / listed.height > 0.8


def test_few_ordinary_scores_are_called_suspicious(leaked):
    fit = stitch(leaked[1])
    assert fit.suspicious.height <= 0.02 * fit.data.y.size
    assert stitch(leaked[1], method="rosetta").suspicious.height == 0


def test_a_score_that_changes_sides_again_and_again_comes_to_rest():
    """Expected below its score and at it in turn, as in a fit that swings: each further change of its trust is less."""
    layout = ScoreLayout.of(np.repeat([0, 1], 4), np.tile(np.arange(4), 2))
    ones = np.ones(8)
    cells = Cells(layout, 0.5 * ones, np.zeros(4), np.ones(4), 1e-4 * ones, ones, np.ones((2, 1)))
    fit, trusts = solve_pooled(cells, 1, max_iterations=1, surprise=False), []
    at = expect(cells, fit)
    for sweep in range(8 * PATIENCE):
        expected = at._replace(f=cells.y - (0.3 if sweep % 2 else 0.0))
        fit = learn_surprise(cells, fit, expected, 1e-4 * ones)
        trusts.append(fit.surprise.trust[0])
    changes = np.abs(np.diff(trusts))
    assert changes[: PATIENCE - 1].min() > 0.1
    assert changes[-1] < 1e-6


def test_the_interval_of_a_mixture_leaves_a_tenth_outside():
    plain, more, share = np.array([0.01, 0.04, 0.0025]), np.array([0.25, 0.0, 1.0]), 0.06
    half = norm.ppf(0.95) * np.sqrt(mixed_variance(plain, share, more, 0.9))
    outside = (1 - share) * norm.sf(half, scale=np.sqrt(plain)) + share * norm.sf(half, scale=np.sqrt(plain + more))
    np.testing.assert_allclose(2 * outside, 0.1, rtol=1e-6)


def test_a_curve_of_two_steps_is_recognised_and_keeps_the_scale_straight():
    """Tests of easy and hard questions: half is solved early, half late."""
    rng = np.random.default_rng(11)
    C, D = rng.normal(0, 1, 80), rng.normal(0, 1.2, 20)
    rows, cols = np.nonzero(rng.random((80, 20)) < 0.6)
    eta = 2.5 * (C[rows] - D[cols])
    f, _ = levels(np.zeros(1), np.ones(1), eta, 4.0)
    score = np.clip(f + rng.normal(0, 0.03, f.size), 0, 1)
    frame = pl.DataFrame({"subject": [f"m{i:03}" for i in rows], "benchmark": cols, "score": score})
    fit = stitch(frame.with_columns(chance=pl.lit(0.0), ceiling=pl.lit(1.0)), dimensions=1)
    assert fit.data.step == 4.0
    assert any("two steps" in note for note in fit.notes)
    true = C[[int(name[1:]) for name in fit.data.subjects]]
    true = (true - true.mean()) / true.std()
    assert np.sqrt(np.mean((fit.estimate.capability[0] - true) ** 2)) < 0.1
    assert stitch(simulate(40, 12, seed=5, noise=0.03)[0], dimensions=1).data.step == 0.0


@pytest.mark.parametrize("step", [0.0, 2.5, 4.0])
def test_scores_on_two_steps_are_read_at_the_same_position_on_one(step):
    eta, chance, ceiling = np.linspace(-6, 6, 25), np.full(25, 0.1), np.full(25, 0.95)
    seen, steepness = levels(chance, ceiling, eta, step)
    np.testing.assert_allclose(straighten(seen, chance, ceiling, step), levels(chance, ceiling, eta)[0], atol=1e-9)
    moved = (levels(chance, ceiling, eta + 1e-6, step)[0] - seen) / 1e-6
    np.testing.assert_allclose(steepness, moved, atol=1e-6)
