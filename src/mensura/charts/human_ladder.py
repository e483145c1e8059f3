"""The human ladder: dimensions as rows, groups of people as anchors, models as dots, placed among all people."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from mensura.charts.canvas import (
    FONT,
    GRID,
    INK,
    PEOPLE,
    QUIET,
    Canvas,
    Drawing,
    clipped,
    lab_colour,
    scale,
)
from mensura.charts.labels import text_width
from mensura.charts.theme import LABS

FARTHEST = 1e6
"""Rarest place drawn to scale."""
_TICKS = ((2.0, "median"), (10.0, "top 10%"), (100.0, "top 1%"), (1e3, "1 in 1,000"), (1e4, "1 in 10,000"))
_TICKS_FAR = ((1e5, "1 in 100,000"), (1e6, "1 in a million"))
_LINE, _HEADING = 19.0, 34.0


@dataclass(frozen=True)
class LadderPlace:
    """A subject in a dimension: as rare as 1 in so many people, with its interval; people or a model."""

    subject: str
    dimension: str
    one_in: float
    low: float | None
    high: float | None
    people: bool
    provider: str | None
    status: str
    label: str
    test: str
    href: str = ""
    card: str = ""

    @property
    def named(self) -> str:
        """Who it is, with the test they took."""
        return f"{self.subject} ({self.test})"


def draw_human_ladder(dimensions: Sequence[str], places: Sequence[LadderPlace], *, description: str) -> Drawing:
    """Draw each dimension as a block of rows, one per subject; the axis is rarity, with the world's percentiles."""
    return Drawing.of(lambda width: _ladder(dimensions, places, description, width))


def _ladder(dimensions: Sequence[str], places: Sequence[LadderPlace], description: str, width: float) -> Markup:
    narrow = width < 500
    left = 176.0 if narrow else 290.0
    lines = [sum(_lines(p, left) for p in places if p.dimension == name) for name in dimensions]
    heights = [max(1, count) * _LINE + _HEADING for count in lines]
    top = 30.0
    sheet = Canvas(width, top + sum(heights) + 20, description)
    far = max([p.high or p.one_in for p in places] + [p.one_in for p in places] + [100.0])
    end = min(max(far * 1.3, 200.0), FARTHEST)
    at = scale(0.0, math.log10(end), left, width - (20 if narrow else 46))
    for rarity, name in (*_TICKS, *_TICKS_FAR):
        if rarity <= end and not (narrow and rarity in (10.0, 1e3, 1e5, 1e6)):
            x = at(math.log10(rarity))
            sheet.line(
                x, top - 8, x, sheet.height - 16, QUIET if rarity == 2 else GRID, 1, "4 3" if rarity == 2 else ""
            )
            sheet.words(x, 12, name, fill=QUIET, anchor="middle", size=11)
    y = top
    for name, height in zip(dimensions, heights, strict=True):
        sheet.line(0, y, width, y, GRID)
        own = sorted((p for p in places if p.dimension == name), key=lambda p: p.one_in)
        sheet.words(4, y + 14, clipped(name, left - 8 if not narrow else width - 8), weight="600")
        if not own:
            sheet.words(left, y + height / 2, "nobody placed: no usable line", fill=QUIET, size=11)
        down = y + 26
        for place in own:
            _place(sheet, place, at, down, left)
            down += _LINE * _lines(place, left)
        y += height
    return sheet.svg()


def _lines(place: LadderPlace, left: float) -> int:
    """Return how many lines a place takes: a name that does not fit beside its mark stands above it."""
    return 1 if text_width(place.named, FONT - 1) <= left - 14 else 2


def _place(sheet: Canvas, place: LadderPlace, at: Callable[[float], float], top: float, left: float) -> None:
    def x(value: float) -> float:
        return float(at(math.log10(min(max(value, 1.0), FARTHEST))))

    ink = PEOPLE if place.people else lab_colour(place.provider)
    beside = _lines(place, left) == 1
    y = top + _LINE * (0.5 if beside else 1.5)
    sheet.words(
        left - 10 if beside else 4,
        top + _LINE * 0.5,
        place.named if beside else _with_test(place, sheet.width - 8),
        anchor="end" if beside else "start",
        fill=PEOPLE if place.people else INK,
        size=FONT - 1,
    )
    if place.low is not None and place.high is not None:
        sheet.line(x(place.low), y, x(place.high), y, ink, 2)
    if place.people:
        sheet.people(x(place.one_in), y, status=place.status, label=place.label, href=place.href, subject=place.card)
    else:
        sheet.model(x(place.one_in), y, provider=place.provider, status=place.status, label=place.label)


