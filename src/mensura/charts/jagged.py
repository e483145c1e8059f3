"""The jagged picture: the leading models in seven kinds of work, one of them chosen, people beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from mensura.charts.bell import Landmark
from mensura.charts.canvas import (
    GRID,
    INK,
    PEOPLE,
    PEOPLE_STRONG,
    QUIET,
    SOFT,
    Canvas,
    Place,
    lab_colour,
    scale,
)
from mensura.charts.labels import clipped, text_width
from mensura.charts.plot import NARROW

LOOKS = {"wide": 1200.0, "mid": 704.0, "narrow": 358.0}
_TICKS = (85, 100, 115, 130, 145)
_LOW = 78.0
_ROW, _TALL = 49.0, 52.0
"""Height of a strip on a screen and on a phone, where its name stands above it, pixels."""


@dataclass(frozen=True)
class Strand:
    """A model in one kind of work: IQ with interval, how many tests of that kind were measured, of how many."""

    iq: float
    low: float
    high: float
    measured: int
    tests: int

    @property
    def status(self) -> str:
        """Measured where two or more tests of the kind were."""
        return "measured" if self.measured >= 2 else "estimated"


@dataclass(frozen=True)
class JaggedModel:
    """A leading model with its strands by dimension and the one number that they average to."""

    subject: str
    name: str
    provider: str
    iq: float
    strands: Mapping[str, Strand]
    href: str


def draw_jagged(
    width: float,
    dimensions: Mapping[str, str],
    models: Sequence[JaggedModel],
    people: Mapping[str, Sequence[Landmark]],
    chosen: int,
    description: str,
) -> Markup:
    """Draw a strip per dimension: every model faint, the chosen one joined by a line, people as upright bars."""
    narrow = width < NARROW
    left, right = (0.0, 44.0) if narrow else (220.0 if width > 1000 else 170.0, 150.0 if width > 1000 else 120.0)
    row = _TALL if narrow else _ROW
    top = 34.0
    sheet = Canvas(width, top + row * len(dimensions) + 26, description, kind="jagged-chart")
    values = [end for model in models for one in model.strands.values() for end in (one.low, one.high)]
    at = scale(min([_LOW, *(value - 1 for value in values)]), max([150.0, *values]) + 1, left + 8, width - right)
    end = top + row * len(dimensions)
    for iq in _TICKS:
        sheet.words(at(iq), 12, str(iq), weight="600", fill=PEOPLE if iq == 100 else SOFT, anchor="middle")
        if iq != 100:
            sheet.line(at(iq), 22, at(iq), end, GRID)
    sheet.line(at(100), 22, at(100), end, PEOPLE_STRONG, 1.25, "2 3")
    if narrow:  # at the edge: in the middle it would touch the words of the chosen model
        sheet.words(0, end + 14, "average person", fill=PEOPLE, halo=True)
    else:
        sheet.words(at(100), end + 14, "the average person", fill=PEOPLE, anchor="middle", halo=True)
    levels = {}
    for place, (key, name) in enumerate(dimensions.items()):
        y = top + row * place
        if place:
            sheet.line(0, y, width, y, GRID)
        levels[key] = y + (34 if narrow else row / 2)
        sheet.words(0, y + 12 if narrow else levels[key], name, weight="600", size=13, halo=narrow)
        _groups(sheet, people.get(key, ()), at, levels[key], y, left)
    for model in models:
        for key, strand in model.strands.items():
            words = f"{dimensions[key]}: IQ {strand.iq:.0f}, 90% {strand.low:.0f} to {strand.high:.0f}"
            with sheet.marked(f"{model.name}, {words}", href=model.href, subject=model.subject, kind="faint"):
                sheet.sign(at(strand.iq), levels[key], model.provider, strand.status, 4.0, 0.38)
    for place, model in enumerate(models):
        _strong(sheet, model, at, levels, end, place == chosen)
    return sheet.svg()


def _groups(sheet: Canvas, groups: Sequence[Landmark], at: Place, level: float, top: float, left: float) -> None:
    """Draw people as bars, their words left of them and above the marks, no two over each other."""
    narrow = sheet.width < NARROW
    if narrow:
        tests = " · ".join(dict.fromkeys(one.note for one in groups)) or "no people measured"
        ink = PEOPLE if groups else QUIET
        sheet.words(sheet.width, top + 12, clipped(tests, 160, 11), fill=ink, anchor="end", size=11)
    elif not groups:
        sheet.words(left, level, "no people measured", fill=QUIET)
    last = left
    for one in sorted(groups, key=lambda group: group.iq):
        x = at(one.iq)
        words = f"{one.name}, {one.note}"
        with sheet.marked(f"{words}: IQ {one.iq:.0f}", href=one.href, subject=one.subject, kind="pin"):
            sheet.bar(x, level - 2, "measured")
            if not narrow and x - 8 - text_width(words) > last:
                sheet.words(x - 8, level - 12, words, fill=PEOPLE, anchor="end", halo=True)
        last = x


def _strong(
    sheet: Canvas, model: JaggedModel, at: Place, levels: Mapping[str, float], end: float, chosen: bool
) -> None:
    """Draw one model as it looks when it is chosen; only that one is shown, by the style sheet or without one."""
    ink, width, narrow = lab_colour(model.provider), sheet.width, sheet.width < NARROW
    body = Canvas(width, 0, "")
    x = at(model.iq)
    body.line(x, 22, x, end, INK, 1.5)
    body.words(x, end + 14, f"one number: {model.iq:.0f}", weight="600", anchor="middle", halo=True)
    if not narrow:
        body.words(0, 12, model.name, weight="700", size=15)
    body.path([(at(one.iq), levels[key]) for key, one in model.strands.items()], ink, 2, opacity=0.55)
    ends = {min(model.strands.values(), key=lambda one: one.iq), max(model.strands.values(), key=lambda one: one.iq)}
    for key, one in model.strands.items():
        y, (size, weight) = levels[key], (19, "700") if one in ends else (15, "600")
        body.line(at(one.low), y, at(one.high), y, ink, 4, opacity=0.6, round_ends=True)
        body.sign(at(one.iq), y, model.provider, one.status, 7.5)
        edge = width if narrow else width - (76 if width > 1000 else 72)
        body.words(edge, y, f"{one.iq:.0f}", anchor="end", weight=weight, size=size)
        if not narrow:
            body.words(width - 64, y, f"{one.measured} of {one.tests} tests", fill=SOFT)
    shown = 'class="strong chosen"' if chosen else 'class="strong" display="none"'
    sheet.parts.append(f'<g {shown} data-model="{escape(model.subject)}">{"".join(body.parts)}</g>')
