"""Everything on one axis: people, models and tests by capability; items and those who took them by ability."""

import math
from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import partial

from markupsafe import Markup

from mensura.charts.canvas import Canvas, Look, Place
from mensura.charts.plot import NARROW, WIDE, draw_nothing
from mensura.charts.render import Drawing
from mensura.charts.theme import clipped, lab_colour, pack, paint, text_width
from mensura.charts.values import Axis, Row, counted, listed, rows_of, say, say_range
from mensura.core.errors import MensuraError

COLUMNS = ("kind", "name", "provider", "subject", "value", "low", "high", "label")
KINDS = {"model": "models", "benchmark": "tests", "people": "groups of people"}
_NAMED = 13
"""Models with a name, one in a row."""
_LISTED = 16
"""Models and tests in the list on a phone, each."""
_GROUP, _ROW, _TEST, _LINE = 32.0, 17.0, 15.5, 27.0  # pixels: a group, a row of models or tests, one of the list
_FEW = 40
"""Subjects of a kind that have a name and an interval each on the map of items."""
_PITCH, _NAMED_ROW = 7.0, 16.0
"""Width of a dot of that map with the room around it, and height of a row of names, pixels."""


def one_axis(points: object, *, units: Mapping[float, str] | None = None) -> Drawing:
    """Draw people with their intervals, models by capability and tests by difficulty on one axis.

    On a phone it is one list, highest first.

    Parameters
    ----------
    points : table
        Columns kind ("model", "benchmark" or "people"), name, provider, subject, value, low, high, label; href
        if wanted. A group whose name says that it was judged is an outline.
    units : mapping of float to str, optional
        Words under some values of the axis.

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
    >>> test = {"kind": ["benchmark"], "name": ["A test"], "provider": [None], "subject": [None], "value": [1.0]}
    >>> charts.one_axis({**test, "low": [None], "high": [None], "label": [True]}).description
    'One capability axis: 1 test, highest A test (1).'

    """
    rows = rows_of(points, COLUMNS, needed=["kind", "name", "value"], optional=["href"])
    if strange := sorted({str(row["kind"]) for row in rows} - set(KINDS)):
        raise MensuraError(f"points: kind {strange[0]!r} is unknown; expected {', '.join(map(repr, KINDS))}")
    if not rows:
        return draw_nothing("nothing is on the axis")
    rows.sort(key=lambda row: -row["value"])
    of = {kind: [row for row in rows if row["kind"] == kind] for kind in KINDS}
    ends = [end for row in rows for end in ((row["low"], row["high"]) if row["kind"] == "people" else (row["value"],))]
    axis = Axis.around("capability", [*ends, *(row["value"] for row in rows)], pad=0.04)
    parts = (
        f"{counted(len(own), name.removesuffix('s')) if kind != 'people' else counted(len(own), 'group')}, highest "
        f"{listed((row['name'] + ' (' + say(row['value']) + ')' for row in own), 2)}"
        for kind, name in KINDS.items()
        if (own := of[kind])
    )
    about = f"One capability axis: {'; '.join(parts)}."
    shown = tuple({key: row[key] for key in COLUMNS[:-1]} for row in rows)
    wide, narrow = partial(_draw_axis, of, axis, units or {}, about), partial(_draw_list, of, about)
    return Drawing(lambda width: (narrow if width < NARROW else wide)(width), about, shown, screen=WIDE)


def _draw_axis(of: dict[str, list[Row]], axis: Axis, units: Mapping[float, str], about: str, width: float) -> Markup:
    at = axis.scale(8, width - 8)
    sheet, y = Canvas(width, 0, about), 26.0
    if of["people"]:
        sheet.words(0, 10, "People", fill=paint.people, weight="600", size=14, after="outline: judged; band: 90%")
    for row in of["people"]:
        _group(sheet, row, at, y + _GROUP / 2)
        y += _GROUP
    ground = y + 10
    y = _models(sheet, of["model"], at, ground + 46) if of["model"] else ground + 40
    if of["benchmark"]:
        sheet.line(0, y + 6, width, y + 6, paint.grid, 1.25)
        y = _tests(sheet, of["benchmark"], at, y + 18)
    under = Canvas(width, 0, "")
    for value, text in axis.ticks(9):
        under.line(at(value), 24, at(value), y, paint.grid)
        sheet.words(at(value), ground + 13, text, weight="600", anchor="middle")
        sheet.words(at(value), ground + 28, units.get(round(value, 6), ""), fill=paint.soft, anchor="middle", size=11)
    sheet.words(0, ground + 13, axis.title, fill=paint.soft, size=11, halo=True)
    sheet.line(0, ground, width, ground, paint.ink, 1.75)
    if of["model"]:
        best = of["model"][0]["value"]
        under.line(at(best), 22, at(best), y, paint.ink, 1.25, "2 3")
        sheet.words(at(best), 12, f"best model, {best:.2f}", weight="600", anchor="middle", halo=True)
    sheet.parts, sheet.height = [*under.parts, *sheet.parts], y + 8
    return sheet.svg()


