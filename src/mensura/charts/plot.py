"""Pictures with two axes: a frame with ticks, lines and bands, people as levels, models as marks with their names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from mensura.charts.canvas import Canvas, Ends, Place, Point
from mensura.charts.render import Drawing
from mensura.charts.theme import LINE, RADIUS, Box, clipped, lab_colour, paint, place, text_width, wrapped
from mensura.charts.values import Axis, Row

NARROW = 500.0
"""Width below which a drawing is one for a phone, pixels."""
WIDE = 1100.0
"""Width of these pictures on a screen, pixels."""
_SMALL, _FAINT = 3.6, 0.6
"""Radius and opacity of marks without a name."""
CROWD = 40
"""Marks from which those without a name are smaller and paler."""
_MOST_BANDS = 4
"""Groups of people whose intervals are drawn; more would hide each other."""
_NAME = 12


@dataclass(frozen=True)
class Mark:
    """A model on a plot: who, where, what its mark says, and where it leads.

    Attributes
    ----------
    name, provider : str, str or None
        Who it is and who made it.
    x, y : float
        Where it stands.
    label : str
        What the mark says to a screen reader.
    status : str
        measured, inherited or estimated: full, half full or hollow.
    subject, href : str
        By which name its card is found, and where it leads.
    low, high : float or None
        The ends of its interval.
    named : bool
        Whether its name is wanted beside it.
    detail : str
        What follows its name, such as its value.

    """

    name: str
    provider: str | None
    x: float
    y: float = 0.0
    label: str = ""
    status: str = "measured"
    subject: str = ""
    href: str = ""
    low: float | None = None
    high: float | None = None
    named: bool = True
    detail: str = ""

    @property
    def ends(self) -> tuple[float, float]:
        """The interval of a value across; the value itself where an end is not known."""
        return self.x if self.low is None else self.low, self.x if self.high is None else self.high

    @classmethod
    def of(cls, row: Row, x: float, y: float, label: str) -> Mark:
        """Return the mark of a row of a table, with its interval where it has one."""
        facts = (row.get("status") or "measured", row["subject"] or "", row.get("href") or "")
        return cls(
            row["name"], row["provider"], x, y, label, *facts, row.get("low"), row.get("high"), bool(row.get("label"))
        )


@dataclass(frozen=True)
class Reference:
    """A group of people on an axis.

    Attributes
    ----------
    label : str
        Its name with test and status.
    value, low, high : float, float or None
        Its value and range.
    status : str
        measured, or else judged: an outline.
    href, subject : str
        Where it leads, and by which name its card is found.
    note : str
        A second line.

    """

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    status: str = "measured"
    href: str = ""
    subject: str = ""
    note: str = ""


class Plot:
    """A frame on a sheet, from which values become pixels (``x``, ``y``)."""

    def __init__(self, sheet: Canvas, box: Box, x: Axis, y: Axis, *, words: bool = True) -> None:
        """Draw the axes into the box; without ``words`` the upright one has no ticks, as in a row of panels."""
        self.sheet, self.box = sheet, box
        self._over = Canvas(0, 0, "")  # words of people, over the models, which would hide them
        left, top, right, bottom = box
        self.x, self.y = x.scale(left, right), y.scale(bottom, top)
        for value, text in y.ticks(upright_ticks(bottom - top)):
            sheet.line(left, self.y(value), right, self.y(value), paint.grid)
            if words:
                sheet.words(left - 8, self.y(value), text, fill=paint.soft, weight="600", anchor="end")
        sheet.line(left, bottom, right, bottom, paint.ink, 1.25)
        for value, text in x.ticks(max(2, round((right - left) / (40 if x.whole else 84)))):
            at, half = self.x(value), text_width(text) / 2 - 9
            sheet.line(at, bottom, at, bottom + 4, paint.ink)
            sheet.words(min(max(at, left + half), right - half), bottom + 14, text, fill=paint.soft, anchor="middle")

    @classmethod
    def on_sheet(cls, width: float, x: Axis, y: Axis, description: str, height: float) -> Plot:
        """Return a plot that fills a sheet of its own, its axes with their titles."""
        sheet = Canvas(width, height, description)
        top, bottom = 30.0 if y.title else 12.0, height - (40 if x.title else 24)
        left = max(text_width(text, weight="600") for _, text in y.ticks(upright_ticks(bottom - top))) + 10
        box = (left, top, width - 10, bottom)
        plot = cls(sheet, box, x, y)
        sheet.words(0, 10, y.title, fill=paint.soft)
        sheet.words(width - 10, height - 8, x.title, fill=paint.soft, anchor="end")
        return plot

    def points(self, values: Iterable[Point]) -> list[Point]:
        """Return values as pixels."""
        return [(self.x(x), self.y(y)) for x, y in values]

    def steps(self, values: Sequence[Point], stroke: str = paint.ink, width: float = 2.0) -> list[Box]:
        """Join values by level lines and upright ones, and return the room that the line takes."""
        at = self.points(values)
        path = [at[0], *(corner for one, other in pairwise(at) for corner in ((other[0], one[1]), other))]
        self.sheet.path(path, stroke, width)
        return [
            (min(a[0], b[0]) - 1, min(a[1], b[1]) - 1, max(a[0], b[0]) + 1, max(a[1], b[1]) + 1)
            for a, b in pairwise(path)
        ]

    def interval(self, x: float, ends: Ends, stroke: str, width: float, opacity: float) -> None:
        """Draw the upright, round-ended line of an interval; one without both ends draws nothing."""
        low, high = ends
        if low is not None and high is not None:
            at = self.x(x)
            self.sheet.line(at, self.y(low), at, self.y(high), stroke, width, opacity=opacity, round_ends=True)

    def note(self, text: str) -> None:
        """Write a remark above the plot, at its right end."""
        self.sheet.words(self.box[2], 10, text, fill=paint.quiet, anchor="end", size=11)

    def levels(self, people: Sequence[Reference], marks: Sequence[Mark] = ()) -> list[Box]:
        """Draw groups of people as dotted lines across, the first ones named, and return the room of their names.

        A name stands at the right end of its line, or at the left where it covers fewer of the ``marks``.
        """
        left, top, right, _ = self.box
        if len(people) <= _MOST_BANDS:
            for group in people:
                if group.low is not None and group.high is not None:
                    y, end = self.y(group.high), self.y(group.low)
                    self.sheet.band(left, y, right - left, end - y, paint.people_strong, 0.08)
        at, taken = self.points((one.x, one.y) for one in marks), list[Box]()
        for group in people:
            y = self.y(group.value)
            lines = wrapped(group.label, right - left - 16, 11)
            size, height = max(text_width(line, 11) for line in lines), 13.0 * len(lines)
            places = [(edge, y - height - 3, edge + size, y - 1) for edge in (right - size, left + 14)]
            covered = [sum(a[0] - 6 < x < a[2] + 6 and a[1] - 6 < b < a[3] + 6 for x, b in at) for a in places]
            box = places[covered[1] < covered[0]]
            named = box[1] >= top - 14 and not any(box[1] < other[3] and box[3] > other[1] for other in taken)
            self.sheet.line(left, y, right, y, paint.people_strong, 1.25, "2 3", opacity=1.0 if named else 0.35)
            with self._over.marked(group.label, href=group.href, subject=group.subject):
                if group.subject:
                    self._over.bar(left + 6, y, group.status)
                if named:
                    self._over.lines(box[0], box[1] + 7, lines, 13, fill=paint.people, size=11, halo=True)
            taken += [box] * named
        return taken

    def models(
        self,
        marks: Sequence[Mark],
        *,
        blocked: Sequence[Box] = (),
        best: Collection[int] = (),
        side: str = "end",
        strong: bool = False,
    ) -> None:
        """Draw models, those with a name over the others, and the names where there is room, first ones first.

        ``best``: marks at the upper edge of all, where their names have room at their ``side``. ``strong``: all marks
        in full strength.
        """
        at = self.points((one.x, one.y) for one in marks)
        two_lines = self.sheet.width < NARROW
        sizes = [_size(one, two_lines=two_lines) for one in marks]
        wanted = [index for index, one in enumerate(marks) if one.named]
        frame = (self.box[0], self.box[1] - 16, self.sheet.width, self.box[3] - 2)
        xs, ys = [x for x, _ in at], [y for _, y in at]
        spots = place(xs, ys, sizes, wanted, frame, blocked=blocked, best=best, side=side)
        for index in sorted(range(len(marks)), key=lambda index: (marks[index].named, -index)):
            one, (x, y) = marks[index], at[index]
            full = strong or one.named
            with self.sheet.marked(one.label, href=one.href, subject=one.subject, provider=one.provider):
                look = (2.2, 0.7) if one.named else (1.5, 0.3)
                self.interval(one.x, (one.low, one.high), lab_colour(one.provider), *look)
                self.sheet.sign(x, y, one.provider, one.status, *((RADIUS,) if full else (_SMALL, _FAINT)))
                if index in spots:
                    self._name(one, *spots[index][:3], two_lines=two_lines)
                    if (foot := spots[index].box[3]) < y - 2 * RADIUS:  # lifted: a line leads to its mark
                        self.sheet.line(x, foot - LINE / 2, x, y - RADIUS - 1, paint.quiet, 0.75)
        self.sheet.parts += self._over.parts

    def _name(self, one: Mark, x: float, y: float, anchor: str, *, two_lines: bool) -> None:
        after = "" if two_lines else one.detail
        self.sheet.words(x, y, one.name, weight="600", anchor=anchor, size=_NAME, halo=True, after=after)
        if two_lines and one.detail:
            self.sheet.words(x, y + LINE - 1, one.detail, fill=paint.soft, anchor=anchor, size=11, halo=True)


def draw_group(sheet: Canvas, group: Reference, at: Place, y: float, bottom: float, *, words: bool = True) -> None:
    """Draw a group of people as a line from its bar at ``y`` down to the bottom, with its ``words`` beside the bar."""
    x = at(group.value)
    if group.low is not None and group.high is not None:
        sheet.band(at(group.low), y + 8, at(group.high) - at(group.low), bottom - y - 8, paint.people_strong, 0.08)
    sheet.line(x, y + 6, x, bottom, paint.people_strong, 1.25, "" if group.status == "measured" else "4 3")
    with sheet.marked(group.label, href=group.href, subject=group.subject):
        sheet.bar(x, y, group.status)
        if words:
            right = sheet.width - x - 14 >= min(x - 14, text_width(group.label, 11))
            shown = clipped(group.label, sheet.width - x - 14 if right else x - 14, 11)
            edge = (x + 9, "start") if right else (x - 9, "end")
            sheet.words(edge[0], y, shown, fill=paint.people, anchor=edge[1], size=11, halo=True)


def upright_ticks(height: float) -> int:
    """Return how many ticks an upright axis has at most."""
    return max(2, round(height / 46))


def _size(one: Mark, *, two_lines: bool) -> tuple[float, float]:
    """Return the width and the height of a model's words."""
    name, detail = text_width(one.name, _NAME, "600") + 2, text_width(one.detail, 11 if two_lines else _NAME) + 2
    if not one.detail:
        return name, LINE
    return (max(name, detail), 2 * LINE) if two_lines else (name + detail + 4, LINE)


def draw_plot(
    x: Axis,
    y: Axis,
    description: str,
    draw_on: Callable[[Plot], None],
    *,
    height: float = 420.0,
    rows: Iterable[Row] = (),
    screen: float = WIDE,
) -> Drawing:
    """Return a drawing of one plot: its axes with their titles, and what ``draw_on`` puts into it."""

    def draw(width: float) -> Markup:
        plot = Plot.on_sheet(width, x, y, description, height)
        draw_on(plot)
        return plot.sheet.svg()

    return Drawing(draw, description, tuple(rows), screen=screen)


def draw_nothing(what: str) -> Drawing:
    """Return the picture of nothing: one sentence that says what is missing."""
    sentence = f"nothing to show: {what}"

    def draw(width: float) -> Markup:
        lines = wrapped(sentence, width - 20)
        sheet = Canvas(width, 60 + 16 * len(lines), sentence)
        sheet.lines(width / 2, 36, lines, 16, fill=paint.quiet, anchor="middle")
        return sheet.svg()

    return Drawing(draw, sentence, screen=WIDE)
