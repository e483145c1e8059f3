"""``stitch`` and ``trends`` take scores through the same door: wide, percent, other headers and encodings."""

import json

import numpy as np
import polars as pl
import pytest

from mensura import MensuraError
from mensura.intake.own_scores import read_own_scores
from mensura.stitching import stitch

TIDY = pl.DataFrame(
    [
        (f"Model {m}", f"Test {b}", round(0.05 + 0.9 * ((5 * m + 3 * b) % 23) / 23, 3))
        for m in range(8)
        for b in range(4)
    ],
    schema=["subject", "benchmark", "score"],
    orient="row",
)


def as_percent(frame):
    return frame.with_columns(score=pl.format("{}%", (pl.col("score") * 100).round(3)))


WRITTEN = {
    "tidy": lambda path: TIDY.write_csv(path),
    "other headers": lambda path: TIDY.rename(
        {"subject": "Model Name", "benchmark": "Task", "score": "Accuracy"}
    ).write_csv(path),
    "percent signs": lambda path: as_percent(TIDY).write_csv(path),
    "percent header": lambda path: (
        TIDY.with_columns(pl.col("score") * 100).rename({"score": "Score (%)"}).write_csv(path)
    ),
    "semicolons": lambda path: TIDY.write_csv(path, separator=";"),
    "wide": lambda path: (
        TIDY.rename({"subject": "Model"}).pivot("benchmark", index="Model", values="score").write_csv(path)
    ),
    "turned": lambda path: (
        TIDY.rename({"benchmark": "Benchmark"}).pivot("subject", index="Benchmark", values="score").write_csv(path)
    ),
    "UTF-16": lambda path: path.write_bytes(TIDY.write_csv().encode("utf-16")),
}


@pytest.mark.parametrize("form", WRITTEN)
def test_every_form_of_a_table_is_the_same_table(form, tmp_path):
    WRITTEN[form](tmp_path / "scores.csv")
    found = (
        read_own_scores(tmp_path / "scores.csv").select("subject", "benchmark", "score").sort("subject", "benchmark")
    )
    assert found["subject"].to_list() == TIDY.sort("subject", "benchmark")["subject"].to_list()
    assert np.allclose(found["score"], TIDY.sort("subject", "benchmark")["score"])


def test_the_command_and_python_read_the_same_wide_file(mensura_command, tmp_path):
    WRITTEN["wide"](tmp_path / "scores.csv")
    run = mensura_command("stitch", tmp_path / "scores.csv", "--out", tmp_path / "out")
    assert run.code == 0, run.err
    written = pl.read_csv(tmp_path / "out" / "capabilities.csv")
    expected = stitch(TIDY).capabilities
    assert written["subject"].to_list() == expected["subject"].to_list()
    assert np.allclose(written["capability"], expected["capability"])


@pytest.mark.slow
def test_a_pandas_table_is_stitched_without_more_installed():
    pandas = pytest.importorskip("pandas")
    assert stitch(pandas.DataFrame(TIDY.to_dict(as_series=False))).capabilities.equals(stitch(TIDY).capabilities)
    wide = TIDY.rename({"subject": "Model"}).pivot("benchmark", index="Model", values="score")
    same = stitch(pandas.DataFrame(wide.to_dict(as_series=False)).set_index("Model"))
    assert same.capabilities["subject"].to_list() == stitch(TIDY).capabilities["subject"].to_list()


def test_percents_are_said_and_not_guessed(mensura_command, tmp_path):
    percents = TIDY.with_columns(pl.col("score") * 100, stderr=pl.lit(2.0))
    percents.write_csv(tmp_path / "scores.csv")
    refused = mensura_command("stitch", tmp_path / "scores.csv")
    assert refused.code == 2
    assert "--unit percent" in refused.err
    found = stitch(percents, unit="percent")
    assert np.allclose(found.data.y, stitch(TIDY).data.y)
    assert np.allclose(np.sqrt(found.data.sampling), 0.02)
    with pytest.raises(MensuraError, match="unit: got 'points'; expected"):
        stitch(percents, unit="points")


def test_a_cell_that_is_no_score_is_named_by_its_row(tmp_path):
    (tmp_path / "scores.csv").write_text("Model;Test A;Test B\nx;0.5;good\n", encoding="utf-8")
    with pytest.raises(MensuraError, match="row 2: 'good' is no score"):
        read_own_scores(tmp_path / "scores.csv")


@pytest.mark.parametrize("twins", [{"item": "q1"}, {"model": "x"}])
def test_columns_that_say_the_same_are_refused(twins):
    with pytest.raises(MensuraError, match="rename or drop one"):
        stitch(TIDY.with_columns(**{name: pl.lit(value) for name, value in twins.items()}))


def test_predictions_say_what_they_rest_on():
    asked = {"subject": ["Model 1", "nobody", "Model 1"], "item": ["Test 1", "Test 1", "no test"]}
    found = stitch(TIDY).predict(asked)
    assert found["status"].to_list() == ["predicted", "prior", "prior"]
    assert (found["high"] - found["low"])[1] > (found["high"] - found["low"])[0]
    none = stitch(TIDY, method="rosetta").predict(asked)
    assert none["status"].to_list() == ["predicted", "unknown", "unknown"]
    assert none["score"].is_null().to_list() == [False, True, True]


