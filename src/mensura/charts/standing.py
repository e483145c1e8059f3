"""The pictures of one model's page: among people, in seven kinds of work, on tests that people took, and its price."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

import numpy as np
from markupsafe import Markup

from mensura.charts.axes import Axis
from mensura.charts.bell import QUANTILES, crowd_above
from mensura.charts.canvas import (
    GRID,
    INK,
    LINE,
    PEOPLE,
    PEOPLE_DOT,
    PEOPLE_STRONG,
    QUIET,
    SOFT,
    SURFACE,
    Canvas,
    Place,
    lab_colour,
    scale,
    shape_of,
)
from mensura.charts.labels import clipped, text_width, wrapped
from mensura.charts.plot import Mark, Plot, Reference
from mensura.charts.render import Drawing
from mensura.charts.theme import lab_of
from mensura.core.arrays import Floats

WIDE, HALF = 1200.0, 574.0
"""Widths on a screen: over the whole page, and beside another picture."""
_TICKS = (70, 85, 100, 115, 130, 145)
_NARROW = 450.0


@dataclass(frozen=True)
class Stand:
    """A value of one model with its 90% interval; ``full``: mostly measured."""

    name: str
    provider: str
    value: float
    low: float
    high: float
    full: bool = True


@dataclass(frozen=True)
class Kind:
    """One kind of work: the model's value there, and those of other leading models by provider."""

    own: Stand
    others: Sequence[tuple[str, float]]


@dataclass(frozen=True)
class Duel:
    """People and the model on one test, in percent; ``measured`` is false where people were judged."""

    group: str
    test: str
    people: float
    own: float
    chance: str
    verdict: str
    measured: bool


def draw_among(model: Stand, others: Sequence[float], description: str) -> Drawing:
    """Draw 1,000 people as dots, the model as an upright line among them, and the other models as a rug."""
    return Drawing(lambda width: _among(width, model, others, description), description, screen=WIDE)


def _among(width: float, model: Stand, others: Sequence[float], description: str) -> Markup:
    pitch = 9.2 if width > 1000 else 6.0 if width > _NARROW else 3.9
    low = min(55.0, model.low - 3, min(others, default=100.0) - 3)
    high = max(152.0, model.high + 3)
    at = scale(low, high, 0.0, width)
    columns = _people_columns(low, high, width, pitch)
    ground = max(map(len, columns.values())) * pitch + 24
    sheet = Canvas(width, ground + 66, description)
    for ink, least in ((PEOPLE_DOT, 0.0), (PEOPLE_STRONG, round(model.value))):
        _crowd(sheet, columns, pitch, ground, ink, least)
    sheet.words(0, 10, "1,000 people", fill=PEOPLE, weight="600", size=14)
    sheet.words(0, 27, "spread as IQ is defined", fill=PEOPLE)
    sheet.line(0, ground + 5, width, ground + 5, INK, 1.5)
    for iq in _TICKS:
        sheet.words(at(iq), ground + 19, str(iq), weight="600", size=13, anchor="middle")
    _flag(sheet, model, at(model.value), ground, pitch)
    rug = ground + 45
    ticks = _thinned(width * (np.array(others) - low) / (high - low))
    steps = "".join(f"M{x:.1f} {rug - 7:.0f}v14" for x in ticks)
    sheet.parts.append(f'<path d="{steps}" stroke="{QUIET}" stroke-opacity=".55" fill="none"/>')
    room = min(ticks, default=width) - 8
    if text_width(f"{len(others)} other models") < room:
        sheet.words(0, rug, f"{len(others)} other models", fill=SOFT)
    _mark(sheet, model, at(model.value), rug, at)
    return sheet.svg()


def _thinned(places: Floats) -> list[float]:
    """Return at most two places to a pixel: thousands of models need no more."""
    _, first = np.unique(np.round(2 * places), return_index=True)
    kept: list[float] = places[np.sort(first)].tolist()
    return kept


@cache
def _people_columns(low: float, high: float, width: float, pitch: float) -> dict[int, list[float]]:
    """Return the IQs of the people in each column of dots, lowest first; most models share one scale."""
    at = scale(low, high, 0.0, width)
    columns: dict[int, list[float]] = {}
    for iq in QUANTILES:
        columns.setdefault(int(at(iq) / pitch), []).append(iq)
    return columns


