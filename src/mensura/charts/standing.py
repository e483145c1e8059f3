"""Models among people: one model's page (the bell, kinds of work, tests, price) and the jagged view of leaders."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate

import numpy as np
from markupsafe import Markup, escape

from mensura.charts.bell import draw_crowd, people_columns
from mensura.charts.canvas import Canvas, Look, Place, scale
from mensura.charts.plot import NARROW, Mark, Plot, Reference, draw_plot
from mensura.charts.render import Drawing
from mensura.charts.theme import clipped, lab_colour, paint, text_width, wrapped
from mensura.charts.values import Axis, crowd_above

WIDE = 1200.0
"""Width on a screen, over the whole page; what stands beside another picture is as wide as a phone."""
_TICKS = (70, 85, 100, 115, 130, 145)
_NARROW = 450.0
_LOW = 78.0
_ROW, _TALL = 49.0, 52.0
"""Height of a jagged strip on a screen and on a phone, where its name stands above it, pixels."""


def draw_among(model: Mark, others: Sequence[float], description: str) -> Drawing:
    """Draw 1,000 people as dots, the model as an upright line among them, and the other models as a rug."""
    everyone = tuple(sorted([*others, model.x]))
    return Drawing(lambda width: _among(width, model, everyone, description), description, screen=WIDE)


def _among(width: float, model: Mark, everyone: tuple[float, ...], description: str) -> Markup:
    pitch = 9.2 if width > 1000 else 6.0 if width > _NARROW else 3.9
    low = min(55.0, model.ends[0] - 3, everyone[0] - 3)
    high = max(152.0, model.ends[1] + 3)
    at = scale(low, high, 0.0, width)
    backdrop, columns, ground, leftmost = _backdrop(low, high, width, pitch, everyone)
    sheet = Canvas(width, ground + 66, description)
    rug = ground + 45
    sheet.parts.append(backdrop)
    draw_crowd(sheet, columns, pitch, ground, paint.people_strong, round(model.x))
    sheet.words(0, 10, "1,000 people", fill=paint.people, weight="600", size=14)
    sheet.words(0, 27, "spread as IQ is defined", fill=paint.people)
    sheet.line(0, ground + 5, width, ground + 5, paint.ink, 1.5)
    for iq in _TICKS:
        sheet.words(at(iq), ground + 19, str(iq), weight="600", size=13, anchor="middle")
    _flag(sheet, model, at(model.x), ground, pitch, columns)
    others = f"{len(everyone) - 1} other models"
    if text_width(others) < min(leftmost, at(model.ends[0])) - 8:
        sheet.words(0, rug, others, fill=paint.soft)
    _mark(sheet, model, at, rug, 7.0)
    return sheet.svg()


@lru_cache(maxsize=4)
def _backdrop(
    low: float, high: float, width: float, pitch: float, iqs: tuple[float, ...]
) -> tuple[str, dict[int, list[float]], float, float]:
    """Return people and the rug of all models, alike on all their pages; also columns, ground and start of the rug."""
    columns = people_columns(scale(low, high, 0.0, width), pitch)
    ground = max(map(len, columns.values())) * pitch + 24
    crowd = Canvas(width, ground + 66, "")
    crowd.parts.append(f'<g class="shared" data-size="{width:.0f} {crowd.height:.0f}">')
    draw_crowd(crowd, columns, pitch, ground, paint.people_dot)
    places = width * (np.array(iqs) - low) / (high - low)
    ticks: list[float] = np.unique(np.round(2 * places) / 2).tolist()  # two to a pixel: thousands need no more
    steps = "".join(f"M{x:.1f} {ground + 45 - 7:.0f}v14" for x in ticks)
    crowd.parts.append(f'<path d="{steps}" stroke="{paint.quiet}" stroke-opacity=".55" fill="none"/></g>')
    return "".join(crowd.parts), columns, ground, ticks[0]


def _flag(
    sheet: Canvas, model: Mark, x: float, ground: float, pitch: float, columns: Mapping[int, Sequence[float]]
) -> None:
    """Write the model's name and what its place means: beside its line, or at the edge where people stand too high."""
    top, narrow, (low, high) = ground - 10 * pitch - 40, sheet.width <= _NARROW, model.ends
    people = f"{crowd_above(round(model.x))} of 1,000{'' if narrow else ' people'} at or above"
    name = clipped(model.name, min(sheet.width - 170, 420), 15, "600")
    lines: tuple[tuple[str, Look], ...] = (
        (f"{name}, IQ {model.x:.0f}", {"weight": "600", "size": 15}),
        (f"90% interval {low:.0f} to {high:.0f}", {"fill": paint.soft, "size": 13}),
        (people, {"fill": paint.people, "weight": "600", "size": 13}),
    )
    size = max(text_width(lines[0][0], 15), text_width(people, 13))
    heights = [len(column) for place, column in columns.items() if x < (place + 1) * pitch < x + size + 2 * pitch]
    aside = narrow or max(heights, default=0) > 9
    if aside:
        edge, anchor, top = sheet.width, "end", 4.0
    else:
        edge, anchor = (x - 9, "end") if x + size + 10 > sheet.width else (x + 9, "start")
    sheet.line(x, 52.0 if narrow else max(top, 2.0), x, ground + 5, paint.ink, 1.75)
    for step, (text, look) in enumerate(lines):
        sheet.words(edge, max(top, 2.0) + 6 + 18 * step, text, anchor=anchor, halo=True, **look)


