"""The report on an exam as one page, which asks nothing of any other place."""

import re
from types import SimpleNamespace

import polars as pl
import pytest

from mensura.exam import read_exam
from mensura.exam.report import report_exam
from mensura.site.exam_page import _apart, _pictures, exam_page
from tests.exam.conftest import ITEMS, TOML, write_exam
from tests.exam.invented import invent

HOSTILE = "<script>alert(1)</script>"


def report_on(tmp_path, models=(1.0,)):
    items = ITEMS.replace("Capital of Kenya?", HOSTILE)
    exam = read_exam(write_exam(tmp_path / "exam", TOML.replace("Small exam", "Small & <exam>"), items))
    return report_exam(exam, *invent(exam, [-1.0, 0.0, 0.5, 1.0, 2.0, 0.2], models))


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return exam_page(report_on(tmp_path_factory.mktemp("exam")))


def test_the_page_loads_nothing_and_runs_nothing_of_the_items(page):
    assert not re.search(r'(?:src|<link[^>]*href)="(?!data:)', page)
    assert HOSTILE not in page and "&lt;exam&gt;" in page


def test_people_and_models_stand_in_it_with_the_checklist(page):
    assert "model-0" in page and "not stated" in page
    assert "6 people" in page or "people: 6" in page.lower()


def test_no_model_no_picture_of_both(page, tmp_path):
    both = "People: share right"
    assert both in page
    assert both not in exam_page(report_on(tmp_path, models=()))


def test_items_are_apart_where_one_kind_is_ahead_ten_at_most_the_furthest_first():
    gaps = [0.0, None, *(0.01 * at for at in range(1, 13)), -0.5, -0.25]
    items = pl.DataFrame({"item": [f"q{at}" for at in range(len(gaps))], "rate": 0.5, "gap_of": gaps})
    items = items.with_columns(model_rate=pl.col("rate") + pl.col("gap_of"))
    models, people = (_apart(items, descending=kind) for kind in (True, False))
    assert [row["item"] for row in people] == ["q14", "q15"]
    assert [row["item"] for row in models] == [f"q{at}" for at in range(13, 3, -1)]


def test_pictures_are_of_those_placed_of_items_with_a_difficulty_and_of_both_rates():
    takers = pl.DataFrame(
        {"subject": ["p1", "m1", "p2"], "kind": ["people", "models", "people"], "ability": [0.5, 1.5, None]}
        | {"low": [0.1, 1.0, None], "high": [0.9, 2.0, None]}
    )
    items = pl.DataFrame(
        {
            "item": ["q1", "q2", "q3"],
            "difficulty": [0.2, None, 1.0],
            "rate": [0.5, 0.25, None],
            "model_rate": [1.0, None, 0.5],
        }
    )
    found = {one.name: one for one in _pictures(SimpleNamespace(takers=takers, items=items))}
    assert list(found) == ["exam-takers", "exam-items", "exam-rates"]
    assert [(row["name"], row["kind"]) for row in found["exam-takers"].points] == [
        ("a person", "people"),
        ("m1", "models"),
    ]
    assert {row["name"] for row in found["exam-items"].points} == {"q1", "q3", "m1"}
    assert [(row["name"], row["x"], row["y"]) for row in found["exam-rates"].points] == [("q1", 0.5, 1.0)]
    bare = SimpleNamespace(takers=takers, items=items.drop("difficulty").with_columns(model_rate=None))
    assert [one.name for one in _pictures(bare)] == ["exam-takers"]
    nobody = SimpleNamespace(takers=takers.tail(1), items=items)
    assert [one.name for one in _pictures(nobody)] == ["exam-rates"]
