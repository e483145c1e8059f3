"""``mensura evidence``: counts, checks, the log of changes, versions and chart policy, as a shell sees them."""

import json
from types import SimpleNamespace

import polars as pl

from tests.ledger.small import ANN, MAPPING, score, update


def test_evidence_summary_counts(mensura_command, tmp_path):
    run = mensura_command("evidence", "summary", "--json", "--out", tmp_path)
    counts = json.loads(run.out)
    assert (counts["models"], counts["benchmarks"], counts["scores"]) == (166, 44, 3065)
    assert pl.read_csv(tmp_path / "benchmark_coverage.csv").height == 44


def test_evidence_models_export_and_check(mensura_command, tmp_path):
    assert "Claude" in mensura_command("evidence", "summary", "--models", "anthropic").out
    assert mensura_command("export", "evidence", "--to", "file", "--out", tmp_path / "copy").code == 0
    described = {one["name"] for one in json.loads((tmp_path / "copy/croissant.json").read_text())["distribution"]}
    assert described == {path.name for path in (tmp_path / "copy").glob("*.csv")}
    assert "no fault found" in mensura_command("evidence", "check", tmp_path / "copy").out


EXPORT = ("export", "evidence", "--to", "file", "--out")


def test_a_log_on_a_terminal_is_short_and_in_json_whole(store, mensura_command, tmp_path):
    (tmp_path / "x.csv").write_text("Model,Agent,Score\nBig 1,X,20\n")
    (tmp_path / "board.toml").write_text(MAPPING)
    kept = json.loads(mensura_command("evidence", "capture", "board", "x.csv", "--by", "Ann", "--json").out)
    shown = mensura_command("evidence", "log", "--captures").out
    assert f"│ {kept['capture'][:12]} │" in shown
    assert f"│ {kept['time'][:10]} {kept['time'][11:16]} │" in shown
    mensura_command("evidence", "extract", kept["capture"][:6], "--mapping", "board.toml", "--file", "u.toml")
    [waiting] = json.loads(mensura_command("evidence", "log", "--pending", "--json").out)["pending"]
    assert f"│ {waiting['update'][:12]} │" in mensura_command("evidence", "log", "--pending").out
    assert mensura_command("evidence", "extract", kept["capture"], "--file", "u.toml").code == 2
    assert mensura_command("evidence", "apply", "u.toml", "--by", "Bob").out.startswith("entry 1: 3 cells changed")
    assert "no entry changed a row with 'small-1'" in mensura_command("evidence", "log", "small-1").out
    assert "no entry changed" not in mensura_command("evidence", "log", "big-1").out


def test_policy_of_one_model_of_the_rules_and_of_all(store, mensura_command):
    everybody = json.loads(mensura_command("evidence", "policy", "--json").out)
    assert [row["subject"] for row in everybody["policy"]] == ["big-1", "big-2", "small-1"]
    one = json.loads(mensura_command("evidence", "policy", "Big 2", "--json").out)
    assert [row["subject"] for row in one["policy"]] == ["big-2"]
    rules = mensura_command("evidence", "policy", "chart_rules").out
    assert "Chart rules" in rules and "Policy fields" not in rules
    run = mensura_command("evidence", "policy", "big-2", "--set", " display =hide", "--reason", "old", "--by", "Ann")
    assert run.out.startswith("entry 1: ") and store.policy().filter(subject="big-2")["display"][0] == "hide"
    assert "expected FIELD=VALUE" in mensura_command("evidence", "policy", "big-2", "--set", "=hide").err


def test_versions_are_named_by_entry_place_or_word(store, mensura_command, tmp_path):
    store.apply(update(score("big-1", "swe_marathon", "12", "15")), **ANN)
    assert mensura_command(*EXPORT, "folder", "--evidence", "evidence.sqlite").code == 0
    for before, after, cells in (("0", "now", 1), ("0", "folder", 1), ("1", "now", 0), ("folder", "now", 0)):
        told = json.loads(mensura_command("evidence", "diff", before, after, "--json").out)
        assert len(told["cells"]) == cells, (before, after)
    assert json.loads(mensura_command("evidence", "diff", "embedded", "embedded", "--json").out)["cells"] == []


def test_models_are_listed_newest_first_with_their_counts(store, mensura_command):
    listed = mensura_command("evidence", "summary", "--models", "all", "--evidence", "evidence.sqlite", "--json")
    told = json.loads(listed.out)["models"]
    assert [(row["subject"], row["benchmarks"]) for row in told] == [("big-2", 1), ("small-1", 0), ("big-1", 2)]
    nobody = mensura_command("evidence", "summary", "--evidence", "evidence.sqlite", "--models", "OTHER", "--json")
    assert json.loads(nobody.out)["models"] == []


def test_a_preview_shows_people_the_update_too(store, mensura_command, tmp_path, monkeypatch):
    change = update(score("big-1", "swe_marathon", "12", "15"))
    (tmp_path / "u.toml").write_text(change.text(), encoding="utf-8")
    moved = SimpleNamespace(tables=lambda: {"composites": pl.DataFrame({"subject": ["big-1"]})}, heading="One moved")
    compared = []
    monkeypatch.setattr("mensura.study.preview.preview", lambda *both: compared.append(both) or moved)
    people = mensura_command("evidence", "preview", "u.toml")
    assert people.out.endswith("One moved.\n") and "swe_marathon" in people.out
    before, after = (one.scores.filter(subject="big-1", benchmark="swe_marathon")["score"][0] for one in compared[0])
    assert (float(before), float(after)) == (12.0, 15.0)
    program = mensura_command("evidence", "preview", "u.toml", "--json")
    assert json.loads(program.out)["heading"] == "One moved"
    assert "swe_marathon" not in mensura_command("evidence", "preview", "u.toml", "--out", tmp_path / "out").out


def test_models_with_policy_fields_are_counted_and_names_are_none(store, mensura_command):
    """Every model has a name and may have a line; neither is an exception from the rules."""
    assert "0 models with policy fields; 5 rules decide the rest.\n" in mensura_command("evidence", "policy").out
    mensura_command("evidence", "policy", "big-2", "--set", "display=hide", "--reason", "old", "--by", "Ann")
    assert "1 model with policy fields; 5 rules decide" in mensura_command("evidence", "policy").out
    assert "1 model with policy fields" in mensura_command("evidence", "policy", "big-2").out
    assert "0 models with policy fields" in mensura_command("evidence", "policy", "big-1").out
