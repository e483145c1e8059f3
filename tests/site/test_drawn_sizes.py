"""Drawings by their size: what is longer than a printed page, and what a shared link shows in its picture."""

import re
from itertools import pairwise

import pytest

from mensura.charts.canvas import Canvas
from mensura.charts.render import HEIGHT, draw_share_card

A4_PIXELS = 297 / 25.4 * 96
"""Height of a page in pixels, of which CSS has 96 to the inch."""


def test_a_drawing_as_high_as_a_page_may_be_broken_and_one_of_half_a_page_may_not():
    assert 'class="drawn long"' in Canvas(700, A4_PIXELS, "all models").svg()
    assert 'class="drawn"' in Canvas(700, A4_PIXELS / 2, "some models").svg()


SENTENCE = (
    "IQ 131 (90%: 128 to 134), a level that about 19 in 1,000 people reach: 142 in mathematics, 108 in reliability."
)


@pytest.mark.parametrize("marks", [(), (("OpenAI", 131.0),)])
@pytest.mark.parametrize("title", ["Short", "A title of more than one line of the whole picture"])
def test_a_shared_picture_shows_a_whole_sentence_and_the_model_among_people(title, marks):
    drawn = draw_share_card(title, SENTENCE, marks)
    found = re.findall(r'<text x="70.0" y="([\d.]+)"[^>]* font-size="(\d+)"[^>]*>([^<]*)<', drawn)
    lines = [(float(baseline), int(size)) for baseline, size, _ in found]
    assert " ".join(text for *_, text in found) == f"Mensura {title} {SENTENCE}"
    for (above, _), (below, size) in pairwise(lines):
        assert 0.8 * size <= below - above <= 2 * max(size, 62), "capitals do not touch, and no hole gapes"
    assert lines[-1][0] + 0.3 * lines[-1][1] < HEIGHT - 20
    assert drawn.count("<path") == (3 if marks else 0)
    assert "var(" not in drawn


def test_a_shared_picture_is_drawn_in_our_font():
    drawn = draw_share_card("Claude Opus 5 – how good?", SENTENCE)
    assert "Mensura Sans" in drawn.partition(">")[0]
