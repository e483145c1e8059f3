"""``mensura llm``: standing, cost, export, from the command line."""

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from mensura.cli.asking import Asking, AskingSettings, describe, place_journal, prices_of
from mensura.core.errors import MensuraError
from mensura.llm import Prices, Question, Standing, open_asker
from tests.llm.conftest import questions, read_level


@pytest.fixture
def journal(serve, tmp_path):
    server = serve(answer=lambda prompt, _: "no level" if "item 3?" in prompt else '{"level": 2, "why": "<b>two</b>"}')
    server.refuse = lambda prompt: "item 4?" in prompt
    path = tmp_path / "j.sqlite"
    with open_asker("mine", journal=path, base_url=server.url, prices=Prices(1, 10)) as asker:
        asker.ask(questions(5), read_level)
    with open_asker("other", journal=path, base_url=server.url, temperature=0.5) as asker:
        asker.ask([Question("<script>alert(1)</script>", system="S", about={"item": "x"})], read_level)
    return path


def test_status_counts_what_was_answered_read_failed_and_left(journal, mensura_command):
    told = json.loads(mensura_command("llm", "status", journal, "--json").out)
    first, second = told["models"]
    assert (first["model"], first["answered"], first["unreadable"], first["failed"]) == ("mine", 4, 1, 1)
    assert json.loads(second["settings"]) == {"max_tokens": 2048, "temperature": 0.5}
    assert (first["open"], first["batched"]) == (0, 0)
    assert "unreadable" in mensura_command("llm", "status", journal).out


def test_cost_sums_what_was_spent_and_prices_what_was_not(journal, mensura_command):
    told = json.loads(mensura_command("llm", "status", journal, "--json").out)
    first, second = told["models"]
    assert first["cost"] == pytest.approx((first["tokens_in"] + 10 * first["tokens_out"]) / 1e6)
    assert (second["cost"], second["unpriced"]) == (None, 1), "no price is known, so the cost is not 0"
    priced = json.loads(mensura_command("llm", "status", journal, "--json", "--price-in", 100, "--price-out", 0).out)
    assert priced["models"][0] == first
    assert priced["models"][1]["cost"] == pytest.approx(second["tokens_in"] * 1e-4)
    assert priced["total"] == pytest.approx(first["cost"] + second["tokens_in"] * 1e-4)
    assert mensura_command("llm", "status", journal, "--price-in", 1).code == 2
    assert "in all, without 1 answers of unknown price" in mensura_command("llm", "status", journal).out


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
    assert mensura_command("export", journal, "--to", "recording", "--out", tmp_path / "mine.csv").code == 0
    with open_asker(f"recorded/{tmp_path}/mine.csv", journal=None) as asker:
        assert [answer.value for answer in asker.ask(questions(3), read_level)] == [2, 2, 2]


def test_wrong_files_are_refused(journal, tmp_path, mensura_command):
    assert "no such file or folder" in mensura_command("llm", "status", tmp_path / "none.sqlite").err
    told = mensura_command("export", journal, "--to", "file", "--out", tmp_path / "audit.xlsx")
    assert told.code == 2
    assert ".csv, .parquet, .html" in told.err


def test_prices_come_from_the_user_or_the_evidence():
    import mensura

    listed = mensura.load().models.drop_nulls(["input_price", "output_price"]).row(0, named=True)
    found = prices_of(f"some/{listed['subject']}", None, None)
    assert (found.input, found.output) == (listed["input_price"], listed["output_price"])
    assert prices_of("some/unheard-of", None, None) is None
    assert prices_of("recorded/demo", None, None) is None
    assert prices_of("anything", 1.0, 2.0) == Prices(1, 2)
    with pytest.raises(MensuraError, match="both price_in and price_out"):
        prices_of("anything", 1.0, None)


