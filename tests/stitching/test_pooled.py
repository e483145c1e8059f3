"""The default method: recovers truth, predicts better, covers, speaks about what it was not told."""

import numpy as np
import polars as pl
import pytest

from benchmarks.stitch_validation import held_out_errors
from mensura.stitching import ScoreLayout, laplace, pooled, stitch
from mensura.stitching.pooled import solve_pooled
from mensura.stitching.positions import Positions, Scale, principal
from mensura.stitching.surprise import pattern_axis
from mensura.stitching.sweeps import Cells, fitted_eta

from .conftest import simulate


def test_recovers_capabilities_and_covers_them():
    hits, correlations = [], []
    for seed in range(3):
        frame, C, _, _ = simulate(60, 15, seed=seed, noise=0.05, density=0.5)
        fit = stitch(frame)
        true = (C - C.mean()) / C.std()
        low, high = np.quantile(fit.laplace.positions.capability, [0.05, 0.95], axis=0)
        hits.append(((low <= true) & (true <= high)).mean())
        correlations.append(np.corrcoef(fit.estimate.capability[0], true)[0, 1])
    assert np.mean(correlations) > 0.98
    assert 0.8 < np.mean(hits) <= 1


def test_standard_scale_has_mean_zero_and_unit_spread(simulated):
    C = stitch(simulated[0]).estimate.capability[0]
    assert C.mean() == pytest.approx(0, abs=1e-9)
    assert C.std() == pytest.approx(1)


def test_anchor_benchmark_has_difficulty_zero_and_slope_one(simulated):
    fit = stitch(simulated[0], anchor_benchmark="b03")
    row = fit.benchmarks.filter(pl.col("benchmark") == "b03").to_dicts()[0]
    assert row["difficulty"] == pytest.approx(0, abs=1e-9)
    assert row["slope"] == pytest.approx(1)


def test_is_deterministic(simulated):
    assert stitch(simulated[0]).capabilities.equals(stitch(simulated[0]).capabilities)


def test_predicts_pairs_in_their_order_and_from_the_prior_when_unknown(simulated):
    fit = stitch(simulated[0])
    pairs = pl.DataFrame({"subject": ["m030", "new", "m001"], "benchmark": ["b01", "b01", "unheard of"]})
    found = fit.predict(pairs)
    assert found.columns == ["subject", "benchmark", "score", "low", "high", "status"]
    assert found["subject"].to_list() == ["m030", "new", "m001"]
    assert found["score"].is_between(0, 1).all()
    assert ((found["low"] <= found["score"]) & (found["score"] <= found["high"])).all()
    width = (found["high"] - found["low"]).to_list()
    assert width[0] < min(width[1:])
    assert stitch(simulated[0], method="rosetta").predict(pairs)["score"].null_count() == 2


def test_chance_levels_are_used():
    frame, _, D, _ = simulate(80, 10, noise=0.02, density=0.9, chance=0.25, seed=3)
    frame = frame.with_columns(ceiling=pl.lit(1.0))
    corrected = stitch(frame.with_columns(chance=pl.lit(0.25)), dimensions=1)
    plain = stitch(frame.with_columns(chance=pl.lit(0.0)), dimensions=1)
    hard = D > 0

    def error(fit):
        return np.abs(np.corrcoef(fit.estimate.difficulty[0][hard], D[hard])[0, 1] - 1)

    assert error(corrected) <= error(plain) + 1e-3
    assert (corrected.estimate.difficulty[0] > plain.estimate.difficulty[0]).mean() >= 0.8


def test_the_published_method_takes_no_notice_of_chance_levels():
    frame, *_ = simulate(20, 6, density=1.0)
    with_levels = stitch(frame.with_columns(chance=pl.lit(0.25)), method="rosetta")
    assert with_levels.predict(frame)["score"].equals(stitch(frame, method="rosetta").predict(frame)["score"])


@pytest.mark.slow
def test_sampling_error_moves_weight_to_the_better_measured_score():
    frame, _, _, _ = simulate(30, 8, density=1.0)
    mine = (pl.col("model") == "m015") & (pl.col("benchmark") == "b04")
    score = pl.when(mine).then(pl.col("score") + 0.06).otherwise("score")

    def moved(n):
        known, found = frame.with_columns(n=pl.when(mine).then(n).otherwise(10_000)), []
        for table in (known, known.with_columns(score=score)):
            found.append(dict(stitch(table).capabilities.select("subject", "capability").iter_rows())["m015"])
        return abs(found[1] - found[0])

    assert moved(4) < 0.5 * moved(10_000)


def test_item_level_answers_go_through_the_same_door():
    rng = np.random.default_rng(0)
    C, D = rng.normal(0, 1, 30), rng.normal(0, 1, 40)
    p = 1 / (1 + np.exp(-1.5 * (C[:, None] - D)))
    right = rng.random(p.shape) < p
    rows, cols = np.nonzero(np.ones_like(right))
    frame = pl.DataFrame(
        {
            "subject": [f"s{i:02}" for i in rows],
            "item": [f"q{j:02}" for j in cols],
            "score": right[rows, cols].astype(int),
        }
    )
    sums = np.corrcoef(right.sum(axis=1), C)[0, 1]
    fit = stitch(frame)
    assert np.corrcoef(fit.estimate.capability[0], C)[0, 1] > sums - 0.02
    assert set(fit.model.fitted.dispersion) == {1.0}


