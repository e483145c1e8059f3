"""How long a task: people's tasks and models on one axis of time in words, and judged against measured times."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from scipy.special import ndtr

from mensura.charts.canvas import Canvas, Place, scale
from mensura.charts.plot import NARROW, Mark, Reference
from mensura.charts.render import Drawing
from mensura.charts.theme import lab_colour, paint, text_width, wrapped
from mensura.charts.values import Axis, say

DAY, WEEK, MONTH = 480.0, 2400.0, 10020.0
"""Minutes of people's work: 8 hours a day, 40 a week, 167 a month."""
_TICKS = (
    *((1 / 60, "1 second"), (1 / 6, "10 seconds"), (1.0, "1 minute"), (15.0, "15 min"), (60.0, "1 hour")),
    *((DAY, "a working day"), (WEEK, "a week"), (MONTH, "a month")),
)
_PHONE_TICKS = ((1 / 6, "10 s"), (1.0, "1 min"), (15.0, "15 min"), (60.0, "1 h"), (DAY, "a day"), (WEEK, "a week"))
_UPRIGHT_TICKS = ((1.0, "1 min"), (15.0, "15 min"), (60.0, "1 hour"), (DAY, "8 hours"), (WEEK, "40 hours"))
_TITLES = 190.0
"""Room for the titles of groups on a screen, pixels."""
_ROW, _TALL = 17.0, 31.0
"""Height of a model's row on a screen, and on a phone, where its name stands above it, pixels."""
_PIN = 30.0
_SMOOTH = 0.3
"""Doublings over which the hill spreads round numbers, which judges love."""
_SHUFFLE = 0.618
"""Steps of this length, counted around 1, mix tasks of equal length evenly."""
_PHONE_PINS = 4
Tasks = Mapping[str, Sequence[tuple[float, bool]]]
"""By kind of work the length of each task in minutes, and whether somebody was timed."""


def say_minutes(minutes: float) -> str:
    """Return a length of time as people say it: no minutes above 90, no hours below 1.5.

    Parameters
    ----------
    minutes : float
        The length.

    Returns
    -------
    str
        Such as "20 seconds", "42 minutes", "4.3 hours" or "1.5 working weeks".

    Examples
    --------
    >>> from mensura.charts.lengths import say_minutes
    >>> say_minutes(42.0), say_minutes(258.0)
    ('42 minutes', '4.3 hours')

    """
    for size, unit in ((1 / 60, "second"), (1.0, "minute"), (60.0, "hour"), (WEEK, "working week")):
        most = {"second": 0.95, "minute": 90.0, "hour": WEEK}.get(unit)
        if most is None or minutes < most:
            text = say(minutes / size, 2)
            return f"{text} {unit}{'' if text == '1' else 's'}"
    raise AssertionError


@dataclass(frozen=True)
class TimeAxis(Axis):
    """An upright axis of minutes on a logarithmic scale whose ticks are lengths in words."""

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """Return the lengths between the ends that have a name."""
        return [(value, text) for value, text in _UPRIGHT_TICKS if self.low <= value <= self.high]


@dataclass(frozen=True)
class WorkGroup:
    """One kind of work: its title, a few facts, and the models on it.

    Of a mark ``x`` is the length at which it succeeds half of the time, ``y`` four times in five (0 where not known),
    and an interval without a high end is open. ``sure``: the share of each interval that wrong times do not explain.
    """

    title: str
    facts: Sequence[str]
    marks: Sequence[Mark]
    otherwise: str = ""
    sure: Sequence[float] = ()


