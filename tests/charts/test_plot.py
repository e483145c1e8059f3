"""The frame with two axes: values become pixels, people are lines, models are marks."""

import pytest

from mensura.charts.canvas import Canvas, scale
from mensura.charts.plot import Mark, Plot, Reference, draw_group, draw_nothing, draw_plot, upright_ticks
from mensura.charts.values import Axis
from tests.charts.reading import marks_of, place_of, tree_of, words_of


def plot(width=500.0):
    """A plot of 100 by 100 values."""
    return Plot(Canvas(width, 140, "a plot"), (50.0, 10.0, 450.0, 110.0), Axis("x", 0.0, 100.0), Axis("y", 0.0, 100.0))


def test_values_grow_to_the_right_and_upwards():
    assert plot().points([(0, 0), (50, 25), (100, 100)]) == [(50, 110), (250, 85), (450, 10)]


def test_an_unknown_end_of_a_mark_is_its_value_and_zero_is_a_known_one():
    assert Mark("A", None, 5.0).ends == (5.0, 5.0)
    assert Mark("A", None, 5.0, low=0.0, high=9.0).ends == (0.0, 9.0)


def test_a_mark_of_a_row_takes_what_the_row_has():
    row = {"name": "A", "provider": None, "subject": None}
    assert Mark.of(row, 1.0, 2.0, "A: 2") == Mark("A", None, 1.0, 2.0, "A: 2", named=False)
    full = Mark.of({**row, "status": "estimated", "low": 1.0, "high": 3.0, "label": True}, 1.0, 2.0, "A: 2")
    assert (full.status, full.low, full.high, full.named) == ("estimated", 1.0, 3.0, True)


def test_steps_run_level_to_the_next_value_and_then_upright():
    drawn = plot()
    rooms = drawn.steps([(0, 0), (50, 100)])
    assert 'd="M50.0,110.0L250.0,110.0L250.0,10.0"' in drawn.sheet.parts[-1]
    assert rooms == [(49, 109, 251, 111), (249, 9, 251, 111)], "a pixel of room on every side"


def test_models_stand_at_their_values_and_people_lie_across():
    def draw(frame):
        frame.levels([Reference("adults", 50.0, 40.0, 60.0)])
        frame.models([Mark("A", "OpenAI", 10.0, 50.0, "A: 50")])

    tree = tree_of(draw_plot(Axis("x", 0.0, 100.0), Axis("y", 0.0, 100.0), "a plot", draw))
    _, y = place_of(marks_of(tree)["A: 50"])
    [line] = [node for node in tree.iter() if node.get("stroke-dasharray") == "2 3"]
    assert float(line.get("y1")) == float(line.get("y2")) == pytest.approx(y, abs=0.1)
    assert {"adults", "A"} <= set(words_of(tree))


def test_of_two_groups_at_one_level_the_first_is_named_and_both_have_their_line():
    def draw(frame):
        frame.levels([Reference("adults", 50.0), Reference("pupils", 50.5)])
        frame.models([])

    tree = tree_of(draw_plot(Axis("x", 0.0, 100.0), Axis("y", 0.0, 100.0), "a plot", draw))
    assert "adults" in words_of(tree) and "pupils" not in words_of(tree)
    assert sum(node.get("stroke-dasharray") == "2 3" for node in tree.iter()) == 2


@pytest.mark.parametrize(("value", "anchor"), [(10.0, "start"), (90.0, "end")])
def test_the_words_of_a_group_stand_on_the_side_with_room(value, anchor):
    sheet = Canvas(200, 50, "a group")
    draw_group(sheet, Reference("a group of a long name", value), scale(0, 100, 0, 200), 10, 40)
    words = next(part for part in sheet.parts if part.startswith("<text"))
    assert ('text-anchor="end"' in words) == (anchor == "end")


def test_a_measured_group_is_a_whole_line_and_another_is_dashed():
    for status, dashed in (("measured", False), ("judged", True)):
        sheet = Canvas(200, 50, "a group")
        draw_group(sheet, Reference("adults", 50.0, status=status), scale(0, 100, 0, 200), 10, 40, words=False)
        assert ("stroke-dasharray" in sheet.parts[0]) == dashed


@pytest.mark.parametrize(("height", "most"), [(10.0, 2), (138.0, 3), (420.0, 9)])
def test_an_upright_axis_has_a_tick_per_46_pixels_and_at_least_two(height, most):
    assert upright_ticks(height) == most


def test_the_picture_of_nothing_is_one_sentence():
    drawing = draw_nothing("no model has a score")
    assert drawing.description == "nothing to show: no model has a score"
    assert list(words_of(tree_of(drawing))) == [drawing.description]