MIXED = "model,benchmark,score,unit\na,x,0.9,fraction\na,y,80,percent\nb,x,30,percent\nb,y,0.2,fraction\n"


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16"])
@pytest.mark.parametrize("name", ["a", "ä"])
def test_a_column_unit_counts_in_every_encoding(encoding, name, tmp_path):
    (tmp_path / "scores.csv").write_text(MIXED.replace("\na,", f"\n{name},"), encoding=encoding)
    found = read_own_scores(tmp_path / "scores.csv")
    assert found["score"].to_list() == [0.9, 0.8, 0.3, 0.2]
    assert "unit" not in found.columns, "read once more, it would divide again"
    assert read_own_scores(found)["score"].to_list() == [0.9, 0.8, 0.3, 0.2]


@pytest.mark.parametrize(
    ("text", "unit", "message"),
    [
        (MIXED, "percent", "row 2: the column 'unit' says fraction, but --unit says percent; leave --unit out"),
        (MIXED, "fraction", "row 3: the column 'unit' says percent, but --unit says fraction"),
        ("model,benchmark,score\na,x,70%\n", "fraction", "row 2: the cell says percent, but --unit says fraction"),
        ("model,benchmark,Score (%)\na,x,70\n", "fraction", "row 2: the header says percent, but --unit says fraction"),
        (
            "model,benchmark,score,unit\na,x,70%,fraction\n",
            None,
            "the cell says percent, but the column 'unit' says fr",
        ),
        ("model,benchmark,score,unit\na,x,1300,elo\n", None, "row 2: unit 'elo'; expected percent or fraction"),
        ("model,benchmark,score,unit\na,x,0.5,fraction\nb,x,70,\n", None, "row 3: 70 has no unit; fill in percent or"),
    ],
)
def test_units_that_contradict_each_other_are_refused_by_both_names(text, unit, message, mensura_command, tmp_path):
    (tmp_path / "scores.csv").write_text(text, encoding="utf-8")
    run = mensura_command("stitch", tmp_path / "scores.csv", *(["--unit", unit] if unit else []))
    assert run.code == 2
    assert message in run.err


def test_an_option_gives_the_unit_of_rows_that_have_none(tmp_path):
    (tmp_path / "scores.csv").write_text("model,benchmark,score,unit\na,x,50,\nb,x,25,%\n", encoding="utf-8")
    assert read_own_scores(tmp_path / "scores.csv", unit="percent")["score"].to_list() == [0.5, 0.25]


def test_other_columns_of_a_plain_table_stay_as_they_are():
    table = TIDY.with_columns(family=pl.lit("f"), name=pl.lit("x"), value=pl.lit(3))
    assert read_own_scores(table).equals(table)


def test_a_log_of_an_evaluation_is_a_table_of_its_scores(tmp_path):
    results = {"hle": {"acc,none": 0.25, "acc_stderr,none": 0.02}, "gpqa": {"acc": 0.5}}
    (tmp_path / "results.json").write_text(json.dumps({"model_name": "m", "results": results}), encoding="utf-8")
    table = read_own_scores(tmp_path / "results.json")
    assert table.select("subject", "benchmark", "score", "stderr").rows() == [
        ("m", "hle", 0.25, 0.02),
        ("m", "gpqa", 0.5, None),
    ]


def test_errors_behind_figures_and_in_a_column_take_the_unit_of_the_score():
    behind = read_own_scores({"model": ["a", "b"], "benchmark": ["x", "x"], "score": ["70% ± 2", "0.5"]})
    assert behind.select("score", "stderr").rows() == [(pytest.approx(0.7), 0.02), (0.5, None)]
    stated = read_own_scores(
        {"model": ["a", "b"], "benchmark": ["x", "x"], "score": ["70%", "0.5"], "stderr": ["2", "0.1"], "n": ["9", "x"]}
    )
    assert stated.select("score", "stderr", "n").rows() == [(pytest.approx(0.7), 0.02, "9"), (0.5, 0.1, "x")]
    both = read_own_scores({"model": ["a"], "benchmark": ["x"], "score": ["70% ± 2"], "stderr": [5.0]})
    assert both["stderr"].to_list() == [0.05], "a column goes before what stands behind a figure"


def test_a_wide_table_without_a_score_is_refused_and_numbers_stay_numbers():
    with pytest.raises(MensuraError, match="scores: every score is blank; enter at least one score"):
        read_own_scores({"Model": ["a"], "Test A": [None], "Test B": [None]}, name="scores")
    wide = read_own_scores({"Model": ["a", "b"], "Test A (%)": [50.0, None], "Test B": [0.25, 0.5]})
    assert wide.select("subject", "benchmark", "score").rows() == [
        ("a", "Test A", 0.5),
        ("a", "Test B", 0.25),
        ("b", "Test B", 0.5),
    ]


def test_truth_values_are_scores_and_other_names_of_columns_are_known():
    table = read_own_scores({"model": ["a", "b"], "item": ["q", "q"], "score": [True, False], "Unit": [None, None]})
    assert table.select("subject", "benchmark", "score").rows() == [("a", "q", 1.0), ("b", "q", 0.0)]
    assert table.columns == ["subject", "benchmark", "score"]


def test_a_unit_that_is_no_share_is_refused():
    for unit in ("points", "elo"):
        with pytest.raises(MensuraError, match=f"unit: got '{unit}'; expected percent or fraction"):
            read_own_scores(TIDY, unit=unit)
    assert read_own_scores(TIDY, unit="fraction").equals(TIDY)
