"""Estimated against annotated level, one small panel per dimension: items, level means, line and base."""

from __future__ import annotations

from textwrap import wrap

import altair as alt

from mensura.charts.marks import empty, finish
from mensura.charts.rows import Row, Span, counted, rows_of, say

POINTS = ("dimension", "level", "empirical")
LINES = ("dimension", "name", "slope", "intercept", "base", "low", "high", "verdict")
PANEL = {"least": 180, "gap": 16, "frame": 56}  # pixels: of a panel at least, between panels, around them all
NAME_LETTERS = 26  # of a line of a panel's title
SPREAD, GOLDEN = 0.5, 0.6180339887
"""Items of one level are spread over half a level, by the golden ratio, so that many remain apart."""


def level_panels(points: object, means: object, lines: object) -> alt.FacetChart | alt.LayerChart:
    """Draw items (dots), the mean of each level (stars) and the calibrated line, one panel per dimension.

    ``points``, ``means``: dimension, level, empirical. ``lines``: dimension, name, slope, intercept, base, low, high,
    verdict; their order is that of the panels.
    """
    told = rows_of(lines, LINES, needed=["dimension"])
    order = {row["dimension"]: _title(row) for row in told}
    items = [row for row in rows_of(points, POINTS, needed=list(POINTS)) if row["dimension"] in order]
    stars = [row for row in rows_of(means, POINTS, needed=list(POINTS)) if row["dimension"] in order]
    if not items:
        return empty("no item is decided by a dimension that was calibrated")
    for at, row in enumerate(items):
        row |= {"kind": "item", "panel": order[row["dimension"]]}
        row["level"] += SPREAD * ((at * GOLDEN) % 1.0 - 0.5)
    for row in stars:
        row |= {"kind": "mean", "panel": order[row["dimension"]]}
        row["aria"] = f"{row['dimension']} level {row['level']:g}, mean estimated level {say(row['empirical'])}"
    drawn = {row["dimension"] for row in items}
    ends = [row for line in told if line["dimension"] in drawn for row in _ends(line, order, items)]
    rows = [*items, *stars, *ends]
    x_span = Span(min(row["level"] for row in rows) - 0.2, max(row["level"] for row in rows) + 0.2)
    y_span = Span.around([row["empirical"] for row in (*items, *stars)])
    base = alt.Chart().encode(
        x=alt.X(
            "level:Q",
            scale=alt.Scale(domain=[x_span.low, x_span.high], nice=False),
            axis=alt.Axis(title="annotated level", tickMinStep=1, format="d", grid=False),
        ),
        y=alt.Y(
            "empirical:Q",
            scale=alt.Scale(domain=[y_span.low, y_span.high], nice=False),
            axis=alt.Axis(title=None, tickCount=4, grid=True),
        ),
    )
    dots = base.transform_filter("datum.kind == 'item'").mark_point(
        style="crowd", filled=True, size=12, opacity=0.45, aria=False, tooltip=None
    )
    line = base.transform_filter("datum.kind == 'line'").mark_line(style="trend", clip=True, aria=False, tooltip=None)
    star = base.transform_filter("datum.kind == 'mean'").mark_point(
        style="plain", shape=_STAR, filled=True, size=70, opacity=1, tooltip=None
    )
    layers = (dots, line, star.encode(description=alt.Description("aria:N")))
    panel = alt.layer(*layers, data=alt.NamedData("points")).properties(width=150, height=130)
    titles = [title for code, title in order.items() if code in drawn]
    facet = alt.Facet(
        "panel:N", sort=titles, title=None, header=alt.Header(labelPadding=4, labelLimit=200, labelExpr=_LINES_OF)
    )
    chart: alt.FacetChart = panel.facet(facet=facet, columns=3, spacing=PANEL["gap"])
    finish(chart, {"points": rows}, _describe(titles, len(items)))
    chart.usermeta = {"panels": PANEL}
    return chart


_BREAK = " | "
"""Between the lines of a panel's title: a header takes one text and breaks it itself."""
_LINES_OF = f"split(datum.label, '{_BREAK}')"
_STAR = (
    "M0,-1L0.235,-0.324L0.951,-0.309L0.38,0.124L0.588,0.809L0,0.4L-0.588,0.809L-0.38,0.124L-0.951,-0.309L-0.235,-0.324Z"
)


def _title(line: Row) -> str:
    """Return the panel's title in lines: the name, and the base with its interval."""
    name = _BREAK.join(wrap(line["name"] or line["dimension"], NAME_LETTERS))
    if line["base"] is None:
        return f"{name}{_BREAK}no base"
    interval = "" if line["low"] is None or line["high"] is None else f" ({line['low']:.2f}–{line['high']:.2f})"
    return f"{name}{_BREAK}B {line['base']:.2f}{interval}"


def _ends(line: Row, order: dict[str, str], items: list[Row]) -> list[Row]:
    """Return the two ends of a line, over the levels that its items have."""
    if line["slope"] is None or line["intercept"] is None:
        return []
    levels = [row["level"] for row in items if row["dimension"] == line["dimension"]]
    return [
        {
            "dimension": line["dimension"],
            "panel": order[line["dimension"]],
            "kind": "line",
            "level": level,
            "empirical": line["slope"] * level + line["intercept"],
        }
        for level in (min(levels), max(levels))
    ]


def _said(title: str) -> str:
    """Return a title in one line."""
    name, _, base = title.rpartition(_BREAK)
    return f"{name.replace(_BREAK, ' ')}: {base}"


def _describe(titles: list[str], items: int) -> str:
    return (
        f"Estimated against annotated level for {counted(items, 'item')} in {counted(len(titles), 'panel')}, with the "
        f"base of each: {'; '.join(_said(title) for title in titles)}."
    )
