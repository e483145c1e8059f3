"""A journal for people and programs: its table, its page, and a recording that answers again."""

import json

import polars as pl
import pytest

from mensura.llm import open_asker
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
