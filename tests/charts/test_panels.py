"""Small panels: levels of subjects, calibrated lines, and the world's rates."""

import pytest

from mensura import charts
from mensura.core.errors import MensuraError
from tests.charts.reading import SVG, marks_of, place_of, tree_of


@pytest.mark.parametrize(("count", "others"), [(9, False), (10, True)])
def test_nine_dimensions_have_a_panel_each_and_more_share_the_last(count, others):
    points = {"item": [f"q{k}" for k in range(count)], "dimension": [f"D{k}" for k in range(count)]}
    numbers = {name: [0.5] * count for name in ("observed", "world", "low", "high")}
    svg = charts.world_scatter(points | numbers)._repr_svg_()
    assert (">others<" in svg) == others
    assert (">D8<" in svg) != others


def test_more_subjects_than_lines_can_be_told_apart_are_refused():
    point = {"dimension": ["AS"] * 10, "level": [1] * 10, "rate": [0.5] * 10, "low": [None] * 10, "high": [None] * 10}
    with pytest.raises(MensuraError, match="10 subjects; panels tell at most 9 apart"):
        charts.level_curves({"subject": [f"s{k}" for k in range(10)], **point})


def test_success_falls_as_levels_rise():
    points = {"subject": ["A", "A"], "dimension": ["Logic"] * 2, "level": [1, 2], "rate": [0.9, 0.5]}
    marks = marks_of(tree_of(charts.level_curves({**points, "low": [0.8, None], "high": [1.0, None]})))
    easy, hard = marks["A, Logic level 1, 90% correct"], marks["A, Logic level 2, 50% correct"]
    assert place_of(easy)[0] < place_of(hard)[0] and place_of(easy)[1] < place_of(hard)[1]
    assert len(list(easy)) == 2 and len(list(hard)) == 1, "only the first rate has an interval"


def test_an_item_whose_world_rate_is_the_observed_one_lies_on_the_line_and_the_words_say_the_mean_gap():
    item = {"item": ["same", "less"], "observed": [0.5, 0.9], "world": [0.5, 0.5], "low": [None, 0.4]}
    drawing = charts.world_scatter({**item, "high": [None, 0.6], "dimension": ["KN", "several"]})
    assert "on average 0.2 below them; dimensions: KN and several." in drawing.description
    tree = tree_of(drawing)
    x, y = place_of(marks_of(tree)["same, KN, observed 0.5, world 0.5"])
    line = next(node.get("d") for node in tree.iter(f"{SVG}path") if node.get("stroke-dasharray") == "3 3")
    (x1, y1), (x2, y2) = (map(float, point.split(",")) for point in line[1:].split("L"))
    assert (x, y) == pytest.approx(((x1 + x2) / 2, (y1 + y2) / 2), abs=0.1)


def test_a_panel_says_the_base_of_its_line_or_that_there_is_none():
    items = {"dimension": ["KN", "VO"], "level": [1.0, 2.0], "empirical": [0.9, 1.4]}
    lines = {"dimension": ["KN", "VO"], "name": ["Knowledge", None], "slope": [0.5, None], "intercept": [0.4, None]}
    bases = {"base": [3.16, None], "low": [2.0, None], "high": [5.0, None], "verdict": ["Standard", "one level"]}
    drawing = charts.level_panels(items, items, {**lines, **bases})
    assert drawing.description.endswith("Knowledge: B 3.16 (2.00 to 5.00); VO: no base.")
    assert "VO level 2, mean estimated level 1.4" in marks_of(tree_of(drawing))
