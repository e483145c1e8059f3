"""The picture that stands for a page where its link is shared: 1200 × 630, the light theme."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from mensura.charts.labels import text_width
from mensura.charts.theme import LIGHT

WIDTH, HEIGHT = 1200, 630
_FONT = "Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif"
_LETTER = 11
"""Height at which widths of texts are known, pixels."""


def draw_share_card(title: str, figure: str, lines: Sequence[str]) -> str:
    """Return the picture: the product's name, a title of at most two lines, one large figure, and what it means."""
    rows = _wrapped(title, 62, WIDTH - 140)[:2]
    parts = [Markup('<rect width="{}" height="{}" fill="{}"/>').format(WIDTH, HEIGHT, LIGHT.surface)]
    parts.append(Markup('<rect width="{}" height="14" fill="{}"/>').format(WIDTH, LIGHT.accent))
    parts.append(_text(70, 90, "Mensura", 34, LIGHT.accent, "700"))
    for step, row in enumerate(rows):
        parts.append(_text(70, 180 + 72 * step, row, 62, LIGHT.ink, "700"))
    y = 250 + 72 * (len(rows) - 1)
    if figure:
        parts.append(_text(70, y + 90, figure, 104, LIGHT.accent, "700"))
        y += 120
    for step, line in enumerate(lines):
        parts.append(_text(70, y + 50 + 50 * step, _wrapped(line, 34, WIDTH - 140)[0], 34, LIGHT.quiet, "400"))
    return str(
        Markup(
            '<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}">{b}</svg>'
        ).format(w=WIDTH, h=HEIGHT, b=Markup("").join(parts))
    )


def _text(x: int, y: int, text: str, size: int, fill: str, weight: str) -> Markup:
    template = '<text x="{}" y="{}" font-family="{}" font-size="{}" font-weight="{}" fill="{}">{}</text>'
    return Markup(template).format(x, y, _FONT, size, weight, fill, text)


def _wrapped(text: str, size: int, room: float) -> list[str]:
    """Return the text in lines that fit; a word longer than a line is cut."""
    lines = [""]
    for word in text.split() or [""]:
        longer = f"{lines[-1]} {word}".strip()
        if text_width(longer) * size / _LETTER * 1.08 <= room:
            lines[-1] = longer
        else:
            while text_width(word) * size / _LETTER * 1.08 > room:
                word = word[:-2]
            lines = [*lines, word] if lines[-1] else [word]
    return lines
