"""Rows with a mark and its interval on one axis: models, estimates, tests with their range; people as lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from mensura.charts.canvas import Canvas, Place
from mensura.charts.plot import NARROW, Mark, Reference, draw_group, draw_nothing
from mensura.charts.render import Drawing
from mensura.charts.theme import FONT, clipped, lab_colour, paint, text_width, wrapped
from mensura.charts.values import Axis, Row, say_range

ROW, _GROUP, _LINE = 26.0, 21.0, 15.0
"""Height of a row, of a group's words on a screen, and of one line of them on a phone, pixels."""
_NAMES_WIDE, _NAMES_NARROW = 230.0, 170.0
"""Most room for the names of rows, pixels; they take what the longest needs, up to this."""
_TITLE = 16.0
"""Height of the axis' title, above the people, whose lines would cross it."""
_MARGIN = 60.0
"""Room for the number after the longest line, pixels."""


@dataclass(frozen=True)
class Strip:
    """One row of :func:`draw_forest`: who, the value with its interval, what it rests on, and where the row leads.

    Attributes
    ----------
    label : str
        The name of the row.
    value, low, high : float or None
        The value and the ends of its interval.
    status : str
        measured, inherited or estimated: full, half full or hollow.
    provider : str or None
        The maker of a model; without one the row is no model's.
    text, note : str
        The value and what the mark says besides it, in words.
    href, subject : str
        Where the row leads, and by which name its card is found.
    other, other_text : float or None, str
        A second value, drawn as an upright stroke, and its words.
    test : bool
        The row of a test, whose range is a pale bar and whose value a stroke.
    word : str
        What the mark says in place of the status.

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

    @classmethod
    def of(cls, row: Row, label: str, value: str, text: str, **look: Any) -> Strip:  # noqa: ANN401
        """Return the strip of a row whose name and value are in two columns; its note says the interval."""
        note = say_range(row["low"], row["high"]).removeprefix(", ")
        return cls(row[label], row[value], row["low"], row["high"], text=text, **{"note": note, **look})


def draw_forest(
    rows: Sequence[Strip],
    *,
    axis: str,
    tick: Callable[[float], str],
    description: str,
    references: Sequence[Reference] = (),
    rule: float | None = None,
    log: bool = False,
    least: float | None = None,
    rug: Sequence[Mark] = (),
    table: Sequence[dict[str, Any]] = (),
) -> Drawing:
    """Draw rows from top to bottom on a common axis.

    Parameters
    ----------
    rows : sequence of Strip
        The rows.
    axis : str
        Title of the axis.
    tick : callable
        Writes a value of the axis.
    description : str
        The picture in words.
    references : sequence of Reference
        Groups of people, as upright lines.
    rule : float, optional
        A value to mark by a dashed line.
    log : bool, default False
        Whether the axis is logarithmic.
    least : float, optional
        The lowest value that the axis may show.
    rug : sequence of Mark
        Models above the rows, by their ``x``.
    table : sequence of dict
        The rows as a table shows them.

    Returns
    -------
    Drawing
        The picture; a notebook shows it, ``save`` writes it.

    Examples
    --------
    >>> from mensura import charts
    >>> rows = [charts.Strip("Ann", 1.0, 0.5, 1.5, text="1"), charts.Strip("Bob", 2.0, text="2")]
    >>> "Ann: 1, measured" in charts.draw_forest(rows, axis="ability", tick=str, description="two people").wide
    True

    """
    if not rows:
        return draw_nothing(description)
    values = [end for row in rows for end in (row.value, row.low, row.high, row.other)] + [one.x for one in rug]
    values += [end for group in references for end in (group.value, group.low, group.high)] + [rule]
    pad = 0.12 if any(row.other is not None for row in rows) else 0.05
    across = Axis.around(axis, values, tick, pad=pad, least=least, log=log)
    names = max(text_width(row.label, FONT, "600") for row in rows) + 16

    def draw(width: float) -> Markup:
        narrow = width < NARROW
        left = min(names, _NAMES_NARROW if narrow else _NAMES_WIDE)
        groups = sorted(references, key=lambda one: -one.value)
        words = [wrapped(group.label, width - 8, 11) if narrow else [group.label] for group in groups]
        heights = [_GROUP + (_LINE * len(lines) if narrow else 0.0) for lines in words]
        people = sum(heights)
        top = people + 40 + (16 if rug else 0)
        bottom = top + ROW * len(rows)
        sheet = Canvas(width, bottom + 6, description)
        start = left + 4  # of the axis; on a phone the left one of two numbers takes from the room of the names
        left -= _MARGIN if narrow and any(row.other is not None for row in rows) else 0.0
        at = across.scale(start, width - _MARGIN)
        sheet.words(0, 8, clipped(across.title, width, 11), fill=paint.soft, size=11)
        y = _TITLE
        for group, lines, height in zip(groups, words, heights, strict=True):
            sheet.lines(0, y + _LINE / 2, lines if narrow else (), _LINE, fill=paint.people, size=11, halo=True)
            draw_group(sheet, group, at, y + height - _GROUP / 2, bottom, words=not narrow)
            y += height
        sheet.ticks(at, across.ticks(3 if narrow else 7), people + 26, top, bottom, halo=bool(groups))
        sheet.line(0, top, width, top, paint.ink, 1.5)
        if rule is not None:
            sheet.line(at(rule), top, at(rule), bottom, paint.quiet, 1, "4 3")
        for one in rug:
            with sheet.marked(one.label, href=one.href, subject=one.subject, provider=one.provider):
                sheet.sign(at(one.x), top - 9, one.provider, one.status, 3.6, 0.7)
        for place, row in enumerate(rows):
            _row(sheet, row, at, top + ROW * (place + 0.5), left)
            sheet.line(0, top + ROW * (place + 1), width, top + ROW * (place + 1), paint.grid)
        return sheet.svg()

    return Drawing(draw, description, (*table,))


def _row(sheet: Canvas, row: Strip, at: Place, y: float, left: float) -> None:
    lines = wrapped(row.label, left - 8, FONT, "600", most=2)
    for step, line in enumerate(lines):
        height, size = (0.0, FONT) if len(lines) == 1 else ((step - 0.5) * 12, 11)
        sheet.words(0, y + height, line, size=size, weight="600" if row.provider else "")
    if row.value is None:
        sheet.words(left + 4, y, row.note or "no value", fill=paint.quiet)
        return
    x = at(row.value)
    ink = lab_colour(row.provider) if row.provider else paint.ink if row.test else paint.accent
    label = f"{row.label}: {row.text}{', ' + row.note if row.note else ''}, {row.word or row.status}"
    ends = [x] if row.low is None or row.high is None else [x, at(row.low), at(row.high)]
    with sheet.marked(label, href=row.href, subject=row.subject, provider=row.provider):
        if row.test:
            sheet.line(min(ends), y, max(ends), y, ink, 7, opacity=0.22)
            sheet.line(x, y - 7, x, y + 7, ink, 2.5)
        else:
            sheet.interval(at, (row.low, row.high), y, ink)
        if row.other is not None:
            ends.append(at(row.other))
            sheet.line(x, y, ends[-1], y, ink, 3, opacity=0.35)
            sheet.line(ends[-1], y - 7, ends[-1], y + 7, ink, 2.2)
        if not row.test:
            sheet.sign(x, y, row.provider, row.status)
        left_side, right_side = (min(ends) - 8, "end"), (max(ends) + 8, "start")
        lower = row.other is not None and ends[-1] > x  # its own number then stands left of the mark
        for text, (edge, anchor), fill, weight in (
            (row.text, left_side if lower else right_side, paint.soft, "600" if row.other_text else ""),
            (row.other_text, right_side if lower else left_side, paint.quiet, ""),
        ):
            if text:
                sheet.words(edge, y, text, fill=fill, weight=weight, anchor=anchor, halo=True)
