"""The three stages of a calibration: as annotated, the lines, and aligned to the diagonal."""

from __future__ import annotations

from typing import Any

import altair as alt

from mensura.charts.labels import text_width
from mensura.charts.marks import DOTS, empty, finish
from mensura.charts.rows import Row, counted, listed, rows_of, say
from mensura.charts.theme import SHAPES

COLUMNS = ("dimension", "level", "n", "empirical", "line", "aligned")
STAGES = ("1 as annotated", "2 lines through level means", "3 aligned")
PANEL = {"least": 170, "gap": 18, "frame": 56}  # pixels: of a panel at least, between panels, around them all
MOST = len(SHAPES)


def calibration_stages(points: object) -> alt.FacetChart | alt.LayerChart:
    """Draw level means three times: against the level, with their lines, and against the aligned level.

    ``points``: dimension, level, n, empirical, line, aligned. With more dimensions than colours, those with the most
    items are drawn.
    """
    rows = rows_of(points, COLUMNS, needed=["dimension", "level", "empirical", "line", "aligned"])
    if not rows:
        return empty("no dimension has a line")
    sizes: dict[str, float] = {}
    for row in rows:
        sizes[row["dimension"]] = sizes.get(row["dimension"], 0.0) + (row["n"] or 0)
    kept = sorted(sizes, key=lambda name: -sizes[name])[:MOST]
    shown = [name for name in sizes if name in kept]
    drawn = [staged for row in rows if row["dimension"] in kept for staged in _staged(row)]
    values = [value for row in drawn for value in (row["x"], row["y"])]
    low, high = min(0.0, *values) - 0.2, max(values) + 0.2
    diagonal = [
        {"stage": stage, "kind": "equal", "x": end, "y": end} for stage in (STAGES[0], STAGES[2]) for end in (low, high)
    ]
    legend = alt.Legend(symbolSize=DOTS[1], offset=12, symbolOpacity=1) if len(shown) > 1 else None
    colour: dict[str, Any] = {"scale": alt.Scale(domain=shown, range="category"), "legend": legend}
    scale = alt.Scale(domain=[low, high], nice=False)
    base = alt.Chart().encode(
        x=alt.X(
            "x:Q",
            scale=scale,
            axis=alt.Axis(title="level (upright: estimated)", tickMinStep=1, tickCount=5, grid=False),
        ),
        y=alt.Y("y:Q", scale=scale, axis=alt.Axis(title=None, tickMinStep=1, tickCount=5, grid=True)),
    )
    equal = base.transform_filter("datum.kind == 'equal'").mark_line(style="reference", aria=False, tooltip=None)
    line = (
        base.transform_filter("datum.kind == 'line'")
        .mark_line(strokeWidth=1.5, aria=False, tooltip=None)
        .encode(stroke=alt.Stroke("dimension:N", title=None, **colour))
    )
    dots = (
        base.transform_filter("datum.kind == 'mean'")
        .mark_point(size=DOTS[2], opacity=1, tooltip=None)
        .encode(
            fill=alt.Fill("dimension:N", title=None, **colour),
            stroke=alt.Stroke("dimension:N", title=None, **colour),
            shape=alt.Shape("dimension:N", title=None, scale=alt.Scale(domain=shown, range="symbol"), legend=legend),
            description=alt.Description("aria:N"),
        )
    )
    panel = alt.layer(equal, line, dots, data=alt.NamedData("points")).properties(width=180, height=180)
    facet = alt.Facet("stage:N", sort=list(STAGES), title=None, header=alt.Header(labelPadding=4))
    chart: alt.FacetChart = panel.facet(facet=facet, columns=3, spacing=PANEL["gap"])
    finish(chart, {"points": [*diagonal, *drawn]}, _describe(shown, drawn))
    column = max(text_width(name) for name in shown) + 26
    chart.usermeta = {"panels": PANEL, "legend": {"inset": 40, "column": round(column)}}
    return chart


def _staged(row: Row) -> list[Row]:
    """Return one level mean in each stage, and its point on the line."""
    name, y = row["dimension"], row["empirical"]
    words = f"{name} level {row['level']:g}, estimated {say(y)}"
    means = [
        {"stage": stage, "kind": "mean", "dimension": name, "x": x, "y": y, "aria": f"{words}, {stage[2:]}"}
        for stage, x in zip(STAGES, (row["level"], row["level"], row["aligned"]), strict=True)
    ]
    return [*means, {"stage": STAGES[1], "kind": "line", "dimension": name, "x": row["level"], "y": row["line"]}]


def _describe(shown: list[str], drawn: list[Row]) -> str:
    gaps = [
        sum(abs(row["x"] - row["y"]) for row in part) / len(part)
        for stage in (STAGES[0], STAGES[2])
        if (part := [row for row in drawn if row["stage"] == stage and row["kind"] == "mean"])
    ]
    return (
        f"Level means of {counted(len(shown), 'dimension')} ({listed(shown, MOST)}): on average {say(gaps[0])} levels "
        f"off the diagonal as annotated, {say(gaps[1])} when aligned."
    )
