"""``mensura add``: what was understood, and a table that every --add takes."""

import json

from tests.evidence.intake.messy import GPT


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
    assert json.loads(again.out)["scores"] == 2823


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
        }
    ]


def test_an_evidence_folder_with_the_scores(mensura_command, tmp_path):
    mine = tmp_path / "mine.csv"
    mine.write_text("model,released,benchmark,score\nmy-model,2026-11-01,HLE,21.5\n", encoding="utf-8")
    assert mensura_command("add", mine, "--out", tmp_path / "evidence").code == 0
    listed = mensura_command("evidence", "models", "--provider", "user", "--evidence", tmp_path / "evidence", "--json")
    assert [row["subject"] for row in json.loads(listed.out)["models"]] == ["my-model"]


def test_a_file_in_the_way_is_kept(mensura_command, tmp_path):
    mine = tmp_path / "mine.csv"
    mine.write_text("model,benchmark,score\nGPT-5.5,HLE,21.5\n", encoding="utf-8")
    run = mensura_command("add", mine, "--out", mine)
    assert run.code == 2
    assert "mine.csv: exists; choose another name" in run.err
    assert "GPT-5.5" in mine.read_text(encoding="utf-8")