@pytest.mark.slow
def test_a_second_dimension_is_found_when_it_is_there_and_shrinks_when_not():
    rng = np.random.default_rng(5)
    rows, cols = np.nonzero(rng.random((60, 12)) < 0.8)
    C, taste = rng.normal(0, 1, 60), rng.normal(0, 1, 60)
    loading = np.where(np.arange(12) < 6, 1.0, -1.0)

    def scores(strength):
        eta = 1.5 * C[rows] + strength * loading[cols] * taste[rows] + np.linspace(-1, 1, 12)[cols]
        y = np.clip(1 / (1 + np.exp(-eta)) + np.random.default_rng(1).normal(0, 0.03, rows.size), 0, 1)
        return pl.DataFrame({"subject": [f"s{i}" for i in rows], "benchmark": [f"b{j}" for j in cols], "score": y})

    def held_out(strength):
        return held_out_errors(scores(strength), {"1": {"dimensions": 1}, "2": {"dimensions": 2}}, folds=3)[
            "rmse"
        ].to_list()

    def verdicts(strength):
        return stitch(scores(strength), dimensions=2).dimensions["verdict"].to_list()

    assert verdicts(0.8) == ["capability", "pays"]
    assert verdicts(0.0) == ["capability", "does not pay"]
    one, two = held_out(0.8)
    assert two < 0.7 * one
    one, two = held_out(0.0)
    assert two < 1.05 * one


def test_principal_axes_and_scales_leave_every_expectation_unchanged():
    rng = np.random.default_rng(2)
    positions = Positions(rng.normal(size=(3, 20, 3)), rng.normal(size=(3, 7, 4)) + np.array([0, 2, 0, 0]))
    rows, cols = np.repeat(np.arange(20), 7), np.tile(np.arange(7), 20)
    turned = principal(positions)
    for scale in (Scale(), Scale(benchmark=2), Scale(subjects=(1, 5), values=(130, 150))):
        np.testing.assert_allclose(scale.apply(turned).eta(rows, cols), positions.eta(rows, cols), atol=1e-6)
    centred = turned.theta - turned.theta.mean(axis=1, keepdims=True)
    spread = centred.transpose(0, 2, 1) @ centred / 20
    np.testing.assert_allclose(spread, np.broadcast_to(np.eye(3), (3, 3, 3)), atol=1e-6)


@pytest.mark.slow
def test_where_both_sides_are_too_many_each_varies_by_itself_and_the_fit_says_so(simulated, monkeypatch):
    together = stitch(simulated[0])
    assert not any("joint posterior" in note for note in together.notes)
    monkeypatch.setattr(laplace, "LARGEST_SIDE", 5)
    apart = stitch(simulated[0])
    assert any("joint posterior" in note for note in apart.notes)
    drawn = apart.own_draws
    np.testing.assert_allclose(drawn.theta.std(axis=0)[:, 0], apart.model.fitted.theta_cov[:, 0, 0] ** 0.5, rtol=0.15)
    gap = apart.capabilities.sort("subject")["capability"] - together.capabilities.sort("subject")["capability"]
    assert gap.abs().max() < 0.1


def test_pattern_axis_orders_eras_and_is_silent_on_a_full_matrix():
    rows, cols = np.nonzero(np.abs(np.arange(30)[:, None] / 3 - np.arange(10)) < 2.5)
    layout = ScoreLayout.of(rows, cols)
    axis = pattern_axis(layout, np.ones(rows.size))
    assert abs(np.corrcoef(axis, np.arange(30))[0, 1]) > 0.95
    full = ScoreLayout.of(np.repeat(np.arange(6), 4), np.tile(np.arange(4), 6))
    assert pattern_axis(full, np.ones(24)) is None


def test_a_sweep_changes_nothing_when_weights_are_doubled_rows():
    frame, _, _, _ = simulate(20, 6, density=1.0)
    layout = ScoreLayout.of(np.repeat(np.arange(20), 6), np.tile(np.arange(6), 20))
    y = frame.sort("model", "benchmark")["score"].to_numpy()
    zero, one, x = np.zeros(6), np.ones(6), np.ones((20, 1))
    twice = ScoreLayout(np.repeat(layout.rows, 2), np.repeat(layout.cols, 2), 20, 6)
    weighted = solve_pooled(Cells(layout, y, zero, one, np.zeros(120), np.full(120, 2.0), x), 1)
    repeated = solve_pooled(Cells(twice, np.repeat(y, 2), zero, one, np.zeros(240), np.ones(240), x), 1)
    np.testing.assert_allclose(weighted.theta, repeated.theta, atol=1e-8)


def test_where_the_default_fit_ends_another_round_hardly_moves_it(simulated):
    fit = stitch(simulated[0])
    again = pooled.calibrated(fit.model.cells, fit.model.fitted, pooling=1.0)
    layout = fit.data.layout
    assert again.converged
    assert np.abs(fitted_eta(layout, again) - fitted_eta(layout, fit.model.fitted)).max() < 0.01


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_benchmark_whose_floor_nobody_leaves_does_not_swing_for_ever(seed):
    """Everybody scores about 0 where guessing should give 5%: plain sweeps overshoot to and fro."""
    rng = np.random.default_rng(seed)
    C, D = rng.normal(size=50), np.append(np.linspace(-1, 1, 15), 5.0)
    expected = 1 / (1 + np.exp(-np.append(np.full(15, 1.5), 1.0) * (C[:, None] - D)))
    score = np.clip(expected + rng.normal(0, 0.05, expected.shape), 0, 1)
    rows, cols = np.divmod(np.arange(score.size), 16)
    table = pl.DataFrame({"subject": rows, "benchmark": cols, "score": score.ravel()}).with_columns(
        chance=pl.when(pl.col("benchmark") == 15).then(0.05).otherwise(0.0)
    )
    fit = stitch(table, dimensions=1)
    assert fit.convergence.converged
    assert fit.benchmarks.filter(pl.col("benchmark") == "15")["difficulty"][0] > 2
