"""The picture that stands for a page where its link is shared: 1200 × 630, the light theme."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import exp
from typing import NamedTuple

from mensura.charts.canvas import INK, PEOPLE_DOT, PEOPLE_STRONG, QUIET, SOFT, Canvas, resolve, scale
from mensura.charts.labels import wrapped
from mensura.charts.theme import LIGHT

WIDTH, HEIGHT = 1200, 630
_MARGIN, _ROOM = 70, WIDTH - 140
_PEAK = 210.0
"""Height of the curve of people, pixels."""
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
        _draw_curve(sheet, (_MARGIN, WIDTH - _MARGIN), _GROUND, marks)
    words = _ABOVE_CHART if chart else _ALONE
    sheet.words(_MARGIN, words.name_at - 10, "Mensura", fill=QUIET, size=30, weight="700")
    y = words.title_at
    for text, (size, step, most), ink, weight in (
        (title, words.title, INK, "700"),
        (sentence, words.sentence, SOFT, "400"),
    ):
        for row in wrapped(text, _ROOM, size, weight, most):
            sheet.words(_MARGIN, y - 0.35 * size, row, fill=ink, size=size, weight=weight)
            y += step
    if chart:
        top = y - words.sentence[0]
        place = f'x="{_MARGIN}" y="{top}" width="{_ROOM}" height="{HEIGHT - top - 16}"'
        head, _, rest = chart.partition(">")
        sheet.parts.append(f"{_OF_PAGE.sub('', head)} {place}>{rest}")
    return resolve(sheet.svg())


def _draw_curve(sheet: Canvas, ends: tuple[float, float], ground: float, marks: Sequence[tuple[str, float]]) -> None:
    """Draw all people as one curve without words, darker above the highest model, and models by provider and IQ."""
    low, high = 50.0, max([155.0, *(iq + 3 for _, iq in marks)])
    at = scale(low, high, *ends)
    best = max(iq for _, iq in marks)
    for ink, least in ((PEOPLE_DOT, low), (PEOPLE_STRONG, best)):
        steps = [least + (high - least) * step / 90 for step in range(91)]
        line = [(at(iq), ground - _PEAK * exp(-(((iq - 100) / 15) ** 2) / 2)) for iq in steps]
        sheet.area([(at(least), ground), *line, (at(high), ground)], ink, 1.0)
    sheet.line(ends[0], ground, ends[1], ground, INK, 2)
    radius = 13.0 if len(marks) == 1 else 8.0
    for provider, iq in marks:
        sheet.sign(at(iq), ground, provider, radius=radius)
