"""Two pictures of one benchmark: the ladder from score to IQ with models and people on it, and its history."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from datetime import date
from typing import NamedTuple

from markupsafe import Markup

from mensura.charts.canvas import (
    ACCENT,
    GRID,
    PEOPLE,
    QUIET,
    RADIUS,
    Canvas,
    Drawing,
    round_ticks,
    scale,
    wrapped,
)
from mensura.charts.forest import Reference
from mensura.charts.labels import Box, place, text_width

_LEFT, _TOP, _FOOT, _RIGHT = 46.0, 26.0, 44.0, 16.0
_HEIGHT = 300.0
_NAMED = 12
"""Models named that set a record, the newest; more names would hide marks."""
_BAR = 12.0
"""Room for the mark of a group at the start of its line, pixels."""


class ModelSpot(NamedTuple):
    """A model on a picture: name, provider, place, status, and where it leads."""

    name: str
    provider: str
    subject: str
    href: str
    x: float
    y: float
    status: str
    text: str


class _Frame(NamedTuple):
    sheet: Canvas
    across: Callable[[float], float]
    up: Callable[[float], float]
    bottom: float


def draw_ladder(
    points: Sequence[tuple[float, float]],
    models: Sequence[ModelSpot],
    people: Sequence[Reference],
    *,
    tick: Callable[[float], str],
    description: str,
) -> Drawing:
    """Draw IQ (upright) against score (across): the ladder's points and line, models and groups of people on it."""

    def sheet(width: float) -> Markup:
        scores = [x for x, _ in points] + [spot.x for spot in models] + [group.value for group in people]
        frame = _frame(width, (min(scores), max(scores)), (65.0, 165.0), tick, lambda v: f"{v:.0f}", description)
        frame.sheet.words(4, 10, "IQ by the ladder", fill=QUIET, size=11)
        frame.sheet.words(width - 4, frame.sheet.height - 8, "score", fill=QUIET, anchor="end", size=11)
        for group in people:
            x = frame.across(group.value)
            frame.sheet.line(x, _TOP, x, frame.bottom, PEOPLE, 1.25, "" if group.status == "measured" else "4 3")
            frame.sheet.people(
                x, _TOP + 4, status=group.status, label=group.label, href=group.href, subject=group.subject
            )
        frame.sheet.path([(frame.across(x), frame.up(y)) for x, y in points], ACCENT)
        for x, y in points:
            frame.sheet.dot(frame.across(x), frame.up(y), ACCENT)
        _spots(frame, models)
        return frame.sheet.svg()

    return Drawing.of(sheet, wide=700.0)


def draw_history(
    models: Sequence[ModelSpot], people: Sequence[Reference], *, tick: Callable[[float], str], description: str
) -> Drawing:
    """Draw scores by release date, with the record as a line and people as levels."""

    def sheet(width: float) -> Markup:
        days = [spot.x for spot in models]
        values = [spot.y for spot in models] + [group.value for group in people]
        frame = _frame(
            width, (min(days), max(days)), (min(values), max(values)), _month, tick, description, _month_starts
        )
        for group in people:
            y = frame.up(group.value)
            frame.sheet.line(_LEFT, y, width - _RIGHT, y, PEOPLE, 1.25, "" if group.status == "measured" else "4 3")
        records: list[int] = []
        for index in sorted(range(len(models)), key=lambda one: (models[one].x, -models[one].y)):
            if not records or models[index].y > models[records[-1]].y:
                records.append(index)
        steps = _steps(frame, [models[index] for index in records])
        frame.sheet.path(steps, ACCENT, 1.25)
        _spots(frame, models)
        taken = [_words_box(frame, group, width) for group in people]
        _names(
            frame,
            models,
            records[: -_NAMED - 1 : -1],
            [*taken, *itertools.starmap(_line_box, itertools.pairwise(steps))],
        )
        for group in people:  # over the models, which would hide their words
            y = frame.up(group.value)
            for step, text in enumerate(reversed(_group_lines(group, width))):
                frame.sheet.words(_LEFT + _BAR, y - 8 - 13 * step, text, fill=PEOPLE, size=11, halo=True)
            frame.sheet.people(
                _LEFT + _BAR / 2, y, status=group.status, label=group.label, href=group.href, subject=group.subject
            )
        return frame.sheet.svg()

    return Drawing.of(sheet)


