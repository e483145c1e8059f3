"""Two quantities of each model against each other."""

from __future__ import annotations

from typing import Literal

import altair as alt

from mensura.charts.marks import axis_of, empty, lab_legend, model_dots, names, picture, scale_of, status_note
from mensura.charts.rows import Row, Span, add_spots, counted, listed, rows_of, say

COLUMNS = ("subject", "name", "provider", "x", "y", "status", "label")
HEIGHT = 400


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
) -> alt.LayerChart:
    """Draw one dot per model.

    ``points``: subject, name, provider, x, y, status, label. ``frontier``: x, y of the best trade-offs, drawn as
    steps. ``diagonal`` draws the line of equal values. ``line``: x, y of the ends of a trend. A
    logarithmic axis leaves out values that are not positive.
    """
    rows = [
        row
        for row in rows_of(points, COLUMNS, needed=["subject", "name", "x", "y"])
        if (row["x"] > 0 or not log_x) and (row["y"] > 0 or not log_y)
    ]
    if not rows:
        return empty(f"no model has both {x_title} and {y_title}")
    rows.sort(key=lambda row: -row["y"])
    for row in rows:
        row["aria"] = f"{row['name']}, {x_title} {say(row['x'])}, {y_title} {say(row['y'])}, {row['status']}"
    edge = [] if frontier is None else rows_of(frontier, ("x", "y"), name="frontier")
    edge.sort(key=lambda row: row["x"])
    across = Span.around([row["x"] for row in rows], log=log_x, reverse=reverse_x, pad=0.05)
    upright = Span.around([row["y"] for row in rows], log=log_y, pad=0.07)
    at = [(across.share(row["x"]), 1 - upright.share(row["y"])) for row in rows]
    add_spots(rows, at, height=HEIGHT)
    x = alt.X("x:Q", scale=scale_of(across), axis=axis_of(across, x_title))
    y = alt.Y("y:Q", scale=scale_of(upright), axis=axis_of(upright, y_title, upright=True))
    base = alt.Chart(alt.NamedData("points")).encode(x=x, y=y)
    layers = [*names(base), *status_note(rows), model_dots(base, lab_legend(rows))]
    datasets: dict[str, list[Row]] = {"points": rows}
    if edge:
        datasets["frontier"] = edge
        layers.insert(0, _steps(x, y, reverse_x))
    if line is not None:
        datasets["line"] = rows_of(line, ("x", "y"), name="line")
        layers.insert(0, _straight("line", "trend", x, y))
    if diagonal:
        low, high = max(across.low, upright.low), min(across.high, upright.high)
        datasets["diagonal"] = [{"x": low, "y": low}, {"x": high, "y": high}] if low < high else []
        layers.insert(0, _straight("diagonal", "reference", x, y))
    return picture(layers, datasets, height=HEIGHT, description=_describe(rows, x_title, y_title))


def _steps(x: alt.X, y: alt.Y, reverse: bool) -> alt.Chart:
    base = alt.Chart(alt.NamedData("frontier")).encode(x=x, y=y)
    step: Literal["step-before", "step-after"] = "step-before" if reverse else "step-after"
    drawn: alt.Chart = base.mark_line(style="trend", interpolate=step, opacity=0.7, aria=False, tooltip=None)
    return drawn


def _straight(name: str, style: str, x: alt.X, y: alt.Y) -> alt.Chart:
    base = alt.Chart(alt.NamedData(name)).encode(x=x, y=y)
    drawn: alt.Chart = base.mark_line(style=style, aria=False, tooltip=None)
    return drawn


def _describe(rows: list[Row], x_title: str, y_title: str) -> str:
    best = sorted(rows, key=lambda row: -row["y"])
    top = listed(f"{row['name']} ({say(row['y'])} at {say(row['x'])})" for row in best)
    return f"{y_title} against {x_title} for {counted(len(rows), 'model')}; highest {y_title}: {top}."
