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


def columns(path):
    """The dots of a path: heights by column."""
    places = {}
    for x, y in re.findall(r"M([\d.]+),([\d.]+)", path):
        places.setdefault(float(x), []).append(float(y))
    return places


def test_a_timed_task_is_a_full_dot_and_a_judged_one_a_ring_above_it():
    tasks = [(60.0, False), (60.0, True)] * 30
    drawing = str(draw_lengths({"security": tasks}, [], group(), "tasks").narrow)
    full, ring, inside = DOTS.findall(drawing)
    assert full[0].count("h0") == 30
    assert ring[0] == inside[0] and ring[1] != inside[1], "a ring is a dot with a smaller one of the ground in it"
    timed, judged = columns(full[0]), columns(ring[0])
    shared = timed.keys() & judged.keys()
    assert len(shared) > 5 and all(min(timed[x]) > max(judged[x]) for x in shared), "timed tasks stand at the foot"
    assert "60 tasks of people" in drawing


def test_tasks_of_other_kinds_are_pale_and_stand_above():
    drawing = str(draw_lengths(dict.fromkeys(("security", "science"), [(60.0, True)] * 30), [], group(), "tasks").wide)
    strong, pale = DOTS.findall(drawing)
    assert "opacity" in pale[2] and "opacity" not in strong[2]
    first, second = columns(strong[0]), columns(pale[0])
    assert all(min(first[x]) > max(second[x]) for x in first.keys() & second.keys())
    assert "60 tasks of people" in drawing


def test_a_round_number_of_minutes_is_a_hill_and_no_spike():
    drawing = str(draw_lengths({"security": [(60.0, False)] * 200}, [], group(), "tasks").wide)
    heights = {x: len(column) for x, column in columns(DOTS.findall(drawing)[0][0]).items()}
    assert sum(heights.values()) == 200
    middle = sum(x * count for x, count in heights.items()) / 200
    hour, quarter = (float(re.search(rf'<text x="([\d.]+)"[^>]*>{text}<', drawing)[1]) for text in ("1 hour", "15 min"))
    spread = (sum(count * (x - middle) ** 2 for x, count in heights.items()) / 200) ** 0.5
    assert middle == pytest.approx(hour, abs=2)
    assert spread == pytest.approx(0.3 * (hour - quarter) / 2, rel=0.15), "0.3 doublings"


def test_the_part_of_an_interval_that_wrong_times_explain_is_faint():
    one = Mark("A", "OpenAI", 60.0, 0.0, low=15.0, high=240.0)
    drawing = str(draw_lengths({}, [], [WorkGroup("Security tasks", [], [one], sure=[0.5])], "half").wide)
    outer, inner = (tuple(float(x) for x in (bar[0], bar[2])) for bar in BAR.findall(drawing))
    middle = sum(outer) / 2
    assert inner == pytest.approx(((outer[0] + middle) / 2, (middle + outer[1]) / 2), abs=0.1)
    unknown = str(draw_lengths({}, [], [WorkGroup("Software", [], [one], sure=[0.0])], "faint").wide)
    assert len(BAR.findall(unknown)) == 1 and 'stroke-opacity="0.3"' in unknown


def test_a_phone_names_the_four_kinds_of_work_that_are_farthest_apart():
    pins = [Reference(name, float(minutes)) for name, minutes in zip("abcdef", (1, 8, 20, 22, 100, 220), strict=True)]
    drawing = draw_lengths({"security": [(60.0, True)] * 9}, pins, group(), "pins")
    named = [re.findall(r">([a-f])<", str(one)) for one in (drawing.wide, drawing.narrow)]
    assert [sorted(names) for names in named] == [list("abcdef"), list("abdf")]


def test_pins_climb_to_the_longest_column_from_both_sides():
    tasks = [(1.0, True), *[(15.0, True)] * 60, (480.0, True)]
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
