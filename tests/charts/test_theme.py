"""Colours that everybody can see.

Words in pictures: as wide as they are drawn, cut or broken to their room, and names that cover nothing.
"""

import itertools
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mensura.charts import LABS, THEMES
from mensura.charts.canvas import Canvas
from mensura.charts.render import to_png
from mensura.charts.theme import (
    LINE,
    OTHER,
    SHAPES,
    clipped,
    has_letters,
    lab_of,
    pack,
    place,
    resolve,
    text_width,
    wrapped,
)

# Viénot, Brettel and Mollon (1999), linear RGB: how red-blind and green-blind readers see.
BLINDNESS = {
    "none": np.eye(3),
    "protan": np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]]),
    "deutan": np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]]),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour):
    channels = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    light, dark = sorted((float(linear(c) @ TO_XYZ[1]) for c in (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def lab(colour, blindness):
    xyz = TO_XYZ @ np.clip(BLINDNESS[blindness] @ linear(colour), 0, 1) / np.array([0.9505, 1, 1.089])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def difference(one, other, blindness):
    return float(np.linalg.norm(lab(one, blindness) - lab(other, blindness)))


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_marks_and_text_stand_out_from_the_page(theme):
    assert all(contrast(colour, theme.surface) >= 3 for colour in (*theme.labs, theme.people, theme.accent))
    assert all(contrast(colour, theme.surface) >= 4.5 for colour in (theme.ink, theme.quiet, theme.people))


@pytest.mark.parametrize("blindness", BLINDNESS)
@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_the_three_largest_labs_are_told_apart_by_colour_alone(theme, blindness):
    for one, other in itertools.combinations(theme.labs[:3], 2):
        assert difference(one, other, blindness) > 20


def test_every_lab_has_its_own_shape_and_the_largest_a_hue():
    assert len(set(SHAPES)) == len(LABS) + 1
    for theme in THEMES.values():
        assert len(set(theme.labs)) == 7, "five hues, the ink and one grey"


@pytest.mark.parametrize("blindness", BLINDNESS)
@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_warm_means_people_and_no_maker(theme, blindness):
    assert min(difference(theme.people_strong, lab, blindness) for lab in theme.labs) > 18


def test_unknown_providers_share_one_look():
    assert lab_of("OpenAI") == "OpenAI"
    assert lab_of("Somebody") == lab_of(None) == OTHER


FRAME = (0.0, 0.0, 720.0, 400.0)
RADIUS = 6.0
marks = st.lists(
    st.tuples(st.floats(6, 714), st.floats(6, 394), st.floats(10, 160), st.sampled_from([LINE, 2 * LINE])),
    min_size=1,
    max_size=40,
)


def overlap(a, b):
    return a[0] < b[2] - 1e-9 and b[0] < a[2] - 1e-9 and a[1] < b[3] - 1e-9 and b[1] < a[3] - 1e-9


def placed(points, **settings):
    x, y, widths, heights = zip(*points, strict=True)
    return place(x, y, list(zip(widths, heights, strict=True)), range(len(points)), FRAME, **settings)


@given(marks, st.booleans(), st.sampled_from(["start", "end"]))
def test_names_cover_neither_each_other_nor_a_mark_nor_the_edge(points, best, side):
    spots = placed(points, best=range(len(points)) if best else (), side=side)
    boxes = [spot.box for spot in spots.values()]
    circles = [(x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS) for x, y, *_ in points]
    assert not any(overlap(one, other) for at, one in enumerate(boxes) for other in boxes[:at])
    assert not any(overlap(box, circle) for box in boxes for circle in circles)
    assert all(box[0] >= 0 and box[1] >= 0 and box[2] <= 720 and box[3] <= 400 for box in boxes)


def test_a_lone_name_stands_right_of_its_mark_and_that_of_a_best_one_above_and_left_of_it():
    point = [(300.0, 200.0, 80.0, LINE)]
    plain, best = placed(point)[0], placed(point, best=[0])[0]
    assert (plain.anchor, plain.y) == ("start", 200.0)
    assert plain.x > 300 + RADIUS
    assert best.anchor == "end"
    assert best.x < 300 and best.y < 200 - RADIUS
    assert placed(point, best=[0], side="start")[0].anchor == "start"


def test_the_first_wanted_wins_where_there_is_room_for_one():
    points = [(350.0, 200.0, 80.0, LINE), (350.0, 200.0, 60.0, LINE)]
    walls = [(0.0, 0.0, 720.0, 192.0), (0.0, 208.0, 720.0, 400.0), (0.0, 0.0, 340.0, 400.0)]
    assert list(placed(points, blocked=walls)) == [0]


def test_blocked_rectangles_stay_free():
    walls = [(0.0, 0.0, 720.0, 150.0), (0.0, 250.0, 720.0, 400.0)]
    spots = placed([(50.0 + 60 * at, 200.0, 50.0, LINE) for at in range(10)], blocked=walls)
    assert spots
    assert not any(overlap(spot.box, wall) for spot in spots.values() for wall in walls)


def test_a_name_at_a_corner_of_its_mark_is_as_far_from_it_at_each_of_the_four():
    walls = {
        "beside": (0.0, 196.0, 720.0, 204.0),
        "over": (0.0, 0.0, 720.0, 193.0),
        "right": (301.0, 0.0, 720.0, 400.0),
    }

    def at(*names):
        spot = placed([(300.0, 200.0, 80.0, LINE)], blocked=[walls[name] for name in names])[0]
        return spot.anchor, abs(spot.x - 300.0), abs(spot.box[1] + spot.box[3] - 400.0)

    anchor, right, up = at("beside")
    assert (anchor, up > 0 < right) == ("start", True)
    assert at("beside", "over") == ("start", right, pytest.approx(up))
    assert at("beside", "right") == ("end", right, pytest.approx(up))
    assert at("beside", "right", "over") == ("end", right, pytest.approx(up))


def test_a_name_rises_into_the_sky_where_its_neighbourhood_is_taken():
    points = [(300.0, 300.0, 90.0, LINE), (296.0, 282.0, 90.0, LINE), (292.0, 264.0, 90.0, LINE)]
    spots = placed(points, best=range(3))
    assert len(spots) == 3
    assert min(spot.box[3] for spot in spots.values()) < 258


@given(st.lists(st.tuples(st.floats(0, 500), st.floats(1, 90)), max_size=30))
def test_what_is_packed_in_a_row_touches_nothing(starts):
    spans = [(start, start + size) for start, size in starts]
    rows = pack(spans, gap=4.0)
    for at, (one, row) in enumerate(zip(spans, rows, strict=True)):
        for other in (span for span, own in zip(spans[:at], rows, strict=False) if own == row):
            assert one[1] + 4 <= other[0] or other[1] + 4 <= one[0]


def test_packing_takes_the_first_row_with_room():
    assert pack([(0, 10), (5, 15), (20, 30), (12, 16)], gap=2) == [0, 1, 0, 0]


def dark_columns(png):
    """Which columns of a picture have something drawn in them, without a library for pictures."""
    width, height = struct.unpack(">II", png[16:24])
    data, at = b"", 8
    while at < len(png):
        (size,) = struct.unpack(">I", png[at : at + 4])
        data += png[at + 8 : at + 8 + size] if png[at + 4 : at + 8] == b"IDAT" else b""
        at += 12 + size
    raw = np.frombuffer(zlib.decompress(data), dtype=np.uint8).reshape(height, 4 * width + 1)
    last, columns = np.zeros(4 * width, dtype=int), np.zeros(width, dtype=bool)
    for line in raw.astype(int):
        kind, line = line[0], line[1:].copy()
        for byte in range(4 * width):
            left, corner = (row[byte - 4] if byte >= 4 else 0 for row in (line, last))
            up, guess = last[byte], left + last[byte] - corner
            paeth = min((left, up, corner), key=lambda one: abs(guess - one))
            line[byte] = (line[byte] + [0, left, up, (left + up) // 2, paeth][kind]) % 256
        columns |= line.reshape(-1, 4)[:, 3] > 60
        last = line
    return np.flatnonzero(columns)


@pytest.mark.parametrize("weight", ["400", "600", "700"])
@pytest.mark.parametrize("text", ["Claude Opus 4.8", "GPT-5.6 Sol $28.94", "Mmmm iiii WWW", "−0.25 to 1,234"])
def test_a_text_is_as_wide_as_it_is_drawn(text, weight):
    """Kerning draws letters together by up to a twentieth; a text is never wider than measured."""
    sheet = Canvas(400, 30, "")
    sheet.words(10, 15, text, size=20, weight=weight)
    columns = dark_columns(to_png(resolve(sheet.svg()), 1.0))
    size = text_width(text, 20, weight)
    assert 0.95 * size - 3 <= columns[-1] - columns[0] <= size + 1


def test_letters_that_the_font_lacks_are_known():
    assert has_letters("Claude Opus 5 – how good?\n")
    assert not has_letters("文心 4.5")
    assert text_width("文", 10) == 10


def test_texts_are_cut_or_broken_to_their_room():
    assert clipped("short", 100) == "short"
    cut = clipped("a text that is too long", 60)
    assert cut.endswith("…") and text_width(cut) <= 60
    assert text_width(clipped("a text that is too long", 60, weight="700"), weight="700") <= 60
    assert clipped("Wide", 2) == "W…"
    assert wrapped("one two three", 50) == ["one two", "three"]
    assert wrapped("one two three four", 50, most=2) == ["one two", "three f…"]
    assert wrapped("one two three", 6000) == ["one two three"]
    assert wrapped("", 60) == []
