"""Drawings of the pages, compared with what they were when last looked at.

After a change that is meant, look at the drawing, then ``APPROVE=1 pytest tests/site/test_drawings_as_seen.py`` takes
it over.
"""

import os
import re
from datetime import date
from pathlib import Path

import pytest

from mensura.charts import (
    LABS,
    LadderPlace,
    Reference,
    Strip,
    draw_forest,
    draw_history,
    draw_human_ladder,
    draw_ladder,
    draw_radar,
    draw_share_card,
)
from mensura.charts.canvas import Canvas, clipped, palette_css, round_ticks, scale, wrapped
from mensura.charts.ladders import ModelSpot

APPROVED = Path(__file__).parent / "approved"

STRIPS = [
    Strip("Opus", 128.0, 125.0, 131.0, "measured", "Anthropic", "128", "models/opus.html", "opus", "90% 125 to 131"),
    Strip("A model of a very long name that no phone has room for", 99.0, 90.0, None, "inherited", "OpenAI", "99"),
    Strip("Small & <Open>", 92.0, None, None, "estimated", None, "92", note="one source"),
    Strip("Nobody", None),
    Strip("Nothing", None, note="not measured"),
]
GROUPS = [
    Reference(
        "experts on a test of a long name, measured, n = 69", 110.0, 105.0, 115.0, "measured", "#people", "people:a"
    ),
    Reference("pupils, judged", 90.0, None, None, "judged"),
    Reference("the very best, measured", 130.0),
]
SPOTS = [
    ModelSpot("Opus", "Anthropic", "opus", "models/opus.html", 80.0, 128.0, "measured", "80%"),
    ModelSpot("Sol", "OpenAI", "sol", "", 55.0, 112.0, "estimated", "55%"),
]
RELEASES = [
    ModelSpot(name, lab, name.lower(), "", date(2024 + place, 1 + place, 1).toordinal(), score, "measured", f"{score}%")
    for place, (name, lab, score) in enumerate((("Ay", "Google", 30.0), ("Bee", "xAI", 25.0), ("Cee", "Meta", 61.0)))
]
LEVELS = [
    Reference("experts who took the whole test on two long afternoons", 70.0),
    Reference("pupils", 30.0, status="judged"),
]
PLACES = [
    LadderPlace("GPT", "Knowledge", 120.0, 30.0, 5e7, False, "OpenAI", "measured", "GPT: 1 in 120", "ADeLe"),
    LadderPlace(
        "pupils of the last year",
        "Knowledge",
        3.0,
        2.0,
        5.0,
        True,
        None,
        "implied",
        "pupils",
        "ENEM",
        "#anchors",
        "people:enem",
    ),
    LadderPlace("GPT", "Attention", 4e4, None, None, False, "OpenAI", "measured", "GPT: 1 in 40,000", "ADeLe"),
    LadderPlace("pupils of the last year", "Attention", 0.5, 0.4, 3.0, True, None, "measured", "pupils", "ENEM"),
]
CLOSING = LadderPlace("GPT", "Volume", 9.0, 5.0, 12.0, False, "OpenAI", "estimated", "GPT: 1 in 9", "ADeLe")
DIMENSIONS = ["Knowledge", "Attention", "Volume"]


def whole(value):
    return f"{value:g}"


def every_mark():
    sheet = Canvas(340, 1001, "every mark")
    for place, lab in enumerate((*LABS, "Somebody", None)):
        sheet.model(20 + 25 * place, 20, provider=lab, status="measured", label=str(lab))
    for place, status in enumerate(("measured", "inherited", "estimated")):
        sheet.model(20 + 25 * place, 60, provider="OpenAI", status=status, label=status, href="a&b.html", subject="a<b")
        sheet.people(120 + 25 * place, 60, status=status, label=status)
    sheet.words(20, 100, "over <lines>", halo=True, weight="600", size=9)
    sheet.path([], "red")
    return sheet.svg()


DRAWINGS = {
    "forest": lambda: draw_forest(STRIPS, axis="IQ", tick=whole, description="rows", references=GROUPS).html,
    "forest_rule": lambda: (
        draw_forest(
            STRIPS[:2],
            axis="composite IQ; below: as rare as",
            tick=whole,
            description="rows",
            rule=100.0,
            second=lambda v: f"1 in {v:g}",
        ).html
    ),
    "forest_none": lambda: draw_forest([], axis="IQ", tick=whole, description="nothing").html,
    "ladder": lambda: (
        draw_ladder([(0, 70), (40, 100), (90, 160)], SPOTS, GROUPS[1:2], tick=whole, description="a ladder").html
    ),
    "history": lambda: draw_history(RELEASES, LEVELS, tick=whole, description="a history").html,
    "human_ladder": lambda: draw_human_ladder(DIMENSIONS, PLACES, description="people").html,
    "radar": lambda: draw_radar(DIMENSIONS, [*PLACES, CLOSING], description="people").html,
    "radar_open": lambda: draw_radar([*DIMENSIONS, "Logic"], PLACES[:3], description="people").wide,
    "share_card": lambda: draw_share_card(
        "A title that is much longer than one line of a card", "IQ 131, 90% 128 to 134.", (("OpenAI", 131.0),)
    ),
    "every_mark": every_mark,
    "palette": palette_css,
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_looks_as_it_did_when_last_looked_at(name):
    found = re.sub(r"(?<=>)(?=<)", "\n", str(DRAWINGS[name]())) + "\n"
    file = APPROVED / f"{name}.txt"
    if os.environ.get("APPROVE"):
        file.write_text(found, encoding="utf-8")
    assert found == file.read_text(encoding="utf-8")


def test_without_a_dimension_a_radar_has_no_rays_and_a_ladder_no_rows():
    """Where lines of one's own leave nobody placed, the page is built all the same."""
    assert "<path" not in draw_radar([], [], description="nobody").html
    assert "<text" in draw_human_ladder([], [], description="nobody").html


@pytest.mark.parametrize(
    ("low", "high", "most", "ticks"),
    [
        (0, 10, 6, [0, 2, 4, 6, 8, 10]),
        (0, 1, 4, [0, 0.25, 0.5, 0.75, 1]),
        (95, 135, 7, [100, 110, 120, 130]),
        (0.3, 4.9, 5, [1, 2, 3, 4]),
        (0, 60, 6, [0, 10, 20, 30, 40, 50, 60]),
        (3, 3, 6, [3]),
    ],
)
def test_ticks_are_round_and_inside_the_span(low, high, most, ticks):
    assert round_ticks(low, high, most) == pytest.approx(ticks)


def test_what_lies_outside_a_scale_stands_at_its_edge():
    at = scale(10, 20, 100, 300)
    assert [at(value) for value in (5, 10, 15, 20, 25)] == [100, 100, 200, 300, 300]
    assert scale(4, 4, 0, 100)(4) == 0


def test_texts_are_cut_or_broken_to_their_room():
    assert clipped("short", 100) == "short"
    assert clipped("a text that is too long", 60) == "a text t…"
    assert clipped("Wide", 2) == "W…"
    assert wrapped("one two three", 60) == ["one two", "three"]
    assert wrapped("one two three", 6000) == ["one two three"]
    assert wrapped("", 60) == []
