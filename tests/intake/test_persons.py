"""Persons and answers: patterns that name items, who a person is, and long tables made wide."""

import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.intake.persons import choose_columns, split_persons, widen_answers
from mensura.intake.tables import NotedTable, read_table

NAMES = ["id", "q1", "q2", "q10", "freq"]


@pytest.mark.parametrize(
    ("pattern", "columns"),
    [
        ("q*", ["q1", "q2", "q10"]),
        ("q?", ["q1", "q2"]),
        ("q1, id", ["id", "q1"]),
        ("^q", ["q1", "q2", "q10"]),
        ("q", ["q1", "q2", "q10", "freq"]),
        (r"^q\d$", ["q1", "q2"]),
    ],
)
def test_a_pattern_is_a_wildcard_of_whole_names_or_a_regular_expression(pattern, columns):
    assert choose_columns(pattern, NAMES) == columns


def test_a_pattern_that_names_nothing_is_refused():
    with pytest.raises(MensuraError, match=r"--items 'x\*': this wildcard matches none of the 5 columns"):
        choose_columns("x*", NAMES)
    with pytest.raises(MensuraError, match=r"this regular expression matches none.*say --long item,correct"):
        choose_columns("^x", ["item", "correct"])
    with pytest.raises(MensuraError, match="not a valid pattern"):
        choose_columns("(", NAMES)


@pytest.fixture
def table(tmp_path):
    def make(text):
        (tmp_path / "t.csv").write_text(text, encoding="utf-8")
        return NotedTable(read_table(tmp_path / "t.csv"))

    return make


def test_answers_and_persons_are_two_tables_and_codes_get_their_meaning(table):
    raw = table("school,pupil,sex,q1\n1,7,1,0\n2,7,2,1\n")
    coded = NotedTable(raw.frame.cast({"sex": pl.Float64}), codes={"sex": {"1": "girl"}})
    answers, persons = split_persons(coded, ["q1"], ["school", "pupil"], ["sex"])
    assert answers.rows() == [("1-7", 0), ("2-7", 1)]
    assert persons.rows() == [("1-7", "girl"), ("2-7", "2")]
    assert split_persons(raw, ["q1"])[0]["person"].to_list() == [1, 2]
    with pytest.raises(MensuraError, match="no column 'age'"):
        split_persons(raw, ["q1"], covariates=["age"])


def test_a_long_table_becomes_one_row_per_person(table):
    long = table("who,item,right,sex\na,q1,1,f\na,q2,0,f\nb,q2,1,m\n")
    wide = widen_answers(long, "item", "right", ["who"], ["sex"]).frame
    assert wide.select("who", "sex", "q1", "q2").rows() == [("a", "f", 1, 0), ("b", "m", None, 1)]


@pytest.mark.parametrize(
    ("text", "person", "message"),
    [
        ("who,item,right,sex\na,q1,1,f\na,q1,0,f\n", ["who"], "row 3: person a answers item 'q1' a second time"),
        ("who,item,right,sex\na,q1,1,f\na,q2,0,m\n", ["who"], "person a has several values of sex"),
        ("who,item,right,sex\na,sex,1,f\n", ["who"], "'sex' is both an item and a covariate"),
        ("who,item,right,sex\na,q1,1,f\n", [], "no column that names the person"),
        ("who,item,right\na,q1,1\n", ["who"], "no column 'sex'"),
    ],
)
def test_a_long_table_that_contradicts_itself_is_refused(table, text, person, message):
    with pytest.raises(MensuraError, match=message):
        widen_answers(table(text), "item", "right", person, ["sex"])