def test_commands_share_one_way_of_asking(serve, tmp_path, capsys):
    server, file = serve(), tmp_path / "j.sqlite"
    given = Asking(
        ["mine"], rare=AskingSettings(base_url=server.url, journal=file, max_calls=3, price_in=1, price_out=1)
    )
    asking = given.one(None, 2048)
    asking.print_estimate(questions(5))
    with asking.open("asking") as asker:
        answers = asker.ask(questions(5), read_level)
    printed = capsys.readouterr()
    assert "5 questions to mine: 0 answered already, 5 calls" in printed.out.replace("\n", " ")
    assert sum(answer.value is not None for answer in answers) == 3
    assert "stopped early: budget: the 3 calls allowed were made" in printed.err.replace("\n", " ")


def test_the_bar_says_rate_cost_time_left_and_failures():
    standing = Standing(done=5, total=10, stored=0, failed=2, cost=1.234, rate=2.5, seconds_left=125.2)
    assert describe(standing) == "2.5/s · $1.23 · 2:05 left · 2 failed"


def test_a_price_is_found_by_the_id_or_the_name_of_a_model_in_any_case():
    import mensura

    priced = mensura.load().models.drop_nulls(["input_price", "output_price"])
    row = priced.filter(priced["name"].str.to_lowercase() != priced["subject"].str.to_lowercase()).row(0, named=True)
    for written in (row["name"], row["name"].upper(), row["subject"].upper(), f"hub/lab/{row['subject']}"):
        assert prices_of(written, None, None) == Prices(row["input_price"], row["output_price"]), written
    with pytest.raises(MensuraError, match="both price_in and price_out"):
        prices_of("anything", None, 2.0)


def test_an_answer_is_as_long_as_the_command_says_unless_the_user_does(capsys):
    priced = Asking(["mine"], rare=AskingSettings(price_in=0.0, price_out=1e6))
    priced.one(None, 2048).print_estimate(questions(1))
    assert "and 2,048 out; about $2048.00, at most $2048.00" in capsys.readouterr().out
    replace(priced, rare=replace(priced.rare, max_tokens=10)).one(None, 2048).print_estimate(questions(1))
    assert "and 10 out; about $10.00, at most $10.00" in capsys.readouterr().out
    priced.one(None, 2048).print_estimate(questions(2), 100)
    assert "and 200 out; about $200.00, at most $4096.00" in capsys.readouterr().out


def test_a_journal_is_where_it_is_said_else_with_the_results_else_here():
    assert place_journal(Path("mine"), Path("out"), "openai/x") == Path("mine")
    assert place_journal(Path("mine"), None, "recorded/x") == Path("mine")
    assert place_journal(None, Path("out"), "recorded/x") == Path("out/journal.sqlite")
    assert place_journal(None, None, "openai/x") == Path("journal.sqlite")
    assert place_journal(None, None, "recorded/x") is None


def test_a_bar_without_an_end_in_sight_says_rate_and_cost():
    standing = Standing(done=5, total=10, stored=0, failed=0, cost=0.0, rate=0.5, seconds_left=None)
    assert describe(standing) == "0.5/s · $0.00"
    assert describe(replace(standing, seconds_left=59.6)).endswith(" · 1:00 left")
    assert describe(replace(standing, cost=None)) == "0.5/s · cost unknown"
    assert describe(replace(standing, waiting=61.0, seconds_left=5.0)) == "0.5/s · $0.00 · waiting 61 s"


def test_several_models_are_asked_one_by_one_where_a_command_can():
    both = Asking(["a", "b", "a"]).each(Path("out"), 100)
    assert [(one.name, one.rare.journal, one.rare.max_tokens) for one in both] == [
        ("a", Path("out/journal.sqlite"), 100),
        ("b", Path("out/journal.sqlite"), 100),
    ]
    with pytest.raises(MensuraError, match="--model: got 2; this command asks one"):
        Asking(["a", "b"]).one(None, 100)
    with pytest.raises(MensuraError, match="give --model"):
        Asking(None).one(None, 100)
