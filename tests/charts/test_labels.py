"""Label placement: nothing overlaps, at the nominal width and above it."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mensura.charts.labels import LINE, place, spread, swarm, text_width
from mensura.charts.marks import ROW_LIMIT, label_limit

WIDTH, HEIGHT, RADIUS = 720.0, 400.0, 5.0
dots = st.lists(
    st.tuples(st.floats(6, WIDTH - 6), st.floats(6, HEIGHT - 6), st.text("abcGPT 4.5-oi", min_size=1, max_size=18)),
    min_size=1,
    max_size=40,
)


def boxes_of(points, spots, stretch=1.0):
    return {i: spots[i].box(points[i][0] * stretch, points[i][1], text_width(points[i][2])) for i in spots}


def overlap(a, b):
    return a[0] < b[2] - 1e-9 and b[0] < a[2] - 1e-9 and a[1] < b[3] - 1e-9 and b[1] < a[3] - 1e-9


def placed(points, **settings):
    x, y, texts = zip(*points, strict=True)
    return place(x, y, texts, range(len(points)), width=WIDTH, height=HEIGHT, radius=RADIUS, **settings)


@given(dots, st.booleans(), st.sampled_from([1.0, 1.3, 2.0]))
def test_labels_cover_neither_each_other_nor_any_dot(points, upward, stretch):
    boxes = boxes_of(points, placed(points, upward=upward), stretch)
    circles = [(x * stretch - RADIUS, y - RADIUS, x * stretch + RADIUS, y + RADIUS) for x, y, _ in points]
    assert not any(overlap(a, b) for i, a in boxes.items() for j, b in boxes.items() if i < j)
    assert not any(overlap(box, circle) for box in boxes.values() for circle in circles)
    for left, top, right, bottom in boxes.values():
        assert left >= -1e-9
        assert top >= -1e-9
        assert right <= WIDTH * stretch + 1e-9
        assert bottom <= HEIGHT + 1e-9


@given(dots)
def test_leaders_cross_no_label_and_no_other_dot(points):
    spots = placed(points)
    boxes = boxes_of(points, spots)
    for i, spot in spots.items():
        if not spot.leader:
            continue
        x0, y0, x1, y1 = spot.line(points[i][0], points[i][1])
        for share in np.linspace(0, 1, 41):
            x, y = x0 + share * (x1 - x0), y0 + share * (y1 - y0)
            inside = [j for j, b in boxes.items() if j != i and b[0] < x < b[2] and b[1] < y < b[3]]
            others = [j for j, p in enumerate(points) if j != i and abs(p[0] - x) < RADIUS and abs(p[1] - y) < RADIUS]
            assert inside == []
            assert others == []


def test_a_lone_label_stands_right_beside_its_dot():
    spots = placed([(100.0, 100.0, "alone")])
    assert (spots[0].dy, spots[0].align, spots[0].leader) == (0, "left", False)


def test_blocked_rectangles_stay_free():
    blocked = [(0.0, 0.0, WIDTH, 150.0), (0.0, 250.0, WIDTH, HEIGHT)]
    points = [(50.0 + 60 * i, 200.0, f"model {i}") for i in range(10)]
    boxes = boxes_of(points, placed(points, blocked=blocked))
    assert boxes
    assert not any(overlap(box, wall) for box in boxes.values() for wall in blocked)


def test_the_first_wanted_wins_where_there_is_room_for_one():
    points = [(350.0, 200.0, "first of two"), (350.0, 200.0, "other")]
    walls = [(0.0, 0.0, WIDTH, 192.0), (0.0, 208.0, WIDTH, HEIGHT), (0.0, 0.0, 345.0, HEIGHT)]
    assert list(placed(points, blocked=walls)) == [0]


def test_a_neighbour_moves_when_both_can_be_placed():
    """Greedy placement alone would leave the second label out."""
    points = [(350.0, 200.0, "first"), (350.0, 200.0, "second")]
    walls = [(0.0, 0.0, WIDTH, 192.0), (0.0, 208.0, WIDTH, HEIGHT)]
    assert sorted(placed(points, blocked=walls)) == [0, 1]


@given(st.lists(st.floats(0, 400), max_size=40))
def test_spread_keeps_order_gap_and_bounds(positions):
    moved = spread(positions, LINE, 0, 400)
    gap = min(LINE, 400 / max(len(positions) - 1, 1))
    order = np.argsort(positions, kind="stable")
    steps = np.diff(np.array(moved)[order]) if positions else np.array([])
    assert (steps >= gap - 1e-9).all()
    assert all(-1e-9 <= at <= 400 + 1e-9 for at in moved)


def test_spread_moves_nothing_that_is_apart_and_two_halfway():
    assert spread([10, 50, 90], 13, 0, 100) == [10, 50, 90]
    assert spread([50, 50], 10, 0, 100) == [45, 55]
    assert spread([50, 50, 50, 50], 10, 0, 100) == [35, 45, 55, 65]
    assert spread([10, 12, 11, 90], 5, 0, 100) == [6, 16, 11, 90]  # all three by as little as least squares can
    assert spread([], 10, 0, 100) == []


def test_spread_shrinks_the_gap_to_what_fits():
    assert spread([5, 5, 5], 20, 0, 10) == [0, 5, 10]
    assert spread([7], 20, 0, 10) == [7]


@given(st.lists(st.tuples(st.floats(0, 300), st.floats(0, 200), st.booleans()), max_size=60))
def test_swarm_never_overlaps_and_never_sinks(points):
    x, ground, last = ([p[i] for p in points] for i in range(3))
    lifts = swarm(x, ground, 8.0, last)
    at = [(a, g + lift) for a, g, lift in zip(x, ground, lifts, strict=True)]
    assert all(lift >= 0 for lift in lifts)
    assert all((a - c) ** 2 + (b - d) ** 2 >= 64 - 1e-6 for i, (a, b) in enumerate(at) for c, d in at[:i])


@pytest.mark.parametrize(("text", "least", "most"), [("Claude Opus 4.8", 74, 96), ("iiii", 8, 20), ("WWWW", 36, 48)])
def test_text_width_is_near_and_rather_too_wide(text, least, most):
    """Helvetica's own widths at 11 pixels are 79, 9.8 and 41.5."""
    assert least <= text_width(text) <= most


def test_names_are_cut_only_where_one_is_too_long():
    assert label_limit(["GPT-5.5", "FrontierMath Tiers 1-3, first version"]) == 0
    assert label_limit(["GPT-5.5", "a name of a row " * 20]) == ROW_LIMIT
