"""``mensura where`` as people read it."""

import re

import polars as pl
import pytest

import mensura
from mensura.cli.where import _finding, _outside_composite, for_people


def test_chances_are_words_and_the_model_itself_is_among_the_rows_printed():
    names = [f"m{number}" for number in range(20)]
    prices = pl.DataFrame({"subject": [*names, "mine"], "sticker_price": [*map(float, range(20)), None]})
    shown = for_people(prices, "mine")["subject"].to_list()
    assert shown == [*names[:11], "mine", *names[11:]]
    near = pl.DataFrame({"subject": ["a", "mine", "b"], "chance_above": [0.001, None, 0.5]})
    assert for_people(near, "mine")["chance_above"].to_list() == ["under 1%", "–", "50%"]


@pytest.mark.slow
def test_a_model_without_an_iq_is_told_what_is_missing_and_gets_no_empty_table(mensura_command):
    run = mensura_command("where", "gpt-4")
    assert run.code == 0, run.err
    assert "GPT-4: no IQ yet, since it has no score on any of the 32 benchmarks that count" in run.out
    assert (
        "one score on a benchmark that counts gives an IQ with a wide interval; more make it narrow enough" in run.out
    )
    assert "┏" not in run.out


def test_a_model_too_new_to_rank_is_told_what_a_rank_needs(mensura_command):
    run = mensura_command("where", "claude-haiku-5.5")
    needs = "too new to rank: it needs scores on 3 tests in 2 dimensions; it has 2 in 2"
    assert f"2 of 32 benchmarks measured), {needs}" in run.out


def test_a_new_model_with_enough_scores_is_ranked_with_its_chance_of_being_first(mensura_command):
    run = mensura_command("where", "claude-opus-5.5")
    assert re.search(r"10 of 32 benchmarks measured\), rank \d+ \(\d+ to \d+; .* chance of being first\)", run.out)


@pytest.mark.slow
def test_scores_outside_the_iq_are_named_with_their_use(mensura_command, tmp_path):
    mine = tmp_path / "mine.csv"
    rows = ["hle,21", "mmlu_pro,80", "my-own,40"]
    lines = ["model,released,benchmark,score,unit", *(f"my-model,2026-11-01,{row},percent" for row in rows)]
    mine.write_text("\n".join(lines), encoding="utf-8")
    run = mensura_command("where", "my-model", "--add", mine)
    assert "its scores on mmlu_pro; they count for the capability, and are read for the IQ" in run.out
    assert "its scores on my-own; they count for neither IQ nor capability" in run.out


def test_the_cheapest_model_is_named_with_its_iq():
    rows = pl.DataFrame({"subject": ["a", "b"], "iq": [None, 120.4], "sticker_price": [None, 2.5], "usage": [1.0, 2.0]})
    unit = "US dollars for a million tokens in and a million out"
    said = f"b has the lowest sticker price: 2.50 ({unit}), with an IQ of 120."
    assert _finding(rows, "sticker_price") == said
    early = rows.with_columns(sticker_price=1.0)
    assert _finding(early, "sticker_price").startswith("a has the lowest sticker price: 1.00 ")
    assert _finding(early, "sticker_price").endswith("with no IQ yet.")
    assert _finding(rows.head(1), "sticker_price") == "No sticker price is known here."
    assert _finding(rows.clear(), "sticker_price") == "No model is as good as that."


def test_scores_off_the_iq_are_listed_by_their_use():
    evidence = mensura.load()
    outside = evidence.benchmarks.filter(~pl.col("in_composite"))["benchmark"]
    scores = evidence.primary_scores
    subject = scores.filter(pl.col("benchmark").is_in(outside.implode()))["subject"].mode().sort()[0]
    uses = _outside_composite(evidence, subject)
    named = sorted(name for names in uses.values() for name in names)
    own = scores.filter(pl.col("subject") == subject, pl.col("benchmark").is_in(outside.implode()))
    assert named == sorted(own["benchmark"]) and named
    words = {"the capability", "the capability, and are read for the IQ", "neither IQ nor capability"}
    assert set(uses) <= words


def test_a_model_among_the_first_prices_stays_in_its_place():
    names = [f"m{number}" for number in range(20)]
    prices = pl.DataFrame({"subject": names, "sticker_price": [float(at) for at in range(20)]})
    assert for_people(prices, "m3")["subject"].to_list() == names
    assert for_people(prices, "m11")["subject"].to_list() == names
