"""Who was passed: when models reached groups of people, how far apart both are, and how good the human result is."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from markupsafe import Markup

from mensura.charts.canvas import Canvas, Place, scale
from mensura.charts.plot import NARROW, Mark
from mensura.charts.render import Drawing
from mensura.charts.theme import OTHER, clipped, paint, text_width

_ROW, _ROW_TALL, _HEAD, _KEY, _KEY_TALL = 62.0, 128.0, 38.0, 64.0, 74.0
"""Heights on a screen and on a phone: a row, the title of a kind, the key; pixels."""
_UNSURE = 0.45
"""Opacity of the time in which a model was level with people, and not surely above them."""
_SMALL, _LARGE = 3.6, 6.0
_ROOM_OF_ZERO = 16.0
"""Score from which its number leaves room for the 0% of a phone's axis, percent."""
_FILLED = ("A", "B")
"""Letters of results with counted people, on a full ground; the others stand on an outline."""
_JUDGED = "E"


@dataclass(frozen=True)
class PassingRow:
    """A group of people on a test; ``level`` and ``first`` as :class:`mensura.study.headlines.Passed` has them.

    These are models by the day on which they came out (``x``) and their score in percent (``y``), as is ``best`` today.
    ``people``: the group's score in percent with the ends of its range, None in a unit without 0 and 100%.
    ``grade``: the letter of the human result, with its meaning.
    """

    kind: str
    name: str
    test: str
    level: Mark | None
    first: Mark | None
    best: Mark | None
    chance: str
    people: Sequence[float | None]
    grade: str
    meaning: str


@dataclass(frozen=True)
class _RowPlaces:
    """Where the parts of a row stand: days, scores, and their heights below the top of the row."""

    day: Place
    days: tuple[float, float]
    score: Place
    bar: float
    dumbbell: float
    narrow: bool


def draw_passing(
    rows: Sequence[PassingRow], *, start: date, today: date, titles: dict[str, str], description: str
) -> Drawing:
    """Draw the rows in their order under the title of their kind, from ``start`` to ``today`` and from 0 to 100%."""

    def draw(width: float) -> Markup:
        narrow = width < NARROW
        row_height, y = (_ROW_TALL, _KEY_TALL) if narrow else (_ROW, _KEY)
        kinds = [kind for kind in titles if any(row.kind == kind for row in rows)]
        sheet = Canvas(width, y + _HEAD * len(kinds) + row_height * len(rows) + 8, description, kind="passing-chart")
        days = (2.0, width - 8) if narrow else (310.0, 660.0)
        ends = (40.0, width - 48) if narrow else (750.0, 1000.0)
        at = _RowPlaces(
            scale(start.toordinal(), today.toordinal(), *days),
            days,
            scale(0, 100, *ends),
            50.0 if narrow else 18.0,
            98.0 if narrow else 28.0,
            narrow,
        )
        years = [date(year, 1, 1) for year in range(start.year + 1, today.year + 1)]
        marked = [(day.toordinal(), str(day.year)) for day in years if (today - day).days > 150]
        marked.append((today.toordinal(), "today"))
        if narrow:
            for day, text in marked:
                end = "end" if text == "today" else "middle"
                sheet.words(at.day(day), y - 8, text, fill=paint.soft, weight="600", anchor=end, size=11)
        else:
            sheet.ticks(at.day, marked, y - 10, y, sheet.height)
            sheet.ticks(at.score, [(0.0, "0%"), (50.0, "50%"), (100.0, "100%")], y - 10, y, sheet.height)
            sheet.words(width, 10, "Chance above", weight="600", anchor="end", size=13)
        _draw_keys(sheet, at)
        for kind in kinds:
            sheet.words(0, y + 20, titles[kind], weight="600", size=15, halo=True)
            sheet.line(0, y + _HEAD - 2, width, y + _HEAD - 2, paint.ink, 1.5)
            y += _HEAD
            for row in rows:
                if row.kind == kind:
                    _draw_row(sheet, row, at, y)
                    y += row_height
                    sheet.line(0, y, width, y, paint.grid)
        return sheet.svg()

    return Drawing(draw, description, screen=1200.0)


def _draw_keys(sheet: Canvas, at: _RowPlaces) -> None:
    """Draw what the marks mean over the columns that they stand in."""
    left, right = (0.0, 0.0) if at.narrow else (at.days[0], at.score(0))
    first, second = (8.0, 30.0) if at.narrow else (32.0, 32.0)
    if not at.narrow:
        sheet.words(left, 10, "When", weight="600", size=13)
        sheet.words(right, 10, "How far, on the same test", weight="600", size=13)
    x = left + 18
    sheet.line(left, first, x, first, paint.people_strong, 6)
    x = _say(sheet, x + 6, first, "people ahead")
    sheet.band(x + 4, first - 3, 16, 6, paint.people_strong, _UNSURE)
    sheet.sign(x + 5, first, OTHER, "estimated", 5.0)
    x = _say(sheet, x + 26, first, "a model is level")
    sheet.sign(x + 5, first, OTHER, radius=5.0)
    _say(sheet, x + 16, first, "surely above")
    sheet.bar(right + 4, second, "measured")
    x = _say(sheet, right + 13, second, "people")
    sheet.sign(x + 4, second, OTHER, radius=_SMALL)
    x = _say(sheet, x + 13, second, "first surely above")
    sheet.sign(x + 6, second, OTHER, radius=_LARGE)
    _say(sheet, x + 17, second, "best now")


def _say(sheet: Canvas, x: float, y: float, text: str) -> float:
    """Write the meaning of a sign, and return where the next sign may stand."""
    sheet.words(x, y, text, fill=paint.soft, size=11)
    return x + text_width(text, 11) + 14


