"""How often claims came true: the curve against the diagonal, and a dot per claim."""

import re

import pytest

from mensura import charts
from tests.charts.reading import SVG, tree_of


def test_a_calibrated_claim_lies_on_the_diagonal():
    groups = [{"said": 0.5, "came_true": 0.5, "low": 0.3, "high": 0.7, "n": 20}]
    svg = charts.calibration_curve(groups, [{"chance": 0.5, "came_true": True}]).wide
    dotted = re.search(r'x1="([\d.]+)" y1="([\d.]+)" x2="([\d.]+)" y2="([\d.]+)"[^>]*dasharray="2 4"', svg)
    x1, y1, x2, y2 = map(float, dotted.groups())
    middle = ((x1 + x2) / 2, (y1 + y2) / 2)
    dots = [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', svg)]
    assert any(dot == pytest.approx(middle, abs=0.2) for dot in dots)


def test_a_claim_that_came_true_is_a_full_dot_above_the_line_and_another_a_pale_one_below():
    claims = [{"chance": 1.0, "came_true": True}, *({"chance": 0.95, "came_true": False} for _ in range(2))]
    dots = [
        (node.get("fill-opacity", "1"), float(node.get("cx")), float(node.get("cy")))
        for node in tree_of(charts.calibration_curve([], claims)).iter(f"{SVG}circle")
    ]
    [(_, x, above)] = [dot for dot in dots if dot[0] == "1"]
    below = [dot for dot in dots if dot[0] == "0.35"]
    assert len(below) == 2 and above < min(y for *_, y in below)
    assert x == min(x for _, x, _ in below), "a certain claim belongs to the highest tenth"


def test_more_claims_have_a_larger_dot_up_to_four_hundred():
    row = {"said": 0.8, "came_true": 0.7, "low": 0.6, "high": 0.9}

    def size(n):
        return float(next(tree_of(charts.calibration_curve([{**row, "n": n}], [])).iter(f"{SVG}circle")).get("r"))

    assert size(10) < size(100) < size(400) == size(4000)
