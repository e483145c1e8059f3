"""Rows on a common axis: what a row says, its interval, and people as lines across."""

import re

import pytest

from mensura import charts
from tests.charts.reading import interval_of, marks_of, place_of, tree_of, words_of


def test_people_cross_the_rows_and_say_how_they_are_known():
    people = [
        charts.Reference("experts: 4, 3 to 5, measured", 4.0, 3.0, 5.0),
        charts.Reference("guessing: 1, constructed", 1.0, status="constructed"),
    ]
    rows = [charts.Strip("Opus 4.8", 11.0, text="11")]
    svg = charts.draw_forest(rows, axis="dollars", tick=str, description="rows", references=people).wide
    assert "experts: 4, 3 to 5, measured</text>" in svg
    assert "guessing: 1, constructed</text>" in svg
    assert svg.count('stroke-dasharray="4 3"') == 1, "measured people are a whole line"
    title = float(re.search(r'y="([\d.]+)"[^>]*>dollars</text>', svg)[1])
    tops = re.findall(r'<line x1="[\d.]+" y1="([\d.]+)"[^>]*stroke-width="1.25"', svg)
    assert len(tops) == 2 and title < min(map(float, tops)), "no line of people crosses the title"


ROWS = [
    charts.Strip("Ann", 1.0, 0.5, 1.5, text="1", note="90% 0.5 to 1.5"),
    charts.Strip("Bob", 2.0, 1.0, None, "estimated", "OpenAI", "2"),
    charts.Strip("Eve", None, note="not measured"),
]


def forest(rows, **settings):
    return tree_of(charts.draw_forest(rows, axis="ability", tick=str, description="rows", **settings))


def test_a_row_stands_at_its_value_with_its_interval_around_it():
    marks = marks_of(forest(ROWS))
    assert list(marks) == ["Ann: 1, 90% 0.5 to 1.5, measured", "Bob: 2, estimated"]
    ann, bob = marks.values()
    low, high = interval_of(ann)
    assert place_of(ann)[0] - low == pytest.approx(high - place_of(ann)[0], abs=0.2)
    assert place_of(bob)[0] - place_of(ann)[0] == pytest.approx(high - low, abs=0.2), "both are one unit"
    assert interval_of(bob) is None, "an interval has two ends"
    assert place_of(ann)[1] < place_of(bob)[1], "from top to bottom"


def test_a_row_without_a_value_says_why_and_has_no_mark():
    assert "not measured" in words_of(forest(ROWS))
    assert "no value" in words_of(forest([*ROWS[:2], charts.Strip("Eve", None)]))


def test_a_strip_of_a_table_says_its_interval_once_both_ends_are_known():
    row = {"who": "Ann", "iq": 110.0, "low": 101.0, "high": 119.0}
    assert charts.Strip.of(row, "who", "iq", "110").note == "101 to 119"
    assert charts.Strip.of({**row, "high": None}, "who", "iq", "110").note == ""
    assert charts.Strip.of(row, "who", "iq", "110", note="one test").note == "one test"


def test_an_axis_that_may_not_fall_below_a_value_begins_there():
    rows = [charts.Strip("Ann", 0.0, text="0"), charts.Strip("Bob", 1.0, text="1")]
    (free, _), (bound, _) = (place_of(marks_of(forest(rows, least=least))["Ann: 0, measured"]) for least in (None, 0.0))
    assert bound < free
