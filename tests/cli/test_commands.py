"""The commands as a user types them."""

import json

import polars as pl
import pytest


def test_scale_json_holds_every_reading(mensura_command):
    run = mensura_command("scale", "0.038", "--json")
    found = json.loads(run.out)
    assert {name: round(found[name], 2) for name in ("rate", "level", "one_in", "percentile", "iq")} == {
        "rate": 0.04,
        "level": 1.92,
        "one_in": 26.32,
        "percentile": 96.2,
        "iq": 126.62,
    }


@pytest.mark.parametrize(
    ("arguments", "rate"),
    [
        (["--iq", "130"], 0.02275),
        (["--one-in", "26"], 1 / 26),
        (["--percentile", "96"], 0.04),
        (["--level", "2"], 10**-1.5),
        (["--level", "2.3", "--dimension", "volume"], 10 ** (0.5 - (1.5 * 2.3 - 0.55))),
    ],
)
def test_scale_starts_from_any_unit(mensura_command, arguments, rate):
    run = mensura_command("scale", *arguments, "--json")
    assert json.loads(run.out)["rate"] == pytest.approx(rate, rel=1e-3)


def test_scale_prints_for_people_and_carries_intervals(mensura_command):
    run = mensura_command("scale", "0.038", "--low", "0.027", "--high", "0.053")
    assert "1 in 26.32" in run.out
    assert "124.2 to 128.9" in run.out
    both = json.loads(mensura_command("scale", "0.038", "--low", "0.027", "--high", "0.053", "--json").out)
    assert both["low"]["iq"] < both["iq"] < both["high"]["iq"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["scale"], "give exactly one of a rate, --iq"),
        (["scale", "38"], "is it a percentage? 38% is 0.38"),
        (["scale", "0.1", "--dimension", "charm"], "'charm' has no calibrated line; choose one of volume"),
        (["scale", "0.1", "--calibration", "nowhere.csv"], "nowhere.csv: no such file"),
        (["evidence", "check", "nowhere"], "nowhere: no such file or folder"),
        (["evidence", "schema", "prizes"], "'prizes' is none of models"),
        (["report", "--add", "nowhere.csv"], "nowhere.csv: no such file"),
        (["evidence", "check", "[bold]nowhere"], "[bold]nowhere: no such file or folder"),
    ],
)
def test_what_a_careless_user_types(mensura_command, arguments, message):
    run = mensura_command(*arguments)
    assert run.code == 2
    assert message in run.err
    assert "Traceback" not in run.err


def test_evidence_summary_counts(mensura_command, tmp_path):
    run = mensura_command("evidence", "summary", "--json", "--out", tmp_path)
    counts = json.loads(run.out)
    assert (counts["models"], counts["benchmarks"], counts["scores"]) == (138, 42, 2821)
    assert pl.read_csv(tmp_path / "benchmark_coverage.csv").height == 42


def test_evidence_models_schema_export_and_check(mensura_command, tmp_path):
    assert "Claude" in mensura_command("evidence", "models", "--provider", "anthropic").out
    assert "list price" in mensura_command("evidence", "schema", "models").out
    assert mensura_command("evidence", "export", tmp_path / "copy.sqlite").code == 0
    assert "no fault found" in mensura_command("evidence", "check", tmp_path / "copy.sqlite").out


@pytest.mark.shared
def test_evidence_import(mensura_command, tmp_path, shared):
    run = mensura_command("evidence", "import", shared / "data/models", "--out", tmp_path / "mine")
    assert run.code == 0
    assert "2860" in run.out
    assert mensura_command("evidence", "check", tmp_path / "mine").code == 0


def test_a_capability_is_explained_on_a_frozen_scale(mensura_command):
    told = json.loads(mensura_command("stitch", "--scale", "2026-11", "--at", "1.5", "--json").out)
    assert all(row["score"] < row["score_above"] for row in told["expected"] if row["benchmark"] == "hle")
    near = [row["capability"] for row in told["neighbours"]]
    assert near == sorted(near, reverse=True)
    assert near[0] > 1.5 > near[-1]
    assert mensura_command("stitch", "--at", "1.5").code == 2
    assert "finite number" in mensura_command("stitch", "--scale", "2026-11", "--at", "nan").err


def test_intervals_are_printed_with_how_often_they_held(mensura_command):
    run = mensura_command("extrapolate", "--rate", "0.5", "--n", "100", "--from", "pisa", "--draws", "20")
    assert "Can I trust this interval?" in run.out
    assert "docs/trust.md" in run.out
    assert run.out.index("Observed: pisa, ages 15") < run.out.index("pisa → world")
    assert run.out.index("domain None") < run.out.index("pisa → world")
