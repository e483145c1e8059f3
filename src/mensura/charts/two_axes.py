"""Two quantities against each other: trade-offs, ladders, prices, clusters; and values over time with a forecast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date

from markupsafe import Markup

from mensura.charts.labels import LINE, Box, place, text_width
from mensura.charts.plot import CROWD, WIDE, Mark, Plot, Reference, draw_group, draw_nothing
from mensura.charts.render import Drawing
from mensura.charts.theme import lab_colour, paint
from mensura.charts.values import Axis, Row, counted, listed, month, rows_of, say, say_range

COLUMNS = ("subject", "name", "provider", "x", "y", "status", "label")
CLUSTERED = ("group", "pearson", "mae", "cluster", "cluster_pearson", "cluster_mae")
TIMED = ("subject", "name", "provider", "released", "value", "low", "high", "status", "label")
LEVELS = ("label", "value", "low", "high")
_CLUSTERS = {1: "higher alignment", 2: "lower alignment"}
_NAMED = 12
"""Models named that set a record, the newest; more names would hide marks."""


def scatter(
    points: object,
    *,
    x_title: str,
    y_title: str,
    log_x: bool = False,
    log_y: bool = False,
    reverse_x: bool = False,
    frontier: object | None = None,
    diagonal: bool = False,
    line: object | None = None,
    people: float | None = None,
    x_tick: Callable[[float], str] = say,
    y_tick: Callable[[float], str] = say,
    y_word: str = "",
) -> Drawing:
    """Draw one mark per model.

    ``points``: subject, name, provider, x, y, status, label, and perhaps low, high (of y) and href. ``frontier``: x, y
    of the best trade-offs, drawn as steps, each with both of its values. ``diagonal`` draws the line of equal values.
    ``line``: x, y of the ends of a trend. ``people``: where the average person stands on the y axis. ``x_tick`` and
    ``y_tick`` write values, ``y_word`` stands before those of y in names. A
    logarithmic axis leaves out values that are not positive.
    """
    rows = rows_of(points, COLUMNS, needed=["subject", "name", "x", "y"], optional=["low", "high", "href"])
    rows = [row for row in rows if (row["x"] > 0 or not log_x) and (row["y"] > 0 or not log_y)]
    if not rows:
        return draw_nothing(f"no model has both {x_title} and {y_title}")
    edge, trend = sorted(_path(frontier, "frontier")), _path(line, "line")
    rows.sort(key=lambda row: ((row["x"], row["y"]) not in edge, -row["y"]))
    marks = []
    for index, row in enumerate(rows):
        across, up = x_tick(row["x"]), y_tick(row["y"])
        words = f"{row['name']}, {x_title} {across}, {y_title} {up}, {row['status']}"
        mark = Mark.of(row, row["x"], row["y"], words)
        named = replace(mark, named=True, detail=f"{across}, {y_word}{up}")
        marks.append(named if index < len(edge) else replace(mark, low=None, high=None))
    x = Axis.around(x_title, [one.x for one in marks], x_tick, log=log_x, reverse=reverse_x)
    heights = [one.y for one in marks] + [end for one in marks if one.named for end in (one.low, one.high)]
    y = Axis.around(y_title, heights, y_tick, log=log_y, pad=0.07)
    best = sorted(rows, key=lambda row: -row["y"])
    top = listed(f"{row['name']} ({say(row['y'])} at {say(row['x'])})" for row in best)
    about = f"{y_title} against {x_title} for {counted(len(rows), 'model')}; highest {y_title}: {top}."

    def draw(width: float) -> Markup:
        plot = Plot.on_sheet(width, x, y, about, 440.0)
        if diagonal and (low := max(x.low, y.low)) < (high := min(x.high, y.high)):
            plot.sheet.path(plot.points([(low, low), (high, high)]), paint.quiet, 1, "4 3")
        plot.sheet.path(plot.points(trend), paint.accent)
        blocked = []
        if people is not None and y.low < people < y.high:
            blocked = plot.levels([Reference("the average person", people)], marks)
        if edge:
            blocked += plot.steps([(edge[0][0], y.low), *edge, (x.high, edge[-1][1])])
        side = "start" if reverse_x else "end"
        plot.models(marks, blocked=blocked, best=range(len(edge)), side=side, strong=len(marks) < CROWD)
        if any(one.status == "estimated" for one in marks):
            plot.note("hollow: estimated")
        return plot.sheet.svg()

    shown = tuple({key: row[key] for key in COLUMNS[:-1]} for row in rows)
    return Drawing(draw, about, shown, screen=WIDE)


def _path(table: object | None, name: str) -> list[tuple[float, float]]:
    return [] if table is None else [(row["x"], row["y"]) for row in rows_of(table, ("x", "y"), name=name)]


def draw_ladder(
    points: Sequence[tuple[float, float]],
    models: Sequence[Mark],
    people: Sequence[Reference],
    *,
    tick: Callable[[float], str],
    description: str,
) -> Drawing:
    """Draw IQ (upright) against score (across): the ladder's points and line, models and groups of people on it."""
    scores = [score for score, _ in points] + [one.x for one in models] + [group.value for group in people]
    x, y = Axis.around("score", scores, tick), Axis("IQ by the ladder", 60.0, 170.0, lambda iq: f"{iq:.0f}")

    def draw(width: float) -> Markup:
        plot = Plot.on_sheet(width, x, y, description, 320.0)
        for step, group in enumerate(sorted(people, key=lambda one: one.value)):
            draw_group(plot.sheet, group, plot.x, plot.box[1] + 18 * step + 4, plot.box[3])
        plot.sheet.path(plot.points(points), paint.accent)
        for score, iq in points:
            plot.sheet.dot(plot.x(score), plot.y(iq), paint.accent)
        plot.models(models, strong=True)
        return plot.sheet.svg()

    return Drawing(draw, description, screen=700.0)