def _value_words(row: Row) -> str:
    return f"{say(row['value'])}{say_range(row['low'], row['high'])}"


def _number(row: Row) -> str:
    return f"{row['value']:.2f}".replace("-", "−")


def _marked(sheet: Canvas, row: Row) -> AbstractContextManager[None]:
    """Make one mark of a row: what it says, where it leads."""
    label = f"{row['name']}, {row['kind']}, {_value_words(row)}"
    return sheet.marked(label, href=row["href"] or "", subject=row["subject"] or "", provider=row["provider"])


def _places(row: Row, at: Place) -> tuple[float, float, float]:
    """Return where a value and the ends of its interval stand; an unknown end is the value itself."""
    x, low, high = (at(row["value"] if row[end] is None else row[end]) for end in ("value", "low", "high"))
    return x, low, high


def _group(sheet: Canvas, row: Row, at: Place, y: float, words: bool = True) -> None:
    """Draw a group of people: a band for the interval, an upright bar for the estimate, its words at the near end."""
    x, low, high = _places(row, at)
    judged = "judged" in row["name"]
    with _marked(sheet, row):
        band = (
            f'fill="none" stroke="{paint.people_strong}" stroke-width="1.25"'
            if judged
            else f'fill="{paint.people_dot}"'
        )
        sheet.parts.append(
            f'<rect x="{low:.1f}" y="{y - 3.5:.1f}" width="{max(high - low, 2):.1f}" height="7" rx="3.5" {band}/>'
        )
        sheet.bar(x, y, "judged" if judged else "measured")
        if words:
            name, _, how = row["name"].partition(", ")
            size = max(text_width(f"{name} {say(row['value'])}", 13, "600"), text_width(how, 11)) + 8
            edge, anchor = (low - 8, "end") if low - size > 0 else (high + 8, "start")
            look: Look = {"fill": paint.people, "weight": "600", "size": 13, "after": _number(row)}
            sheet.words(edge, y - (7 if how else 0), name, anchor=anchor, halo=True, **look)
            sheet.words(edge, y + 8, how, fill=paint.soft, anchor=anchor, size=11, halo=True)


def _models(sheet: Canvas, rows: list[Row], at: Place, top: float) -> float:
    """Draw the leading models with their names, one in a row, and the others packed left of them."""
    named = [row for row in rows if row["label"]][:_NAMED]
    ordered = [*named, *(row for row in rows if row not in named)]
    spans, names = [], []
    for row in ordered:
        x, low, high = _places(row, at)
        size = text_width(row["name"], weight="600") + text_width(_number(row)) + 14
        right = high + size <= sheet.width
        names.append((high + 8, "start") if right else (low - 8, "end"))
        if row in named:  # nobody stands right of it
            spans.append((low - (4 if right else size), math.inf))
        else:
            spans.append((min((x + low) / 2, x - 6), max((x + high) / 2, x + 6)))
    lines = pack(spans)
    sheet.words(0, top + 4, f"{len(rows)} models", weight="600", size=14, halo=True)
    sheet.words(0, top + 22, "line: 90% interval", fill=paint.soft, size=11, halo=True)
    for row, line, (edge, anchor) in reversed(list(zip(ordered, lines, names, strict=True))):
        x, low, high = _places(row, at)
        y, strong = top + _ROW * (line + 0.25), row in named
        with _marked(sheet, row):
            ink = lab_colour(row["provider"])
            sheet.line(low, y, high, y, ink, 2.2 if strong else 1.5, opacity=0.7 if strong else 0.3, round_ends=True)
            sheet.sign(x, y, row["provider"] or "", radius=5.0 if strong else 4.0)
            if strong:
                sheet.words(edge, y, row["name"], weight="600", anchor=anchor, after=_number(row), halo=True)
    return top + _ROW * (max(lines) + 1)


