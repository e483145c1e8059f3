"""Rows with a mark and its interval on one axis: models, estimates, tests with their range; people as lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from mensura.charts.axes import Axis
from mensura.charts.canvas import ACCENT, GRID, INK, PEOPLE, QUIET, SOFT, Canvas, Place, lab_colour
from mensura.charts.labels import FONT, clipped, text_width, wrapped
from mensura.charts.plot import NARROW, Mark, Reference, draw_group, draw_nothing
from mensura.charts.render import Drawing

ROW, _GROUP, _LINE = 26.0, 21.0, 15.0
"""Height of a row, of a group's words on a screen, and of one line of them on a phone, pixels."""
_NAMES_WIDE, _NAMES_NARROW = 230.0, 170.0
"""Most room for the names of rows, pixels; they take what the longest needs, up to this."""
_MARGIN = 60.0
"""Room for the number after the longest line, pixels."""


@dataclass(frozen=True)
class Strip:
    """One row: who, the value with its interval, what it rests on, and where the row leads.

    Without a provider it is no model's row. ``other``: a second value, drawn as an upright stroke, with its words.
    ``test``: the row of a test, whose range is a pale bar and whose value a stroke. ``word``: what the mark says in
    place of the status.
    """

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    status: str = "measured"
    provider: str | None = None
    text: str = ""
    href: str = ""
    subject: str = ""
    note: str = ""
    other: float | None = None
    other_text: str = ""
    test: bool = False
    word: str = ""

    @property
    def ends(self) -> tuple[float | None, ...]:
        """All that must fit on the axis."""
        return self.value, self.low, self.high, self.other


def draw_forest(
    rows: Sequence[Strip],
    *,
    axis: str,
    tick: Callable[[float], str],
    description: str,
    references: Sequence[Reference] = (),
    rule: float | None = None,
    second: Callable[[float], str] | None = None,
    log: bool = False,
    least: float | None = None,
    rug: Sequence[Mark] = (),
    table: Sequence[dict[str, Any]] = (),
) -> Drawing:
    """Draw rows from top to bottom on a common axis, logarithmic with ``log``.

    ``rule`` marks one value. ``second`` writes another reading under each tick. ``least`` is the lowest value that the
    axis may show. ``rug``: models above the rows, by their ``x``. ``table``: the rows as a table shows them.
    """
    if not rows:
        return draw_nothing(description)
    values = [end for row in rows for end in row.ends] + [one.x for one in rug] + [rule]
    values += [end for group in references for end in (group.value, group.low, group.high)]
    pad = 0.12 if any(row.other is not None for row in rows) else 0.05
    across = Axis.around(axis, values, tick, pad=pad, least=least, log=log, second=second)

    def draw(width: float) -> Markup:
        narrow = width < NARROW
        left = min(
            max(text_width(row.label, FONT, "600") for row in rows) + 16, _NAMES_NARROW if narrow else _NAMES_WIDE
        )
        groups = sorted(references, key=lambda one: -one.value)
        words = [wrapped(group.label, width - 8, 11) if narrow else [group.label] for group in groups]
        heights = [_GROUP + (_LINE * len(lines) if narrow else 0.0) for lines in words]
        head = 40.0 + (15 if across.second else 0)
        top = sum(heights) + head + (16 if rug else 0)
        bottom = top + ROW * len(rows)
        sheet = Canvas(width, bottom + 6, description)
        at = across.scale(left + 4, width - _MARGIN)
        sheet.words(0, sum(heights) + 8, clipped(across.title, width, 11), fill=SOFT, size=11)
        for value, text in across.ticks(3 if narrow else 7):
            sheet.line(at(value), top, at(value), bottom, GRID)
            level = sum(heights) + head - (29 if across.second else 14)
            sheet.words(at(value), level, text, fill=SOFT, weight="600", anchor="middle")
            if across.second:
                sheet.words(at(value), level + 15, across.second(value), fill=QUIET, anchor="middle", size=11)
        sheet.line(0, top, width, top, INK, 1.5)
        y = 0.0
        for group, lines, height in zip(groups, words, heights, strict=True):
            for step, text in enumerate(lines if narrow else ()):
                sheet.words(0, y + _LINE * (step + 0.5), text, fill=PEOPLE, size=11)
            draw_group(sheet, group, at, y + height - _GROUP / 2, bottom, words=not narrow)
            y += height
        if rule is not None:
            sheet.line(at(rule), top, at(rule), bottom, QUIET, 1, "4 3")
        for one in rug:
            with sheet.marked(one.label, href=one.href, subject=one.subject, provider=one.provider):
                sheet.sign(at(one.x), top - 9, one.provider, one.status, 3.6, 0.7)
        for place, row in enumerate(rows):
            _row(sheet, row, at, top + ROW * (place + 0.5), left)
            sheet.line(0, top + ROW * (place + 1), width, top + ROW * (place + 1), GRID)
        return sheet.svg()

    return Drawing(draw, description, (*table,))


def _row(sheet: Canvas, row: Strip, at: Place, y: float, left: float) -> None:
    lines = wrapped(row.label, left - 8, FONT, "600", most=2)
    for step, line in enumerate(lines):
        height, size = (0.0, FONT) if len(lines) == 1 else ((step - 0.5) * 12, 11)
        sheet.words(0, y + height, line, size=size, weight="600" if row.provider else "")
    if row.value is None:
        sheet.words(left + 4, y, row.note or "no value", fill=QUIET)
        return
    x, ink = at(row.value), lab_colour(row.provider) if row.provider else INK if row.test else ACCENT
    label = f"{row.label}: {row.text}{', ' + row.note if row.note else ''}, {row.word or row.status}"
    with sheet.marked(label, href=row.href, subject=row.subject, provider=row.provider):
        ends = [x]
        if row.low is not None and row.high is not None:
            ends += [at(row.low), at(row.high)]
            look = (7.0, 0.22) if row.test else (2.2, 0.7)
            sheet.line(ends[1], y, ends[2], y, ink, look[0], opacity=look[1], round_ends=not row.test)
        if row.other is not None:
            ends.append(at(row.other))
            sheet.line(x, y, ends[-1], y, ink, 3, opacity=0.35)
            sheet.line(ends[-1], y - 7, ends[-1], y + 7, ink, 2.2)
        if row.test:
            sheet.line(x, y - 7, x, y + 7, ink, 2.5)
        else:
            sheet.sign(x, y, row.provider, row.status)
        lower = row.other is not None and ends[-1] > x  # its own number then stands left of the mark
        edge = (min(ends) - 8, "end") if lower else (max(ends) + 8, "start")
        sheet.words(edge[0], y, row.text, fill=SOFT, weight="600" if row.other_text else "", anchor=edge[1], halo=True)
        if row.other_text:
            edge = (max(ends) + 8, "start") if lower else (min(ends) - 8, "end")
            sheet.words(edge[0], y, row.other_text, fill=QUIET, anchor=edge[1], halo=True)
