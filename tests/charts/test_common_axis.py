"""One axis for people, models and tests; the map of items and subjects."""

import pytest

from mensura import charts
from mensura.core.errors import MensuraError
from tests.charts.reading import SVG, interval_of, marks_of, place_of, tree_of, words_of

AXIS = {
    "kind": ["model", "benchmark", "people", "people"],
    "name": ["Opus", "Hard test", "adults", "experts, judged"],
    "provider": ["Anthropic", None, None, None],
    "subject": ["opus", None, None, None],
    "value": [2.0, 1.0, 0.0, 3.0],
    "low": [1.5, None, -0.5, None],
    "high": [2.5, None, 0.5, None],
    "label": [True, True, True, True],
}


def item_map(names, kind, values, low=None, high=None):
    count = len(names)
    ends = {"low": low or [None] * count, "high": high or [None] * count}
    return charts.item_map({"name": names, "kind": kind, "value": values, **ends})


def test_a_kind_that_is_not_known_is_refused_with_those_that_are():
    with pytest.raises(MensuraError, match="kind 'thing' is unknown; expected 'model', 'benchmark', 'people'"):
        charts.one_axis({**AXIS, "kind": ["thing"] * 4})


def test_one_unit_is_as_wide_for_models_as_for_tests():
    marks = marks_of(tree_of(charts.one_axis(AXIS)))
    model, test = marks["Opus, model, 2, 1.5 to 2.5"], marks["Hard test, benchmark, 1"]
    low, high = interval_of(model)
    assert place_of(model)[0] - place_of(test)[0] == pytest.approx(high - low, abs=0.2)


def test_people_who_were_judged_are_an_outline():
    bands = [node for node in tree_of(charts.one_axis(AXIS)).iter(f"{SVG}rect") if node.get("rx") == "3.5"]
    assert [node.get("fill") == "none" for node in bands] == [True, False], "the judged experts are highest"


def test_a_phone_lists_all_kinds_with_the_highest_first():
    heights = {
        words.split()[0]: y for words, (_, y) in words_of(tree_of(charts.one_axis(AXIS), 358.0)).items() if words
    }
    names = ["experts", "Opus", "Hard", "adults"]
    assert sorted(names, key=heights.__getitem__) == names


def test_a_phone_lists_sixteen_models_and_says_that_there_are_more():
    many = {"name": [f"m{k}" for k in range(17)], "subject": [None] * 17, "value": [float(k) for k in range(17)]}
    rest = {"kind": ["model"] * 17, "provider": [None] * 17, "low": [None] * 17, "high": [None] * 17}
    tree = tree_of(charts.one_axis({**many, **rest, "label": [False] * 17}), 358.0)
    assert len(marks_of(tree)) == 16 and "m0, model, 0" not in marks_of(tree)
    assert "The highest of 17 models and 0 tests; the table has all." in words_of(tree)


def test_a_subject_level_with_an_item_stands_at_the_same_place_and_only_subjects_have_intervals():
    tree = tree_of(item_map(["q1", "Ann"], ["items", "people"], [1.0, 1.0], [0.0, 0.5], [2.0, 1.5]))
    item, person = marks_of(tree)["items q1, 1"], marks_of(tree)["people Ann, 1, 0.5 to 1.5"]
    assert interval_of(item) is None
    low, high = interval_of(person)
    assert place_of(item)[0] == pytest.approx((low + high) / 2, abs=0.1)


@pytest.mark.parametrize(("count", "named"), [(40, True), (41, False)])
def test_up_to_forty_of_a_kind_have_their_names_and_more_are_a_heap(count, named):
    names = [f"q{k}" for k in range(count)]
    tree = tree_of(item_map(names, ["items"] * count, [0.01 * k for k in range(count)]))
    assert len(marks_of(tree)) == count
    assert ("q0" in words_of(tree)) == named


def test_dots_of_a_heap_stand_on_each_other():
    """41 items of one difficulty are one column, a dot of 7 pixels each."""
    tree = tree_of(item_map([f"q{k}" for k in range(41)], ["items"] * 41, [0.0] * 41))
    places = sorted(place_of(mark) for mark in marks_of(tree).values())
    assert len({x for x, _ in places}) == 1
    assert places[-1][1] - places[0][1] == pytest.approx(40 * 7)