def draw_lengths(tasks: Tasks, pins: Sequence[Reference], groups: Sequence[WorkGroup], description: str) -> Drawing:
    """Draw people's tasks above a line of time and models below it.

    Parameters
    ----------
    tasks : mapping of kinds of work to sequences of (minutes, timed)
        One dot each, full where somebody was timed, a ring where the time was judged. The first kind is strong and at
        the foot, the others are pale.
    pins : sequence of Reference
        Kinds of work by their middle task.
    groups : sequence of WorkGroup
        Kinds of work with the models on them, from top to bottom.
    description : str
        The picture in words.

    Returns
    -------
    Drawing
        The picture; a notebook shows it, ``save`` writes it.

    Examples
    --------
    >>> from mensura import charts
    >>> charts.draw_lengths({"security": [(15.0, True)]}, (), (), "one task").description
    'one task'

    """

    def draw(width: float) -> Markup:
        narrow = width < NARROW
        at = scale(1 / 12 if narrow else 1 / 60, MONTH, 4, width - 26, log=True)
        sheet = Canvas(width, 0, description)
        ground = _hill(sheet, tasks, pins, at)
        y = ground + (34 if narrow else 50)
        lines = Canvas(width, 0, "")
        for group in groups:
            y = _group(sheet, group, at, y)
        sheet.line(0, ground, width, ground, paint.ink, 1.5)
        for value, text in _PHONE_TICKS if narrow else _TICKS:
            anchor = "start" if at(value) < 10 else "end" if value == MONTH else "middle"
            sheet.words(at(value), ground + 15, text, weight="600", anchor=anchor, size=11 if narrow else 12)
            if value >= DAY and not narrow:
                sheet.words(at(value), ground + 29, f"{value / 60:.0f} hours", fill=paint.quiet, anchor=anchor, size=11)
            lines.line(at(value), ground + (26 if narrow else 38), at(value), y, paint.grid)
        sheet.parts, sheet.height = [*lines.parts, *sheet.parts], y + 6
        return sheet.svg()

    return Drawing(draw, description, screen=1200.0)


def _hill(sheet: Canvas, tasks: Tasks, pins: Sequence[Reference], at: Place) -> float:
    """Draw tasks as columns of dots, timed ones of a kind below, under the pins; return where the line is."""
    pitch = 4.6 if sheet.width < NARROW else 7.4
    columns: Counter[int] = Counter()
    dots: dict[tuple[str, bool], list[tuple[float, int]]] = {}
    if sheet.width < NARROW:
        pins = _spread(pins)
    for kind, timed, minutes in _smoothed(tasks):
        column = int(at(minutes) / pitch)
        dots.setdefault((kind, timed), []).append(((column + 0.5) * pitch, columns[column]))
        columns[column] += 1
    peak = sheet.width if sheet.width < NARROW else pitch * max(columns, key=columns.__getitem__, default=0)
    stairs: dict[bool, list[Reference]] = {True: [], False: []}
    for pin in sorted(pins, key=lambda pin: abs(at(pin.value) - peak)):
        stairs[at(pin.value) < peak].append(pin)
    ground = max(columns.values()) * pitch + 38 + _PIN * max(map(len, stairs.values())) if columns else 4.0
    for (kind, timed), places in dots.items():
        path = "".join(f"M{x:.1f},{ground - 3 - (step + 0.5) * pitch:.1f}h0" for x, step in places)
        pale = "" if kind == next(iter(tasks)) else ' stroke-opacity="0.45"'
        for ink, size, look in ((paint.people_strong, 0.8, f' class="tasks {kind}"{pale}'), (paint.surface, 0.52, "")):
            if look or not timed:
                width = f'stroke-width="{size * pitch:.1f}" stroke-linecap="round"'
                sheet.parts.append(f'<path d="{path}" stroke="{ink}" {width}{look}/>')
    if tasks:
        note = f"one dot each; strong: {next(iter(tasks))}"
        sheet.words(0, 10, f"{columns.total()} tasks of people", fill=paint.people, weight="600", size=14)
        sheet.words(0, 27, note, fill=paint.people, size=11, name="kind")
    for before, stair in stairs.items():
        for step, pin in enumerate(stair):
            _pin(sheet, pin, at(pin.value), (56 if sheet.width < NARROW else 42) + _PIN * step, ground, before=before)
    return ground


