"""Drawings by their size: what is longer than a printed page, and what a shared link shows in its picture."""

import re
from itertools import pairwise

import pytest

from mensura.charts.canvas import Canvas
from mensura.charts.share_card import HEIGHT, draw_share_card
from mensura.site.drawings import static_job

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
    found = re.findall(r'aria-label="([^"]*)" transform="translate\(70 (\d+)\) scale\(0\.(\d+)\)', drawn)
    lines = [(int(baseline), int(size.ljust(3, "0"))) for _, baseline, size in found]
    assert " ".join(text for text, *_ in found) == f"Mensura {title} {SENTENCE}"
    for (above, _), (below, size) in pairwise(lines):
        assert 0.8 * size <= below - above <= 2 * max(size, 62), "capitals do not touch, and no hole gapes"
    assert lines[-1][0] + 0.3 * lines[-1][1] < HEIGHT - 20
    assert drawn.count("<path") == len(found) + (3 if marks else 0)
    assert "var(" not in drawn


@pytest.mark.parametrize(
    ("width", "columns", "panel"), [(698, 5, 110), (697, 4, 140), (430, 2, 162), (215, 1, 141), (100, 1, 26)]
)
def test_panels_share_the_width_that_frame_and_margins_leave(width, columns, panel):
    """698 less 18 at both sides and 56 of frame: five panels of 110 with 14 between them; a phone has slim sides."""
    spec = {"facet": {}, "spec": {"height": 110}, "usermeta": {"panels": {"least": 110, "gap": 14, "frame": 56}}}
    drawn = static_job(spec, width)["spec"]
    assert (drawn["columns"], drawn["spec"]) == (columns, {"height": 110, "width": panel})


def test_a_picture_is_as_wide_as_asked_for_or_as_it_must_be():
    assert static_job({"layer": []}, 640)["spec"]["width"] == 640
    assert static_job({"layer": [], "usermeta": {"min_width": 720}}, 640)["spec"]["width"] == 720
    assert static_job({"layer": []}, 640)["spec"]["autosize"] == {"type": "fit-x", "contains": "padding"}


def test_a_shared_picture_needs_no_font_of_the_machine_unless_a_letter_is_foreign_to_ours():
    assert "<text" not in draw_share_card("Claude Opus 5 – how good?", SENTENCE)
    foreign = draw_share_card("文心 4.5", "Plain words.")
    assert foreign.count("<text") == 1 and "文心 4.5</text>" in foreign