def _crowd(sheet: Canvas, columns: dict[int, list[float]], pitch: float, ground: float, ink: str, least: float) -> None:
    """Draw the people at or above an IQ: each column is a line of round dashes without length."""
    steps = []
    for column, own in columns.items():
        skipped = bisect_left(own, least)
        if skipped < len(own):
            x, y = (column + 0.5) * pitch, ground - (skipped + 0.6) * pitch
            steps.append(f"M{x:.1f} {y:.1f}v{-(len(own) - 1 - skipped) * pitch - 0.01:.2f}")
    sheet.parts.append(
        f'<path d="{"".join(steps)}" stroke="{ink}" stroke-width="{0.74 * pitch:.1f}" stroke-linecap="round" '
        f'stroke-dasharray="0 {pitch}" fill="none"/>'
    )


def _flag(sheet: Canvas, model: Stand, x: float, ground: float, pitch: float) -> None:
    """Write the model's name and what its place means, on the side with more room."""
    top = ground - 10 * pitch - 40
    narrow = sheet.width <= _NARROW
    people = f"{crowd_above(round(model.value))} of 1,000{'' if narrow else ' people'} at or above"
    lines = (f"{model.name}, IQ {model.value:.0f}", f"90% interval {model.low:.0f} to {model.high:.0f}", people)
    size = max(text_width(lines[0], 15), text_width(people, 13))
    if narrow:  # above the people, at the right edge
        x_text, anchor, top = sheet.width, "end", 4.0
    else:
        x_text, anchor = (x - 9, "end") if x + size + 10 > sheet.width else (x + 9, "start")
    sheet.line(x, 52.0 if narrow else max(top, 2.0), x, ground + 5, INK, 1.75)
    for step, (text, fill) in enumerate(zip(lines, (INK, SOFT, PEOPLE), strict=True)):
        weight, letters = ("600", 15) if step == 0 else ("600" if step == 2 else "", 13)
        sheet.words(
            x_text,
            max(top, 2.0) + 6 + 18 * step,
            text,
            fill=fill,
            weight=weight,
            size=letters,
            anchor=anchor,
            halo=True,
        )


def _mark(sheet: Canvas, one: Stand, x: float, y: float, at: Place, radius: float = 7.0) -> None:
    ink = lab_colour(one.provider)
    sheet.line(at(one.low), y, at(one.high), y, ink, 4, opacity=0.6, round_ends=True)
    sheet.sign(x, y, one.provider, "measured" if one.full else "estimated", radius)


def draw_kinds(kinds: Sequence[Kind], description: str) -> Drawing:
    """Draw a strip per kind of work: the model joined by a line, other leading models grey behind it."""
    return Drawing(lambda width: _kinds(width, kinds, description), description, screen=HALF)


def _kinds(width: float, kinds: Sequence[Kind], description: str) -> Markup:
    row, left, right = 50.0, 190.0 if width > _NARROW else 116.0, 52.0
    sheet = Canvas(width, 30 + row * len(kinds) + 22, description)
    known = [end for one in kinds for end in (one.own.low, one.own.high, *(value for _, value in one.others))]
    at = scale(
        min([88.0, *(value - 2 for value in known)]), max([148.0, *(value + 2 for value in known)]), left, width - right
    )
    end = 30 + row * len(kinds)
    for iq in _TICKS:
        if left <= at(iq) <= width - right and at(iq) not in (left, width - right):
            sheet.words(at(iq), 10, str(iq), weight="600", fill=PEOPLE if iq == 100 else SOFT, anchor="middle")
            sheet.line(at(iq), 20, at(iq), end, PEOPLE_STRONG if iq == 100 else GRID, 1.25, "2 3" if iq == 100 else "")
    sheet.words(at(100), end + 12, "average person", fill=PEOPLE, anchor="middle")
    levels = [30 + row * (place + 0.5) for place in range(len(kinds))]
    for one, y in zip(kinds, levels, strict=True):
        name = one.own.name if width > _NARROW else one.own.name.removesuffix(" Reasoning").removesuffix(" Engineering")
        sheet.words(0, y, clipped(name, left - 8), size=13)
        _draw_grey(sheet, [(provider, at(value), y) for provider, value in one.others])
    path = [(at(one.own.value), y) for one, y in zip(kinds, levels, strict=True)]
    sheet.path(path, lab_colour(kinds[0].own.provider), 2, opacity=0.55)
    ends = {max(one.own.value for one in kinds), min(one.own.value for one in kinds)}
    for one, y in zip(kinds, levels, strict=True):
        _mark(sheet, one.own, at(one.own.value), y, at, 6.5)
        size, weight = (19, "700") if one.own.value in ends else (15, "600")
        sheet.words(width, y, f"{one.own.value:.0f}", size=size, weight=weight, anchor="end")
    return sheet.svg()