def _mark(sheet: Canvas, one: Mark, at: Place, y: float, radius: float) -> None:
    sheet.interval(at, one.ends, y, lab_colour(one.provider), 4, 0.6)
    sheet.sign(at(one.x), y, one.provider, one.status, radius)


def _strands(sheet: Canvas, strands: Sequence[tuple[Mark, float]], at: Place, edge: float, radius: float) -> None:
    """Draw one model in its kinds of work, joined by a line, each at its height with its value at the right edge."""
    sheet.path([(at(one.x), y) for one, y in strands], lab_colour(strands[0][0].provider), 2, opacity=0.55)
    ends = {choose(one.x for one, _ in strands) for choose in (min, max)}
    for one, y in strands:
        _mark(sheet, one, at, y, radius)
        size, weight = (19, "700") if one.x in ends else (15, "600")
        sheet.words(edge, y, f"{one.x:.0f}", anchor="end", weight=weight, size=size)
        if one.detail:
            sheet.words(edge + (12 if sheet.width > 1000 else 8), y, one.detail, fill=paint.soft)


def draw_kinds(kinds: Sequence[tuple[Mark, Sequence[tuple[str, float]]]], description: str) -> Drawing:
    """Draw a strip per kind of work: the model joined by a line, other leading models grey behind it.

    ``kinds``: the model's value under the name of the kind, and providers and values of the others.
    """
    return Drawing(lambda width: _kinds(width, kinds, description), description, screen=Drawing.phone)


def _kinds(width: float, kinds: Sequence[tuple[Mark, Sequence[tuple[str, float]]]], description: str) -> Markup:
    row, left, right = 50.0, 190.0 if width > _NARROW else 116.0, 52.0
    end = 30 + row * len(kinds)
    sheet = Canvas(width, end + 22, description)
    values = [value for own, others in kinds for value in (*own.ends, *(value for _, value in others))]
    at = scale(min([88.0, min(values) - 2]), max([148.0, max(values) + 2]), left, width - right)
    ticks = _TICKS[:: 1 if at(115) - at(100) > text_width("100", weight="600") else 2]
    _ticks(sheet, [(iq, at(iq)) for iq in ticks if left < at(iq) < width - right], 10, end)
    sheet.words(at(100), end + 12, "average person", fill=paint.people, anchor="middle")
    levels = [30 + row * (place + 0.5) for place in range(len(kinds))]
    for (own, others), y in zip(kinds, levels, strict=True):
        name = own.name if width > _NARROW else own.name.removesuffix(" Reasoning").removesuffix(" Engineering")
        sheet.words(0, y, clipped(name, left - 8), size=13)
        sheet.grey_signs((provider, at(value), y) for provider, value in others)
    _strands(sheet, [(own, y) for (own, _), y in zip(kinds, levels, strict=True)], at, width, 6.5)
    return sheet.svg()


