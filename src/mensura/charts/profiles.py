"""Rows of one's own kind: places among people, residuals of models."""

import math

from markupsafe import Markup

from mensura.charts.canvas import Canvas, Place, scale
from mensura.charts.plot import NARROW, WIDE, draw_nothing
from mensura.charts.render import Drawing
from mensura.charts.theme import clipped, lab_colour, paint, text_width
from mensura.charts.values import Axis, Row, counted, listed, rows_of, say, say_range

PLACES = ("subject", "dimension", "level", "low", "high", "kind", "note")
_OPTIONAL = ("provider", "status", "test", "href", "card", "words")
_LINE, _HEADING = 19.0, 30.0
RESIDUALS = ("subject", "name", "provider", "benchmark", "residual")
_MODEL, _MODEL_TALL = 30.0, 62.0
"""Height of a row on a screen, and on a phone, where words stand above and below the strokes, pixels."""


def among_people(points: object, *, description: str = "") -> Drawing:
    """Draw the level that each subject reaches in each dimension, with its interval.

    A dimension in which nobody is placed keeps its row, which says so.

    Parameters
    ----------
    points : table
        Columns subject, dimension (as it is to be written), level, low, high, kind (AI or people), note. If wanted:
        provider, status (measured or not: hollow), test, href, card (the subject of the mark's card), words (what the
        mark says).
    description : str, optional
        The picture in words, instead of those made from the table.

    Returns
    -------
    Drawing
        The picture; a notebook shows it, ``save`` writes it.

    Raises
    ------
    MensuraError
        If a column is missing or has an unknown value.

    Examples
    --------
    >>> from mensura import charts
    >>> place = {"subject": ["A"], "dimension": ["Logic"], "level": [2.5], "low": [2.1], "high": [2.9]}
    >>> charts.among_people({**place, "kind": ["AI"], "note": [""]}).description
    'Levels in 1 dimension: A is highest in Logic (level 2.5).'

    """
    rows = rows_of(points, PLACES, needed=["subject", "dimension"], optional=_OPTIONAL)
    placed = [row for row in rows if row["level"] is not None]
    if not placed:
        return draw_nothing("no ability could be placed")
    dimensions = list(dict.fromkeys(row["dimension"] for row in rows))
    about = description or _describe_places(placed, dimensions)
    shown = tuple({key: row[key] for key in PLACES} for row in placed)
    return Drawing(lambda width: _draw_places(dimensions, placed, about, width), about, shown)


def _draw_places(dimensions: list[str], rows: list[Row], about: str, width: float) -> Markup:
    narrow = width < NARROW
    left = 176.0 if narrow else 290.0
    blocks = {
        name: sorted((row for row in rows if row["dimension"] == name), key=lambda row: row["level"])
        for name in dimensions
    }
    heights = [max(1, sum(_lines(row, left) for row in own)) * _LINE + _HEADING for own in blocks.values()]
    end = math.ceil(max(end for row in rows for end in (row["high"] or 1.0, row["level"], 5.0)))
    sheet = Canvas(width, 30 + sum(heights), about)
    at = scale(0.0, end, left, width - (24 if narrow else 46))
    ticks = [(level, str(level)) for level in range(0, end + 1, 2 if narrow else 1)]
    sheet.words(0, 10, "demand level", fill=paint.soft, size=11)
    sheet.ticks(at, ticks, 10, 22, sheet.height, size=11)
    y = 26.0
    for (name, own), height in zip(blocks.items(), heights, strict=True):
        sheet.line(0, y, width, y, paint.ink if y == 26.0 else paint.grid, 1.5 if y == 26.0 else 1.0)
        sheet.words(0, y + 14, clipped(name, width - 8 if narrow else left - 8, 13, "600"), weight="600", size=13)
        if not own:
            sheet.words(left, y + 14, "nobody placed: no usable line", fill=paint.quiet, size=11)
        down = y + 24
        for row in own:
            _place_row(sheet, row, at, down, left)
            down += _LINE * _lines(row, left)
        y += height
    return sheet.svg()


def _named(row: Row) -> str:
    return f"{row['subject']} ({row['test']})" if row["test"] else str(row["subject"])


def _lines(row: Row, left: float) -> int:
    """Return how many lines a row takes: a name that does not fit beside its mark stands above it."""
    return 1 if text_width(_named(row)) <= left - 14 else 2


def _place_row(sheet: Canvas, row: Row, at: Place, top: float, left: float) -> None:
    people, beside = row["kind"] == "people", _lines(row, left) == 1
    y = top + _LINE * (0.5 if beside else 1.5)
    name = _named(row)
    if not beside:  # where room is short the name is cut, never the test
        tail = f" ({row['test']})" if row["test"] else ""
        name = clipped(row["subject"], sheet.width - text_width(tail)) + tail
    sheet.words(0, top + _LINE * 0.5, name, fill=paint.people if people else paint.ink)
    label = row["words"] or (
        f"{row['subject']}, {row['dimension']}: level {say(row['level'])}{say_range(row['low'], row['high'])}"
        f"{', ' + row['note'] if row['note'] else ''}"
    )
    href, status = row["href"] or "", row["status"] or "measured"
    with sheet.marked(label, href=href, subject=row["card"] or "", provider=row["provider"]):
        ink = paint.people_strong if people else lab_colour(row["provider"])
        sheet.interval(at, (row["low"], row["high"]), y, ink)
        if people:
            sheet.bar(at(row["level"]), y, status)
        else:
            sheet.sign(at(row["level"]), y, row["provider"] or "", status)


