"""A fit says whether it arrived; thin subsets of the evidence, which used to stop on the way, arrive."""

from functools import partial

import numpy as np
import polars as pl
import pytest

import mensura
from benchmarks.stitch_validation import held_out_errors
from mensura.core.errors import MensuraError
from mensura.stitching import benchmark_influence, evidence_scores, place, pooled, rosetta, stitch
from mensura.stitching.sweeps import fitted_eta


@pytest.mark.slow
@pytest.mark.parametrize(("method", "seed"), [("pooled", 1), ("rosetta", 1), ("rosetta", 2), ("rosetta", 3)])
def test_thinned_evidence_converges(method, seed):
    scores = evidence_scores(mensura.load())[0].sample(fraction=0.7, seed=seed)
    fit = stitch(scores, method=method, parts="largest")
    assert fit.convergence.converged
    assert 0 < fit.convergence.gradient < fit.convergence.tolerance
    assert "; converged after" in str(fit)
    assert not any("converge" in text for text in fit.warnings)


def test_where_the_default_fit_ends_another_round_hardly_moves_it(simulated):
    fit = stitch(simulated[0])
    again = pooled.calibrated(fit.model.cells, fit.model.fitted, pooling=1.0)
    layout = fit.data.layout
    assert again.converged
    assert np.abs(fitted_eta(layout, again) - fitted_eta(layout, fit.model.fitted)).max() < 0.01


def test_the_published_fit_ends_where_no_neighbour_is_better(simulated):
    model = stitch(simulated[0], method="rosetta").model
    at, layout = model.solution, model.data.layout

    def cost(C, D, slope):
        free = np.delete(slope, model.anchor)
        s = 1 / (1 + np.exp(-slope[layout.cols] * (C[layout.rows] - D[layout.cols])))
        return ((s - model.data.y) ** 2).sum() + model.penalty * ((C**2).sum() + (D**2).sum() + (free**2).sum())

    best = cost(at.C[0], at.D[0], at.slope[0])
    rng = np.random.default_rng(0)
    for _ in range(50):
        C, D, slope = (x[0] + rng.normal(0, 1e-3, x.shape[1]) for x in (at.C, at.D, at.slope))
        slope[model.anchor] = 1
        assert cost(C, D, slope) > best


@pytest.mark.slow
def test_a_fit_that_did_not_converge_gives_no_number(simulated, monkeypatch, mensura_command, tmp_path):
    monkeypatch.setattr(pooled, "MOST_ROUNDS", 1)
    monkeypatch.setattr(pooled, "ROUND_TOLERANCE", 1e-9)
    fit = stitch(simulated[0])
    assert not fit.convergence.converged
    assert fit.warnings[0].startswith("the fit did not converge: after ")
    assert "last change of any expected logit" in fit.warnings[0]
    assert "not converged" in str(fit)
    assert "did not converge" in fit._repr_html_()
    assert fit.shown.is_empty()
    with pytest.raises(MensuraError, match="so there are no numbers"):
        _ = fit.capabilities
    with pytest.raises(MensuraError, match="so there are no numbers"):
        fit.predict(simulated[0])
    with pytest.raises(MensuraError, match="so there are no numbers"):
        place(fit, simulated[0].with_columns(model=pl.lit("new ") + pl.col("model")))
    simulated[0].write_csv(tmp_path / "scores.csv")
    for more in ((), ("--json",)):
        run = mensura_command("stitch", tmp_path / "scores.csv", *more)
        assert run.code == 2
        assert run.out == ""
        assert "the fit did not converge" in run.err


def test_held_out_errors_take_no_prediction_of_a_fit_that_did_not_converge(simulated, monkeypatch):
    monkeypatch.setattr(rosetta, "solve_rosetta", partial(rosetta.solve_rosetta, max_iterations=1))
    with pytest.raises(MensuraError, match="no score is predicted by every setting; 3 fits did not converge"):
        held_out_errors(simulated[0], {"published": {"method": "rosetta"}}, folds=3)


def test_replicates_that_did_not_arrive_are_counted(simulated, monkeypatch):
    fit = stitch(simulated[0], method="rosetta", anchor_benchmark="b00")
    assert fit.bootstrap(6).unconverged == 0
    assert fit.bootstrap(6).warnings == ()
    monkeypatch.setattr(rosetta, "solve_rosetta", partial(rosetta.solve_rosetta, max_iterations=1))
    draws = fit.bootstrap(6)
    assert draws.unconverged == 6
    assert "6 of 6 draws (bootstrap) did not converge" in str(draws)
    assert not benchmark_influence(fit)["converged"].any()


def test_placings_that_did_not_arrive_are_counted(simulated, monkeypatch):
    frame, *_ = simulated
    fit = stitch(frame.filter(pl.col("model") != "m020"), dimensions=1)
    new = frame.filter(pl.col("model") == "m020")
    assert place(fit, new).unconverged == 0
    monkeypatch.setattr(pooled, "PLACING_SWEEPS", 1)
    assert place(fit, new).unconverged == 200


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