def _ticks(sheet: Canvas, places: Sequence[tuple[int, float]], level: float, end: float) -> None:
    """Write IQs at a level, each with its line below; that of the average person is warm."""
    for iq, x in places:
        ink = paint.people if iq == 100 else paint.soft
        sheet.words(x, level, str(iq), weight="600", fill=ink, anchor="middle")
        if iq == 100:
            sheet.people_line(x, level + 10, end)
        else:
            sheet.line(x, level + 10, x, end, paint.grid)


def draw_price(own: Mark, others: Sequence[Mark], tick: Callable[[float], str], description: str) -> Drawing:
    """Draw IQ against cost on a logarithmic axis, the model named among the others."""
    marks = [own, *others]
    x = Axis.around("", [one.x for one in marks], tick, log=True)
    y = Axis.around("IQ", [one.y for one in marks], pad=0.12)

    def draw(plot: Plot) -> None:
        everyone = sorted(marks, key=lambda one: (one.x, one.name))  # alike on the pages of all: a file serves them
        plot.sheet.parts.append(f'<g class="shared" data-size="{plot.sheet.width:.0f} {plot.sheet.height:.0f}">')
        plot.sheet.grey_signs((one.provider, plot.x(one.x), plot.y(one.y)) for one in everyone)
        plot.sheet.parts.append("</g>")
        plot.levels([Reference("the average person", 100.0)] * (y.low < 100 < y.high), marks)
        plot.models([own])

    return draw_plot(x, y, description, draw, height=280.0, screen=Drawing.phone)


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


def draw_duels(duels: Sequence[Duel], provider: str, description: str) -> Drawing:
    """Draw people (bars) and the model (mark) on the tests that both took, from 0 to 100 percent."""
    return Drawing(lambda width: _draw_duels(width, duels, provider, description), description, screen=Drawing.phone)


def _draw_duels(width: float, duels: Sequence[Duel], provider: str, description: str) -> Markup:
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
        sheet.words(at(share), 10, text, fill=paint.soft, weight="600", anchor=anchor)
        sheet.line(at(share), 20, at(share), sheet.height, paint.grid)
    for one, lines, height, y in zip(duels, named, heights, accumulate(heights, initial=28.0), strict=False):
        level = y + (17 + 15 * len(lines) if narrow else height / 2)
        top = y + 12 if narrow else level - 7.5 * len(lines) - 1.5
        sheet.lines(0, top, lines, 15, weight="600", size=13, halo=narrow)
        if narrow:
            sheet.words(width, top, one.chance, weight="600", size=13, anchor="end", halo=True)
        else:
            sheet.words(0, top + 15 * len(lines) + 2, clipped(one.test, left - 20), fill=paint.soft)
            sheet.words(width, level - 9, one.chance, weight="600", size=13, anchor="end")
            sheet.words(width, level + 8, one.verdict, fill=paint.soft, anchor="end")
        sheet.line(at(one.people), level, at(one.own), level, paint.line, 3)
        with sheet.marked(f"{one.group}, {one.test}"):
            sheet.bar(at(one.people), level, "measured" if one.measured else "judged")
        sheet.sign(at(one.own), level, provider)
    return sheet.svg()


