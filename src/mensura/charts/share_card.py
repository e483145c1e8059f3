"""The picture that stands for a page where its link is shared: 1200 × 630, the light theme."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from mensura.charts.canvas import Canvas, resolve
from mensura.charts.labels import text_width
from mensura.charts.letters import outlined
from mensura.charts.standing import draw_curve
from mensura.charts.theme import LIGHT, PRINT_FONT

WIDTH, HEIGHT = 1200, 630
_MARGIN, _ROOM = 70, WIDTH - 140
_LETTER = 11
"""Height at which widths of texts are known, pixels."""
_GROUND = 585
"""Where the line under the people is, pixels."""
_OF_PAGE = re.compile(r' (?:width|height|font-family|class|role|aria-label)="[^"]*"')
"""What the outer element of a page's drawing says, and a drawing inside another does not."""


class _CardLayout(NamedTuple):
    """Where the words stand: name and title from the top; of title and sentence the size, the step and most lines."""

    name_at: int
    title_at: int
    title: tuple[int, int, int]
    sentence: tuple[int, int, int]


_ALONE, _ABOVE_CHART = _CardLayout(74, 146, (56, 64, 2), (34, 44, 4)), _CardLayout(52, 98, (38, 44, 1), (27, 34, 2))


def draw_share_card(title: str, sentence: str, marks: Sequence[tuple[str, float]] = (), chart: str = "") -> str:
    """Return the picture: the product's name, the title, a whole sentence, and a chart.

    ``chart``: the drawing of the page (SVG). Without it, models stand among all people: ``marks`` are their providers
    and IQs; without any there are only words.
    """
    sheet = Canvas(WIDTH, HEIGHT, title)
    sheet.parts.append(f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{LIGHT.surface}"/>')
    if marks and not chart:
        draw_curve(sheet, (_MARGIN, WIDTH - _MARGIN), _GROUND, marks)
    words = _ABOVE_CHART if chart else _ALONE
    sheet.parts.append(outlined(_MARGIN, words.name_at, "Mensura", 30, LIGHT.quiet, 700))
    y = words.title_at
    for text, (size, step, most), ink, weight in (
        (title, words.title, LIGHT.ink, 700),
        (sentence, words.sentence, LIGHT.soft, 400),
    ):
        for row in wrapped_lines(text, size, _ROOM)[:most]:
            sheet.parts.append(outlined(_MARGIN, y, row, size, ink, weight))
            y += step
    if chart:
        top = y - words.sentence[0]
        place = f'x="{_MARGIN}" y="{top}" width="{_ROOM}" height="{HEIGHT - top - 16}" font-family="{PRINT_FONT}"'
        head, _, rest = chart.partition(">")
        sheet.parts.append(f"{_OF_PAGE.sub('', head)} {place}>{rest}")
    return resolve(sheet.svg())


def wrapped_lines(text: str, size: int, room: float) -> list[str]:
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
