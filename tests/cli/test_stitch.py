"""``mensura stitch`` as a user runs it."""

import json
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from mensura.cli.stitch import _finding, _print, _show_votes
from mensura.stitching.people import SHOWN


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


def capabilities(**values):
    rows = [(name, value, value - 0.5, value + 0.25) for name, value in values.items()]
    return pl.DataFrame(rows, schema=["subject", "capability", "low", "high"], orient="row")


def ranks(*rows):
    types = {"subject": pl.String, "rank": pl.Int64, "p_first": pl.Float64}
    return pl.DataFrame(rows, schema=types, orient="row")


def test_the_finding_is_about_ones_own_up_to_three_of_them_else_about_the_leader():
    tables = {
        "capabilities": capabilities(a=2.0, b=1.0, c=0.5, d=0.0),
        "ranks": ranks(("a", 1, 0.9), ("b", 2, 0.1), ("c", None, None)),
    }
    own = "Capability, with its 90% interval: b 1.00 (0.50 to 1.25)"
    leader = "a has the highest capability, with a chance of 90% among 2 models."
    assert _finding(tables, ["b"]) == f"{own}."
    assert _finding(tables, ["b", "d"]) == f"{own}; d 0.00 (-0.50 to 0.25)."
    assert _finding(tables, ["a", "b", "c"]).count("; ") == 2
    assert _finding(tables, ["a", "b", "c", "d"]) == _finding(tables, ()) == _finding(tables, ["nobody"]) == leader
    sure = tables | {"ranks": ranks(("a", 1, None))}
    assert _finding(sure, ()) == "a has the highest capability among 1 model."
    assert _finding(tables | {"ranks": ranks(("a", None, 0.9))}, ()).startswith("No interval is narrow enough")


def test_the_finding_counts_measured_people_with_a_verdict_and_solid_results():
    people = pl.DataFrame(
        {
            "status": ["measured", "measured", "measured", "judged", "measured"],
            "verdict": ["passed", "not passed", "passed", "passed", None],
            "grade": ["C", "A", "D", "A", "A"],
        }
    )
    said = "AI has passed two of the three groups of people who were measured on a test it took too."
    tables = {"capabilities": capabilities(a=1.0), "people": people}
    assert _finding(tables, ()) == f"{said} One of those passed has a result of grade A to C."
    assert _finding(tables | {"people": people.drop("grade")}, ()) == said
    none = people.filter(verdict="not passed")
    assert _finding(tables | {"people": none}, ()).endswith("took too."), "nobody was passed, so none is solid"


def test_tables_say_the_basis_and_tests_come_hardest_first(capsys, monkeypatch):
    tests = pl.DataFrame({"benchmark": ["x", "y", "z"], "difficulty": [0.0, 2.0, 1.0], "slope": [1.0, 1.5, 2.0]})
    tables = {"capabilities": capabilities(a=1.0, b=0.5), "benchmarks": tests, "ranks": ranks(("a", None, None))}
    _print(tables, "Capabilities (so far)", ())
    plain = capsys.readouterr().out
    assert "Capabilities (so far)\n" in plain and "Benchmarks, hardest first\n" in plain and "Ranks" not in plain
    assert [line.split("│")[1].strip() for line in plain.splitlines() if line.startswith("│")][2:] == ["y", "z", "x"]
    monkeypatch.setattr("mensura.cli.stitch.new_names", lambda kind: ["z"] if kind == "benchmark" else [])
    _print(tables | {"ranks": ranks(("a", 1, 0.75), ("b", 2, 0.25))}, "Capabilities", ["b"])
    own = capsys.readouterr().out
    assert "Capabilities; yours first" in own and "Benchmarks, yours first, then the hardest\n" in own
    rows = [line.split("│")[1].strip() for line in own.splitlines() if line.startswith("│")]
    assert rows == ["yours", "next to yours", "z", "y", "x", "yours", "next to yours"]
    assert "Ranks (p_first: chance of being first); yours first" in own and "0.250" in own
    assert "z: difficulty 1.00, slope 2.00; 1 of 3 benchmarks are harder.\n" in own


def test_a_check_that_is_unknown_is_refused_and_a_number_needs_a_scale(mensura_command, scores):
    assert "--check: got 'all'; expected one of residuals, batteries, influence" in " ".join(
        mensura_command("stitch", scores, "--check", "all").err.split()
    )
    assert "--at goes with --scale NAME" in mensura_command("stitch", scores, "--at", "1").err


def test_votes_of_a_file_alone_name_the_strongest_or_say_that_nobody_can_be_told(mensura_command, scores, tmp_path):
    rows = [("a", "b", "model_a")] * 60 + [("b", "a", "model_b")] * 40 + [("a", "b", "model_b")] * 5
    for name, table in {"clear.csv": rows, "few.csv": rows[-5:] + rows[:4]}.items():
        pl.DataFrame(table, schema=["model_a", "model_b", "winner"], orient="row").write_csv(tmp_path / name)
    clear = mensura_command("stitch", scores, "--votes", tmp_path / "clear.csv").out
    assert "Fewer than " in clear and clear.endswith("a is strongest.\n")
    few = mensura_command("stitch", scores, "--votes", tmp_path / "few.csv").out
    assert few.rstrip().endswith("so who is strongest cannot be told.") and "its interval reaches that of " in few


def test_the_rival_of_the_strongest_is_the_one_whose_interval_reaches_highest(capsys, monkeypatch):
    table = pl.DataFrame({"contestant": ["a", "b", "c"], "strength": [2.0, 1.0, 0.5], "low": [1.5, 0.5, -1.0]})
    monkeypatch.setattr("mensura.intake.votes.read_votes", lambda _: table)
    for high, said in (
        ([2.5, 1.4, 1.6], "a is ahead; its interval reaches that of c, so who is strongest cannot be told."),
        ([2.5, 1.4, None], "a is ahead; its interval reaches that of c, so who is strongest cannot be told."),
        ([2.5, 1.4, 1.49], "a is strongest."),
        ([2.5, 1.5, 1.0], "a is ahead; its interval reaches that of b, so who is strongest cannot be told."),
    ):
        rows = table.with_columns(high=pl.Series(high, dtype=pl.Float64))
        fit = SimpleNamespace(contestants=rows, tables=dict, clusters=3, warnings=["few"], heading="H")
        monkeypatch.setattr("mensura.stitching.votes.fit_votes", lambda _, fit=fit: fit)
        _show_votes(Path("votes.csv"), None)
        assert capsys.readouterr().out.endswith(f"so the votes stand alone.\n{said}\n")


def test_people_are_printed_by_the_columns_that_tell_most(capsys, monkeypatch):
    shown = []
    monkeypatch.setattr("mensura.cli.stitch.show", lambda tables, layout: shown.append(tables))
    columns = {name: ["x"] for name in SHOWN} | {"status": ["measured"], "verdict": ["passed"], "aside": [1]}
    tables = {
        "capabilities": capabilities(a=1.0),
        "benchmarks": pl.DataFrame({"benchmark": ["x"], "difficulty": [1.0], "slope": [1.0]}),
        "ranks": ranks(("a", None, None)),
    }
    _print(tables | {"people": pl.DataFrame(columns)}, "Capabilities", ())
    _print(tables, "Capabilities", ())
    assert shown[0]["people"].columns == list(SHOWN) and "people" not in shown[1]
