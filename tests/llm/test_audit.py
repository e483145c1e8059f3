"""A journal for people and programs: its table, its page, and a recording that answers again."""

import json
from datetime import datetime

import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.llm import Journal, Prices, Question, audit_table, journal_status, open_asker, write_audit
from mensura.llm.audit import AUDIT_COLUMNS
from tests.llm.conftest import questions, read_level


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_export_writes_the_audit_table(journal, tmp_path, mensura_command, ending):
    target = tmp_path / f"audit.{ending}"
    assert "wrote 6 rows" in mensura_command("export", journal, "--to", "file", "--out", target).out
    table = pl.read_csv(target) if ending == "csv" else pl.read_parquet(target)
    assert table["question"].to_list()[:2] == ["How hard is item 0?", "How hard is item 1?"]
    assert table["state"].to_list() == ["answered"] * 4 + ["failed", "answered"]
    assert table.row(0, named=True)["rationale"] == "<b>two</b>"
    assert table["error"].to_list()[3:5] == ["unreadable: no level", "HTTP 400: too_long: this is too long"]
    assert json.loads(table["about"][0]) == {"item": "item0"}


def test_the_page_shows_everything_and_runs_nothing_it_was_told(journal, tmp_path, mensura_command):
    mensura_command("export", journal, "--to", "file", "--out", tmp_path / "audit.html")
    page = (tmp_path / "audit.html").read_text()
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page
    assert "&lt;b&gt;two&lt;/b&gt;" in page
    assert page.count("<details>") == 6
    assert "http" not in page.replace("http-equiv", "").replace("HTTP 400", "")


def test_a_recording_made_from_a_journal_answers_again(journal, tmp_path, mensura_command):
    written = mensura_command("export", journal, "--to", "recording", "--out", tmp_path / "mine.csv")
    assert "wrote 5 rows" in written.out, "a question that failed has no answer to record"
    with open_asker(f"recorded/{tmp_path}/mine.csv", journal=None) as asker:
        assert [answer.value for answer in asker.ask(questions(3), read_level)] == [2, 2, 2]


def test_a_journal_is_counted_by_model_and_priced_where_nobody_did(journal):
    table = journal_status(journal)
    mine, other = table.to_dicts()
    assert (mine["model"], mine["answered"], mine["failed"], mine["unreadable"]) == ("mine", 4, 1, 1)
    assert [mine[name] for name in ("open", "batched", "replaced", "unpriced")] == [0, 0, 0, 0]
    assert mine["cost"] == pytest.approx((mine["tokens_in"] + 10 * mine["tokens_out"]) / 1e6)
    assert mine["requests"] == 4 and mine["seconds"] >= 0
    assert json.loads(mine["settings"]) == {"max_tokens": 2048, "temperature": 0.0}
    assert (other["model"], other["answered"], other["cost"], other["unpriced"]) == ("other", 1, None, 1)
    assert json.loads(other["settings"])["temperature"] == 0.5
    priced = journal_status(journal, Prices(3, 5)).to_dicts()
    assert priced[0]["cost"] == mine["cost"]
    assert priced[1]["cost"] == pytest.approx((3 * other["tokens_in"] + 5 * other["tokens_out"]) / 1e6)
    assert priced[1]["unpriced"] == 0


def test_the_audit_table_has_every_column_of_an_answer(journal):
    table = audit_table(journal)
    assert table.columns == list(AUDIT_COLUMNS)
    row = table.row(-1, named=True)
    assert (row["model"], row["system"], row["question"], row["repeat"]) == (
        "other",
        "S",
        "<script>alert(1)</script>",
        0,
    )
    assert (row["value"], row["answer"], row["schema"], row["cost"], row["attempts"]) == (
        *("2", '{"level": 2, "why": "<b>two</b>"}', "", None, 1),
    )
    assert datetime.fromisoformat(row["answered"]).tzinfo is not None
    failed = table.row(4, named=True)
    assert (failed["state"], failed["answer"], failed["answered"] is not None) == ("failed", "", True)


def test_a_recording_needs_answers_that_are_about_different_things(serve, tmp_path):
    path = tmp_path / "j.sqlite"
    with pytest.raises(MensuraError, match=r"x\.txt: the name must end in one of \.csv, \.parquet, \.html"):
        write_audit(path, tmp_path / "x.txt")
    with pytest.raises(MensuraError, match=r"must end in one of \.csv, \.parquet$"):
        write_audit(path, tmp_path / "x.html", recording=True)
    Journal(path).close()
    with pytest.raises(MensuraError, match="contains no answer yet; run the command that asks first"):
        write_audit(path, tmp_path / "r.csv", recording=True)
    asked = [Question(prompt, about={"item": "a"}) for prompt in ("p", "q")]
    with open_asker("mine", journal=path, base_url=serve().url) as asker:
        asker.ask(asked, read_level)
    with pytest.raises(MensuraError, match=r"2 answers are about the same, such as \('a',\); keep one of each"):
        write_audit(path, tmp_path / "r.csv", recording=True)