def _draw_grey(sheet: Canvas, marks: Sequence[tuple[str | None, float, float]]) -> None:
    """Draw the marks of other models, which say nothing."""
    paths = "".join(
        f'<path transform="translate({x:.1f},{y:.1f})" d="{shape_of(lab_of(provider), 3.6)}"/>'
        for provider, x, y in marks
    )
    sheet.parts.append(f'<g fill="{SURFACE}" stroke="{QUIET}" stroke-opacity=".6">{paths}</g>')


def draw_duels(duels: Sequence[Duel], provider: str, description: str) -> Drawing:
    """Draw people (bars) and the model (mark) on the tests that both took, from 0 to 100 percent."""
    return Drawing(lambda width: _duels(width, duels, provider, description), description, screen=HALF)


def _duels(width: float, duels: Sequence[Duel], provider: str, description: str) -> Markup:
    narrow = width <= _NARROW
    left, right = (6.0, 10.0) if narrow else (236.0, 106.0)
    named = [
        wrapped(f"{one.test}: {one.group}" if narrow else one.group, width - 76 if narrow else left - 20, 13)
        for one in duels
    ]
    heights = [(33.0 if narrow else 28.0) + 15 * len(lines) for lines in named]
    sheet = Canvas(width, 28 + sum(heights), description)
    at = scale(0, 100, left, width - right)
    for share in (0, 25, 50, 75, 100):
        text, anchor = ("100%", "end" if narrow else "middle") if share == 100 else (str(share), "middle")
        sheet.words(at(share), 10, text, fill=SOFT, weight="600", anchor=anchor)
        sheet.line(at(share), 20, at(share), sheet.height, GRID)
    for one, lines, height, y in zip(duels, named, heights, accumulate(heights, initial=28.0), strict=False):
        level = y + (17 + 15 * len(lines) if narrow else height / 2)
        top = y + 12 if narrow else level - 7.5 * len(lines) - 1.5
        for step, text in enumerate(lines):
            sheet.words(0, top + 15 * step, text, weight="600", size=13, halo=narrow)
        if narrow:
            sheet.words(width, top, one.chance, weight="600", size=13, anchor="end", halo=True)
        else:
            sheet.words(0, top + 15 * len(lines) + 2, clipped(one.test, left - 20), fill=SOFT)
            sheet.words(width, level - 9, one.chance, weight="600", size=13, anchor="end")
            sheet.words(width, level + 8, one.verdict, fill=SOFT, anchor="end")
        sheet.line(at(one.people), level, at(one.own), level, LINE, 3)
        with sheet.marked(f"{one.group}, {one.test}"):
            sheet.bar(at(one.people), level, "measured" if one.measured else "judged")
        sheet.sign(at(one.own), level, provider)
    return sheet.svg()


def draw_price(own: Mark, others: Sequence[Mark], tick: Callable[[float], str], description: str) -> Drawing:
    """Draw IQ against cost on a logarithmic axis, the model named among the others."""
    marks = [own, *others]
    x = Axis.around("", [one.x for one in marks], tick, log=True)
    y = Axis.around("IQ", [one.y for one in marks], pad=0.12)

    def draw(width: float) -> Markup:
        plot = Plot.on_sheet(width, x, y, description, 280.0)
        _draw_grey(plot.sheet, [(one.provider, plot.x(one.x), plot.y(one.y)) for one in others])
        plot.levels([Reference("the average person", 100.0)] * (y.low < 100 < y.high), marks)
        plot.models([own])
        return plot.sheet.svg()

    return Drawing(draw, description, screen=HALF)