def _steps(frame: _Frame, records: Sequence[ModelSpot]) -> list[tuple[float, float]]:
    """Return the line of records: level until the next one, then straight up."""
    at = [(frame.across(spot.x), frame.up(spot.y)) for spot in records]
    risen = (((later[0], earlier[1]), later) for earlier, later in itertools.pairwise(at))
    return [at[0], *itertools.chain.from_iterable(risen)]


def _group_lines(group: Reference, width: float) -> list[str]:
    return wrapped(group.label, width - _LEFT - _RIGHT - _BAR, 11)


def _words_box(frame: _Frame, group: Reference, width: float) -> Box:
    """Return the room that the name of a group takes above its line."""
    lines, y = _group_lines(group, width), frame.up(group.value)
    return (_LEFT, y - 2 - 13 * len(lines), _LEFT + _BAR + max(map(text_width, lines)), y + 2)


def _line_box(start: tuple[float, float], end: tuple[float, float]) -> Box:
    """Return the room of a line, level or upright."""
    (left, right), (top, bottom) = (sorted(pair) for pair in zip(start, end, strict=True))
    return (left, top - 1, right, bottom + 1)


def _names(frame: _Frame, models: Sequence[ModelSpot], wanted: Sequence[int], blocked: Sequence[Box]) -> None:
    """Name the models that set a record, newest first, as far as there is room."""
    xs, ys = [frame.across(spot.x) for spot in models], [frame.up(spot.y) for spot in models]
    axis = (0.0, 0.0, _LEFT, _HEIGHT)
    placed = place(
        xs,
        ys,
        [spot.name for spot in models],
        wanted,
        width=frame.sheet.width,
        height=frame.bottom,
        radius=RADIUS + 1,
        blocked=[axis, *blocked],
    )
    for index, spot in placed.items():
        x, y = xs[index], ys[index]
        if spot.leader:
            frame.sheet.line(*spot.line(x, y), QUIET, 0.75)
        anchor = {"left": "start", "center": "middle", "right": "end"}[spot.align]
        frame.sheet.words(x + spot.dx, y + spot.dy, models[index].name, anchor=anchor, size=11, halo=True)


def _month(day: float) -> str:
    return date.fromordinal(int(day)).strftime("%b %Y")


def _month_starts(low: float, high: float, most: int) -> list[float]:
    """Return the first days of months inside a span of days, at most so many: of all months, quarters, years."""
    first, last = date.fromordinal(math.ceil(low)), date.fromordinal(int(high))
    months = range(12 * first.year + first.month - (first.day == 1), 12 * last.year + last.month)
    ticks: list[int] = []
    for step in (1, 3, 6, 12, 24, 60, 120, 600):
        ticks = [month for month in months if month % step == 0]
        if len(ticks) <= most:
            break
    return [float(date(month // 12, month % 12 + 1, 1).toordinal()) for month in ticks]


def _spots(frame: _Frame, models: Sequence[ModelSpot]) -> None:
    for spot in models:
        frame.sheet.model(
            frame.across(spot.x),
            frame.up(spot.y),
            provider=spot.provider,
            status=spot.status,
            label=f"{spot.name}: {spot.text}",
            href=spot.href,
            subject=spot.subject,
        )


def _frame(
    width: float,
    across: tuple[float, float],
    up: tuple[float, float],
    x_tick: Callable[[float], str],
    y_tick: Callable[[float], str],
    description: str,
    x_ticks: Callable[[float, float, int], list[float]] = round_ticks,
) -> _Frame:
    bottom = _HEIGHT - _FOOT
    sheet = Canvas(width, _HEIGHT, description)
    (x0, x1), (y0, y1) = _padded(across), _padded(up)
    to_x, to_y = scale(x0, x1, _LEFT, width - _RIGHT), scale(y0, y1, bottom, _TOP)
    for value in round_ticks(y0, y1, 5):
        sheet.line(_LEFT, to_y(value), width - _RIGHT, to_y(value), GRID)
        sheet.words(_LEFT - 6, to_y(value), y_tick(value), fill=QUIET, anchor="end", size=11)
    for value in x_ticks(x0, x1, 3 if width < 500 else 6):
        sheet.line(to_x(value), bottom, to_x(value), bottom + 4, QUIET)
        sheet.words(to_x(value), bottom + 14, x_tick(value), fill=QUIET, anchor="middle", size=11)
    return _Frame(sheet, to_x, to_y, bottom)


def _padded(ends: tuple[float, float]) -> tuple[float, float]:
    pad = 0.05 * ((ends[1] - ends[0]) or abs(ends[1]) or 1.0)
    return ends[0] - pad, ends[1] + pad
