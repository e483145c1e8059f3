"""The report on an exam as one page, which asks nothing of any other place."""

import re

import pytest

from mensura.exam import read_exam
from mensura.exam.report import report_exam
from mensura.site.exam_page import exam_page
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
