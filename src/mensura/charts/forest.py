"""Rows with a mark and its interval: leaders, one model's dimensions, all models on a benchmark; people as lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite

from markupsafe import Markup

from mensura.charts.canvas import (
    ACCENT,
    FONT,
    GRID,
    INK,
    PEOPLE,
    QUIET,
    Canvas,
    Drawing,
    clipped,
    lab_colour,
    round_ticks,
    scale,
    wrapped,
)
from mensura.charts.labels import text_width

ROW, HEAD, FOOT = 26.0, 10.0, 40.0
_LABELS_WIDE, _LABELS_NARROW = 210.0, 186.0
"""Most room for the names of rows, pixels; on a phone they take what the longest needs, up to this."""
_LINE = 15.0
"""Height of a line of a group's words on a phone, pixels."""
_MARGIN = 64.0
_WORDS = 11
"""Height of the lettering of groups, and of names in two lines, pixels."""
_MOST_LINES, _TIGHT = 2, 12.0
"""Lines of a name, and the step between them in pixels."""


@dataclass(frozen=True)
class Strip:
    """One row: who, the value with its interval, what it rests on, and where the row leads.

    Without a provider it is no model's row.
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


@dataclass(frozen=True)
class Reference:
    """A group of people on the axis: its name with test and status, its value and range."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    status: str = "measured"
    href: str = ""
    subject: str = ""


@dataclass(frozen=True)
class Axis:
    """The axis under the rows: its title, how ticks are written (``second``: below them), and its ends."""

    title: str
    tick: Callable[[float], str]
    low: float
    high: float
    log: bool = False
    second: Callable[[float], str] | None = None


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
) -> Drawing:
    """Draw rows from top to bottom on a common axis, logarithmic with ``log``.

    ``second`` writes another reading under each tick. ``least`` is the lowest value that the axis may show.
    """
    ends = _ends(rows, references, rule, log=log, least=least)
    across = Axis(axis, tick, *ends, log=log, second=second)
    return Drawing.of(lambda width: _forest(rows, references, across, description, rule, width))


def _forest(
    rows: Sequence[Strip],
    references: Sequence[Reference],
    axis: Axis,
    description: str,
    rule: float | None,
    width: float,
) -> Markup:
    narrow = width < 500
    left = _names_room(rows) if narrow else _LABELS_WIDE
    groups = sorted(references, key=lambda one: -one.value)
    said = (
        [wrapped(group.label, width - 8, _WORDS) for group in groups] if narrow else [[group.label] for group in groups]
    )
    heights = [ROW * 0.8 + (_LINE * len(lines) if narrow else 0.0) for lines in said]
    top = HEAD + sum(heights)
    bottom = top + ROW * len(rows)
    sheet = Canvas(width, bottom + FOOT + (16 if axis.second else 0), description)
    at = scale(axis.low, axis.high, left, width - _MARGIN, log=axis.log)
    for value in round_ticks(axis.low, axis.high, 4 if narrow else 7, log=axis.log):
        sheet.line(at(value), top, at(value), bottom, GRID)
        sheet.words(at(value), bottom + 12, axis.tick(value), fill=QUIET, anchor="middle")
        if axis.second:
            sheet.words(at(value), bottom + 27, axis.second(value), fill=QUIET, anchor="middle", size=11)
    sheet.words(width - 4, sheet.height - 8, clipped(axis.title, width - 20), fill=QUIET, anchor="end", size=11)
    y = HEAD
    for group, lines, height in zip(groups, said, heights, strict=True):
        if narrow:
            for step, text in enumerate(lines):
                sheet.words(4, y + _LINE * (step + 0.4), text, fill=PEOPLE, size=_WORDS)
        _reference(sheet, group, at, y + height - ROW * 0.48, bottom, 0.0 if narrow else width)
        y += height
    if rule is not None:
        sheet.line(at(rule), top, at(rule), bottom, QUIET, 1, "4 3")
    for place, row in enumerate(rows):
        _row(sheet, row, at, top + ROW * (place + 0.5), left, crossed=rule is not None or bool(groups))
    return sheet.svg()


def _row(sheet: Canvas, row: Strip, at: Callable[[float], float], y: float, left: float, *, crossed: bool) -> None:
    """Draw a row; ``crossed`` says that upright lines may run through its number."""
    lines = wrapped(row.label, left - 14, FONT)
    if len(lines) > _MOST_LINES:
        lines = [lines[0], clipped(" ".join(lines[1:]), left - 14)]
    for step, line in enumerate(lines):
        height = 0.0 if len(lines) == 1 else (step - 0.5) * _TIGHT
        sheet.words(left - 10, y + height, line, anchor="end", fill=INK, size=FONT if len(lines) == 1 else _WORDS)
    if row.value is None:
        sheet.words(left + 4, y, row.note or "no value", fill=QUIET)
        return
    if row.low is not None and row.high is not None:
        ink = ACCENT if row.provider is None else lab_colour(row.provider)
        sheet.line(at(row.low), y, at(row.high), y, ink, 2)
    label = f"{row.label}: {row.text}{', ' + row.note if row.note else ''}, {row.status}"
    if row.provider is None:
        sheet.estimate(at(row.value), y, label=label)
    else:
        sheet.model(
            at(row.value),
            y,
            provider=row.provider,
            status=row.status,
            label=label,
            href=row.href,
            subject=row.subject,
        )
    end = max(at(row.value), at(row.high) if row.high is not None else 0.0)
    sheet.words(end + 10, y, row.text, fill=QUIET, halo=crossed)


def _reference(
    sheet: Canvas, group: Reference, at: Callable[[float], float], y: float, bottom: float, width: float
) -> None:
    """Draw a group as a line with its words beside it, or without them where no width is given for them."""
    x = at(group.value)
    if group.low is not None and group.high is not None:
        sheet.band(at(group.low), y + 8, at(group.high) - at(group.low), bottom - y - 8, PEOPLE, 0.08)
    sheet.line(x, y + 6, x, bottom, PEOPLE, 1.25, "" if group.status == "measured" else "4 3")
    sheet.people(x, y, status=group.status, label=group.label, href=group.href, subject=group.subject)
    if not width:
        return
    room_right, room_left = width - x - 14, x - 14
    right = room_right >= min(room_left, text_width(group.label) * FONT / _WORDS)
    shown = clipped(group.label, room_right if right else room_left)
    sheet.words(x + 9 if right else x - 9, y, shown, fill=PEOPLE, anchor="start" if right else "end", size=_WORDS)


def _names_room(rows: Sequence[Strip]) -> float:
    """Return the room that the longest name needs, within bounds."""
    return min(max(text_width(row.label, FONT) for row in rows) + 18, _LABELS_NARROW) if rows else _LABELS_NARROW


def _ends(
    rows: Sequence[Strip], references: Sequence[Reference], rule: float | None, *, log: bool, least: float | None
) -> tuple[float, float]:
    values = [v for row in rows for v in (row.value, row.low, row.high) if v is not None]
    values += [v for group in references for v in (group.value, group.low, group.high) if v is not None]
    values += [] if rule is None else [rule]
    if log:
        known = [v for v in values if v > 0 and isfinite(v)] or [1.0]
        pad = (max(known) / min(known)) ** 0.05 or 1.1
        return min(known) / pad, max(known) * pad
    known = [v for v in values if isfinite(v)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    pad = 0.05 * ((high - low) or abs(high) or 1.0)
    return (low - pad if least is None else max(low - pad, least)), high + pad
