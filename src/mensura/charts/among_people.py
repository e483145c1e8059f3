"""AI systems and groups of people placed among all people of the world: one block of rows per dimension."""

from __future__ import annotations

import math

from markupsafe import Markup

from mensura.charts.canvas import GRID, INK, PEOPLE, PEOPLE_STRONG, QUIET, SOFT, Canvas, Place, lab_colour, scale
from mensura.charts.labels import clipped, text_width
from mensura.charts.plot import NARROW, draw_nothing
from mensura.charts.render import Drawing
from mensura.charts.rows import Row, counted, listed, rows_of, say, say_range

COLUMNS = ("subject", "dimension", "one_in", "low", "high", "kind", "note")
_OPTIONAL = ("at_least", "provider", "status", "test", "href", "card", "words")
FARTHEST = 1e6
"""Rarest place drawn to scale; beyond it an interval ends at the edge."""
_TICKS = (
    *((2.0, "median"), (10.0, "top 10%"), (100.0, "top 1%"), (1e3, "1 in 1,000"), (1e4, "1 in 10,000")),
    *((1e5, "1 in 100,000"), (1e6, "1 in a million")),
)
_ON_A_PHONE = (2.0, 100.0, 1e4)
_LINE, _HEADING = 19.0, 30.0


def among_people(points: object, *, description: str = "") -> Drawing:
    """Draw where each subject stands in each dimension, as "1 in N people", with its interval.

    ``points``: subject, dimension (as it is to be written), one_in, low, high, kind (AI or people), note. If wanted:
    at_least (cut at what the data can tell), provider, status (measured or not: hollow), test, href, card (the subject
    of the mark's card), words (what the mark says). A dimension in which nobody is placed keeps its row, which says so.
    """
    rows = rows_of(points, COLUMNS, needed=["subject", "dimension"], optional=_OPTIONAL)
    placed = [row for row in rows if row["one_in"] is not None]
    if not placed:
        return draw_nothing("no ability could be placed among people")
    dimensions = list(dict.fromkeys(row["dimension"] for row in rows))
    about = description or _describe(placed, dimensions)
    shown = tuple({key: value for key, value in row.items() if key in (*COLUMNS, "at_least")} for row in placed)
    return Drawing(lambda width: _draw(dimensions, placed, about, width), about, shown)


def _draw(dimensions: list[str], rows: list[Row], about: str, width: float) -> Markup:
    narrow = width < NARROW
    left = 176.0 if narrow else 290.0
    blocks = {
        name: sorted((row for row in rows if row["dimension"] == name), key=lambda row: row["one_in"])
        for name in dimensions
    }
    heights = [max(1, sum(_lines(row, left) for row in own)) * _LINE + _HEADING for own in blocks.values()]
    far = max(end for row in rows for end in (row["high"] or 1.0, row["one_in"], 100.0))
    end = min(max(far * 1.3, 200.0), FARTHEST)
    sheet = Canvas(width, 30 + sum(heights), about)
    to_pixels = scale(0.0, math.log10(end), left, width - (24 if narrow else 46))

    def at(one_in: float) -> float:
        return to_pixels(math.log10(min(max(one_in, 1.0), FARTHEST)))

    for rarity, name in _TICKS:
        if rarity <= end and (not narrow or rarity in _ON_A_PHONE):
            median = rarity == 2
            look = (PEOPLE_STRONG, 1.25, "2 3") if median else (GRID, 1.0, "")
            sheet.line(at(rarity), 22, at(rarity), sheet.height, *look)
            ink = PEOPLE if median else SOFT
            sheet.words(at(rarity), 10, name, fill=ink, weight="600", anchor="middle", size=11)
    y = 26.0
    for (name, own), height in zip(blocks.items(), heights, strict=True):
        sheet.line(0, y, width, y, INK if y == 26.0 else GRID, 1.5 if y == 26.0 else 1.0)
        sheet.words(0, y + 14, clipped(name, width - 8 if narrow else left - 8, 13, "600"), weight="600", size=13)
        if not own:
            sheet.words(left, y + 14, "nobody placed: no usable line", fill=QUIET, size=11)
        down = y + 24
        for row in own:
            _draw_row(sheet, row, at, down, left)
            down += _LINE * _lines(row, left)
        y += height
    return sheet.svg()


def _named(row: Row) -> str:
    return f"{row['subject']} ({row['test']})" if row["test"] else str(row["subject"])


def _lines(row: Row, left: float) -> int:
    """Return how many lines a row takes: a name that does not fit beside its mark stands above it."""
    return 1 if text_width(_named(row)) <= left - 14 else 2


def _draw_row(sheet: Canvas, row: Row, at: Place, top: float, left: float) -> None:
    people, beside = row["kind"] == "people", _lines(row, left) == 1
    y = top + _LINE * (0.5 if beside else 1.5)
    name = _named(row)
    if not beside:  # where room is short the name is cut, never the test
        tail = f" ({row['test']})" if row["test"] else ""
        name = clipped(row["subject"], sheet.width - text_width(tail)) + tail
    sheet.words(0, top + _LINE * 0.5, name, fill=PEOPLE if people else INK)
    label = row["words"] or (
        f"{row['subject']}, {row['dimension']}: {_rarity(row)}{say_range(row['low'], row['high'])}"
        f"{', ' + row['note'] if row['note'] else ''}"
    )
    href, status = row["href"] or "", row["status"] or "measured"
    with sheet.marked(label, href=href, subject=row["card"] or "", provider=row["provider"]):
        if row["low"] is not None and row["high"] is not None:
            ink = PEOPLE_STRONG if people else lab_colour(row["provider"])
            sheet.line(at(row["low"]), y, at(row["high"]), y, ink, 2.2, opacity=0.7, round_ends=True)
        if people:
            sheet.bar(at(row["one_in"]), y, status)
        else:
            sheet.sign(at(row["one_in"]), y, row["provider"] or "", status)


def _describe(placed: list[Row], dimensions: list[str]) -> str:
    parts = []
    for name in dict.fromkeys(row["subject"] for row in placed):
        best = max((row for row in placed if row["subject"] == name), key=lambda row: row["one_in"])
        parts.append(f"{name} is rarest in {best['dimension']} ({_rarity(best)})")
    reached = {row["dimension"] for row in placed}
    absent = [name for name in dimensions if name not in reached]
    gone = f" Nobody is placed in {listed(absent, len(absent))}." if absent else ""
    return f"Places among the people of the world in {counted(len(dimensions), 'dimension')}: {'; '.join(parts)}.{gone}"


def _rarity(row: Row) -> str:
    return f"{'at least ' if row['at_least'] else ''}1 in {say(row['one_in'])} people"
