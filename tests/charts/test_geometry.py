"""Rectangles and lines of labels: what touches is free, what overlaps is not."""

import numpy as np
import pytest

from mensura.charts.labels import boxes_clash, boxes_meet, crossings, is_clear, is_inside

BOX = (10.0, 10.0, 20.0, 20.0)


@pytest.mark.parametrize(
    ("other", "free"),
    [
        ((10.0, 20.0, 20.0, 30.0), True),  # below, touching
        ((10.0, 0.0, 20.0, 10.0), True),  # above, touching
        ((10.0, 19.9, 20.0, 30.0), False),
        ((10.0, 0.0, 20.0, 10.1), False),
        ((20.0, 12.0, 30.0, 18.0), True),  # right of it, touching
        ((0.0, 12.0, 10.0, 18.0), True),
        ((19.9, 12.0, 30.0, 18.0), False),
        ((0.0, 12.0, 10.1, 18.0), False),
        ((12.0, 12.0, 18.0, 18.0), False),  # inside
    ],
)
def test_labels_of_dots_at_one_place_may_touch_and_not_overlap(other, free):
    assert boxes_clash(15.0, BOX, 15.0, other) != free
    assert is_clear([BOX], 15.0, [other], [15.0]).tolist() == [free]


@pytest.mark.parametrize(("anchor", "left", "right"), [(14.0, True, False), (16.0, False, True)])
def test_at_one_height_labels_stand_in_the_order_of_their_dots(anchor, left, right):
    """Else they would meet as the plot grows wider."""
    for other, free in (((0.0, 12.0, 9.0, 18.0), left), ((21.0, 12.0, 30.0, 18.0), right)):
        assert boxes_clash(15.0, BOX, anchor, other) != free
        assert is_clear([BOX], 15.0, [other], [anchor]).tolist() == [free]
    elsewhere = (0.0, 30.0, 9.0, 40.0)
    assert not boxes_clash(15.0, BOX, anchor, elsewhere)


def test_a_label_may_touch_the_edge_of_the_plot():
    boxes = [(0, 0, 100, 50), (-0.1, 0, 10, 10), (0, -0.1, 10, 10), (90, 0, 100.1, 10), (0, 40, 10, 50.1)]
    assert is_inside(boxes, 100, 50).tolist() == [True, False, False, False, False]


def test_a_line_crosses_a_rectangle_only_where_it_runs_through_it():
    lines = [(0, 15, 30, 15), (0, 25, 30, 25), (15, 0, 15, 9), (15, 0, 15, 11), (0, 0, 30, 30), (0, 21, 9, 30)]
    assert crossings(lines, [BOX])[:, 0].tolist() == [True, False, False, True, True, False]
    assert crossings([], [BOX]).shape == (0, 1)
    assert np.array_equal(crossings(lines[:2], [BOX, (0, 24, 5, 26)]), [[True, False], [False, True]])


def test_lines_that_cross_meet_and_those_that_end_before_or_share_an_end_do_not():
    assert boxes_meet((0, 0, 10, 10), (0, 10, 10, 0))
    assert not boxes_meet((0, 0, 4, 4), (0, 10, 10, 0))
    assert not boxes_meet((0, 0, 10, 10), (0, 10, 4, 6))
    assert not boxes_meet((0, 0, 10, 10), (0, 0, 10, 0))
    assert not boxes_meet((0, 0, 10, 0), (0, 1, 10, 1))
