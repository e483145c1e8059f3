"""``mensura validate`` as typed; the command stands beside ``mensura extrapolate``."""

import json

import numpy as np
import polars as pl
import pytest

SUMMARY = "covariate,group,n_items,mae,rmse,pearson,spearman,coverage"


@pytest.fixture
def pool_folder(tmp_path):
    rng = np.random.default_rng(0)
    folder = tmp_path / "pisa2009_sim"
    folder.mkdir()
    easiness = rng.normal(0, 1, 20)
    shifts = {"AUS": 0.0, "ITA": 0.4, "JPN": -0.4, "RUS": 0.5}
    rows, right = [], np.zeros(20, dtype=int)
    for country, shift in shifts.items():
        correct = rng.binomial(300, 1 / (1 + np.exp(shift - easiness)))
        right += correct
        rows += [(f"q{k}", "country", f"country={country}", 300, int(c)) for k, c in enumerate(correct)]
    rows += [(f"q{k}", "all", "all", 1200, int(c)) for k, c in enumerate(right)]
    table = pl.DataFrame(rows, schema=["item", "covariate", "group", "n", "n_correct"], orient="row")
    table.with_columns(rate=pl.col("n_correct") / pl.col("n")).write_csv(folder / "group_rates.csv")
    items = pl.DataFrame({"item": [f"q{k}" for k in range(20)], "domain": ["reading"] * 20})
    items.write_csv(folder / "items.csv")
    return folder


@pytest.mark.parametrize("situation", ["described", "linked", "slices"])
def test_summary_is_written_with_its_exact_header(mensura_command, pool_folder, tmp_path, situation):
    out = tmp_path / "out"
    fewer = ("--set", "draws=10") if situation == "linked" else ()
    run = mensura_command("validate", pool_folder, "--situation", situation, *fewer, "--out", out)
    assert run.code == 0, run.err
    lines = (out / "summary.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == SUMMARY
    assert len(lines) == 5
    assert (out / "predictions.csv").is_file()
    assert f"pisa2009_sim: {situation}" in run.out


def test_json_holds_the_tables_and_the_method(mensura_command, pool_folder):
    run = mensura_command("validate", pool_folder, "--situation", "linked", "--links", 5, "--set", "draws=5", "--json")
    result = json.loads(run.out)
    assert result["method"] == "linked"
    assert len(result["summary"]) == 4
    assert result["overall"][0]["mae_shift"] is not None


@pytest.mark.slow
def test_the_world_model_is_validated_like_any_other_method(mensura_command, pool_folder):
    run = mensura_command("validate", pool_folder, "--method", "poststratification", "--json")
    result = json.loads(run.out)
    assert result["method"] == "poststratification"
    assert len(result["summary"]) == 4
    assert len(result["pairs"]) == 12


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--situation", "guessed"], "situation: got 'guessed'"),
        (["--method", "linked"], "does not fit situation 'described'"),
        (["--method", "oracle"], "expected described, poststratification"),
        (["--situation", "linked", "--links", "19"], "for 19 links"),
    ],
)
def test_faults_are_said_without_a_traceback(mensura_command, pool_folder, arguments, message):
    run = mensura_command("validate", pool_folder, *arguments)
    assert run.code == 2
    assert message in run.err
    assert "Traceback" not in run.err


def test_a_missing_folder_is_said(mensura_command, tmp_path):
    run = mensura_command("validate", tmp_path / "nowhere")
    assert run.code == 2
    assert "no folder; expected one with items.csv" in run.err


def test_several_models_stand_side_by_side(mensura_command, tmp_path):
    from mensura.llm.providers import SHIPPED

    other = tmp_path / "other.csv"
    other.write_bytes((SHIPPED / "example-rates.csv").read_bytes())
    models = ("--model", "recorded/example-rates", "--model", f"recorded/{other}")
    journal = ("--set", f"journal={tmp_path / 'j.db'}")
    result = json.loads(mensura_command("validate", "example", *models, *journal, "--json").out)
    assert {row["model"] for row in result["overall"]} == {"recorded/example-rates", f"recorded/{other}"}
    run = mensura_command("extrapolate", "example", *models, *journal, "--json")
    told = json.loads(run.out)
    alone = json.loads(mensura_command("extrapolate", "example", *models[:2], "--json").out)
    assert [row["models"] for row in told["pooled"]] == [2] * len(told["pooled"])
    for pooled, one in zip(told["pooled"], alone["rates"], strict=True):
        assert pooled["rate"] == pytest.approx(one["rate"]), "two models that agree say what one says"