def _with_test(place: LadderPlace, room: float) -> str:
    """Return who it is and on which test; where room is short the name is cut, never the test."""
    tail = f" ({place.test})"
    kept = room - text_width(tail, FONT - 1)
    return clipped(place.subject, kept * FONT / (FONT - 1)) + tail


def draw_radar(dimensions: Sequence[str], places: Sequence[LadderPlace], *, description: str) -> Drawing:
    """Draw the same places as a radar: one ray per dimension, farther out is rarer; for those who prefer it."""
    return Drawing.of(lambda width: _radar(dimensions, places, description, width), wide=640.0)


def _radar(dimensions: Sequence[str], places: Sequence[LadderPlace], description: str, width: float) -> Markup:
    size = min(width, 560.0)
    centre, radius = (width / 2, size / 2), size / 2 - (62 if width < 500 else 90)
    subjects = list(dict.fromkeys(p.named for p in places))
    sheet = Canvas(width, size + 24 * math.ceil(len(subjects) / (1 if width < 500 else 2)) + 10, description)
    end = math.log10(min(max([p.one_in for p in places] + [100.0]) * 1.3, FARTHEST))

    def spot(step: int, value: float) -> tuple[float, float]:
        angle = 2 * math.pi * step / len(dimensions) - math.pi / 2
        reach = radius * min(max(math.log10(max(value, 1.0)) / end, 0.0), 1.0)
        return centre[0] + reach * math.cos(angle), centre[1] + reach * math.sin(angle)

    for rarity in (2.0, 10.0, 100.0, 1e3, 1e4):
        ring = [spot(step, rarity) for step in range(len(dimensions))]
        if math.log10(rarity) <= end:
            sheet.path([*ring, *ring[:1]], QUIET if rarity == 2 else GRID, 1.0)
    for step, name in enumerate(dimensions):
        x, y = spot(step, 10**end)
        sheet.line(*centre, x, y, GRID)
        side = "middle" if abs(x - centre[0]) < 12 else "start" if x > centre[0] else "end"
        dx = 0 if side == "middle" else 6 if side == "start" else -6
        room = max(60.0, (width - x if side == "start" else x) - 10)
        sheet.words(
            x + dx,
            y + (-10 if y < centre[1] and side == "middle" else 10 if side == "middle" else 0),
            clipped(name, room),
            anchor=side,
            fill=QUIET,
            size=11,
        )
    models = [name for name in subjects if not next(p for p in places if p.named == name).people]
    looks = {name: LABS[at % len(LABS)] for at, name in enumerate(models)}  # makers repeat, so each model has a look
    for row, subject in enumerate(subjects):
        own = {p.dimension: p for p in places if p.named == subject}
        first = next(iter(own.values()))
        ink = PEOPLE if first.people else lab_colour(looks[subject])
        found = [(step, own[name]) for step, name in enumerate(dimensions) if name in own]
        corners = [spot(step, place.one_in) for step, place in found]
        if len(corners) == len(dimensions):
            sheet.path([*corners, corners[0]], ink, 1.5)
        for (_, place), (x, y) in zip(found, corners, strict=True):
            if place.people:
                sheet.people(x, y, status=place.status, label=place.label)
            else:
                sheet.model(x, y, provider=looks[subject], status=place.status, label=place.label)
        columns = 1 if width < 500 else 2
        x, y = 20 + (row % columns) * width / 2, size + 8 + 24 * (row // columns)
        if first.people:
            sheet.people(x, y, status=first.status, label=subject)
        else:
            sheet.model(x, y, provider=looks[subject], status=first.status, label=subject)
        sheet.words(x + 14, y, clipped(subject, width / columns - 40), size=FONT - 1)
    return sheet.svg()
