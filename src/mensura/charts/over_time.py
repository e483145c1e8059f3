"""Values over time: models by release with people as levels, the records of a test, and the acceleration watch."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date

from mensura.charts.plot import CROWD, Mark, Plot, Reference, draw_nothing, draw_plot
from mensura.charts.render import Drawing
from mensura.charts.theme import LINE, Box, lab_colour, paint, text_width
from mensura.charts.values import Axis, Row, counted, listed, month, rows_of, say, say_range

TIMED = ("subject", "name", "provider", "released", "value", "low", "high", "status", "label")
LEVELS = ("label", "value", "low", "high")
_WATCHED = "Evidence for acceleration"
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

    Points and levels may have an ``href``, levels a ``subject``.

    Parameters
    ----------
    points : table
        Columns subject, name, provider, released, value, low, high, status, label.
    y_title : str
        What the value is.
    lines : table, optional
        Columns provider, released, value; joined per provider.
    forecast : table, optional
        Columns date, value, low, high; drawn as a fan.
    levels : table, optional
        Columns label, value, low, high; human lines across the plot, the first ones named as far as there is
        room.
    today : date, optional
        Day of a divider.

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
    >>> model = {"subject": ["a"], "name": ["A"], "provider": [None], "released": ["2026-05-01"], "value": [1.0]}
    >>> more = {"low": [None], "high": [None], "status": ["measured"], "label": [True]}
    >>> charts.timeline({**model, **more}, y_title="capability").description
    'capability of 1 model by release date, May 2026 to May 2026; highest: A (1).'

    """
    rows = rows_of(points, TIMED, needed=["subject", "name", "released", "value"], optional=["href"])
    if not rows:
        return draw_nothing("no model has a release date and a value here")
    rows.sort(key=lambda row: -row["value"])
    paths = _dated(lines, ("provider", "released", "value"), "lines", "released")
    fan = _dated(forecast, ("date", "value", "low", "high"), "forecast", "date")
    people = []
    if levels is not None:
        for row in rows_of(levels, LEVELS, name="levels", needed=["value"], optional=["href", "subject"]):
            ends = (row["label"], row["value"], row["low"], row["high"])
            people.append(Reference(*ends, href=row["href"] or "", subject=row["subject"] or ""))
    marks = []
    for row in rows:
        label = f"{row['name']}, {y_title} {say(row['value'])}{say_range(row['low'], row['high'])}, {row['status']}, "
        label += f"released {month(row['released'])}"
        marks.append(Mark.of(row, _day(row["released"]), row["value"], label))
    days = [one.x for one in marks] + [row["day"] for row in fan]
    heights = [end for row in (*rows, *fan) for end in (row["value"], row["low"], row["high"])]
    heights += [end for group in people for end in (group.value, group.low, group.high)]
    x, y = Axis.around("", days, days=True, pad=0.03), Axis.around(y_title, heights)
    about = _describe_timeline(rows, fan, people, y_title)

    def draw(plot: Plot) -> None:
        blocked = _draw_fan(plot, fan)
        blocked += _draw_today(plot, today, x)
        for provider in dict.fromkeys(row["provider"] for row in paths):
            path = plot.points((row["day"], row["value"]) for row in paths if row["provider"] == provider)
            plot.sheet.path(path, lab_colour(provider) if provider else paint.accent, 1.5, opacity=0.55)
        blocked += plot.levels(people, marks)
        plot.models(marks, blocked=blocked, best=range(len(marks)))
        if any(one.status == "estimated" for one in marks):
            plot.note("hollow: estimated")

    return draw_plot(x, y, about, draw, rows=({key: row[key] for key in TIMED[:-1]} for row in rows))


def draw_history(
    models: Sequence[Mark], people: Sequence[Reference], *, tick: Callable[[float], str], description: str
) -> Drawing:
    """Draw scores by release date, with the record as a line and people as levels.

    Parameters
    ----------
    models : sequence of Mark
        Models; ``x`` is the day (:meth:`datetime.date.toordinal`), ``y`` the score.
    people : sequence of Reference
        Groups of people.
    tick : callable
        Writes a score.
    description : str
        The picture in words.

    Returns
    -------
    Drawing
        The picture; a notebook shows it, ``save`` writes it.

    Examples
    --------
    >>> from mensura import charts
    >>> models = [charts.Mark("A", None, 739000.0, 50.0), charts.Mark("B", None, 739100.0, 60.0)]
    >>> charts.draw_history(models, (), tick=str, description="two scores").description
    'two scores'

    """
    records: list[int] = []
    for index in sorted(range(len(models)), key=lambda one: (models[one].x, -models[one].y)):
        if not records or models[index].y > models[records[-1]].y:
            records.append(index)
    named = [models[index] for index in records[: -_NAMED - 1 : -1]]
    rest = [replace(one, named=False) for one in models if one not in named]
    x = Axis.around("", [one.x for one in models], days=True)
    y = Axis.around("", [one.y for one in models] + [group.value for group in people], tick)

    def draw(plot: Plot) -> None:
        steps = plot.steps([(models[index].x, models[index].y) for index in records], paint.accent, 1.25)
        blocked = plot.levels(people, models)
        plot.models([*named, *rest], blocked=[*steps, *blocked], best=range(len(named)), strong=len(models) < CROWD)

    return draw_plot(x, y, description, draw, height=320.0, screen=1040.0)