def _tests(sheet: Canvas, rows: list[Row], at: Place, top: float) -> float:
    """Draw tests as strokes, hard ones named to the right, easy ones to the left, so that two share a row."""
    sheet.words(0, top + 4, f"{len(rows)} tests", weight="600", size=14, halo=True)
    sheet.words(0, top + 22, "a stroke stands where a model", fill=paint.soft, size=11, halo=True)
    sheet.words(0, top + 37, "gets half of the test's range", fill=paint.soft, size=11, halo=True)
    right = [row for row in rows if sheet.width / 2 < at(row["value"]) < sheet.width - text_width(row["name"]) - 10]
    left = [row for row in rows if row not in right]
    first = max(0, len(right) - len(left))  # easy tests share the last rows
    for own, start, side, anchor in ((right, 0, 7, "start"), (left, first, -7, "end")):
        for step, row in enumerate(own):
            x, y = at(row["value"]), top + _TEST * (start + step + 0.25)
            with _marked(sheet, row):
                sheet.line(x, y - 6, x, y + 6, paint.ink, 2.5)
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
    sheet.words(0, 12, axis.title, fill=paint.soft, size=11)
    for value, text in axis.ticks(4):
        sheet.words(at(value), 12, text, weight="600", anchor="middle")
        sheet.line(at(value), 24, at(value), y + sum(heights), paint.grid)
    sheet.line(0, 24, width, 24, paint.ink, 1.5)
    for row, height in zip(kept, heights, strict=True):
        level = y + height / 2
        if row["kind"] == "people":
            sheet.band(0, y + 1, width, height - 2, paint.people_dot, 0.22)
            name, _, how = row["name"].partition(", ")
            sheet.words(6, level - 8, name, fill=paint.people, weight="600", after=_number(row))
            sheet.words(6, level + 8, clipped(how, _places(row, at)[1] - 16, 11), fill=paint.people, size=11, halo=True)
            _group(sheet, row, at, level, words=False)
        elif row["kind"] == "model":
            with _marked(sheet, row):
                size = text_width(say(row["value"])) + 8
                sheet.words(0, level, clipped(row["name"], left - size, 12, "600"), weight="600", after=_number(row))
                sheet.interval(at, (row["low"], row["high"]), level, lab_colour(row["provider"]))
                sheet.sign(at(row["value"]), level, row["provider"] or "")
        else:
            with _marked(sheet, row):
                sheet.words(14, level, clipped(row["name"], at(row["value"]) - 22), fill=paint.soft, halo=True)
                sheet.line(at(row["value"]), level - 7, at(row["value"]), level + 7, paint.ink, 2.5)
        y += height
        sheet.line(0, y, width, y, paint.grid)
    if more:
        rest = " and ".join(f"{len(of[kind])} {KINDS[kind]}" for kind in ("model", "benchmark"))
        sheet.words(0, y + 16, f"The highest of {rest}; the table has all.", fill=paint.quiet, size=11)
    return sheet.svg()


