"""Pictures that leave the site, the curve of claims, and small shapes as one path."""

import math
import re
from xml.etree import ElementTree

import pytest

from mensura import charts
from mensura.charts.theme import LABS, OTHER, shape_of

WORDS = charts.FrameWords(
    "A leads with 90%.",
    "Scores of two models.",
    "Few tests.",
    "Own scores",
    "1 May 2026",
    "CC BY 4.0",
    "https://a.org/",
)


def texts(svg):
    return [one.text or "" for one in ElementTree.fromstring(svg).iter() if one.tag.endswith("text")]


def test_a_frame_says_finding_doubt_source_day_licence_and_address():
    words = " ".join(texts(charts.frame_picture(str(charts.Canvas(700, 300, "chart").svg()), WORDS)))
    for part in (
        "A leads with 90%.",
        "Doubt: Few tests.",
        "Source: Own scores",
        "1 May 2026",
        "CC BY 4.0",
        "https://a.org/",
    ):
        assert part in words


def test_the_chart_keeps_its_size_inside_a_margin():
    root = ElementTree.fromstring(charts.frame_picture(str(charts.Canvas(700, 300, "chart").svg()), WORDS))
    (inner,) = [one for one in root if one.tag.endswith("svg")]
    assert (float(inner.get("width")), float(inner.get("height"))) == (700, 300)
    assert float(inner.get("x")) >= 24
    assert float(root.get("width")) >= 700 + 48


@pytest.mark.parametrize("lab", [*LABS, OTHER])
def test_a_shape_in_relative_steps_surrounds_the_place_where_a_path_has_come(lab):
    x = y = 0.0
    corners = []
    for kind, numbers in re.findall(r"([mlhva])([^a-z]*)", shape_of(lab, 1.0)):
        *_, last = steps = [float(one) for one in re.findall(r"-?[\d.]+", numbers)]
        x, y = (x + last, y) if kind == "h" else (x, y + last) if kind == "v" else (x + steps[-2], y + last)
        corners.append((x, y))
    assert all(0.4 < math.hypot(*corner) < 1.5 for corner in corners)
    assert min(x for x, _ in corners) < -0.8
    assert max(x for x, _ in corners) > 0.8
