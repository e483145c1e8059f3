"""``mensura export``: what can be written of a thing, in which format, and what comes back."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import polars as pl
import pytest

import mensura
from mensura.intake import shared_writing
from tests.ledger.small import ANN, score, update

EXPORT = ("export", "evidence", "--to", "file", "--out")


def test_a_store_with_a_history_is_exported_and_checked_with_it(store, mensura_command, tmp_path):
    store.apply(update(score("big-1", "swe_marathon", "12", "15")), **ANN)
    assert "2 entries of history" in mensura_command(*EXPORT, "out", "--evidence", "evidence.sqlite").out
    assert mensura_command("evidence", "init", "--store", "again.sqlite", "--from", "out").code == 0
    assert mensura_command("evidence", "check", "again.sqlite").code == 0
    assert (tmp_path / "out" / "ledger" / "cells.csv").read_text().splitlines()[1].startswith("1,0,scores,")


def test_a_history_goes_into_folders_alone_and_only_as_it_is(store, mensura_command, tmp_path):
    added = tmp_path / "mine.csv"
    added.write_text("model,benchmark,score,unit\nbig-2,swe_marathon,20,percent\n", encoding="utf-8")
    words = ("--evidence", "evidence.sqlite")
    assert "entries of history" not in mensura_command(*EXPORT, "with", *words, "--add", added).out
    for more in ((), ("--add", added)):
        refused = mensura_command(*EXPORT, "copy.sqlite", *words, *more)
        assert (refused.code, "copy.sqlite: a store comes with its history" in refused.err) == (2, True)
    assert not (tmp_path / "copy.sqlite").exists()


SCHEMA = Path(shared_writing.__file__).parent / "data" / "every_eval_ever" / "eval.schema.json"


VALID = jsonschema.Draft7Validator(json.loads(SCHEMA.read_text()))


def test_all_scores_of_the_evidence_are_valid_records_that_come_back_and_are_not_added_twice(tmp_path):
    """The id deepseek/deepseek-r1 is that of an older model, so that the newer one has its release in its id."""
    from mensura.cli.export import _score_rows, _with_ids, _write_records

    evidence = mensura.load()
    rows = _with_ids(_score_rows(evidence, None), evidence)
    rows = [row for row in rows if row["subject"].startswith(("gpt-4.1", "deepseek-r1"))]
    records = len({(row["subject"], row["source"]) for row in rows})
    assert _write_records(rows, tmp_path) == f"{len(rows)} results in {records} records"
    for path in tmp_path.rglob("*.json"):
        assert not list(VALID.iter_errors(json.loads(path.read_text())))
    before = replace(evidence, scores=evidence.scores.head(0))
    reading = before.read_scores([str(tmp_path)], skip_unknown=True)
    came = {(one["subject"], one["benchmark"], one["source"], float(one["score"])) for one in reading.scores.to_dicts()}
    assert came == {(one["subject"], one["benchmark"], one["source"], one["score"]) for one in rows}
    again = evidence.read_scores([str(tmp_path)], skip_unknown=True)
    assert f"passed over {len(rows)} scores that the evidence has already, from the same source" in again.notes
    assert evidence.add(again).scores.height == evidence.scores.height


@pytest.mark.parametrize(
    ("thing", "to", "message"),
    [
        ("nowhere", "irw", "nowhere: no such file; expected scores, abilities, baselines, evidence, an exam, answers"),
        ("evidence", "irw", "evidence: --to: got 'irw'; expected one of file"),
        ("scores", "hugging-face", "--to hugging-face: for one model; give --model NAME, such as"),
    ],
)
def test_what_cannot_be_written_is_answered_with_what_can(mensura_command, tmp_path, thing, to, message):
    run = mensura_command("export", thing, "--to", to, "--out", tmp_path / "out")
    assert (run.code, message in " ".join(run.err.split())) == (2, True), run.err
    assert not (tmp_path / "out").exists()


def test_answers_become_a_table_with_a_description_of_its_columns(mensura_command, tmp_path):
    (tmp_path / "answers.csv").write_text("subject,q1,q2\na,1,0\nb,0,\n", encoding="utf-8")
    run = mensura_command("export", tmp_path / "answers.csv", "--to", "irw", "--out", tmp_path / "out")
    assert run.out.startswith("wrote 3 answers to") and "give --url" in run.out
    table = pl.read_csv(tmp_path / "out" / "answers.csv").sort("id", "item")
    assert table.select("id", "item", "resp").rows() == [("a", "q1", 1), ("a", "q2", 0), ("b", "q1", 0)]
    described = json.loads((tmp_path / "out" / "croissant.json").read_text(encoding="utf-8"))
    assert [one["name"] for one in described["distribution"]] == ["answers.csv"]


def test_a_folder_without_answers_is_refused(mensura_command, tmp_path):
    (tmp_path / "empty").mkdir()
    run = mensura_command("export", tmp_path / "empty", "--to", "irw", "--out", tmp_path / "out")
    assert (run.code, "no answers in this folder; expected logs or tables" in run.err) == (2, True)


def test_a_pass_to_the_field_takes_only_the_model_asked_for(mensura_command, tmp_path):
    run = mensura_command("export", "scores", "--to", "hugging-face", "--model", "gpt-5.5", "--out", tmp_path / "out")
    assert run.code == 0, run.err
    written = (tmp_path / "out" / ".eval_results" / "mensura.yaml").read_text(encoding="utf-8")
    scores = mensura.load().primary_scores.filter(subject="gpt-5.5")
    assert written.count("value:") == scores.height
    addresses = [line.split("url: ")[1] for line in written.splitlines() if "url: " in line]
    assert "https://www.aiiq.org/api/rankings" in addresses and not any(" " in one for one in addresses)


def test_an_exam_becomes_a_description_and_answers_runs_or_a_table(mensura_command, tmp_path):
    run = mensura_command(
        "export", "example", "--to", "hugging-face", "--out", tmp_path / "card", "--url", "https://a.org"
    )
    assert run.code == 0, run.err
    assert "the description of " in run.out and "give --url" not in run.out
    assert "16 items that people and models take alike" in (tmp_path / "card" / "eval.yaml").read_text(encoding="utf-8")
    described = json.loads((tmp_path / "card" / "croissant.json").read_text(encoding="utf-8"))
    assert described["url"] == "https://a.org"
    (tmp_path / "answers.csv").write_text("subject,q1\na,1\n", encoding="utf-8")
    refused = mensura_command("export", tmp_path / "answers.csv", "--to", "file", "--out", tmp_path / "x")
    assert "--to: got 'file'; expected one of irw, metr" in " ".join(refused.err.split())
    refused = mensura_command("export", "example", "--to", "irw", "--out", tmp_path / "x")
    assert "expected one of inspect, hugging-face" in " ".join(refused.err.split())


def test_items_of_a_fit_are_counted_and_tam_takes_no_guessing(tmp_path, monkeypatch):
    from mensura.cli.export import _write_items

    rows = {"item": ["q1", "q1", "q2", "GROUP"], "name": ["a1", "d", "a1", "COV_11"], "value": [1.0, 0.5, 1.2, 1.0]}
    table = pl.DataFrame(rows | {"type": ["2PL", "2PL", "2PL", ""]})
    monkeypatch.setattr("mensura.responses.exchange.item_parameters", lambda _: table)
    monkeypatch.setattr("mensura.responses.exchange.script", lambda to: f"# {to}")
    for to, files in (("csv", ["parameters.csv"]), ("tam", ["parameters.csv", "tam.R"])):
        (tmp_path / to).mkdir()
        assert _write_items(Path("fit"), to, tmp_path / to) == "the parameters of 2 items"
        assert sorted(path.name for path in (tmp_path / to).iterdir()) == files
    for changed, why in (
        ({"type": pl.lit("3PL")}, "the script for TAM has no guessing"),
        ({"type": pl.lit("graded")}, "TAM has no graded model"),
        ({"name": pl.lit("a2")}, "the script for TAM has one dimension"),
    ):
        odd = table.with_columns(**changed)
        monkeypatch.setattr("mensura.responses.exchange.item_parameters", lambda _, odd=odd: odd)
        with pytest.raises(mensura.MensuraError, match=f"fit: {why}. Use --to mirt"):
            _write_items(Path("fit"), "tam", tmp_path / "tam")
        assert _write_items(Path("fit"), "csv", tmp_path / "csv").startswith("the parameters of")


def test_runs_are_one_line_each_and_counted(tmp_path, monkeypatch):
    from mensura.cli.export import _write_runs

    (tmp_path / "logs").mkdir()
    for name in ("a.eval", "b.JSON", "c.txt"):
        (tmp_path / "logs" / name).touch()
    monkeypatch.setattr("mensura.intake.samples.read_samples", lambda path: [path.name, path.name])
    monkeypatch.setattr("mensura.cli.export.metr_runs", lambda samples: [{"run": one} for one in samples])
    assert _write_runs(tmp_path / "logs", tmp_path) == "4 runs"
    lines = (tmp_path / "runs.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["run"] for line in lines] == ["a.eval", "a.eval", "b.JSON", "b.JSON"]