def alignment_clusters(points: object) -> Drawing:
    """Draw a dot per country, full or hollow by its cluster, and each cluster's mean as a cross with its name.

    ``points``: group, pearson, mae, cluster (1 has the higher r), cluster_pearson, cluster_mae; the table ``clusters``
    of a validation.
    """
    rows = rows_of(points, CLUSTERED, needed=list(CLUSTERED))
    if not rows:
        return draw_nothing("too few countries to tell clusters apart")
    marks, means = [], dict[str, Row]()
    for row in rows:
        cluster = _CLUSTERS.get(row["cluster"], f"cluster {row['cluster']}")
        means.setdefault(cluster, row)
        name = row["name"] = str(row["group"]).partition("=")[2] or str(row["group"])
        label = f"{name}, r {say(row['pearson'])}, error {say(row['mae'])}, {cluster}"
        status = "measured" if row["cluster"] == 1 else "estimated"
        marks.append(Mark(name, None, row["mae"], row["pearson"], label, status))
    words = {
        name: f"{name}: mean r {say(row['cluster_pearson'], 2)}, error {say(row['cluster_mae'])}"
        for name, row in means.items()
    }
    x = Axis.around("mean absolute error of predicted rates", [one.x for one in marks], pad=0.08)
    y = Axis.around("correlation r", [one.y for one in marks], pad=0.08)
    sizes = {name: sum(one.label.endswith(name) for one in marks) for name in means}
    parts = (f"{counted(sizes[name], 'group')} of {text}" for name, text in words.items())
    about = f"Correlation against mean absolute error per country: {'; '.join(parts)}."

    def draw(width: float) -> Markup:
        plot = Plot.on_sheet(width, x, y, about, 360.0)
        at = plot.points((row["cluster_mae"], row["cluster_pearson"]) for row in means.values())
        xs, ys = zip(*at, *plot.points((one.x, one.y) for one in marks), strict=True)
        sizes = [(text_width(text, weight="600"), LINE) for text in words.values()]
        frame = (plot.box[0], 16.0, width, plot.box[3])
        spots = place(xs, ys, sizes, range(len(at)), frame, best=range(len(at)), side="middle")
        for index, text in enumerate(words.values()):
            x_mean, y_mean = at[index]
            with plot.sheet.marked(f"mean of {text.replace(': mean', ':')}"):
                plot.sheet.line(x_mean - 7, y_mean, x_mean + 7, y_mean, paint.ink, 3)
                plot.sheet.line(x_mean, y_mean - 7, x_mean, y_mean + 7, paint.ink, 3)
                if index in spots:
                    plot.sheet.words(*spots[index][:2], text, anchor=spots[index].anchor, weight="600", halo=True)
        room = [(a - 8, b - 8, a + 8, b + 8) for a, b in at] + [spot.box for spot in spots.values()]
        plot.models(marks, blocked=room, strong=True)
        return plot.sheet.svg()

    return Drawing(draw, about, tuple(rows), screen=WIDE)


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

    def draw(width: float) -> Markup:
        plot = Plot.on_sheet(width, x, y, about)
        blocked = _draw_fan(plot, fan)
        blocked += _draw_today(plot, today, x)
        for provider in dict.fromkeys(row["provider"] for row in paths):
            path = plot.points((row["day"], row["value"]) for row in paths if row["provider"] == provider)
            plot.sheet.path(path, lab_colour(provider) if provider else paint.accent, 1.5, opacity=0.55)
        blocked += plot.levels(people, marks)
        plot.models(marks, blocked=blocked, best=range(len(marks)))
        if any(one.status == "estimated" for one in marks):
            plot.note("hollow: estimated")
        return plot.sheet.svg()

    shown = tuple({key: row[key] for key in TIMED[:-1]} for row in rows)
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
        steps = plot.steps([(models[index].x, models[index].y) for index in records], paint.accent, 1.25)
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
        plot.sheet.path(plot.points((row["day"], row["boundary"]) for row in bounded), paint.quiet, 1, "4 3")
        if bounded:
            level = plot.y(bounded[0]["boundary"])
            plot.sheet.words(plot.box[0] + 4, level - 9, "alarm above this line", fill=paint.quiet, size=11, halo=True)
        plot.sheet.path(plot.points((row["day"], row["statistic"]) for row in rows), paint.ink)
        for row in rows:
            label = f"{month(row['date'])}, {y_title} {say(row['statistic'])}, boundary {say(row['boundary'])}"
            with plot.sheet.marked(label):
                plot.sheet.dot(plot.x(row["day"]), plot.y(row["statistic"]), paint.ink, 5 if row in beyond else 2)
        falling = len(rows) > 1 and rows[-2]["statistic"] > last["statistic"]
        at, up = plot.x(last["day"]), plot.y(last["statistic"]) + (14 if falling else -14)
        plot.sheet.words(
            at, up, f"{month(last['date'])}: {say(last['statistic'])}", weight="600", anchor="end", halo=True
        )
        return plot.sheet.svg()

    return Drawing(draw, about, tuple({key: row[key] for key in columns} for row in rows), screen=WIDE)


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
    plot.sheet.words(at + 4, top + 6, "today", fill=paint.quiet, size=11)
    return [(at, top, at + 40, top + LINE)]


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
