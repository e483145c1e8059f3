"""Lengths of time in words, and the picture of tasks and models on one axis of time."""

import re

import pytest

from mensura.charts import Mark, Reference, draw_judged, draw_lengths
from mensura.charts.lengths import TimeAxis, WorkGroup, say_minutes

BAR = re.compile(r'<line x1="([\d.]+)" y1="([\d.]+)" x2="([\d.]+)" y2="\2"[^>]*stroke-linecap="round"')


@pytest.mark.parametrize(
    ("minutes", "words"),
    [
        (0.05, "3 seconds"),
        (0.94, "56 seconds"),
        (0.95, "0.95 minutes"),
        (1.0, "1 minute"),
        (42.4, "42 minutes"),
        (89.0, "89 minutes"),
        (90.0, "1.5 hours"),
        (96.0, "1.6 hours"),
        (480.0, "8 hours"),
        (2394.0, "40 hours"),
        (2400.0, "1 working week"),
        (3600.0, "1.5 working weeks"),
    ],
)
def test_no_minutes_above_ninety_and_no_hours_below_one_and_a_half(minutes, words):
    assert say_minutes(minutes) == words


def group(*marks):
    return [WorkGroup("Security tasks", ["3 tasks"], marks, "not measured")]


def test_an_open_end_runs_to_the_edge_with_an_arrow():
    closed = Mark("A", "OpenAI", 60.0, 15.0, low=30.0, high=120.0)
    open_end = Mark("A", "OpenAI", 60.0, 15.0, low=30.0)
    (bar,) = BAR.findall(str(draw_lengths({}, [], group(closed), "closed").wide))
    (far,) = BAR.findall(str(draw_lengths({}, [], group(open_end), "open").wide))
    assert bar[0] == far[0]
    assert float(bar[2]) < 1000 < float(far[2])
    (tip,) = re.findall(r'<path d="M([^"]*)"', str(draw_lengths({}, [], group(open_end), "open").wide))
    (x, above), (_, middle), (back, below) = (map(float, point.split(",")) for point in tip.split("L"))
    assert x == back and middle - above == below - middle == 4, "the tip points along the bar"
    assert str(draw_lengths({}, [], group(open_end), "open").wide).count("<path d=") > str(
        draw_lengths({}, [], group(closed), "closed").wide
    ).count("<path d=")


DOTS = re.compile(r'<path d="(M[^"]*h0)" stroke="([^"]*)" stroke-width="[^"]*" stroke-linecap="round"([^/]*)/>')


def test_a_timed_task_is_a_full_dot_and_a_judged_one_a_ring_above_it():
    drawing = str(draw_lengths({"security": [(60.0, False), (1.0, True), (60.0, True)]}, [], group(), "tasks").narrow)
    full, ring, inside = DOTS.findall(drawing)
    assert full[0].count("h0") == 2
    assert ring[0] == inside[0] and ring[1] != inside[1], "a ring is a dot with a smaller one of the ground in it"
    (x, y), (_, lower) = re.findall(r"M([\d.]+),([\d.]+)", full[0])[-1], re.findall(r"M([\d.]+),([\d.]+)", ring[0])[0]
    assert x in ring[0] and float(lower) < float(y), "timed tasks stand at the foot"
    assert "3 tasks of people" in drawing


def test_tasks_of_other_kinds_are_pale_and_stand_above():
    drawing = str(draw_lengths({"security": [(60.0, True)], "science": [(60.0, True)]}, [], group(), "tasks").wide)
    strong, pale = DOTS.findall(drawing)
    assert "opacity" in pale[2] and "opacity" not in strong[2]
    assert float(pale[0].partition(",")[2][:-2]) < float(strong[0].partition(",")[2][:-2])
    assert "2 tasks of people" in drawing


def test_pins_climb_to_the_longest_column_from_both_sides():
    tasks = [(1.0, True), *[(15.0, True)] * 5, (480.0, True)]
    pins = [
        Reference(name, minutes) for name, minutes in (("one", 1.0), ("two", 8.0), ("three", 60.0), ("four", 480.0))
    ]
    drawing = str(draw_lengths({"security": tasks}, pins, group(), "pins").wide)
    words = {
        name: re.search(rf'<text x="[^"]*" y="([^"]*)"([^>]*)>{name}<', drawing)
        for name in ("one", "two", "three", "four")
    }
    heights = {name: float(found[1]) for name, found in words.items()}
    assert heights["two"] == heights["three"] < heights["one"] == heights["four"]
    assert "end" in words["two"][2] and "end" not in words["three"][2], "words lean away from the column"


def test_a_kind_of_work_without_a_model_says_why():
    assert "not measured" in draw_lengths({}, [], group(), "none").wide


def test_a_phone_has_the_length_alone_beside_a_pin():
    pins = [Reference("A shell command", 1.3, note="half under 1.3 minutes")]
    drawing = draw_lengths({"security": [(1.0, True)]}, pins, group(), "pins")
    assert "half under 1.3 minutes" in drawing.wide
    assert "half under" not in drawing.narrow and "1.3 minutes" in drawing.narrow


def test_ticks_are_lengths_with_a_name():
    assert [text for _, text in TimeAxis("", 0.5, 500.0, log=True).ticks(3)] == ["1 min", "15 min", "1 hour", "8 hours"]


def test_judgements_left_of_the_line_said_too_little():
    drawing = str(draw_judged([("Experts", "", [-2.0, 1.0], None)], "judged").wide)
    low, high = sorted(float(x) for x in re.findall(r'<circle cx="([\d.]+)"', drawing))
    right = float(re.search(r'<text x="([\d.]+)"[^>]*>right<', drawing)[1])
    assert low < right < high
