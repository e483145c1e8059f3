"""The fields that a taker's page sends: nothing in them is trusted."""

from types import SimpleNamespace

import pytest

from mensura.exam.settings import english
from mensura.serve.exam_fields import fields_of, given_in, most_items, next_page, number_in, page_facts

ORDER = [2, 0, 1]
"""The page shows the table's third option first."""


@pytest.mark.parametrize(
    ("form", "given"),
    [
        ({"option": "0"}, [2]),
        ({"option-0": "on", "option-1": "on"}, [0, 2]),
        ({}, []),
        ({"option": "3"}, [-1]),
        ({"option": "-1"}, [-1]),
        ({"option": "²"}, [-1]),
        ({"option": "9" * 5000}, [-1]),
    ],
)
def test_places_on_the_page_become_those_of_the_table_and_others_no_option(form, given):
    assert given_in(form, ORDER) == given


def test_an_open_answer_is_its_text_with_plain_line_ends():
    assert given_in({"text": " a\r\nb \n"}, []) == "a\nb"
    assert given_in({"option": "1"}, []) == ""


@pytest.mark.parametrize(
    ("given", "order", "scoring"), [([0], ORDER, "choice"), ([0, 2], ORDER, "several"), ("a & b=c", [], "text")]
)
def test_the_fields_of_an_answer_give_it_back(given, order, scoring):
    pairs = (pair.split("=", 1) for pair in fields_of(given, order, scoring).split("&"))
    form = {name: value.replace("+", " ").replace("%26", "&").replace("%3D", "=") for name, value in pairs}
    assert given_in(form, order) == given


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("2.5", 2.5),
        ("-3", 0.0),
        ("nan", 0.0),
        ("inf", 0.0),
        ("1e300", 2.0**53),
        ("seven", 0.0),
        ("", 0.0),
        ("1" + "0" * 40, 2.0**53),
    ],
)
def test_a_number_of_a_page_is_finite_and_not_negative(text, number):
    assert number_in(text) == number


def sitting(*items):
    return SimpleNamespace(form=SimpleNamespace(items=items))


@pytest.mark.parametrize(
    ("form", "most", "page"),
    [
        ({"item": "b"}, 3, "/sit?n=3"),
        ({"item": "b", "go": "back"}, 3, "/sit?n=1"),
        ({"item": "a", "go": "back"}, 3, "/review"),
        ({"item": "c"}, 3, "/review"),
        ({"item": "c"}, 5, "/sit?n=4"),
        ({"item": "a", "go": "review"}, 3, "/review"),
    ],
)
def test_a_button_leads_on_back_or_to_the_review(form, most, page):
    assert next_page(sitting("a", "b", "c"), form, most) == page


def test_an_adaptive_sitting_may_have_all_its_items_and_those_that_do_not_count():
    items = [SimpleNamespace(counts=True)] * 30 + [SimpleNamespace(counts=False)] * 2
    exam = SimpleNamespace(is_adaptive=True, per_person=25, items=items)
    assert most_items(exam, sitting("a")) == 27
    assert most_items(SimpleNamespace(is_adaptive=False), sitting("a", "b")) == 2


def test_a_page_knows_what_its_script_may_have_to_say():
    facts = page_facts(SimpleNamespace(title="Small"), english())
    assert facts["said"]["saved"] == english()("saved") and "one_minute" in facts["said"]