def _draw_row(sheet: Canvas, row: PassingRow, at: _RowPlaces, y: float) -> None:
    """Draw one group: letter and names, the bar of years, the dumbbell, and the chance."""
    start, width = (26.0 if row.grade else 0.0), sheet.width
    room = width - 70 - start if at.narrow else at.days[0] - start - 16
    if row.grade:
        _draw_letter(sheet, row, y + 9)
    sheet.words(start, y + 12, clipped(row.name, room, 13, "600"), weight="600", size=13, halo=at.narrow)
    best = clipped(row.best.name, 150) if row.best else ""
    room = width - start - text_width(best) - 8 if at.narrow else room
    sheet.words(start, y + 28, clipped(row.test, room), fill=paint.people)
    sheet.words(width, y + 28, best, fill=paint.soft, anchor="end")
    sheet.words(width, y + 12, row.chance, weight="600", size=13, anchor="end", halo=at.narrow)
    if not at.narrow:
        sheet.words(start, y + 44, clipped(row.meaning, room, 11), fill=paint.soft, size=11)
    _draw_years(sheet, row, at, y + at.bar)
    _draw_dumbbell(sheet, row, at, y + at.dumbbell)


def _draw_letter(sheet: Canvas, row: PassingRow, y: float) -> None:
    full = row.grade in _FILLED
    dash = ' stroke-dasharray="3 2"' if row.grade == _JUDGED else ""
    with sheet.marked(f"grade {row.grade}: {row.meaning}"):
        sheet.parts.append(
            f'<rect x="0.5" y="{y:.1f}" width="18" height="18" rx="4" fill="{paint.people if full else paint.surface}" '
            f'stroke="{paint.people}"{dash}/>'
        )
        ink = paint.surface if full else paint.people
        sheet.words(9.5, y + 9, row.grade, fill=ink, weight="600", anchor="middle", size=11)


def _draw_years(sheet: Canvas, row: PassingRow, at: _RowPlaces, level: float) -> None:
    """Draw the time in which people were ahead, a model was level, and models were surely above."""
    left, right = at.days
    upto = at.day(row.level.x) if row.level else right
    passed = at.day(row.first.x) if row.first else right
    sheet.line(left, level, right, level, paint.line, 1.5)
    sheet.line(left, level, upto, level, paint.people_strong, 6)
    if row.level:
        sheet.band(upto, level - 3, passed - upto, 6, paint.people_strong, _UNSURE)
    for passer, words, status in ((row.level, "first level", "estimated"), (row.first, "first above", "measured")):
        if passer and (passer is row.first or not row.first or passer.subject != row.first.subject):
            label = f"{passer.name}, {words}, {date.fromordinal(int(passer.x)):%B %Y}"
            with sheet.marked(label, href=passer.href, subject=passer.subject):
                sheet.sign(at.day(passer.x), level, passer.provider, status, _LARGE)
    named = row.first or row.level
    if named is None:
        sheet.words(left, level + 16, "people are ahead", fill=paint.soft, halo=True)
        return
    after = f"{'' if row.first else 'level, '}{date.fromordinal(int(named.x)):%b %Y}"
    half = (text_width(named.name, weight="600") + text_width(after)) / 2 + 4
    x = min(max(at.day(named.x), left + half), right - half)
    sheet.words(x, level + 16, named.name, weight="600", anchor="middle", halo=True, after=after)


def _draw_dumbbell(sheet: Canvas, row: PassingRow, at: _RowPlaces, y: float) -> None:
    """Draw the group's score beside that of the first model surely above it and of the best one today."""
    score, low, high = row.people
    shown, now = row.test.rpartition(", ")[2], row.best.detail if row.best else ""
    if score is None:  # a unit without 0 and 100%
        both = f"people {shown}, best now {now}" if now else f"people {shown}"
        sheet.words(at.score(0), y, both, fill=paint.soft, size=11)
        return
    sheet.line(at.score(0), y, at.score(100), y, paint.grid, 1.5)
    if at.narrow and min(score, row.best.y if row.best and now else score) > _ROOM_OF_ZERO:
        sheet.words(at.score(0) - 6, y, "0%", fill=paint.soft, size=11, anchor="end")
    if low is not None and high is not None:
        sheet.band(at.score(low), y - 4, at.score(high) - at.score(low), 8, paint.people_strong, _UNSURE)
    best = row.best if now else None
    if best:
        ahead = best.y >= score
        sheet.line(at.score(score), y, at.score(best.y), y, paint.soft if ahead else paint.people_strong, 2.5)
        for model, words, size in ((row.first, "first surely above", _SMALL), (best, "best now", _LARGE)):
            if model and model.detail and (model is best or model.subject != best.subject):
                label = f"{model.name}, {words}, {model.detail}"
                with sheet.marked(label, href=model.href, subject=model.subject):
                    sheet.sign(at.score(model.y), y, model.provider, radius=size)
        side = 1 if ahead else -1
        text = {"anchor": "start" if ahead else "end", "weight": "600"}
        sheet.words(at.score(best.y) + 10 * side, y, best.detail, size=11, halo=True, **text)
    with sheet.marked(f"{row.name}: {shown}"):
        sheet.bar(at.score(score), y, "estimated" if row.grade == _JUDGED else "measured")
    side, anchor = (1, "start") if best and best.y < score else (-1, "end")
    edge = max(score, high or score) if side > 0 else min(score, score if low is None else low)
    sheet.words(at.score(edge) + 8 * side, y, shown, fill=paint.people, size=11, anchor=anchor, halo=True)
