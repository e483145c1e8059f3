"""Scores that a user brings to any command: names that are confirmed, dates that are asked for."""

import json

import pytest

import mensura
from mensura.cli.inputs import accepted_names, check_date, dated_scores
from mensura.core.errors import MensuraError
from mensura.stitching import evidence_scores
from tests.intake.messy import GPT


def test_other_commands_name_the_command_that_settles_a_name(mensura_command, tmp_path, monkeypatch):
    """``iq`` has no --new: it says where that is, and the command works."""
    monkeypatch.chdir(tmp_path)
    results = {"model_name": "acme/rocket-1", "results": {"gpqa_diamond_cot": {"acc,none": 0.5}}}
    (tmp_path / "results.json").write_text(json.dumps(results), encoding="utf-8")
    asked = mensura_command("iq", "acme/rocket-1", "--add", "results.json")
    assert asked.code == 2
    settle = "mensura add results.json --released YYYY-MM-DD --new gpqa_diamond_cot --out settled.csv"
    assert settle in asked.err and "Then give --add settled.csv" in asked.err
    run = mensura_command(*settle.replace("YYYY-MM-DD", "2026-11-01").split()[1:])
    assert run.code == 0, run.err
    assert mensura_command("evidence", "summary", "--add", "settled.csv").code == 0


@pytest.mark.slow
def test_iq_and_where_take_the_meaning_of_a_near_name(mensura_command, tmp_path):
    mine = tmp_path / "mine.csv"
    mine.write_text(f"model,GPQA\n{GPT},71.5\n", encoding="utf-8")
    for command in (["iq", GPT, "--set", "draws=0"], ["where", GPT]):
        asked = mensura_command(*command, "--add", mine)
        assert (asked.code, "--accept-near GPQA=gpqa_diamond confirms it" in asked.err) == (2, True)
    run = mensura_command("iq", GPT, "--set", "draws=0", "--add", mine, "--accept-near", "GPQA=gpqa_diamond")
    assert run.code == 0, run.err
    assert "gpqa_diamond: percent" in run.err
    idle = mensura_command("iq", GPT, "--accept-near", "GPQA=gpqa_diamond")
    assert (idle.code, "give --add FILE too" in idle.err) == (2, True)


def test_the_refusal_names_the_command_that_settles_the_date(mensura_command, log):
    run = mensura_command("evidence", "summary", "--add", log, "--models", "my lab")
    assert run.code == 2
    assert f"mensura add {log} --released YYYY-MM-DD --out settled.csv\nThen give --add settled.csv" in run.err


def test_a_terminal_asks_for_the_release_date(mensura_command, log, monkeypatch):
    for stream in ("stdin", "stdout"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True, raising=False)
    answers = iter(["2026-11-01", "New 7B", "Acme"])
    monkeypatch.setattr("typer.prompt", lambda *_, **__: next(answers))
    told = json.loads(mensura_command("add", log, "--json").out)["scores"][0]
    assert (told["released"], told["display_name"], told["provider"]) == ("2026-11-01", "New 7B", "Acme")


def test_what_describes_no_model_of_the_file_is_refused(mensura_command, tmp_path):
    mine = tmp_path / "mine.csv"
    mine.write_text("model,benchmark,score\nGPT-5.5,HLE,21.5\n", encoding="utf-8")
    run = mensura_command("add", mine, "--released", "2026-11-01")
    assert (run.code, "--released: " in run.err, "has no model that is new" in run.err) == (2, True, True)
    soon = mensura_command("add", mine, "--released", "soon")
    assert (soon.code, "--released: 'soon' is no date" in soon.err) == (2, True)


def test_a_name_that_is_confirmed_may_have_an_equals_sign():
    assert accepted_names(["GPQA = gpqa_diamond", "a=b=hle"]) == {"GPQA": "gpqa_diamond", "a=b": "hle"}
    assert accepted_names(None) == {}


@pytest.mark.parametrize("pair", ["GPQA", "=hle", "GPQA= "])
def test_half_a_confirmation_is_not_understood(pair):
    with pytest.raises(MensuraError, match=f"--accept-near {pair}: not understood; expected NAME=ID"):
        accepted_names([pair])


def test_a_day_is_a_year_a_month_and_a_day_of_the_calendar():
    assert check_date("2024-02-29") == "2024-02-29"
    assert check_date(None) is None
    with pytest.raises(MensuraError, match="--released: '2023-02-29' is no date; expected year-month-day"):
        check_date("2023-02-29")


def test_scores_get_their_dates_from_a_table_of_models_over_those_of_the_file(tmp_path):
    (tmp_path / "scores.csv").write_text("model,benchmark,score,released\nm,x,0.5,2024-01-01\n", encoding="utf-8")
    (tmp_path / "models.csv").write_text("subject,released\nm,2025-06-01\n", encoding="utf-8")
    own = dated_scores(tmp_path / "scores.csv", None)
    given = dated_scores(tmp_path / "scores.csv", tmp_path / "models.csv")
    assert [str(table["released"][0]) for table in (own, given)] == ["2024-01-01", "2025-06-01"]


def test_scores_of_an_evidence_come_as_the_fit_reads_them(few_models):
    evidence = mensura.load(few_models)
    assert dated_scores(evidence, None).equals(evidence_scores(evidence)[0])


def test_scores_without_dates_may_stay_so_where_a_command_allows_it(tmp_path):
    (tmp_path / "scores.csv").write_text("model,benchmark,score,released\nm,x,0.5,\n", encoding="utf-8")
    assert dated_scores(tmp_path / "scores.csv", None, undated=True)["released"].to_list() == [None]
    with pytest.raises(MensuraError):
        dated_scores(tmp_path / "scores.csv", None)
