"""One scorer for people and models: options, several right, numbers within a tolerance, folded texts."""

import numpy as np
import pytest

from mensura.exam.items import ExamItem
from mensura.exam.scoring import (
    answer_text,
    concordance,
    failure_of,
    fold,
    is_blank,
    name_outcome,
    outcome_of,
    read_credit,
    read_reply,
    score,
)
from mensura.llm import UnreadableError


def item(**cells) -> ExamItem:
    return ExamItem.model_validate({"item": "q", "text": "?", **cells})


def test_one_choice():
    question = item(options=["a", "b", "c"], key=["b"])
    assert [score(question, [place]) for place in range(3)] == [0.0, 1.0, 0.0]
    assert score(question, [0, 1]) == 0.0
    assert score(question, []) == 0.0


def test_several_right_give_shares_and_wrong_ones_take_back():
    question = item(options=["a", "b", "c", "d"], key=["a", "b"])
    assert question.scoring == "several"
    assert [score(question, given) for given in ([0, 1], [0], [0, 2], [0, 1, 2], [0, 1, 2, 3], [2])] == [
        *(1.0, 0.5, 0.0, 0.5, 0.0, 0.0)
    ]


@pytest.mark.parametrize(
    ("tolerance", "given", "right"),
    [
        *(("0", "2.5", True), ("0", "2,5", True), ("0", "5/2", True), ("0.1", "2.6", True), ("0.1", "2.61", False)),
        *(("10%", "2.75", True), ("10%", "2.76", False), ("0", "about 2.5", False), ("0", "", False)),
    ],
)
def test_numbers_within_their_tolerance(tolerance, given, right):
    assert score(item(key=["2.5"], scoring="number", tolerance=tolerance), given) == float(right)


@pytest.mark.parametrize(
    ("key", "given"),
    [("1.375", "1,375"), ("1,375", "1.375"), ("1500", "1.500"), ("1500", "1\u202f500"), ("-2.5", "\u2212٢٫٥")],
)
def test_a_number_is_right_as_people_of_any_language_write_it(key, given):
    assert score(item(key=[key], scoring="number", tolerance="0,01"), given) == 1.0


@pytest.mark.parametrize("given", ["Sao Paulo", " são  paulo. ", "SÃO PAULO", "“São Paulo”"])
def test_texts_are_folded(given):
    assert score(item(key=["São Paulo", "Sampa"], scoring="text"), given) == 1.0
    assert fold("Straße") == fold("STRASSE")


def test_another_text_is_wrong_and_a_rubric_needs_a_grader():
    assert score(item(key=["São Paulo"], scoring="text"), "Rio") == 0.0
    assert score(item(scoring="rubric", rubric="Names a city."), "Rio") is None


def test_a_slider_with_a_key_is_scored_as_a_number_and_one_without_is_a_rating(kinds):
    assert score(kinds.by_name["share"], "52") == 1.0
    assert score(kinds.by_name["share"], "60") == 0.0
    assert score(kinds.by_name["mood"], "3") is None
    assert score(kinds.by_name["sure"], [1]) is None


@pytest.mark.parametrize(
    ("reply", "credit", "why"),
    [('Well: {"credit": 0.5, "why": "half"} .', 0.5, "half"), ('{"credit": 0}', 0.0, ""), ('{"credit": 1.0}', 1.0, "")],
)
def test_a_graders_credit_is_read_from_its_reply(reply, credit, why):
    assert (read_credit(reply).value, read_credit(reply).rationale) == (credit, why)


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ("none", "no credit in it; expected a number from 0 to 1"),
        ('{"why": "x"}', "no credit in it"),
        ('{"credit": null}', "no credit in it"),
        ('{"credit": 1.1}', r"credit must lie between 0 and 1, got 1\.1"),
        ('{"credit": -0.1}', r"credit must lie between 0 and 1, got -0\.1"),
    ],
)
def test_a_reply_without_a_credit_is_refused(reply, message):
    with pytest.raises(UnreadableError, match=message):
        read_credit(reply)


def test_an_answer_has_a_word_for_its_credit():
    assert [name_outcome(credit) for credit in (None, 0.0, 0.01, 0.99, 1.0)] == [
        *("ungraded", "wrong", "partial", "partial", "right")
    ]
    question = item(options=["a", "b"], key=["b"])
    assert outcome_of(question, 1.0) == "right"
    assert answer_text(question, [1, 0]) == "b | a"
    assert answer_text(question, "free") == "free"
    assert [is_blank(given) for given in ("", " \n", [], [0], "x")] == [True, True, True, False, False]


def test_an_outcome_of_a_rating_is_rated(kinds):
    assert outcome_of(kinds.by_name["mood"], None) == "rated"


def test_concordance_falls_with_scatter_and_with_a_shift():
    """Lin's concordance: 2·cov / (var + var + (difference of means)²)."""
    first, second = np.array([[0.0, 1.0], [0.0, 1.0], [0.5, 0.5]]), np.array([[0.0, 1.0], [0.5, 1.5], [0.5, 0.5]])
    assert concordance(first, second).tolist() == pytest.approx([1.0, 0.5 / (0.5 + 0.25), 1.0])
    assert concordance(np.array([0.0, 1.0]), np.array([1.0, 0.0])) == pytest.approx(-1.0)


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        ("refused by the provider", "refused"),
        ("unreadable: refused in words; expected ANSWER:", "refused"),
        ("unreadable: empty; expected ANSWER:", "empty"),
        ("unreadable: no answer", "unreadable"),
        ("timeout", "failed"),
    ],
)
def test_a_failure_has_a_word(error, outcome):
    assert failure_of(error) == outcome


def test_a_line_of_more_than_100_letters_is_no_answer():
    assert read_reply(" x" * 50).value == ("x " * 50).strip()
    with pytest.raises(UnreadableError, match="no answer; expected a line that begins with ANSWER:"):
        read_reply("x" * 101)
    assert read_reply("x" * 100).value == "x" * 100
    marked = read_reply("Because.\n**ANSWER:** `B`")
    assert (marked.value, marked.rationale) == ("B", "Because.")
    assert read_reply("ANSWER: B\nANSWER:").value == "B"
