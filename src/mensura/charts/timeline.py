"""Values over time: models by release with people as levels, the records of a test, and the acceleration watch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date

from markupsafe import Markup

from mensura.charts.axes import Axis
from mensura.charts.canvas import ACCENT, INK, QUIET, lab_colour
from mensura.charts.labels import LINE, text_width
from mensura.charts.plot import CROWD, WIDE, Mark, Plot, Reference, draw_nothing
from mensura.charts.render import Drawing
from mensura.charts.rows import Row, counted, listed, month, rows_of, say, say_range

COLUMNS = ("subject", "name", "provider", "released", "value", "low", "high", "status", "label")
LEVELS = ("label", "value", "low", "high")
_NAMED = 12
"""Models named that set a record, the newest; more names would hide marks."""


def timeline(
    points: object,
    *,
    y_title: str,
    lines: object | None = None,
    forecast: object | None = None,
    levels: object | None = None,
    today: date | None = None,
) -> Drawing:
    """Draw a value over release dates.

    ``points``: subject, name, provider, released, value, low, high, status, label. ``lines``: provider, released,
    value, joined per provider. ``forecast``: date, value, low, high, drawn as a fan. ``levels``: label, value, low,
    high, drawn as human lines across the plot, the first ones named as far as there is room. ``today`` sets a divider.
    Points and levels may have an ``href``, levels a ``subject``.
    """
    rows = rows_of(points, COLUMNS, needed=["subject", "name", "released", "value"], optional=["href"])
    if not rows:
        return draw_nothing("no model has a release date and a value here")
    rows.sort(key=lambda row: -row["value"])
    paths = _dated(lines, ("provider", "released", "value"), "lines", "released")
    fan = _dated(forecast, ("date", "value", "low", "high"), "forecast", "date")
    people = _references(levels)
    marks = [_mark(row, y_title) for row in rows]
    days = [one.x for one in marks] + [row["day"] for row in fan]
    heights = [end for row in (*rows, *fan) for end in (row["value"], row["low"], row["high"])]
    heights += [end for group in people for end in (group.value, group.low, group.high)]
    x, y = Axis.around("", days, days=True, pad=0.03), Axis.around(y_title, heights)
    about = _describe(rows, fan, people, y_title)

    def draw(width: float) -> Markup:
        plot = Plot.on_sheet(width, x, y, about)
        blocked = _draw_fan(plot, fan)
        blocked += _draw_today(plot, today, x)
        for provider in dict.fromkeys(row["provider"] for row in paths):
            path = plot.points((row["day"], row["value"]) for row in paths if row["provider"] == provider)
            plot.sheet.path(path, lab_colour(provider) if provider else ACCENT, 1.5, opacity=0.55)
        blocked += plot.levels(people, marks)
        plot.models(marks, blocked=blocked, best=range(len(marks)))
        if any(one.status == "estimated" for one in marks):
            plot.note("hollow: estimated")
        return plot.sheet.svg()

    shown = tuple({key: row[key] for key in COLUMNS[:-1]} for row in rows)
    return Drawing(draw, about, shown, screen=WIDE)


def draw_history(
    models: Sequence[Mark], people: Sequence[Reference], *, tick: Callable[[float], str], description: str
) -> Drawing:
    """Draw scores by release date (``x`` in days), with the record as a line and people as levels."""
    records: list[int] = []
    for index in sorted(range(len(models)), key=lambda one: (models[one].x, -models[one].y)):
        if not records or models[index].y > models[records[-1]].y:
            records.append(index)
    named = [models[index] for index in records[: -_NAMED - 1 : -1]]
    rest = [replace(one, named=False) for one in models if one not in named]
    x = Axis.around("", [one.x for one in models], days=True)
    y = Axis.around("", [one.y for one in models] + [group.value for group in people], tick)

    def draw(width: float) -> Markup:
        plot = Plot.on_sheet(width, x, y, description, 320.0)
        steps = plot.steps([(models[index].x, models[index].y) for index in records], ACCENT, 1.25)
        blocked = plot.levels(people, models)
        plot.models([*named, *rest], blocked=[*steps, *blocked], best=range(len(named)), strong=len(models) < CROWD)
        return plot.sheet.svg()

    return Drawing(draw, description)


def watch(points: object, *, y_title: str = "Evidence for acceleration") -> Drawing:
    """Draw the statistic and its boundary; days on which the statistic is beyond it are dots.

    ``points``: date, statistic, boundary.
    """
    columns = ("date", "statistic", "boundary")
    rows = _dated(points, columns, "points", "date", needed="statistic")
    if not rows:
        return draw_nothing("no day has been watched")
    beyond = [row for row in rows if row["boundary"] is not None and row["statistic"] > row["boundary"]]
    last = rows[-1]
    verdict = f"beyond it first in {month(beyond[0]['date'])}" if beyond else "never beyond it"
    about = (
        f"{y_title} from {month(rows[0]['date'])} to {month(last['date'])} with its boundary; {verdict}; last value "
        f"{say(last['statistic'])}, boundary {say(last['boundary'])}."
    )
    x = Axis.around("", [row["day"] for row in rows], days=True, pad=0.02)
    y = Axis.around(y_title, [0.0, *(row[key] for row in rows for key in columns[1:])])

    def draw(width: float) -> Markup:
        plot = Plot.on_sheet(width, x, y, about, 280.0)
        bounded = [row for row in rows if row["boundary"] is not None]
        plot.sheet.path(plot.points((row["day"], row["boundary"]) for row in bounded), QUIET, 1, "4 3")
        if bounded:
            level = plot.y(bounded[0]["boundary"])
            plot.sheet.words(plot.box[0] + 4, level - 9, "alarm above this line", fill=QUIET, size=11, halo=True)
        plot.sheet.path(plot.points((row["day"], row["statistic"]) for row in rows), INK)
        for row in rows:
            label = f"{month(row['date'])}, {y_title} {say(row['statistic'])}, boundary {say(row['boundary'])}"
            with plot.sheet.marked(label):
                plot.sheet.dot(plot.x(row["day"]), plot.y(row["statistic"]), INK, 5 if row in beyond else 2)
        falling = len(rows) > 1 and rows[-2]["statistic"] > last["statistic"]
        at, up = plot.x(last["day"]), plot.y(last["statistic"]) + (14 if falling else -14)
        plot.sheet.words(
            at, up, f"{month(last['date'])}: {say(last['statistic'])}", weight="600", anchor="end", halo=True
        )
        return plot.sheet.svg()

    return Drawing(draw, about, tuple({key: row[key] for key in columns} for row in rows), screen=WIDE)


def _mark(row: Row, y_title: str) -> Mark:
    label = (
        f"{row['name']}, {y_title} {say(row['value'])}{say_range(row['low'], row['high'])}, {row['status']}, "
        f"released {month(row['released'])}"
    )
    return Mark.of(row, _day(row["released"]), row["value"], label)


def _day(iso: str) -> float:
    return float(date.fromisoformat(iso).toordinal())


def _dated(table: object | None, columns: tuple[str, ...], name: str, day: str, *, needed: str = "value") -> list[Row]:
    """Return the rows of a table by day; each has the day as a number."""
    rows = [] if table is None else rows_of(table, columns, name=name, needed=[day, needed])
    return [{**row, "day": _day(row[day])} for row in sorted(rows, key=lambda row: str(row[day]))]


def _references(levels: object | None) -> list[Reference]:
    if levels is None:
        return []
    rows = rows_of(levels, LEVELS, name="levels", needed=["value"], optional=["href", "subject"])
    return [
        Reference(
            row["label"], row["value"], row["low"], row["high"], href=row["href"] or "", subject=row["subject"] or ""
        )
        for row in rows
    ]


def _draw_fan(plot: Plot, fan: list[Row]) -> list[tuple[float, float, float, float]]:
    """Draw the forecast, name it at its end, and return the room of the name."""
    if not fan:
        return []
    edge = [(row["day"], row["low"]) for row in fan] + [(row["day"], row["high"]) for row in reversed(fan)]
    plot.sheet.area(plot.points(edge), ACCENT, 0.15)
    path = plot.points((row["day"], row["value"]) for row in fan)
    plot.sheet.path(path, ACCENT, 1.75, "5 3")
    (x, y), text = path[-1], f"{month(fan[-1]['date'])}: {say(fan[-1]['value'])}"
    plot.sheet.words(x, y - 10, text, fill=ACCENT, weight="600", anchor="end", halo=True)
    return [(x - text_width(text, weight="600"), y - 10 - LINE / 2, x, y)]


def _draw_today(plot: Plot, today: date | None, x: Axis) -> list[tuple[float, float, float, float]]:
    if today is None or not x.low < today.toordinal() < x.high:
        return []
    at, (_, top, _, bottom) = plot.x(today.toordinal()), plot.box
    plot.sheet.line(at, top, at, bottom, QUIET, 1, "4 3")
    plot.sheet.words(at + 4, top + 6, "today", fill=QUIET, size=11)
    return [(at, top, at + 40, top + LINE)]


def _describe(rows: list[Row], fan: list[Row], people: list[Reference], y_title: str) -> str:
    days = sorted(str(row["released"]) for row in rows)
    top = listed(f"{row['name']} ({say(row['value'])})" for row in rows)
    text = (
        f"{y_title} of {counted(len(rows), 'model')} by release date, {month(days[0])} to {month(days[-1])}; "
        f"highest: {top}."
    )
    if people:
        text += f" Human lines: {listed((group.label for group in people), 5)}."
    if fan:
        end = fan[-1]
        text += f" Forecast for {month(end['date'])}: {say(end['value'])}{say_range(end['low'], end['high'])}."
    return text
