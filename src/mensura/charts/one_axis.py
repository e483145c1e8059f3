"""Groups of people, models and tests on one capability axis: people above the line, models below it, tests last."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial

from markupsafe import Markup

from mensura.charts.axes import Axis
from mensura.charts.canvas import (
    GRID,
    INK,
    PEOPLE,
    PEOPLE_DOT,
    PEOPLE_STRONG,
    QUIET,
    SOFT,
    SURFACE,
    Canvas,
    Place,
    lab_colour,
)
from mensura.charts.labels import clipped, pack, text_width
from mensura.charts.plot import NARROW, WIDE, draw_nothing
from mensura.charts.render import Drawing
from mensura.charts.rows import Row, counted, listed, rows_of, say, say_range
from mensura.core.errors import MensuraError

COLUMNS = ("kind", "name", "provider", "subject", "value", "low", "high", "label")
KINDS = {"model": "models", "benchmark": "tests", "people": "groups of people"}
_NAMED = 13
"""Models with a name, one in a row."""
_LISTED = 16
"""Models and tests in the list on a phone, each."""
_GROUP, _ROW, _TEST, _LINE = 32.0, 17.0, 15.5, 27.0
"""Height of a group of people, of a row of models or of tests, and of a row of the list on a phone, pixels."""
_JUDGED = "judged"


def one_axis(points: object, *, x_title: str = "capability", units: Mapping[float, str] | None = None) -> Drawing:
    """Draw people with their intervals, models by capability and tests by difficulty on one axis.

    ``points``: kind ("model", "benchmark" or "people"), name, provider, subject, value, low, high, label, and perhaps
    href. A group whose name says that it was judged is an outline. ``units``: words under some values of the axis. On
    a phone it is one list, highest first.
    """
    rows = rows_of(points, COLUMNS, needed=["kind", "name", "value"], optional=["href"])
    strange = sorted({str(row["kind"]) for row in rows} - set(KINDS))
    if strange:
        raise MensuraError(f"points: kind {strange[0]!r} is unknown; expected {', '.join(map(repr, KINDS))}")
    if not rows:
        return draw_nothing("nothing is on the axis")
    rows.sort(key=lambda row: -row["value"])
    of = {kind: [row for row in rows if row["kind"] == kind] for kind in KINDS}
    ends = [end for row in rows for end in ((row["low"], row["high"]) if row["kind"] == "people" else (row["value"],))]
    axis = Axis.around(x_title, [*ends, *(row["value"] for row in rows)], pad=0.04)
    parts = (
        f"{counted(len(own), name.removesuffix('s')) if kind != 'people' else counted(len(own), 'group')}, highest "
        f"{listed((row['name'] + ' (' + say(row['value']) + ')' for row in own), 2)}"
        for kind, name in KINDS.items()
        if (own := of[kind])
    )
    about = f"One {x_title.lower()} axis: {'; '.join(parts)}."
    shown = tuple({key: row[key] for key in COLUMNS[:-1]} for row in rows)
    wide, narrow = partial(_draw_axis, of, axis, units or {}, about), partial(_draw_list, of, about)
    return Drawing(lambda width: (narrow if width < NARROW else wide)(width), about, shown, screen=WIDE)


def _draw_axis(of: dict[str, list[Row]], axis: Axis, units: Mapping[float, str], about: str, width: float) -> Markup:
    at = axis.scale(8, width - 8)
    sheet, y = Canvas(width, 0, about), 26.0
    if of["people"]:
        sheet.words(0, 10, "People", fill=PEOPLE, weight="600", size=14, after="outline: judged; band: 90%")
    for row in of["people"]:
        _group(sheet, row, at, y + _GROUP / 2)
        y += _GROUP
    ground = y + 10
    y = _models(sheet, of["model"], at, ground + 46) if of["model"] else ground + 40
    if of["benchmark"]:
        sheet.line(0, y + 6, width, y + 6, GRID, 1.25)
        y = _tests(sheet, of["benchmark"], at, y + 18)
    under = Canvas(width, 0, "")
    for value, text in axis.ticks(9):
        under.line(at(value), 24, at(value), y, GRID)
        sheet.words(at(value), ground + 13, text, weight="600", anchor="middle")
        sheet.words(at(value), ground + 28, units.get(round(value, 6), ""), fill=SOFT, anchor="middle", size=11)
    sheet.words(0, ground + 13, axis.title, fill=SOFT, size=11, halo=True)
    sheet.line(0, ground, width, ground, INK, 1.75)
    if of["model"]:
        best = of["model"][0]["value"]
        under.line(at(best), 22, at(best), y, INK, 1.25, "2 3")
        sheet.words(at(best), 12, f"best model, {best:.2f}", weight="600", anchor="middle", halo=True)
    sheet.parts, sheet.height = [*under.parts, *sheet.parts], y + 8
    return sheet.svg()


def _number(row: Row) -> str:
    return f"{row['value']:.2f}".replace("-", "−")


def _said(row: Row) -> str:
    return f"{row['name']}, {row['kind']}, {say(row['value'])}{say_range(row['low'], row['high'])}"


def _group(sheet: Canvas, row: Row, at: Place, y: float, words: bool = True) -> None:
    """Draw a group of people: a band for the interval, an upright bar for the estimate, its words at the near end."""
    low, high = (at(row["value"] if row[end] is None else row[end]) for end in ("low", "high"))
    judged = _JUDGED in row["name"]
    with sheet.marked(_said(row), href=row["href"] or "", subject=row["subject"] or ""):
        look = f'fill="none" stroke="{PEOPLE_STRONG}" stroke-width="1.25"' if judged else f'fill="{PEOPLE_DOT}"'
        sheet.parts.append(
            f'<rect x="{low:.1f}" y="{y - 3.5:.1f}" width="{max(high - low, 2):.1f}" height="7" rx="3.5" {look}/>'
        )
        fill = SURFACE if judged else PEOPLE_STRONG
        sheet.parts.append(
            f'<rect x="{at(row["value"]) - 2.5:.1f}" y="{y - 8:.1f}" width="5" height="16" rx="1" fill="{fill}" '
            f'stroke="{PEOPLE_STRONG}" stroke-width="1.25"/>'
        )
        if words:
            name, _, how = row["name"].partition(", ")
            size = max(text_width(f"{name} {say(row['value'])}", 13, "600"), text_width(how, 11)) + 8
            x, anchor = (low - 8, "end") if low - size > 0 else (high + 8, "start")
            sheet.words(
                x,
                y - (7 if how else 0),
                name,
                fill=PEOPLE,
                weight="600",
                anchor=anchor,
                size=13,
                halo=True,
                after=_number(row),
            )
            sheet.words(x, y + 8, how, fill=SOFT, anchor=anchor, size=11, halo=True)


def _models(sheet: Canvas, rows: list[Row], at: Place, top: float) -> float:
    """Draw the leading models with their names, one in a row, and the others packed left of them."""
    named = [row for row in rows if row["label"]][:_NAMED]
    ordered = [*named, *(row for row in rows if row not in named)]
    spans, names = [], []
    for row in ordered:
        x, low, high = (at(row["value"] if row[end] is None else row[end]) for end in ("value", "low", "high"))
        size = text_width(row["name"], weight="600") + text_width(_number(row)) + 14
        right = high + size <= sheet.width
        names.append((high + 8, "start") if right else (low - 8, "end"))
        if row in named:  # nobody stands right of it
            spans.append((low - (4 if right else size), math.inf))
        else:
            spans.append((min((x + low) / 2, x - 6), max((x + high) / 2, x + 6)))
    lines = pack(spans)
    sheet.words(0, top + 4, f"{len(rows)} models", weight="600", size=14, halo=True)
    sheet.words(0, top + 22, "line: 90% interval", fill=SOFT, size=11, halo=True)
    for row, line, (edge, anchor) in reversed(list(zip(ordered, lines, names, strict=True))):
        x, low, high = (at(row["value"] if row[end] is None else row[end]) for end in ("value", "low", "high"))
        y, strong = top + _ROW * (line + 0.25), row in named
        with sheet.marked(_said(row), href=row["href"] or "", subject=row["subject"] or "", provider=row["provider"]):
            ink = lab_colour(row["provider"])
            sheet.line(low, y, high, y, ink, 2.2 if strong else 1.5, opacity=0.7 if strong else 0.3, round_ends=True)
            sheet.sign(x, y, row["provider"] or "", radius=5.0 if strong else 4.0)
            if strong:
                sheet.words(edge, y, row["name"], weight="600", anchor=anchor, after=_number(row), halo=True)
    return top + _ROW * (max(lines) + 1)


def _tests(sheet: Canvas, rows: list[Row], at: Place, top: float) -> float:
    """Draw tests as strokes, hard ones named to the right, easy ones to the left, so that two share a row."""
    sheet.words(0, top + 4, f"{len(rows)} tests", weight="600", size=14, halo=True)
    sheet.words(0, top + 22, "a stroke stands where a model", fill=SOFT, size=11, halo=True)
    sheet.words(0, top + 37, "gets half of the test's range", fill=SOFT, size=11, halo=True)
    right = [row for row in rows if sheet.width / 2 < at(row["value"]) < sheet.width - text_width(row["name"]) - 10]
    left = [row for row in rows if row not in right]
    first = max(0, len(right) - len(left))  # easy tests share the last rows
    for own, start, side, anchor in ((right, 0, 7, "start"), (left, first, -7, "end")):
        for step, row in enumerate(own):
            x, y = at(row["value"]), top + _TEST * (start + step + 0.25)
            with sheet.marked(_said(row), href=row["href"] or "", subject=row["subject"] or ""):
                sheet.line(x, y - 6, x, y + 6, INK, 2.5)
                sheet.words(x + side, y, row["name"], anchor=anchor, halo=True)
    return top + max(_TEST * max(len(right), first + len(left)), 44.0)


def _draw_list(of: dict[str, list[Row]], about: str, width: float) -> Markup:
    """Draw people, the leading models and tests as one list in order, each with its place on a small axis."""
    kept = [*of["people"], *of["model"][:_LISTED], *of["benchmark"][:_LISTED]]
    kept.sort(key=lambda row: -row["value"])
    values = [row["value"] for row in kept if row["kind"] != "people" or row["value"] > 0]
    axis = Axis.around("highest first", [0.0, *values], pad=0.04)
    left = 0.47 * width
    at = axis.scale(left, width - 8)
    heights = [_LINE * (1.5 if row["kind"] == "people" else 1.0) for row in kept]
    more = sum(len(of[kind]) > _LISTED for kind in ("model", "benchmark"))
    sheet, y = Canvas(width, 34 + sum(heights) + (24 if more else 0), about), 28.0
    sheet.words(0, 12, axis.title, fill=SOFT, size=11)
    for value, text in axis.ticks(4):
        sheet.words(at(value), 12, text, weight="600", anchor="middle")
        sheet.line(at(value), 24, at(value), y + sum(heights), GRID)
    sheet.line(0, 24, width, 24, INK, 1.5)
    for row, height in zip(kept, heights, strict=True):
        level = y + height / 2
        if row["kind"] == "people":
            sheet.band(0, y + 1, width, height - 2, PEOPLE_DOT, 0.22)
            name, _, how = row["name"].partition(", ")
            sheet.words(6, level - 8, name, fill=PEOPLE, weight="600", after=_number(row))
            sheet.words(6, level + 8, clipped(how, left - 12, 11), fill=PEOPLE, size=11)
            _group(sheet, row, at, level, words=False)
        elif row["kind"] == "model":
            with sheet.marked(
                _said(row), href=row["href"] or "", subject=row["subject"] or "", provider=row["provider"]
            ):
                size = text_width(say(row["value"])) + 8
                sheet.words(0, level, clipped(row["name"], left - size, 12, "600"), weight="600", after=_number(row))
                if row["low"] is not None and row["high"] is not None:
                    ink = lab_colour(row["provider"])
                    sheet.line(at(row["low"]), level, at(row["high"]), level, ink, 2.2, opacity=0.7, round_ends=True)
                sheet.sign(at(row["value"]), level, row["provider"] or "")
        else:
            with sheet.marked(_said(row), href=row["href"] or "", subject=row["subject"] or ""):
                sheet.words(14, level, clipped(row["name"], left - 22), fill=SOFT)
                sheet.line(at(row["value"]), level - 7, at(row["value"]), level + 7, INK, 2.5)
        y += height
        sheet.line(0, y, width, y, GRID)
    if more:
        rest = " and ".join(f"{len(of[kind])} {KINDS[kind]}" for kind in ("model", "benchmark"))
        sheet.words(0, y + 16, f"The highest of {rest}; the table has all.", fill=QUIET, size=11)
    return sheet.svg()
