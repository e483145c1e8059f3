"""Time limits: the earliest of those of exam, section and item counts, and all are told in words."""

import math

import pytest

from mensura.exam import read_exam
from mensura.exam.timing import deadline, rules_text
from tests.exam.conftest import TOML, write_exam

ITEMS = "item,text,key,section\na,A?,x,one\nb,B?,x,one\nc,C?,x,two\n"
SECTIONS = '[[sections]]\nname = "one"\ntitle = "First"\nminutes = 2\n[[sections]]\nname = "two"\ntitle = "Second"\n'


@pytest.fixture
def timed(tmp_path):
    return lambda rules: read_exam(write_exam(tmp_path / "timed", TOML + rules + SECTIONS, ITEMS))


def test_a_sections_time_begins_with_the_first_of_its_items(timed):
    exam = timed("[time]\nminutes = 10\n")
    shown = {"a": 100.0, "b": 160.0, "c": 300.0}
    assert deadline(exam, 90.0, shown, "b") == 100.0 + 120.0
    assert deadline(exam, 90.0, shown, "c") == 90.0 + 600.0


def test_an_items_time_begins_when_it_is_shown(timed):
    exam = timed("[time]\nseconds_per_item = 30\n")
    assert deadline(exam, 0.0, {"c": 50.0}, "c") == 80.0
    assert deadline(exam, 0.0, {"a": 50.0}, "a") == 80.0


def test_without_limits_there_is_no_end(exam):
    assert deadline(exam, 0.0, {}, "half") == math.inf
    assert rules_text(exam) == "There is no time limit."


def test_the_rules_are_told_in_words(timed):
    assert rules_text(timed("[time]\nminutes = 10\nseconds_per_item = 30\n")) == (
        "You have 10 minutes for all questions. You have 30 seconds for each question. "
        "You have 2 minutes for the part “First”."
    )