def draw_jagged(
    width: float,
    dimensions: Mapping[str, str],
    models: Sequence[tuple[Mark, Mapping[str, Mark]]],
    people: Mapping[str, Sequence[Reference]],
    chosen: int,
    description: str,
) -> Markup:
    """Draw a strip per dimension: every model faint, the chosen one joined by a line, people as upright bars.

    ``models``: each with its one number, and its value in each dimension. ``people``: groups by dimension.
    """
    narrow = width < NARROW
    left, right = (0.0, 44.0) if narrow else (220.0 if width > 1000 else 170.0, 150.0 if width > 1000 else 120.0)
    row = _TALL if narrow else _ROW
    top = 34.0
    sheet = Canvas(width, top + row * len(dimensions) + 26, description, kind="jagged-chart")
    values = [end for _, strands in models for one in strands.values() for end in one.ends]
    at = scale(min([_LOW, *(value - 1 for value in values)]), max([150.0, *values]) + 1, left + 8, width - right)
    end = top + row * len(dimensions)
    _ticks(sheet, [(iq, at(iq)) for iq in _TICKS[1:]], 12, end)
    if narrow:  # at the edge: in the middle it would touch the words of the chosen model
        sheet.words(0, end + 14, "average person", fill=paint.people, halo=True)
    else:
        sheet.words(at(100), end + 14, "the average person", fill=paint.people, anchor="middle", halo=True)
    levels = {}
    for place, (key, name) in enumerate(dimensions.items()):
        y = top + row * place
        if place:
            sheet.line(0, y, width, y, paint.grid)
        levels[key] = y + (34 if narrow else row / 2)
        sheet.words(0, y + 12 if narrow else levels[key], name, weight="600", size=13, halo=narrow)
        _groups(sheet, people.get(key, ()), at, levels[key], y, left)
    for model, strands in models:
        for key, one in strands.items():
            words = f"{dimensions[key]}: IQ {one.x:.0f}, 90% {one.ends[0]:.0f} to {one.ends[1]:.0f}"
            with sheet.marked(f"{model.name}, {words}", href=model.href, subject=model.subject, kind="faint"):
                sheet.sign(at(one.x), levels[key], model.provider, one.status, 4.0, 0.38)
    for place, (model, strands) in enumerate(models):
        shown = 'class="strong chosen"' if place == chosen else 'class="strong" display="none"'
        sheet.parts.append(f'<g {shown} data-model="{escape(model.subject)}">')
        sheet.line(at(model.x), 22, at(model.x), end, paint.ink, 1.5)
        sheet.words(at(model.x), end + 14, f"one number: {model.x:.0f}", weight="600", anchor="middle", halo=True)
        if not narrow:
            sheet.words(0, 12, model.name, weight="700", size=15)
        edge = width if narrow else width - (76 if width > 1000 else 72)
        drawn = [(replace(one, detail="") if narrow else one, levels[key]) for key, one in strands.items()]
        _strands(sheet, drawn, at, edge, 7.5)
        sheet.parts.append("</g>")
    return sheet.svg()


def _groups(sheet: Canvas, groups: Sequence[Reference], at: Place, level: float, top: float, left: float) -> None:
    """Draw people as bars, their words left of them and above the marks, no two over each other."""
    narrow = sheet.width < NARROW
    if narrow:
        tests = " · ".join(dict.fromkeys(one.note for one in groups)) or "no people measured"
        ink = paint.people if groups else paint.quiet
        sheet.words(sheet.width, top + 12, clipped(tests, 160, 11), fill=ink, anchor="end", size=11)
    elif not groups:
        sheet.words(left, level, "no people measured", fill=paint.quiet)
    last = left
    for one in sorted(groups, key=lambda group: group.value):
        x = at(one.value)
        words = f"{one.label}, {one.note}"
        with sheet.marked(f"{words}: IQ {one.value:.0f}", href=one.href, subject=one.subject, kind="pin"):
            sheet.bar(x, level - 2, "measured")
            if not narrow and x - 8 - text_width(words) > last:
                sheet.words(x - 8, level - 12, words, fill=paint.people, anchor="end", halo=True)
        last = x