def item_map(points: object) -> Drawing:
    """Draw one strip per kind (items, people, models …) along the ability scale.

    Where an item stands level with a subject, the subject has an even chance (more, where items can be guessed).
    Kinds of many are heaps of dots; up to 40 items have their names, and so many subjects also their intervals.

    Parameters
    ----------
    points : table
        Columns name, kind, value (difficulty of an item, ability of a subject), low, high.

    Returns
    -------
    Drawing
        The picture; a notebook shows it, ``save`` writes it.

    Examples
    --------
    >>> from mensura import charts
    >>> points = {"name": ["q1", "Ann"], "kind": ["items", "people"], "value": [0.0, 1.0], "low": [None, 0.5]}
    >>> charts.item_map({**points, "high": [None, 1.5]}).description
    'Items and subjects on one axis: 1 mark of items from 0 to 0; 1 mark of people from 1 to 1.'

    """
    rows = rows_of(points, ("name", "kind", "value", "low", "high"), needed=["name", "kind", "value"])
    if not rows:
        return draw_nothing("no item and no subject")
    kinds: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: -row["value"]):
        kinds.setdefault(row["kind"], []).append(row)
    order = dict.fromkeys(row["kind"] for row in rows)
    ends = [row[end] for row in rows for end in ("value", "low", "high") if row["kind"] != "items" or end == "value"]
    x = Axis.around("ability of subjects, difficulty of items", ends)
    parts = (
        f"{counted(len(own), 'mark')} of {kind} from {say(own[-1]['value'])} to {say(own[0]['value'])}"
        for kind in order
        if (own := kinds[kind])
    )
    about = f"Items and subjects on one axis: {'; '.join(parts)}."

    def draw(width: float) -> Markup:
        sheet, at, y = Canvas(width, 0, about), x.scale(8, width - 8), 0.0
        for kind in order:
            own, ink = kinds[kind], paint.people if kind == "people" else paint.ink
            sheet.words(0, y + 10, f"{len(own)} {kind}", fill=ink, weight="600", size=13, halo=True)
            if kind == "items":  # their intervals can be wider than the map
                own = [{**row, "low": None, "high": None} for row in own]
            y = _heap(sheet, own, at, y + 22) if len(own) > _FEW else _named_rows(sheet, own, at, y + 22)
            sheet.line(0, y + 6, width, y + 6, paint.ink if kind == "items" else paint.grid, 1.25)
            y += 14
        lines = Canvas(width, 0, "")
        for value, text in x.ticks(4 if width < 500 else 8):
            lines.line(at(value), 0, at(value), y - 8, paint.grid)
            sheet.words(at(value), y + 8, text, fill=paint.soft, weight="600", anchor="middle")
        sheet.words(width, y + 26, x.title, fill=paint.soft, anchor="end", size=11)
        sheet.parts, sheet.height = [*lines.parts, *sheet.parts], y + 36
        return sheet.svg()

    return Drawing(draw, about, tuple(rows), screen=WIDE)


def _heap(sheet: Canvas, rows: list[Row], at: Place, top: float) -> float:
    """Draw a dot per row, stacked in columns; return where the heap ends."""
    columns: dict[int, list[Row]] = {}
    for row in rows:
        columns.setdefault(round(at(row["value"]) / _PITCH), []).append(row)
    tall = max(map(len, columns.values()))
    ground = top + tall * _PITCH
    for column, own in columns.items():
        for step, row in enumerate(own):
            with sheet.marked(f"{row['kind']} {row['name']}, {_value_words(row)}"):
                ink = paint.people_strong if row["kind"] == "people" else paint.ink
                sheet.dot(column * _PITCH, ground - (step + 0.5) * _PITCH, ink, 2.6)
    return ground


def _named_rows(sheet: Canvas, rows: list[Row], at: Place, top: float) -> float:
    """Draw a mark with its interval and its name per row of the table, packed; return where they end."""
    spans, names = [], []
    shared = {row["name"] for row in rows if sum(other["name"] == row["name"] for other in rows) > 1}  # no names
    for row in rows:
        _, low, high = _places(row, at)
        size = 0 if row["name"] in shared else text_width(row["name"], 12, "600") + 10
        right = high + size <= sheet.width
        spans.append((low - 6, high + size) if right else (low - size, high + 6))
        names.append((high + 10, "start") if right else (low - 10, "end"))
    lines = pack(spans)
    for row, line, (edge, anchor) in zip(rows, lines, names, strict=True):
        y, x = top + _NAMED_ROW * (line + 0.5), at(row["value"])
        people = row["kind"] == "people"
        with sheet.marked(f"{row['kind']} {row['name']}, {_value_words(row)}"):
            ink = paint.people_strong if people else paint.ink
            sheet.interval(at, (row["low"], row["high"]), y, ink, opacity=0.5)
            if people:
                sheet.band(x - 2.5, y - 6, 5, 12, paint.people_strong, 1.0)
            else:
                sheet.dot(x, y, paint.ink, 4.0)
            if row["name"] not in shared:
                ink = paint.people if people else paint.ink
                sheet.words(edge, y, row["name"], fill=ink, weight="600", anchor=anchor, halo=True)
    return top + _NAMED_ROW * (max(lines) + 1)
