"""A frozen scale stands still: whoever is placed on it moves nobody, and stands where a fit would put them."""

import json

import numpy as np
import polars as pl
import pytest

import mensura
from mensura import MensuraError
from mensura.stitching import evidence_scores, frozen_scales, load_scale, stitch
from mensura.stitching.frozen import freeze

from .conftest import simulate


@pytest.fixture(scope="module")
def scale():
    return load_scale("2026-12")


def added(**scores):
    rows = [("my-model", benchmark, score, "percent", "2026-10-01") for benchmark, score in scores.items()]
    table = pl.DataFrame(rows, schema=["subject", "benchmark", "score", "unit", "released"], orient="row")
    return mensura.load().add(table)


def test_everybody_keeps_the_place_they_had(scale):
    before = scale.capabilities.sort("subject")
    after = scale.place(added(hle=30, gpqa_diamond=80, arc_agi_2=20)).sort("subject")
    kept = after.filter(status="frozen").select(before.columns)
    assert kept.equals(before)
    assert after.filter(status="placed")["subject"].to_list() == ["my-model"]


def test_a_known_model_under_another_name_is_placed_where_it_stands(scale):
    scores = evidence_scores(mensura.load())[0]
    twin = scores.filter(pl.col("subject") == "gpt-5.5").with_columns(subject=pl.lit("twin"))
    row = scale.place(twin).filter(subject="twin").row(0, named=True)
    known = scale.capabilities.filter(subject="gpt-5.5").row(0, named=True)
    assert row["low"] < known["capability"] < row["high"]
    assert row["capability"] == pytest.approx(known["capability"], abs=0.1)


def test_better_scores_stand_higher_and_more_scores_are_surer(scale):
    low, high = (scale.place(added(hle=s, arc_agi_2=s)).filter(status="placed")["capability"].item() for s in (5, 40))
    assert low < high
    few, many = (
        scale.place(added(**s)).filter(status="placed")
        for s in ({"hle": 30}, {"hle": 30, "gpqa_diamond": 85, "scicode": 45, "arc_agi_2": 25})
    )
    width = [(part["high"] - part["low"]).item() for part in (few, many)]
    assert width[1] < width[0]


def test_a_subject_without_a_benchmark_of_the_scale_is_refused(scale):
    with pytest.raises(MensuraError, match="me has no score on a benchmark of the scale 2026-12"):
        scale.place({"model": ["me"], "benchmark": ["my own test"], "score": [0.5]})


def test_a_scale_written_is_the_same_read(scale, tmp_path):
    scale.write(tmp_path / "again.json")
    again = load_scale(tmp_path / "again.json")
    assert again.capabilities.equals(scale.capabilities)
    assert np.array_equal(again.phi_cov, scale.phi_cov)


def test_what_is_no_scale_is_refused(tmp_path):
    assert "2026-12" in frozen_scales()
    with pytest.raises(MensuraError, match="'2031-01' is not known; expected one of 2026-11"):
        load_scale("2031-01")
    (tmp_path / "x.json").write_text('{"format": "else"}', encoding="utf-8")
    with pytest.raises(MensuraError, match=r"x.json: not a frozen scale"):
        load_scale(tmp_path / "x.json")


def test_the_command_places_on_the_scale_and_says_what_it_rests_on(mensura_command, tmp_path):
    (tmp_path / "mine.csv").write_text(
        "model,benchmark,score,released\nmy-model,HLE,30%,2026-10-01\nmy-model,GPQA Diamond,80%,2026-10-01\n",
        encoding="utf-8",
    )
    run = mensura_command("stitch", "--scale", "2026-12", "--add", tmp_path / "mine.csv", "--json")
    assert run.code == 0, run.err
    told = json.loads(run.out)
    assert told["scale"] == "2026-12"
    assert [row["subject"] for row in told["capabilities"] if row["status"] == "placed"] == ["my-model"]
    about = told["provenance"]
    assert about["command"] == "stitch"
    assert about["settings"]["scale"] == "2026-12"
    assert about["settings"]["ridge"] is None
    assert about["evidence"]["edition"] == "2026-12"
    assert about["evidence"]["origin"] == "embedded + mine.csv"
    assert about["evidence"]["fingerprint"] != mensura.load().fingerprint


def test_expected_scores_run_from_chance_to_ceiling_through_the_middle_at_the_difficulty(scale):
    for at in (0, 5):
        benchmark, difficulty, slope = scale.benchmarks.row(at)
        found = scale.expected_at(difficulty)
        row = found.filter(benchmark=benchmark).row(0, named=True)
        low, high = scale.chance[at], scale.ceiling[at]
        assert row["score"] == pytest.approx((low + high) / 2)
        assert row["score_above"] == pytest.approx(low + (high - low) / (1 + np.exp(-slope)))
    assert found["score"].is_sorted(descending=True)
    assert found.height == len(scale.names)
    with pytest.raises(MensuraError, match="capability: got inf"):
        scale.expected_at(np.inf)


def test_neighbours_stand_above_and_below(scale):
    tenth = scale.capabilities.row(9, named=True)
    near = scale.neighbours_of(tenth["capability"])
    assert near.equals(scale.capabilities.slice(7, 6)), "whoever stands exactly there counts as above"
    assert scale.neighbours_of(tenth["capability"], most=1)["subject"].to_list() == (
        scale.capabilities["subject"].slice(9, 2).to_list()
    )
    assert scale.neighbours_of(1e6).height == 3


def test_a_fit_freezes_with_its_places_errors_and_spread():
    frame = simulate(40, 8, seed=3, noise=0.05)[0]
    fit = stitch(frame, dimensions=1)
    frozen = freeze(fit, "2026-01", mensura.load())
    assert frozen.heading == "frozen scale 2026-01: 40 subjects, 8 benchmarks"
    assert frozen.capabilities.equals(fit.capabilities)
    known = frame["model"][0]
    twin = frame.filter(model=known).with_columns(model=pl.lit("twin"))
    placed = frozen.place(twin).filter(pl.col("subject").is_in(["twin", known]))
    assert placed["capability"][0] == pytest.approx(placed["capability"][1], abs=0.1)
    drawn = fit.laplace.positions
    np.testing.assert_allclose(np.diagonal(frozen.phi_cov, axis1=1, axis2=2), drawn.phi.var(axis=0))
    own_error = drawn.theta[..., 0].var(axis=0).mean()
    assert frozen.spread == pytest.approx(fit.capabilities["capability"].to_numpy().var() + own_error, rel=1e-6)
    with pytest.raises(MensuraError, match="a fit of the default method is needed, got 'rosetta'"):
        freeze(stitch(frame, method="rosetta"), "2026-01", mensura.load())


def test_neighbours_are_the_nearest_above_and_below(scale):
    table = scale.capabilities
    middle = table["capability"][10]
    near = scale.neighbours_of(middle)
    assert near["subject"].to_list() == table["subject"][8:14].to_list(), "the subject itself counts as above"
    assert scale.neighbours_of(middle, most=1)["subject"].to_list() == table["subject"][10:12].to_list()


def test_scores_of_known_subjects_alone_move_nobody_and_are_counted(scale):
    names = scale.capabilities["subject"][:2].to_list()
    table = {
        "model": [names[0], names[0], names[1]],
        "benchmark": ["hle", "arc_agi_2", "hle"],
        "score": [0.1, 0.2, 0.3],
    }
    placed = scale.place(table)
    assert placed.drop("n", "status").equals(scale.capabilities)
    assert placed["n"][:3].to_list() == [2, 1, None] and set(placed["status"]) == {"frozen"}
