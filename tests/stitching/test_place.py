"""New subjects, domains and contestants of votes on a fit that they do not move."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from benchmarks.votes import simulate as simulate_votes
from mensura.core.errors import MensuraError
from mensura.stitching import domain, place, pooled, stitch
from mensura.stitching.place import join_scale, on_benchmarks, on_benchmarks_of
from mensura.stitching.votes import fit_votes

from .conftest import simulate


@pytest.mark.parametrize("method", ["pooled", "rosetta"])
def test_a_subject_left_out_is_placed_where_the_whole_fit_has_it(simulated, method):
    frame, *_ = simulated
    whole = stitch(frame, method=method, anchor_benchmark="b05")
    fit = stitch(frame.filter(pl.col("model") != "m020"), method=method, anchor_benchmark="b05")
    before = fit.benchmarks
    draws = place(fit, frame.filter(pl.col("model") == "m020"))
    found = draws.capabilities.filter(pl.col("subject") == "m020").row(0, named=True)
    expected = whole.capabilities.filter(pl.col("subject") == "m020")["capability"][0]
    assert found["capability"] == pytest.approx(expected, abs=0.15)
    assert found["low"] < expected < found["high"]
    assert fit.benchmarks.equals(before)
    assert draws.capabilities.height == len(fit.data.subjects) + 1


def test_placing_refuses_what_the_fit_does_not_know(simulated):
    fit = stitch(simulated[0])
    with pytest.raises(MensuraError, match="'m001' is already in the fit"):
        place(fit, simulated[0].filter(pl.col("model") == "m001"))
    with pytest.raises(MensuraError, match="benchmark 'zz' is not in the fit"):
        place(fit, {"subject": ["new"], "benchmark": ["zz"], "score": [0.5]})


def test_domain_index_leaves_the_fit_in_place(simulated):
    fit = stitch(simulated[0])
    draws = domain(fit, ["b01", "b02", "b03"])
    own = [name for name in draws.subjects if name.endswith("(domain)")]
    assert len(own) > 10
    both = dict(draws.capabilities.select("subject", "capability").iter_rows())
    pairs = np.array([(both[name], both[name.removesuffix(" (domain)")]) for name in own])
    assert np.corrcoef(pairs.T)[0, 1] > 0.8
    with pytest.raises(MensuraError, match="'nothing' is not in the fit"):
        domain(fit, ["nothing"])


def test_a_placed_subject_has_the_posterior_of_a_linear_model_where_the_curve_is_straight():
    """Near ½ a score is nearly linear in η, so the placing is a ridge regression with a closed form."""
    frame, *_ = simulate(60, 10, seed=8, noise=0.02)
    fit = stitch(frame, method="rosetta", anchor_benchmark="b00")
    at, model = fit.model.positions, fit.model
    names = [name for name in fit.data.benchmarks if abs(at.difficulty[0, fit.data.benchmarks.index(name)]) < 1.5]
    cols = np.array([fit.data.benchmarks.index(name) for name in names])
    C, slope, D = 0.1, at.slope[0, cols], at.difficulty[0, cols]
    y = 1 / (1 + np.exp(-slope * (C - D)))
    new = pl.DataFrame({"subject": "new", "benchmark": names, "score": y})
    placed = model.place(on_benchmarks_of(fit, new), at.phi[0])
    precision = ((y * (1 - y) * slope) ** 2).sum() / model.residual_variance + model.penalty / model.residual_variance
    assert placed.converged
    assert placed.theta[0, 0] == pytest.approx(C, abs=0.01)
    assert placed.covariance[0, 0, 0] == pytest.approx(1 / precision, rel=0.01)


def test_interval_of_a_placed_group_covers_where_it_stands():
    """Subjects simulated with known capability and placed afterwards: nominal 90% intervals hold them."""
    frame, C, _, _ = simulate(70, 14, seed=9, noise=0.04)
    frame = frame.with_columns(ceiling=pl.lit(1.0))
    held = [f"m{i:03}" for i in range(3, 67, 4)]
    fit = stitch(
        frame.filter(~pl.col("model").is_in(held)), dimensions=1, anchor_subjects={"m000": C[0], "m069": C[69]}
    )
    table = place(fit, frame.filter(pl.col("model").is_in(held))).capabilities.filter(pl.col("subject").is_in(held))
    truth = C[[int(name[1:]) for name in table["subject"]]]
    inside = (table["low"].to_numpy() <= truth) & (truth <= table["high"].to_numpy())
    assert 0.7 <= inside.mean() <= 1
    errors = np.abs(table["capability"].to_numpy() - truth)
    assert (table["high"] - table["low"]).mean() / 2 < 4 * errors.mean()


def test_placings_that_did_not_arrive_are_counted(simulated, monkeypatch):
    frame, *_ = simulated
    fit = stitch(frame.filter(pl.col("model") != "m020"), dimensions=1)
    new = frame.filter(pl.col("model") == "m020")
    assert place(fit, new).unconverged == 0
    monkeypatch.setattr(pooled, "PLACING_SWEEPS", 1)
    assert place(fit, new).unconverged == 200


def test_people_are_contestants_and_votes_join_the_scale_through_known_models():
    rng = np.random.default_rng(4)
    votes = simulate_votes(np.linspace(-1, 1, 8), 4000, 60, 60, rng)
    votes = votes.with_columns(pl.col("model_a", "model_b").replace({"m05": "human expert"}))
    fit = fit_votes(votes)
    assert fit.contestants.filter(kind="people")["contestant"].to_list() == ["human expert"]
    known = fit.contestants.filter(kind="model").head(5)
    scale = known.select(subject="contestant", capability=2 * pl.col("strength") + 1)
    scale = scale.with_columns(low=pl.col("capability") - 0.1, high=pl.col("capability") + 0.1)
    placed = join_scale(fit, scale).filter(contestant="human expert").row(0, named=True)
    strength = fit.contestants.filter(kind="people")["strength"][0]
    assert placed["capability"] == pytest.approx(2 * strength + 1, abs=0.1) and placed["low"] < placed["capability"]


def votes_on_a_line(strengths, capabilities):
    """Contestants with exact strengths, and their capabilities, where one is given."""
    names = [f"m{k}" for k in range(len(strengths))]
    table = pl.DataFrame(
        {"contestant": names, "kind": "model", "strength": strengths, "low": strengths, "high": strengths}
    )
    known = [(name, c, c - 0.1, c + 0.1) for name, c in zip(names, capabilities, strict=False)]
    scale = pl.DataFrame(known, schema=["subject", "capability", "low", "high"], orient="row")
    return SimpleNamespace(contestants=table), scale


def test_contestants_join_the_scale_along_the_line_of_those_that_have_both():
    fit, scale = votes_on_a_line([-1.0, 0.0, 1.0, 3.0], [0.5, 1.0, 1.5])
    found = join_scale(fit, scale)
    assert found["capability"].to_list() == pytest.approx([0.5, 1.0, 1.5, 2.5])
    assert found["linked"].to_list() == [True, True, True, False]
    width = found["high"] - found["low"]
    assert width[3] > width[2] > width[1], "the line is surest in its middle"


def test_two_links_are_too_few():
    fit, scale = votes_on_a_line([-1.0, 0.0, 1.0, 3.0], [0.5, 1.0])
    assert join_scale(fit, scale) is None


def test_new_scores_take_the_chance_and_the_place_of_the_fits_benchmarks():
    frame = pl.DataFrame({"subject": ["new", "new"], "benchmark": ["z", "x"], "score": [0.4, 0.9]})
    chance, ceiling = np.array([0.25, 0.0, 0.5]), np.array([1.0, 0.9, 1.0])
    data = on_benchmarks(frame, ("x", "y", "z"), chance, ceiling, 0.0)
    assert data.layout.cols.tolist() == [0, 2] and data.benchmarks == ("x", "y", "z")
    assert data.y.tolist() == [0.9, 0.4]
    assert data.chance.tolist() == [0.25, 0.0, 0.5]
    with pytest.raises(MensuraError, match="benchmark 'w' is not in the fit; expected one of x, y, z"):
        on_benchmarks(frame.with_columns(benchmark=pl.lit("w")).head(1), ("x", "y", "z"), chance, ceiling, 0.0)
