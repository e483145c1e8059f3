"""``mensura add``: what was understood, and a table that every --add takes."""

import json

from tests.intake.messy import GPT


def test_what_was_understood_is_shown_and_written(mensura_command, tmp_path):
    wide = tmp_path / "wide.csv"
    wide.write_text("Model;GPQA Diamond;HLE\nGPT-5.5;71,5;0,4\n", encoding="utf-8")
    asked = mensura_command("add", wide)
    assert asked.code == 2
    assert "hle: all values lie within 0 to 1" in asked.err
    run = mensura_command("add", wide, "--unit", "percent", "--out", tmp_path / "mine.csv")
    assert run.code == 0, run.err
    assert "hle: percent (as said)" in run.out
    assert (tmp_path / "mine.csv").read_text(encoding="utf-8").splitlines() == [
        "subject,benchmark,score,unit",
        f"{GPT},gpqa_diamond,71.5,percent",
        f"{GPT},hle,0.4,percent",
    ]
    again = mensura_command("evidence", "summary", "--add", tmp_path / "mine.csv", "--json")
    assert again.code == 0, again.err
    assert "added" in again.err
    assert json.loads(again.out)["scores"] == 3067


def test_a_new_model_is_told_with_what_is_assumed_of_it(mensura_command, tmp_path):
    mine = tmp_path / "mine.csv"
    mine.write_text("model,released,benchmark,score\nmy-model,2026-11-01,HLE,21.5\n", encoding="utf-8")
    run = mensura_command("add", mine, "--json")
    told = json.loads(run.out)
    assert "new model: my-model" in told["notes"]
    assert "my-model is new; assumed reasoning = no" in told["warnings"][0]
    assert told["scores"] == [
        {
            "row": 2,
            "subject": "my-model",
            "benchmark": "hle",
            "score": "21.5",
            "unit": "percent",
            "released": "2026-11-01",
            "counts_for": "IQ",
            "because": "part of scientific-reasoning",
        }
    ]


def test_an_evidence_folder_with_the_scores(mensura_command, tmp_path):
    mine = tmp_path / "mine.csv"
    mine.write_text("model,released,benchmark,score\nmy-model,2026-11-01,HLE,21.5\n", encoding="utf-8")
    assert mensura_command("add", mine, "--out", tmp_path / "evidence").code == 0
    listed = mensura_command("evidence", "summary", "--models", "user", "--evidence", tmp_path / "evidence", "--json")
    assert [row["subject"] for row in json.loads(listed.out)["models"]] == ["my-model"]


def test_a_file_in_the_way_is_kept(mensura_command, tmp_path):
    mine = tmp_path / "mine.csv"
    mine.write_text("model,benchmark,score\nGPT-5.5,HLE,21.5\n", encoding="utf-8")
    run = mensura_command("add", mine, "--out", mine)
    assert run.code == 2
    assert "mine.csv: exists; choose another name" in run.err
    assert "GPT-5.5" in mine.read_text(encoding="utf-8")


def test_the_log_of_a_new_model_enters_with_its_release_date(mensura_command, log):
    refused = mensura_command("add", log)
    assert refused.code == 2
    assert f"If acme/new-7b is new, give the release date:\n  mensura add {log} --released YYYY-MM-DD" in refused.err
    described = ["--released", "2026-11-01", "--name", "New 7B", "--maker", "Acme"]
    told = json.loads(mensura_command("add", log, *described, "--json").out)["scores"]
    assert {(row["subject"], row["released"], row["display_name"], row["provider"]) for row in told} == {
        ("acme/new-7b", "2026-11-01", "New 7B", "Acme")
    }
    table = log.with_name("mine.csv")
    assert mensura_command("add", log, *described, "--out", table).code == 0
    dated = log.with_name("dated.csv")
    assert mensura_command("add", log, *described[:2], "--out", dated).code == 0
    for file, name, maker in ((dated, "acme/new-7b", "user"), (table, "New 7B", "Acme")):
        listed = mensura_command("evidence", "summary", "--models", "all", "--add", file, "--json")
        found = [row for row in json.loads(listed.out)["models"] if row["subject"] == "acme/new-7b"]
        assert [(row["name"], row["provider"], row["released"]) for row in found] == [(name, maker, "2026-11-01")]


def test_one_name_does_not_fit_two_new_models(mensura_command, tmp_path):
    mine = tmp_path / "mine.csv"
    mine.write_text("model,benchmark,score\none-new,HLE,21.5\ntwo-new,HLE,22.5\n", encoding="utf-8")
    run = mensura_command("add", mine, "--released", "2026-11-01", "--name", "Both")
    assert (run.code, "one name for 2 new models" in run.err) == (2, True)


def test_every_score_says_what_it_counts_for(mensura_command, tmp_path):
    mine = tmp_path / "mine.csv"
    mine.write_text(
        "model,released,benchmark,score,unit\n"
        "my-model,2026-11-01,hle,21.5,percent\n"
        "my-model,2026-11-01,mmlu_pro,80,percent\n"
        "gpt-5.5,,mmlu_pro,88,percent\n"
        "gpt-5.5,,my-test,50,percent\n"
        "my-model,2026-11-01,my-test,40,percent\n"
        "my-model,2026-11-01,my-own,40,percent\n",
        encoding="utf-8",
    )
    scores = json.loads(mensura_command("add", mine, "--json").out)["scores"]
    assert [row["counts_for"] for row in scores] == [
        *("IQ", "IQ (few scores)", "capability", "capability", "capability", "neither")
    ]
    reasons = [row["because"] for row in scores]
    assert reasons[0] == "part of scientific-reasoning"
    assert "no part of the IQ" in reasons[2]
    assert "(now 1)" in reasons[3]
    assert reasons[5] == "only one model took it, so that it compares nobody"
