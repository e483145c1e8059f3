"""The sheet that pictures are drawn on: places, words, marks and their status."""

import re
from xml.etree import ElementTree

import pytest

from mensura.charts.canvas import Canvas, scale
from mensura.charts.theme import lab_colour, paint, text_width

A4_PIXELS = 297 / 25.4 * 96
"""Height of a page in pixels, of which CSS has 96 to the inch."""


def test_a_drawing_as_high_as_a_page_may_be_broken_and_one_of_half_a_page_may_not():
    assert 'class="drawn long"' in Canvas(700, A4_PIXELS, "all models").svg()
    assert 'class="drawn"' in Canvas(700, A4_PIXELS / 2, "some models").svg()


def test_what_lies_outside_a_scale_stands_at_its_edge():
    at = scale(10, 20, 100, 300)
    assert [at(value) for value in (5, 10, 15, 20, 25)] == [100, 100, 200, 300, 300]
    assert scale(4, 4, 0, 100)(4) == 0


def test_a_logarithmic_scale_gives_equal_room_to_equal_factors_and_puts_zero_at_the_edge():
    at = scale(1, 100, 0, 200, log=True)
    assert [at(value) for value in (0, 1, 10, 100)] == pytest.approx([0, 0, 100, 200])


def test_an_interval_needs_both_ends():
    sheet = Canvas(100, 20, "two intervals")
    sheet.interval(scale(0, 1, 0, 100), (0.2, None), 10, "red")
    assert sheet.parts == []
    sheet.interval(scale(0, 1, 0, 100), (0.2, 0.0), 10, "red")
    assert len(sheet.parts) == 1, "zero is an end as any other"


def test_words_around_a_place_stay_on_the_sheet():
    sheet = Canvas(100, 20, "words")
    for x in (0, 50, 100):
        sheet.words(x, 10, "mmm", anchor="middle", size=12)
    half = text_width("mmm", 12) / 2
    written = [float(re.search(r'<text x="([\d.]+)"', part)[1]) for part in sheet.parts]
    assert written == pytest.approx([half, 50, 100 - half], abs=0.06)


def test_names_from_outside_cannot_become_markup():
    sheet = Canvas(100, 20, "<b>")
    sheet.words(0, 0, "a < b & c", after="<i>")
    with sheet.marked('"quoted"', href="a&b", subject="x<y"):
        sheet.dot(0, 0, "red")
    root = ElementTree.fromstring(sheet.svg())
    assert root.get("aria-label") == "<b>"
    [text, link] = root
    assert "".join(text.itertext()) == "a < b & c <i>"
    assert (link.get("aria-label"), link.get("href"), link.get("data-subject")) == ('"quoted"', "a&b", "x<y")


def test_measured_is_full_inherited_half_and_estimated_hollow():
    sheet = Canvas(100, 20, "three marks")
    for status in ("measured", "inherited", "estimated"):
        sheet.sign(0, 0, "OpenAI", status)
    full, half, hollow = sheet.parts
    assert f'fill="{lab_colour("OpenAI")}"' in full and "fill-opacity" not in full
    assert f'fill="{lab_colour("OpenAI")}"' in half and 'fill-opacity="0.4"' in half
    assert f'fill="{paint.surface}"' in hollow
