"""How commands ask a language model: prices, journal, progress and the dry run."""

from dataclasses import replace
from pathlib import Path

import pytest

from mensura.cli.asking import Asking, AskingSettings, describe, place_journal, prices_of
from mensura.core.errors import MensuraError
from mensura.llm import Prices, Standing
from tests.llm.conftest import questions, read_level


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


def test_a_model_is_asked_at_the_prices_that_were_given():
    asked = Asking(["recorded/x"], rare=AskingSettings(price_in=1.0, price_out=4.0))
    assert asked.prices == Prices(1.0, 4.0) and asked.name == "recorded/x"
    assert Asking(["recorded/x"]).prices is None and Asking(None).name == ""
