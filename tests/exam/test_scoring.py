"""One scorer for people and models: options, several right, numbers within a tolerance, folded texts."""

import pytest

from mensura.exam.items import ExamItem
from mensura.exam.scoring import fold, score


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
