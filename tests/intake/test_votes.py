"""Votes between two contestants: who they are, what the judge said, and how long the answers were."""

import math

import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.intake.votes import read_votes

PAIR = {"model_a": ["x", "y", "x"], "model_b": ["y", "z", "z"]}


def test_winners_in_words_are_codes():
    table = pl.DataFrame(PAIR | {"winner": ["Model_A", " model_b ", "tie"]})
    votes = read_votes(table)
    assert votes.select("first", "second", "outcome").rows() == [("x", "y", 0), ("y", "z", 1), ("x", "z", 2)]
    assert votes["judge"].to_list() == [None] * 3
    assert read_votes(votes) is votes
    assert read_votes(table.with_columns(winner=pl.lit("both_bad")))["outcome"].to_list() == [3] * 3


def test_titles_of_columns_are_read_in_any_spelling():
    titles = ["Model A", "model-b", "model_a", " Winner", "Judge", "Prompt ID"]
    table = pl.DataFrame([["x", "y", "z", "left", "j", "p"]], schema=titles, orient="row")
    assert read_votes(table).rows() == [("x", "y", 0, "j", "p")]


def test_winners_in_three_columns_are_the_same_codes():
    flags = {"winner_model_a": [1, 0, 0], "winner_model_b": [0, 1, 0], "winner_tie": [0, 0, 1]}
    assert read_votes(pl.DataFrame(PAIR | flags))["outcome"].to_list() == [0, 1, 2]
    with pytest.raises(MensuraError, match=r"votes, row 4, winner_model_a.*: expected one 1 and two 0"):
        read_votes(pl.DataFrame(PAIR | flags | {"winner_tie": [0, 0, 0]}))


def test_length_is_the_logarithm_of_the_ratio_of_texts_or_numbers():
    texts = {"response_a": ["four", "", None], "response_b": ["ab", "ab", "ab"]}
    votes = read_votes(pl.DataFrame(PAIR | {"winner": ["tie"] * 3} | texts))
    assert votes["length"].to_list() == pytest.approx([math.log(2), -math.log(2), 0.0])
    assert "length" not in read_votes(pl.DataFrame(PAIR | {"winner": ["tie"] * 3})).columns


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model_a": ["x", None, "x"]}, "votes, row 3, model_a or model_b: blank"),
        ({"model_a": ["x", "y", "z"]}, "votes, row 4, model_a and model_b: the same contestant"),
        ({"winner": ["tie", "tie", "nobody"]}, "votes, row 4, winner: 'nobody'; expected model_a"),
    ],
)
def test_a_vote_that_makes_no_sense_is_named_by_its_row(change, message):
    with pytest.raises(MensuraError, match=message):
        read_votes(pl.DataFrame(PAIR | {"winner": ["tie"] * 3} | change))


def test_a_table_without_contestants_winner_or_votes_is_refused():
    with pytest.raises(MensuraError, match="no columns of two contestants; expected model_a and model_b, it has a"):
        read_votes(pl.DataFrame({"a": [1]}))
    with pytest.raises(MensuraError, match="no column winner"):
        read_votes(pl.DataFrame(PAIR))
    with pytest.raises(MensuraError, match="no votes; expected one row per vote"):
        read_votes(pl.DataFrame(PAIR | {"winner": ["tie"] * 3}).clear())
