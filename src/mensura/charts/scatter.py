"""Two quantities against each other: models with the best trade-offs, a test's ladder, countries in two clusters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from markupsafe import Markup

from mensura.charts.axes import Axis
from mensura.charts.canvas import ACCENT, INK, QUIET
from mensura.charts.labels import LINE, place, text_width
from mensura.charts.plot import CROWD, WIDE, Mark, Plot, Reference, draw_group, draw_nothing
from mensura.charts.render import Drawing
from mensura.charts.rows import Row, counted, listed, rows_of, say

COLUMNS = ("subject", "name", "provider", "x", "y", "status", "label")
CLUSTERED = ("group", "pearson", "mae", "cluster", "cluster_pearson", "cluster_mae")
_CLUSTERS = {1: "higher alignment", 2: "lower alignment"}


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
    rows = [
        row
        for row in rows_of(points, COLUMNS, needed=["subject", "name", "x", "y"], optional=["low", "high", "href"])
        if (row["x"] > 0 or not log_x) and (row["y"] > 0 or not log_y)
    ]
    if not rows:
        return draw_nothing(f"no model has both {x_title} and {y_title}")
    edge = [] if frontier is None else [(row["x"], row["y"]) for row in rows_of(frontier, ("x", "y"), name="frontier")]
    trend = [] if line is None else [(row["x"], row["y"]) for row in rows_of(line, ("x", "y"), name="line")]
    edge.sort()
    rows.sort(key=lambda row: ((row["x"], row["y"]) not in edge, -row["y"]))
    marks = []
    for index, row in enumerate(rows):
        across, up = x_tick(row["x"]), y_tick(row["y"])
        words = f"{row['name']}, {x_title} {across}, {y_title} {up}, {row['status']}"
        mark = Mark.of(row, row["x"], row["y"], words)
        best = replace(mark, named=True, detail=f"{across}, {y_word}{up}")
        marks.append(best if index < len(edge) else replace(mark, low=None, high=None))
    x = Axis.around(x_title, [one.x for one in marks], x_tick, log=log_x, reverse=reverse_x)
    heights = [one.y for one in marks] + [end for one in marks if one.named for end in (one.low, one.high)]
    y = Axis.around(y_title, heights, y_tick, log=log_y, pad=0.07)
    about = _describe(rows, x_title, y_title)

    def draw(width: float) -> Markup:
        plot = Plot.on_sheet(width, x, y, about, 440.0)
        if diagonal and (low := max(x.low, y.low)) < (high := min(x.high, y.high)):
            plot.sheet.path(plot.points([(low, low), (high, high)]), QUIET, 1, "4 3")
        plot.sheet.path(plot.points(trend), ACCENT)
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


def _describe(rows: list[Row], x_title: str, y_title: str) -> str:
    best = sorted(rows, key=lambda row: -row["y"])
    top = listed(f"{row['name']} ({say(row['y'])} at {say(row['x'])})" for row in best)
    return f"{y_title} against {x_title} for {counted(len(rows), 'model')}; highest {y_title}: {top}."


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
        plot.sheet.path(plot.points(points), ACCENT)
        for score, iq in points:
            plot.sheet.dot(plot.x(score), plot.y(iq), ACCENT)
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
                plot.sheet.line(x_mean - 7, y_mean, x_mean + 7, y_mean, INK, 3)
                plot.sheet.line(x_mean, y_mean - 7, x_mean, y_mean + 7, INK, 3)
                if index in spots:
                    plot.sheet.words(*spots[index][:2], text, anchor=spots[index].anchor, weight="600", halo=True)
        room = [(a - 8, b - 8, a + 8, b + 8) for a, b in at] + [spot.box for spot in spots.values()]
        plot.models(marks, blocked=room, strong=True)
        return plot.sheet.svg()

    return Drawing(draw, about, tuple(rows), screen=WIDE)
