"""Places among people and residuals of models."""

import pytest

from mensura import charts
from tests.charts.reading import interval_of, marks_of, place_of, tree_of, words_of


def test_where_nobody_is_placed_the_page_is_built_all_the_same():
    assert "no ability could be placed" in placed(level=[None] * 3).html


def placed(**changed):
    columns = {
        "subject": ["GPT", "pupils", "GPT"],
        "dimension": ["Knowledge", "Knowledge", "Attention"],
        "level": [4.0, 2.0, 3.0],
        "low": [3.0, None, 2.5],
        "high": [5.0, None, 3.5],
        "kind": ["AI", "people", "AI"],
        "note": ["", "judged", ""],
    }
    return charts.among_people({**columns, **changed})


def test_a_higher_level_stands_further_right_and_says_its_interval():
    marks = marks_of(tree_of(placed()))
    low, high = interval_of(marks["GPT, Knowledge: level 4, 3 to 5"])
    x, _ = place_of(marks["GPT, Knowledge: level 4, 3 to 5"])
    assert x - low == pytest.approx(high - x, abs=0.2)
    assert low == pytest.approx(place_of(marks["GPT, Attention: level 3, 2.5 to 3.5"])[0], abs=0.1), "level 3 in both"
    assert interval_of(marks["pupils, Knowledge: level 2, judged"]) is None


def test_the_words_name_the_highest_level_of_each_and_where_nobody_is_placed():
    assert placed().description == (
        "Levels in 2 dimensions: GPT is highest in Knowledge (level 4); pupils is highest in Knowledge (level 2)."
    )
    assert placed(level=[4.0, 2.0, None]).description.endswith("(level 2). Nobody is placed in Attention.")


def residuals(values, benchmarks=("A", "B", "C")):
    count = len(values)
    same = {"subject": ["m"] * count, "name": ["M"] * count, "provider": ["OpenAI"] * count}
    return charts.residuals({**same, "benchmark": list(benchmarks[:count]), "residual": list(values)})


def test_better_than_its_level_is_right_of_the_line_and_worse_left_of_it():
    tree = tree_of(residuals([0.1, -0.2, 0.0]))
    marks = marks_of(tree)
    better, worse, level = (
        place_of(marks[f"M on {text} its level"])[0] for text in ("A, 0.1 above", "B, 0.2 below", "C, 0 below")
    )
    assert better - level == pytest.approx((level - worse) / 2, abs=0.1)
    assert {"+20%", "0", "−20%"} <= set(words_of(tree))


def test_only_the_farthest_test_on_each_side_is_named():
    words = words_of(tree_of(residuals([0.1, -0.2, 0.05])))
    assert "A" in words and "B" in words and "C" not in words
    above = words_of(tree_of(residuals([0.1, 0.2])))
    assert "B" in above and "A" not in above, "the lowest is above its level, so no test is named on the left"