def _describe_places(placed: list[Row], dimensions: list[str]) -> str:
    parts = []
    for name in dict.fromkeys(row["subject"] for row in placed):
        best = max((row for row in placed if row["subject"] == name), key=lambda row: row["level"])
        parts.append(f"{name} is highest in {best['dimension']} (level {say(best['level'])})")
    reached = {row["dimension"] for row in placed}
    absent = [name for name in dimensions if name not in reached]
    gone = f" Nobody is placed in {listed(absent, len(absent))}." if absent else ""
    return f"Levels in {counted(len(dimensions), 'dimension')}: {'; '.join(parts)}.{gone}"


def residuals(points: object) -> Drawing:
    """Draw one row per model and one stroke per test.

    Right of the line a model is better than its level, left of it worse. The farthest test on each side has its
    name.

    Parameters
    ----------
    points : table
        Columns subject, name, provider, benchmark, residual, and href if wanted, in the order to draw.

    Returns
    -------
    Drawing
        The picture; a notebook shows it, ``save`` writes it.

    Raises
    ------
    MensuraError
        If a column is missing or has an unknown value.

    Examples
    --------
    >>> from mensura import charts
    >>> cell = {"subject": ["a"], "name": ["A"], "provider": [None], "benchmark": ["T"], "residual": [0.1]}
    >>> charts.residuals(cell).description[:42]
    'Residuals of 1 model on 1 benchmark: furth'

    """
    rows = rows_of(points, RESIDUALS, needed=["subject", "name", "benchmark", "residual"], optional=["href"])
    if not rows:
        return draw_nothing("no model has a residual")
    models: dict[str, list[Row]] = {}
    for row in rows:
        models.setdefault(row["subject"], []).append(row)
    up, down = max(rows, key=lambda row: row["residual"]), min(rows, key=lambda row: row["residual"])
    tests = counted(len({row["benchmark"] for row in rows}), "benchmark")
    about = (
        f"Residuals of {counted(len(models), 'model')} on {tests}: "
        f"furthest above its level is {up['name']} on {up['benchmark']} ({say(up['residual'])}), furthest below "
        f"{down['name']} on {down['benchmark']} ({say(down['residual'])})."
    )
    edge = max(abs(row["residual"]) for row in rows) or 1.0
    axis = Axis("Score minus what the model's level predicts", -edge, edge, _signed)

    def draw(width: float) -> Markup:
        narrow = width < NARROW
        row_height = _MODEL_TALL if narrow else _MODEL
        left = 0.0 if narrow else min(max(text_width(own[0]["name"], 12, "600") for own in models.values()) + 34, 200)
        sheet = Canvas(width, 44 + row_height * len(models), about)
        room = 12.0 if narrow else 150.0  # for the names of the farthest tests
        at = axis.scale(left + room, width - room)
        sheet.words(0, 8, axis.title, fill=paint.soft, size=11)
        sheet.ticks(at, axis.ticks(4 if narrow else 6), 28, 40, sheet.height)
        sheet.line(at(0), 40, at(0), sheet.height, paint.ink, 1.25)
        sheet.line(0, 40, width, 40, paint.ink, 1.5)
        for place, own in enumerate(models.values()):
            top = 40 + row_height * place
            _residual_row(sheet, own, at, top, top + (33 if narrow else row_height / 2), left, narrow=narrow)
            sheet.line(0, top + row_height, width, top + row_height, paint.grid)
        return sheet.svg()

    return Drawing(draw, about, tuple({key: row[key] for key in RESIDUALS} for row in rows), screen=WIDE)


def _signed(value: float) -> str:
    return "0" if abs(value) < 1e-9 else f"{100 * value:+.0f}%".replace("-", "−")


def _residual_row(
    sheet: Canvas, own: list[Row], at: Place, top: float, level: float, left: float, *, narrow: bool
) -> None:
    """Draw the strokes of one model, the farthest with their names."""
    first = own[0]
    with sheet.marked(first["name"], href=first["href"] or "", subject=first["subject"], provider=first["provider"]):
        sheet.sign(6, top + 12 if narrow else level, first["provider"] or "")
        sheet.words(18, top + 12 if narrow else level, clipped(first["name"], 160, 12, "600"), weight="600")
    ends = {id(max(own, key=lambda row: row["residual"])): 1, id(min(own, key=lambda row: row["residual"])): -1}
    for row in own:
        x, side = at(row["residual"]), ends.get(id(row), 0)
        way = "above" if row["residual"] > 0 else "below"
        with sheet.marked(f"{row['name']} on {row['benchmark']}, {say(abs(row['residual']))} {way} its level"):
            sheet.line(x, level - 6, x, level + 6, paint.ink, 2.5, opacity=1.0 if side else 0.45)
            if side * row["residual"] > 0:
                start, end = ("start", "end") if side > 0 else ("end", "start")
                if narrow:
                    text = clipped(row["benchmark"], sheet.width / 2 - 6, 11)
                    sheet.words(sheet.width * (side > 0), level + 17, text, fill=paint.soft, anchor=end, size=11)
                else:
                    text = clipped(row["benchmark"], (sheet.width - x if side > 0 else x - left) - 10, 11)
                    sheet.words(x + 7 * side, level, text, fill=paint.soft, anchor=start, size=11, halo=True)
