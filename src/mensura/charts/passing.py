"""Who was passed, when: a line of time per group of people, warm while people were ahead, ended by the first model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from markupsafe import Markup

from mensura.charts.canvas import (
    GRID,
    INK,
    LINE,
    PEOPLE,
    PEOPLE_STRONG,
    SOFT,
    Canvas,
    Place,
    scale,
)
from mensura.charts.labels import clipped, text_width
from mensura.charts.plot import NARROW, Mark
from mensura.charts.render import Drawing

_ROW, _TALL, _HEAD = 43.0, 66.0, 34.0
_UNSURE = 0.45
"""Opacity of the time in which a model was level with people, and not surely above them."""


@dataclass(frozen=True)
class PassingRow:
    """A group of people on a test; ``level`` and ``first`` as :class:`mensura.study.headlines.Passed` has them.

    These are models by the day on which they came out (``x``), with their score as ``detail``.
    """

    kind: str
    name: str
    test: str
    level: Mark | None
    first: Mark | None
    best: str
    chance: str
    subject: str
    href: str


def draw_passing(
    rows: Sequence[PassingRow], *, start: date, today: date, titles: dict[str, str], description: str
) -> Drawing:
    """Draw the rows in their order under the title of their kind, from ``start`` to ``today``."""

    def draw(width: float) -> Markup:
        narrow = width < NARROW
        row_height = _TALL if narrow else _ROW
        kinds = [kind for kind in titles if any(row.kind == kind for row in rows)]
        sheet = Canvas(width, 26 + _HEAD * len(kinds) + row_height * len(rows) + 8, description, kind="passing-chart")
        left, right = (2.0, width - 8) if narrow else (330.0, width - 300.0)
        at = scale(start.toordinal(), today.toordinal(), left, right)
        for year in range(start.year + 1, today.year + 1):
            x = at(date(year, 1, 1).toordinal())
            if today.toordinal() - date(year, 1, 1).toordinal() > 60:
                sheet.line(x, 22, x, sheet.height, GRID)
                sheet.words(x, 10, str(year), fill=SOFT, weight="600", anchor="middle")
        if not narrow:
            sheet.words(right, 10, "today", fill=SOFT, weight="600", anchor="end")
            sheet.words(width - 96, 10, "best model", fill=SOFT, weight="600", anchor="end")
            sheet.words(width, 10, "chance above", fill=SOFT, weight="600", anchor="end")
        y = 26.0
        for kind in kinds:
            sheet.words(0, y + 18, titles[kind], weight="600", size=15, halo=True)
            sheet.line(0, y + _HEAD - 2, width, y + _HEAD - 2, INK, 1.5)
            y += _HEAD
            for row in rows:
                if row.kind == kind:
                    _row(sheet, row, at, y, (left, right))
                    y += row_height
                    sheet.line(0, y, width, y, GRID)
        return sheet.svg()

    return Drawing(draw, description, screen=1200.0)


def _row(sheet: Canvas, row: PassingRow, at: Place, y: float, ends: tuple[float, float]) -> None:
    (left, right), width = ends, sheet.width
    narrow = width < NARROW
    rise, room = (12, width - 76) if narrow else (14, left - 20)
    sheet.words(0, y + rise, clipped(row.name, room, 13, "600"), weight="600", size=13, halo=narrow)
    sheet.words(0, y + rise + 15, clipped(row.test, room - 44 * narrow), fill=PEOPLE, halo=narrow)
    sheet.words(width, y + (12 if narrow else 21), row.chance, weight="600", size=13, anchor="end", halo=narrow)
    if narrow:
        best = clipped(row.best, width - text_width(row.test) - 12, 11)
        sheet.words(width, y + 27, best, fill=SOFT, anchor="end", size=11, halo=True)
    else:
        sheet.words(width - 96, y + 21, clipped(row.best, 195), fill=SOFT, anchor="end")
    level = y + (42 if narrow else 15)
    upto = at(row.level.x) if row.level else right
    passed = at(row.first.x) if row.first else right
    sheet.line(left, level, right, level, LINE, 1.5)
    sheet.line(left, level, upto, level, PEOPLE_STRONG, 6)
    if row.level:
        sheet.band(upto, level - 3, passed - upto, 6, PEOPLE_STRONG, _UNSURE)
    for passer, words, status in ((row.level, "first level", "estimated"), (row.first, "first above", "measured")):
        if passer and (passer is row.first or not row.first or passer.subject != row.first.subject):
            label = f"{passer.name}, {words}, {date.fromordinal(int(passer.x)):%B %Y}"
            with sheet.marked(label, href=passer.href, subject=passer.subject):
                sheet.sign(at(passer.x), level, passer.provider, status, 6.0)
    named = row.first or row.level
    if named is None:
        sheet.words(left, level + 16, "people are ahead", fill=SOFT, size=12, halo=True)
        return
    word = "" if row.first else "first level, "
    score = f", {named.detail}" if row.first and named.detail else ""
    text = f"{named.name}  {word}{date.fromordinal(int(named.x)):%b %Y}{score}"
    half = text_width(text, 12) / 2
    x = min(max(at(named.x), left + half), right - half)
    sheet.words(x, level + 16, text, fill=SOFT, size=12, anchor="middle", halo=True)
