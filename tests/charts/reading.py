"""Read a drawing back: its marks by what they say, where each stands, and its words."""

import re
from xml.etree import ElementTree

from mensura.charts.theme import resolve

SVG = "{http://www.w3.org/2000/svg}"


def tree_of(drawing, width=1100.0):
    """The drawing of a width in pixels, in the colours of the light theme."""
    return ElementTree.fromstring(resolve(drawing.draw(width)))


def marks_of(tree):
    """The marks of a drawing by their label, in the order in which they are drawn."""
    return {node.get("aria-label"): node for node in tree.iter() if node.get("aria-label") and node is not tree}


def place_of(mark):
    """Where a mark stands: the middle of its sign, of its dot, or of its upright stroke."""
    for node in mark:
        if node.get("class") == "sign":
            return tuple(map(float, re.findall(r"[\d.]+", node.get("transform"))))
        if node.tag == f"{SVG}circle":
            return float(node.get("cx")), float(node.get("cy"))
        if node.tag == f"{SVG}line" and node.get("x1") == node.get("x2"):
            return float(node.get("x1")), (float(node.get("y1")) + float(node.get("y2"))) / 2
    raise AssertionError("the mark has no sign, dot or stroke")


def interval_of(mark):
    """The ends of a mark's level interval, from left to right; none where it has none."""
    lines = [node for node in mark if node.tag == f"{SVG}line" and node.get("y1") == node.get("y2")]
    return tuple(float(lines[0].get(name)) for name in ("x1", "x2")) if lines else None


def words_of(tree):
    """Every text of a drawing with its place."""
    texts = tree.iter(f"{SVG}text")
    return {"".join(node.itertext()): (float(node.get("x")), float(node.get("y"))) for node in texts}
