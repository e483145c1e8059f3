"""The pictures of one model's page: among people, in seven kinds of work, on tests that people took, and its price."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from math import exp

import numpy as np
from markupsafe import Markup

from mensura.charts.bell_subjects import QUANTILES, crowd_above
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
    Drawing,
    clipped,
    lab_colour,
    round_ticks,
    scale,
    shape_of,
    wrapped,
)
from mensura.charts.labels import text_width
from mensura.charts.theme import lab_of
from mensura.core.arrays import Floats

WIDE, HALF = 1200.0, 574.0
"""Widths on a screen: over the whole page, and beside another picture."""
_TICKS = (70, 85, 100, 115, 130, 145)
_NARROW = 450.0
_PEAK = 210.0
"""Height of the curve of people in a shared picture, pixels."""
Place = Callable[[float], float]


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
    return Drawing.of(lambda width: _among(width, model, others, description), WIDE)


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


def draw_curve(sheet: Canvas, ends: tuple[float, float], ground: float, marks: Sequence[tuple[str, float]]) -> None:
    """Draw all people as one curve without words, darker above the highest model, and models by provider and IQ."""
    low, high = 50.0, max([155.0, *(iq + 3 for _, iq in marks)])
    at = scale(low, high, *ends)
    best = max(iq for _, iq in marks)
    for ink, least in ((PEOPLE_DOT, low), (PEOPLE_STRONG, best)):
        steps = [least + (high - least) * step / 90 for step in range(91)]
        line = "L".join(f"{at(iq):.1f},{ground - _PEAK * exp(-(((iq - 100) / 15) ** 2) / 2):.1f}" for iq in steps)
        sheet.parts.append(f'<path d="M{at(least):.1f},{ground}L{line}L{at(high):.1f},{ground}Z" fill="{ink}"/>')
    sheet.line(ends[0], ground, ends[1], ground, INK, 2)
    radius = 13.0 if len(marks) == 1 else 8.0
    for provider, iq in marks:
        sheet.parts.append(
            f'<path transform="translate({at(iq):.1f},{ground:.1f})" d="{shape_of(lab_of(provider), radius)}" '
            f'fill="{lab_colour(provider)}" stroke="{SURFACE}" stroke-width="2"/>'
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
    fill = ink if one.full else SURFACE
    sheet.parts.append(
        f'<path d="M{at(one.low):.1f} {y:.1f}H{at(one.high):.1f}" stroke="{ink}" stroke-width="4" '
        f'stroke-linecap="round" stroke-opacity=".6"/><path transform="translate({x:.1f},{y:.1f})" '
        f'd="{shape_of(lab_of(one.provider), radius)}" fill="{fill}" stroke="{ink}" stroke-width="2"/>'
    )


def draw_kinds(kinds: Sequence[Kind], description: str) -> Drawing:
    """Draw a strip per kind of work: the model joined by a line, other leading models grey behind it."""
    return Drawing.of(lambda width: _kinds(width, kinds, description), HALF)


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
        marks = "".join(
            f'<path transform="translate({at(value):.1f},{y:.1f})" d="{shape_of(lab_of(provider), 3.6)}"/>'
            for provider, value in one.others
        )
        sheet.parts.append(f'<g fill="{SURFACE}" stroke="{QUIET}" stroke-opacity=".6">{marks}</g>')
    ink = lab_colour(kinds[0].own.provider)
    sheet.parts.append('<g opacity=".55">')
    sheet.path([(at(one.own.value), y) for one, y in zip(kinds, levels, strict=True)], ink, 2)
    sheet.parts.append("</g>")
    ends = {max(one.own.value for one in kinds), min(one.own.value for one in kinds)}
    for one, y in zip(kinds, levels, strict=True):
        _mark(sheet, one.own, at(one.own.value), y, at, 6.5)
        size, weight = (19, "700") if one.own.value in ends else (15, "600")
        sheet.words(width, y, f"{one.own.value:.0f}", size=size, weight=weight, anchor="end")
    return sheet.svg()


def draw_duels(duels: Sequence[Duel], provider: str, description: str) -> Drawing:
    """Draw people (bars) and the model (mark) on the tests that both took, from 0 to 100 percent."""
    return Drawing.of(lambda width: _duels(width, duels, provider, description), HALF)


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
    ink = lab_colour(provider)
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
        sheet.people(
            at(one.people), level, status="measured" if one.measured else "judged", label=f"{one.group}, {one.test}"
        )
        sheet.parts.append(
            f'<path transform="translate({at(one.own):.1f},{level:.1f})" d="{shape_of(lab_of(provider), 5.5)}" '
            f'fill="{ink}"/>'
        )
    return sheet.svg()


def draw_price(
    own: tuple[str, str, float, float], others: Sequence[tuple[str, float, float, bool]], description: str
) -> Drawing:
    """Draw IQ against cost on a logarithmic axis, the model named.

    ``own``: name, provider, cost, IQ; ``others``: provider, cost, IQ and whether it is mostly measured.
    """
    return Drawing.of(lambda width: _price(width, own, others, description), HALF)


def _price(
    width: float, own: tuple[str, str, float, float], others: Sequence[tuple[str, float, float, bool]], description: str
) -> Markup:
    name, provider, cost, iq = own
    costs, iqs = [cost, *(one[1] for one in others)], [iq, *(one[2] for one in others)]
    sheet = Canvas(width, 280, description)
    at = scale(min(costs) / 1.4, max(costs) * 1.4, 34, width - 4, log=True)
    up = scale(min(iqs) - 6, max(iqs) + 10, 240, 8)
    for value in round_ticks(min(iqs) - 6, max(iqs) + 10, 5):
        sheet.words(0, up(value), f"{value:.0f}", fill=PEOPLE if value == 100 else SOFT)
        sheet.line(
            34, up(value), width, up(value), PEOPLE_STRONG if value == 100 else GRID, 1, "2 3" if value == 100 else ""
        )
    for value in round_ticks(min(costs), max(costs), 5, log=True):
        sheet.words(at(value), 260, f"${value:,.2f}" if value < 1 else f"${value:,.0f}", fill=SOFT, anchor="middle")
    marks = "".join(
        f'<path transform="translate({at(x):.1f},{up(y):.1f})" d="{shape_of(lab_of(maker), 4.0)}" '
        f'fill="{QUIET if full else SURFACE}"/>'
        for maker, x, y, full in others
    )
    sheet.parts.append(f'<g stroke="{QUIET}" opacity=".6">{marks}</g>')
    ink, x = lab_colour(provider), at(cost)
    sheet.parts.append(
        f'<path transform="translate({x:.1f},{up(iq):.1f})" d="{shape_of(lab_of(provider), 7.0)}" fill="{ink}"/>'
    )
    anchor = "end" if x > width / 2 else "start"
    sheet.words(
        x + (-12 if anchor == "end" else 12),
        up(iq) - 10,
        f"{name} ${cost:,.2f}",
        weight="600",
        size=13,
        anchor=anchor,
        halo=True,
    )
    return sheet.svg()