def _smoothed(tasks: Tasks) -> list[tuple[str, bool, float]]:
    """Return kind, timed and smoothed length of all tasks, timed ones of a kind first; their order stays the same."""
    rows = [(kind, task) for kind, own in tasks.items() for task in sorted(own, key=lambda task: not task[1])]
    logs = np.log2([minutes for _, (minutes, _) in rows] or [1.0])
    grid = np.linspace(logs.min() - 1, logs.max() + 1, 400)
    below = ndtr((grid[:, None] - logs) / _SMOOTH).mean(1)
    ranks = np.argsort(np.lexsort((np.arange(logs.size) * _SHUFFLE % 1, logs)))
    smooth = np.exp2(np.interp((ranks + 0.5) / logs.size, below, grid))
    return [(kind, timed, float(minutes)) for (kind, (_, timed)), minutes in zip(rows, smooth, strict=False)]


def _spread(pins: Sequence[Reference]) -> list[Reference]:
    """Return the pins that a phone has room for: of the two nearest ones the shorter goes, until few are left."""
    kept = sorted(pins, key=lambda pin: pin.value)
    while len(kept) > _PHONE_PINS:
        kept.pop(min(range(len(kept) - 1), key=lambda place: kept[place + 1].value / kept[place].value))
    return kept


def _pin(sheet: Canvas, pin: Reference, x: float, y: float, ground: float, *, before: bool) -> None:
    """Draw a kind of work at its middle task: before the peak words stand at the left where they have room."""
    before = before and x > text_width(pin.label, 12, "600") + 10
    side, anchor = (-8, "end") if before else (8, "start")
    fill = paint.people_strong if pin.status == "measured" else paint.surface
    sheet.line(x, y, x, ground, paint.people_strong, 1.1)
    sheet.parts.append(f'<path d="M{x - 4:.1f},{y - 3:.1f}h8l-4,7z" fill="{fill}" stroke="{paint.people_strong}"/>')
    sheet.words(x + side, y - 4, pin.label, fill=paint.people, weight="600", anchor=anchor, size=12, halo=True)
    note = pin.note.removeprefix("half under ") if sheet.width < NARROW else pin.note
    sheet.words(x + side, y + 9, note, fill=paint.people, anchor=anchor, size=11, halo=True)


def _group(sheet: Canvas, group: WorkGroup, at: Place, top: float) -> float:
    """Draw the models of a kind of work, longest first; return where they end."""
    narrow = sheet.width < NARROW
    facts = [line for fact in group.facts for line in wrapped(fact, sheet.width if narrow else _TITLES, 11)]
    sheet.words(0, top + 10, group.title, weight="600", size=14, halo=True)
    sheet.lines(0, top + 27, facts, 15, fill=paint.soft, size=11, halo=True)
    head = 30 + 15 * len(facts)
    y = top + (head if narrow else 0)
    for place, one in enumerate(group.marks):
        _model(sheet, one, at, y + (22 if narrow else 10), group.sure[place] if group.sure else 1.0)
        y += _TALL if narrow else _ROW
    if not group.marks:
        words = wrapped(group.otherwise, sheet.width - (0 if narrow else _TITLES + 10))
        sheet.lines(0 if narrow else _TITLES + 10, y + 10, words, 16, fill=paint.soft, halo=True)
        y += 16 * len(words) + 4
    end = max(y, top + head) + 8
    sheet.line(0, end, sheet.width, end, paint.grid, 1.25)
    return end + 8


