"""Drawings of the pages, compared with what they were when last looked at.

After a change that is meant, look at the drawing, then ``APPROVE=1 pytest tests/site/test_drawings_as_seen.py`` takes
it over.
"""

import os
import re
from datetime import date
from pathlib import Path

import polars as pl
import pytest

from mensura import charts
from mensura.charts import LABS, Mark, Reference, Strip, draw_forest, draw_history, draw_ladder, draw_share_card
from mensura.charts.canvas import Canvas
from mensura.charts.theme import palette_css

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
    Mark("Opus", "Anthropic", 80.0, 128.0, "Opus: 80%", subject="opus", href="models/opus.html"),
    Mark("Sol", "OpenAI", 55.0, 112.0, "Sol: 55%", "estimated", "sol"),
]
RELEASES = [
    Mark(name, lab, date(2024 + place, 1 + place, 1).toordinal(), score, f"{name}: {score}%")
    for place, (name, lab, score) in enumerate((("Ay", "Google", 30.0), ("Bee", "xAI", 25.0), ("Cee", "Meta", 61.0)))
]
LEVELS = [
    Reference("experts who took the whole test on two long afternoons", 70.0),
    Reference("pupils", 30.0, status="judged"),
]
PLACES = pl.DataFrame(
    {
        "subject": ["GPT", "pupils of the last year", "GPT", "pupils of the last year", "GPT"],
        "dimension": ["Knowledge", "Knowledge", "Attention", "Attention", "Volume"],
        "level": [4.1, 2.0, 5.2, 0.5, None],
        "low": [3.4, 1.7, None, 0.4, None],
        "high": [5.6, 2.4, None, 1.0, None],
        "kind": ["AI", "people", "AI", "people", "AI"],
        "note": ["", "", "", "", "no line"],
        "provider": ["OpenAI", None, "OpenAI", None, "OpenAI"],
        "status": ["measured", "implied", "measured", "measured", "measured"],
        "test": ["ADeLe", "ENEM", "ADeLe", "ENEM", "ADeLe"],
        "href": [None, "#anchors", None, None, None],
        "card": [None, "people:enem", None, None, None],
    }
)


def whole(value):
    return f"{value:g}"


def every_mark():
    sheet = Canvas(340, 1001, "every mark")
    for place, lab in enumerate((*LABS, "Somebody", None)):
        with sheet.marked(str(lab)):
            sheet.sign(20 + 25 * place, 20, lab)
    for place, status in enumerate(("measured", "inherited", "estimated")):
        with sheet.marked(status, href="a&b.html", subject="a<b", provider="OpenAI"):
            sheet.sign(20 + 25 * place, 60, "OpenAI", status)
        sheet.bar(120 + 25 * place, 60, status)
    sheet.words(20, 100, "over <lines>", halo=True, weight="600", size=9)
    sheet.path([], "red")
    return sheet.svg()


DRAWINGS = {
    "forest": lambda: draw_forest(STRIPS, axis="IQ", tick=whole, description="rows", references=GROUPS).html,
    "forest_rule": lambda: (
        draw_forest(STRIPS[:2], axis="composite IQ", tick=whole, description="rows", rule=100.0).html
    ),
    "forest_none": lambda: draw_forest([], axis="IQ", tick=whole, description="nothing").html,
    "ladder": lambda: (
        draw_ladder([(0, 70), (40, 100), (90, 160)], SPOTS, GROUPS[1:2], tick=whole, description="a ladder").html
    ),
    "history": lambda: draw_history(RELEASES, LEVELS, tick=whole, description="a history").html,
    "among_people": lambda: charts.among_people(PLACES).html,
    "share_card": lambda: draw_share_card(
        "A title that is much longer than one line of a card",
        "IQ 131, 90% 128 to 134.",
        [Mark("GPT-9", "OpenAI", 131.0, low=128.0, high=134.0)],
        "10 October 2026",
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