def watch(points: object) -> Drawing:
    """Draw the statistic and its boundary; days on which the statistic is beyond it are dots.

    Parameters
    ----------
    points : table
        Columns date, statistic, boundary.

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
    >>> points = {"date": ["2026-05-01", "2026-06-01"], "statistic": [0.5, 2.5], "boundary": [2.0, 2.0]}
    >>> "beyond it first in June 2026" in charts.watch(points).description
    True

    """
    columns = ("date", "statistic", "boundary")
    rows = _dated(points, columns, "points", "date", needed="statistic")
    if not rows:
        return draw_nothing("no day has been watched")
    beyond = [row for row in rows if row["boundary"] is not None and row["statistic"] > row["boundary"]]
    last = rows[-1]
    verdict = f"beyond it first in {month(beyond[0]['date'])}" if beyond else "never beyond it"
    about = (
        f"{_WATCHED} from {month(rows[0]['date'])} to {month(last['date'])} with its boundary; {verdict}; last value "
        f"{say(last['statistic'])}, boundary {say(last['boundary'])}."
    )
    x = Axis.around("", [row["day"] for row in rows], days=True, pad=0.02)
    y = Axis.around(_WATCHED, [0.0, *(row[key] for row in rows for key in columns[1:])])

    def draw(plot: Plot) -> None:
        bounded = [row for row in rows if row["boundary"] is not None]
        plot.sheet.path(plot.points((row["day"], row["boundary"]) for row in bounded), paint.quiet, 1, "4 3")
        if bounded:
            level = plot.y(bounded[0]["boundary"])
            plot.sheet.words(plot.box[0] + 4, level - 9, "alarm above this line", fill=paint.quiet, size=11, halo=True)
        plot.sheet.path(plot.points((row["day"], row["statistic"]) for row in rows), paint.ink)
        for row in rows:
            label = f"{month(row['date'])}, {_WATCHED} {say(row['statistic'])}, boundary {say(row['boundary'])}"
            with plot.sheet.marked(label):
                plot.sheet.dot(plot.x(row["day"]), plot.y(row["statistic"]), paint.ink, 5 if row in beyond else 2)
        falling = len(rows) > 1 and rows[-2]["statistic"] > last["statistic"]
        at, up = plot.x(last["day"]), plot.y(last["statistic"]) + (14 if falling else -14)
        text = f"{month(last['date'])}: {say(last['statistic'])}"
        plot.sheet.words(at, up, text, weight="600", anchor="end", halo=True)

    return draw_plot(x, y, about, draw, height=280.0, rows=({key: row[key] for key in columns} for row in rows))


def _day(iso: str) -> float:
    return float(date.fromisoformat(iso).toordinal())


def _dated(table: object | None, columns: tuple[str, ...], name: str, day: str, *, needed: str = "value") -> list[Row]:
    """Return the rows of a table by day; each has the day as a number."""
    rows = [] if table is None else rows_of(table, columns, name=name, needed=[day, needed])
    return [{**row, "day": _day(row[day])} for row in sorted(rows, key=lambda row: str(row[day]))]


def _draw_fan(plot: Plot, fan: list[Row]) -> list[Box]:
    """Draw the forecast, name it at its end, and return the room of the name."""
    if not fan:
        return []
    edge = [(row["day"], row["low"]) for row in fan] + [(row["day"], row["high"]) for row in reversed(fan)]
    plot.sheet.area(plot.points(edge), paint.accent, 0.15)
    path = plot.points((row["day"], row["value"]) for row in fan)
    plot.sheet.path(path, paint.accent, 1.75, "5 3")
    (x, y), text = path[-1], f"{month(fan[-1]['date'])}: {say(fan[-1]['value'])}"
    plot.sheet.words(x, y - 10, text, fill=paint.accent, weight="600", anchor="end", halo=True)
    return [(x - text_width(text, weight="600"), y - 10 - LINE / 2, x, y)]


def _draw_today(plot: Plot, today: date | None, x: Axis) -> list[Box]:
    if today is None or not x.low < today.toordinal() < x.high:
        return []
    at, (_, top, _, bottom) = plot.x(today.toordinal()), plot.box
    plot.sheet.line(at, top, at, bottom, paint.quiet, 1, "4 3")
    text, side = "newest release", "start"
    size = text_width(text, 11) + 8
    start = at
    if at + size > plot.box[2]:  # no room to the right
        side, start = "end", at - size
    plot.sheet.words(at + (4 if side == "start" else -4), top + 6, text, fill=paint.quiet, size=11, anchor=side)
    return [(start, top, start + size, top + LINE)]


def _describe_timeline(rows: list[Row], fan: list[Row], people: list[Reference], y_title: str) -> str:
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