def _model(sheet: Canvas, one: Mark, at: Place, y: float, sure: float) -> None:
    """Draw a model's length, faint where wrong times widen its interval, its name beside it or, on a phone, above."""
    ink, x = lab_colour(one.provider), at(one.x)
    low = at(one.low) if one.low else 0.0
    high = at(one.high) if one.high else sheet.width - 2
    narrow = sheet.width < NARROW
    with sheet.marked(one.label, href=one.href, subject=one.subject, provider=one.provider):
        if sure < 1:
            sheet.line(low, y, high, y, ink, 2.2, opacity=0.3, round_ends=True)
        inner = (low if one.low is None else x - sure * (x - low), high if one.high is None else x + sure * (high - x))
        if sure:
            sheet.line(inner[0], y, inner[1], y, ink, 2.2, opacity=0.7, round_ends=True)
        for is_open, edge, way in ((one.low is None, low, 1), (one.high is None, high, -1)):
            if is_open:
                sheet.path([(edge + 6 * way, y - 4), (edge, y), (edge + 6 * way, y + 4)], ink, 1.75)
        if one.y:
            sheet.sign(at(one.y), y, one.provider, radius=3.2, opacity=0.45)
        sheet.sign(x, y, one.provider, one.status)
        size = text_width(one.name, weight="600") + text_width(f" {one.detail}") + 12
        if narrow:
            edge, anchor, level = 0.0, "start", y - 14
        elif high + size + 16 < sheet.width:
            edge, anchor, level = high + 8, "start", y
        else:
            edge, anchor, level = min([low, at(one.y) if one.y else low]) - 8, "end", y
        sheet.words(edge, level, one.name, weight="600", anchor=anchor, after=one.detail, halo=True)


def draw_judged(judges: Sequence[tuple[str, str, Sequence[float], str | None]], description: str) -> Drawing:
    """Draw judged over measured times: one mark per judgement, one strip per kind of judge.

    Parameters
    ----------
    judges : sequence of (title, note, doublings, maker)
        Who judged, what their error is, the errors in doublings, and the maker of a language model or None of people.
    description : str
        The picture in words.

    Returns
    -------
    Drawing
        The picture; a notebook shows it, ``save`` writes it.

    Examples
    --------
    >>> from mensura import charts
    >>> charts.draw_judged([("Experts", "off by two", [-1.0, 0.5], None)], "two judgements").description
    'two judgements'

    """
    ticks = ((-6, "1/64"), (-4, "1/16"), (-2, "1/4"), (0, "right"), (2, "4×"))

    def draw(width: float) -> Markup:
        narrow, pitch = width < NARROW, 8.0
        across = width if narrow else width / len(judges) - 20
        sheet, at = Canvas(width, 0, description), scale(-6.6, 3.6, 4, across - 20)
        stacks = [
            Counter(round(at(min(max(error, -6.5), 3.5)) / pitch) for error in errors) for _, _, errors, _ in judges
        ]
        tallest, left, y = max(max(stack.values(), default=0) for stack in stacks), 0.0, 0.0
        for (title, note, _, maker), stack in zip(judges, stacks, strict=True):
            ink = paint.ink if maker else paint.people
            ground = y + 44 + pitch * (max(stack.values(), default=0) if narrow else tallest)
            sheet.words(left, y + 10, title, fill=ink, weight="600", size=14)
            sheet.words(left, y + 27, note, fill=ink, size=11)
            for place, count in stack.items():
                for step in range(count):
                    x, level = left + place * pitch, ground - (step + 0.5) * pitch
                    if maker:
                        sheet.sign(x, level, maker, radius=3.0)
                    else:
                        sheet.dot(x, level, paint.people_strong, 3.2)
            sheet.line(left, ground + 1, left + across, ground + 1, paint.ink, 1.25)
            for value, text in ticks:
                sheet.words(left + at(value), ground + 14, text, fill=paint.soft, anchor="middle", size=11)
            sheet.line(left + at(0), y + 36, left + at(0), ground + 6, paint.ink, 1.25)
            left, y = (left, ground + 34) if narrow else (left + across + 40, y)
        sheet.height = ground + 34
        return sheet.svg()

    table: list[dict[str, Any]] = [
        {"judge": title, "doublings": error} for title, _, errors, _ in judges for error in errors
    ]
    return Drawing(draw, description, tuple(table), screen=1200.0)
