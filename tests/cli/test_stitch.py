"""``mensura stitch`` as a user runs it."""

import json

import polars as pl
import pytest


@pytest.fixture
def scores(simulated, tmp_path):
    file = tmp_path / "scores.csv"
    frame = simulated[0]
    days = frame["model"].str.slice(1).cast(pl.Int32) * 30
    dates = pl.Series("release_date", days + 19000).cast(pl.Int32).cast(pl.Date).cast(pl.String)
    frame.with_columns(dates, optimised=pl.col("benchmark").is_in(["b01", "b03", "b05", "b07"])).write_csv(file)
    return file


def test_contract_files(mensura_command, scores, tmp_path):
    run = mensura_command(
        "stitch", scores, "--method", "rosetta", "--anchor-benchmark", "b00", "--out", tmp_path / "out"
    )
    assert run.code == 0, run.err
    assert pl.read_csv(tmp_path / "out" / "capabilities.csv").columns == ["subject", "capability", "low", "high"]
    benchmarks = pl.read_csv(tmp_path / "out" / "benchmarks.csv")
    assert benchmarks.columns == ["benchmark", "difficulty", "slope"]
    assert benchmarks.filter(pl.col("benchmark") == "b00").row(0) == ("b00", 0.0, 1.0)


def test_json_and_two_subjects(mensura_command, scores):
    run = mensura_command("stitch", scores, "--anchor", "m005=130", "--anchor", "m030=150", "--json")
    answer = json.loads(run.out)
    values = {row["subject"]: row["capability"] for row in answer["capabilities"]}
    assert values["m005"] == pytest.approx(130)
    assert values["m030"] == pytest.approx(150)
    assert answer["settings"]["method"] == "pooled"
    assert mensura_command("stitch", scores, "--anchor", "m005").code == 2


def test_a_seed_without_a_bootstrap_is_refused(mensura_command, scores):
    run = mensura_command("stitch", scores, "--set", "seed=3")
    assert run.code == 2
    assert "--set seed: of no use here, because --bootstrap is not given" in run.err


def test_intervals_over_batteries_need_domains(mensura_command, scores):
    run = mensura_command("stitch", scores, "--check", "batteries")
    assert (run.code, "names no domains" in run.err) == (2, True)


def test_bootstrap_and_influence(mensura_command, scores):
    run = mensura_command("stitch", scores, "--method", "rosetta", "--bootstrap", 20, "--check", "influence", "--json")
    assert run.code == 0, run.err
    answer = json.loads(run.out)
    assert len(answer["influence"]) == 11


def test_the_published_filter(mensura_command, scores):
    """Subjects with fewer than four benchmarks stay out."""
    arguments = ("stitch", scores, "--method", "rosetta", "--json")
    every = json.loads(mensura_command(*arguments).out)
    some = json.loads(mensura_command(*arguments, settings={"fewest_benchmarks": 4}).out)
    few = len(every["capabilities"]) - len(some["capabilities"])
    assert few > 0
    assert f"{few} subjects with fewer than 4 benchmarks were left out" in some["notes"]
    refused = mensura_command(*arguments, settings={"fewest_benchmarks": 40})
    assert "no subject has 40 benchmarks" in refused.err


@pytest.mark.slow
def test_people_on_the_embedded_evidence(mensura_command):
    run = mensura_command("stitch", "--people")
    assert run.code == 0, run.err
    assert "Elo enters as" in run.out
    assert "People, test by test" in run.out
    assert "experts in the field" in run.out
    assert "laypeople, measured" in run.out
    assert "Selective reporting" in run.out


def test_residuals_and_forward_errors(mensura_command, scores, tmp_path):
    table = pl.read_csv(scores).with_columns(family=pl.col("model").str.slice(0, 2), domain=pl.lit("all"))
    table.write_csv(tmp_path / "labelled.csv")
    run = mensura_command(
        "stitch", tmp_path / "labelled.csv", "--check", "residuals", "--json", settings={"dimensions": 1}
    )
    assert run.code == 0, run.err
    answer = json.loads(run.out)
    first = answer["residuals"][0]
    assert first["residual"] == pytest.approx(first["score"] - first["fitted"])
    assert {row["family"] for row in answer["residuals_by_family"]} == {"m0"}
    assert len(answer["residuals_by_domain"]) == 1
    columns = {"benchmark", "chance", "error", "status", "weight", "ceiling", "ceiling_error"}
    assert columns == set(answer["floors"][0])
    assert answer["suspicious"] == []


def test_an_anchor_is_found_by_the_name_people_write(mensura_command, few_models):
    words = ("stitch", "--evidence", few_models, "--method", "rosetta", "--json", "--anchor-benchmark")
    for written in ("GPQA Diamond", "gpqa_diamond"):
        told = json.loads(mensura_command(*words, written).out)
        assert told["settings"]["anchor_benchmark"] == "gpqa_diamond"
        [row] = [row for row in told["benchmarks"] if row["benchmark"] == "gpqa_diamond"]
        assert (row["difficulty"], row["slope"]) == (0.0, 1.0)
    assert "'no such test'" in mensura_command(*words, "no such test").err
