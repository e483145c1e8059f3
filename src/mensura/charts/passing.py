"""Who was passed, when: a line of time per group of people, warm while people were ahead, ended by the first model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from markupsafe import Markup, escape

from mensura.charts.canvas import (
    GRID,
    INK,
    LINE,
    PEOPLE,
    PEOPLE_STRONG,
    SOFT,
    SURFACE,
    Canvas,
    Drawing,
    clipped,
    lab_colour,
    scale,
    shape_of,
)
from mensura.charts.labels import text_width
from mensura.charts.theme import lab_of

_ROW, _TALL, _HEAD = 43.0, 66.0, 34.0
_UNSURE = 0.45
"""Opacity of the time in which a model was level with people, and not surely above them."""


@dataclass(frozen=True)
class Passer:
    """A model on such a line: who, and on which day it came out."""

    subject: str
    name: str
    provider: str
    day: date
    shown: str
    href: str


@dataclass(frozen=True)
class PassingRow:
    """A group of people on a test; ``level`` and ``first`` as :class:`mensura.study.passed.Passed` has them."""

    kind: str
    name: str
    test: str
    level: Passer | None
    first: Passer | None
    best: str
    chance: str
    subject: str
    href: str


def draw_passing(
    rows: Sequence[PassingRow], *, start: date, today: date, titles: dict[str, str], description: str
) -> Drawing:
    """Draw the rows in their order under the title of their kind, from ``start`` to ``today``."""
    return Drawing.of(lambda width: _draw(rows, start, today, titles, description, width), wide=1200.0)


def _draw(
    rows: Sequence[PassingRow], start: date, today: date, titles: dict[str, str], description: str, width: float
) -> Markup:
    narrow = width < 500
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
                _row(sheet, row, at, y, (left, right), narrow=narrow)
                y += row_height
                sheet.line(0, y, width, y, GRID)
    return sheet.svg()


def _row(
    sheet: Canvas,
    row: PassingRow,
    at: Callable[[float], float],
    y: float,
    ends: tuple[float, float],
    *,
    narrow: bool,
) -> None:
    left, right = ends
    width = sheet.width
    if narrow:
        sheet.words(0, y + 12, clipped(row.name, width - 76), weight="600", size=13, halo=True)
        sheet.words(0, y + 27, clipped(row.test, width - 120), fill=PEOPLE, halo=True)
        sheet.words(width, y + 12, row.chance, weight="600", size=13, anchor="end", halo=True)
        sheet.words(
            width,
            y + 27,
            clipped(row.best, width - text_width(row.test, 12) - 12),
            fill=SOFT,
            anchor="end",
            size=11,
            halo=True,
        )
    else:
        sheet.words(0, y + 14, clipped(row.name, left - 20), weight="600", size=13)
        sheet.words(0, y + 30, clipped(row.test, left - 20), fill=PEOPLE)
        sheet.words(width, y + 21, row.chance, weight="600", size=13, anchor="end")
        sheet.words(width - 96, y + 21, clipped(row.best, 195), fill=SOFT, anchor="end")
    level = y + (42 if narrow else 15)
    upto = at(row.level.day.toordinal()) if row.level else right
    passed = at(row.first.day.toordinal()) if row.first else right
    sheet.line(left, level, right, level, LINE, 1.5)
    sheet.line(left, level, upto, level, PEOPLE_STRONG, 6)
    if row.level:
        sheet.band(upto, level - 3, passed - upto, 6, PEOPLE_STRONG, _UNSURE)
    for passer, full in ((row.level, False), (row.first, True)):
        if passer and not (not full and row.first and passer.subject == row.first.subject):
            _mark(sheet, passer, at(passer.day.toordinal()), level, full=full)
    said = row.first or row.level
    if said is None:
        sheet.words(left, level + 16, "people are ahead", fill=SOFT, size=12, halo=True)
        return
    word = "" if row.first else "first level, "
    text = f"{said.name}  {word}{said.day:%b %Y}{', ' + said.shown if row.first and said.shown else ''}"
    x = at(said.day.toordinal())
    half = text_width(text, 12) / 2
    x = min(max(x, left + half), right - half)
    sheet.words(x, level + 16, text, fill=SOFT, size=12, anchor="middle", halo=True)


def _mark(sheet: Canvas, passer: Passer, x: float, y: float, *, full: bool) -> None:
    ink = lab_colour(passer.provider)
    said = f"{passer.name}, {'first above' if full else 'first level'}, {passer.day:%B %Y}"
    sheet.parts.append(
        f'<a class="mark-link" href="{escape(passer.href)}" data-subject="{escape(passer.subject)}" '
        f'aria-label="{escape(said)}" transform="translate({x:.1f},{y:.1f})">'
        f'<path d="{shape_of(lab_of(passer.provider), 6.0)}" fill="{ink if full else SURFACE}" stroke="{ink}" '
        'stroke-width="1.6"/></a>'
    )
