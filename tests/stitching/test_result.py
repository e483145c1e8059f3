"""What a stitching gives: positions with intervals, on simulated truth."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

import mensura
from mensura.core.errors import MensuraError
from mensura.stitching import result
from mensura.stitching.fit import _model_notes
from mensura.stitching.positions import Scale

from .conftest import simulate


def test_ninety_percent_intervals_of_capabilities_contain_ninety_percent_of_the_truth():
    """Not fewer, and not nearly all: an interval that is too wide says too little."""
    inside = []
    for seed in range(2):
        frame, true, *_ = simulate(seed=seed)
        found = mensura.stitch(frame).capabilities.sort("subject")
        true = (true - true.mean()) / true.std()
        inside += list((found["low"].to_numpy() <= true) & (true <= found["high"].to_numpy()))
    fewest, most = binom.interval(0.99, len(inside), 0.9)
    assert fewest <= sum(inside) <= most


@pytest.fixture(scope="module")
def fit():
    """A fit of simulated scores."""
    return mensura.stitch(simulate(subjects=20, benchmarks=10, noise=0.02, density=0.9)[0])


def test_capabilities_come_highest_first_in_standard_deviations_among_subjects(fit):
    table = fit.capabilities
    assert fit.unit == "the standard deviation among 20 subjects"
    assert table["capability"].is_sorted(descending=True)
    assert table["capability"].mean() == pytest.approx(0, abs=1e-9)
    assert table["capability"].std(ddof=0) == pytest.approx(1)
    assert ((table["low"] < table["capability"]) & (table["capability"] < table["high"])).all()
    assert fit.heading.startswith(
        f"stitched (pooled): 20 subjects, 10 benchmarks, {fit.data.y.size} scores; 90% intervals; "
    )
    assert "converged after" in fit.heading and "residual dimension" in fit.heading


def test_draws_do_not_depend_on_how_many_are_put_on_the_scale_together(fit, monkeypatch):
    whole = fit.scaled(fit.own_draws, about=fit.model.positions)
    monkeypatch.setattr(result, "NUMBERS_AT_ONCE", 7 * fit.own_draws.theta[0].size)
    parts = fit.scaled(fit.own_draws, about=fit.model.positions)
    assert parts.theta == pytest.approx(whole.theta)
    assert parts.phi == pytest.approx(whole.phi)
    assert len(whole.theta) == 500


def test_scores_more_surprising_than_ordinary_are_listed_the_likeliest_first(fit):
    chance = np.zeros(fit.data.y.size)
    chance[[3, 4, 5, 6]] = 0.6, 0.9, 0.5, 0.9
    fitted = replace(fit.model.fitted, surprise=fit.model.fitted.surprise._replace(chance=chance))
    listed = replace(fit, model=replace(fit.model, fitted=fitted)).suspicious
    cells = fit.residuals.select("subject", "benchmark", "score", "fitted").rows()
    first, second = sorted([cells[4], cells[6]])
    assert listed.select("subject", "benchmark", "score", "expected").rows() == [first, second, cells[3]]
    assert listed["probability"].to_list() == [0.9, 0.9, 0.6]
    score, expected = (np.clip(listed[name].to_numpy(), 1e-3, 1 - 1e-3) for name in ("score", "expected"))
    assert listed["logits"].to_numpy() == pytest.approx(np.log(score / (1 - score)) - np.log(expected / (1 - expected)))


def test_tables_of_what_is_expected_agree_with_one_another(fit):
    profiles, residuals = fit.profiles, fit.residuals
    assert profiles.height == 20 * 10
    assert (profiles["score"] - profiles["general"] - profiles["above"]).abs().max() < 1e-12
    both = residuals.join(profiles, on=["subject", "benchmark"], suffix="_there")
    assert both["general"].to_list() == pytest.approx(both["general_there"].to_list())
    assert (both["score"] - both["fitted"] - both["residual"]).abs().max() < 1e-12
    assert (both["score"] - both["general"] - both["above"]).abs().max() < 1e-12
    assert fit.dimensions["share"].sum() == pytest.approx(1)
    assert fit.dimensions["dimension"].to_list() == list(range(1, fit.dimensions.height + 1))
    assert fit.dimensions["verdict"][0] == "capability"
    for share, verdict in fit.dimensions.select("share", "verdict").rows()[1:]:
        assert verdict == ("pays" if share >= 0.01 else "does not pay")


def test_predictions_come_in_the_order_asked_and_say_where_nothing_is_known(fit):
    pairs = pl.DataFrame({"subject": ["m003", "nobody", "m019"], "benchmark": ["b07", "b00", "b01"]})
    table = fit.predict(pairs)
    assert table["subject"].to_list() == ["m003", "nobody", "m019"]
    assert table["status"].to_list() == ["predicted", "prior", "predicted"]
    assert ((table["low"] <= table["score"]) & (table["score"] <= table["high"])).all()
    widths = (table["high"] - table["low"]).to_list()
    assert widths[1] > max(widths[0], widths[2])


def test_a_fit_that_did_not_converge_gives_no_number(fit):
    ended = replace(fit.convergence, converged=False)
    model = SimpleNamespace(convergence=ended, data=fit.data, positions=fit.model.positions)
    stopped = replace(fit, model=model, about_scores=("a word on the scores",))
    assert "not converged after" in stopped.heading
    assert stopped.shown.is_empty()
    assert stopped.warnings == (*ended.warnings, "a word on the scores") and len(ended.warnings) == 1
    with pytest.raises(MensuraError, match="leave out what has few scores"):
        _ = stopped.estimate


def test_floors_and_dates_that_are_not_known_are_said_so(fit):
    floors = fit.floors
    assert set(floors["status"]) <= {"given", "estimated"}
    assert (floors["chance"] <= floors["ceiling"]).all() and floors["weight"].is_between(0, 1).all()
    assert fit.dated["released"].null_count() == 20
    assert fit.dated["capability"].to_list() == fit.estimate.capability[0].tolist()


def test_the_unit_is_named_after_what_fixes_the_scale(fit):
    names = fit.data.subjects
    by_test = replace(fit, scale=Scale(benchmark=2))
    assert by_test.unit == f"a logit on {fit.data.benchmarks[2]}"
    by_two = replace(fit, scale=Scale(subjects=(0, 4), values=(0.0, 1.0)))
    assert by_two.unit == f"the distance from {names[0]} to {names[4]}"
    assert replace(fit, scale=Scale(subjects=(0, 4), values=(3.0, 1.0))).unit == f"{by_two.unit} is 2"
    assert replace(fit, scale=Scale(named=True)).unit == "the distance from gpt-4o to gpt-5"


def test_a_fit_notes_floors_steps_leaks_and_rough_intervals(fit):
    """The words of each note, on a fit that is given what calls for them."""
    model = fit.model
    assert list(_model_notes(replace(model, data=replace(model.data, chance_given=np.ones(10, bool))))) == []
    rate = np.array([0.0, 0.4, 0.1, 0.25] + [0.0] * 6)
    floors = model.floors._replace(error=np.full(10, 0.01))
    given = np.arange(10) > 3
    told = SimpleNamespace(
        data=replace(model.data, chance_given=given, step=2.5),
        floors=floors,
        leaks=model.leaks._replace(rate=rate),
        joint=False,
    )
    assert list(_model_notes(told)) == [
        "chance level estimated for 4 of 10 benchmarks, which state none",
        "success rises in two steps, 5 logits apart: easy and hard questions, few between them",
        "slow leaks: later models gain on some tests more than on the others, in logits a year after publication "
        "(taken off capabilities): b01 0.40, b03 0.25",
        "too many subjects and benchmarks for a joint posterior: each side varies by itself, and intervals are rough",
    ]
