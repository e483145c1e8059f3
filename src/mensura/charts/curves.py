"""Success by demand level, one small panel per dimension."""

from __future__ import annotations

from typing import Any

import altair as alt

from mensura.charts.labels import text_width
from mensura.charts.marks import DOTS, KNOWN, empty, finish
from mensura.charts.rows import Row, counted, listed, rows_of
from mensura.charts.theme import SHAPES
from mensura.core.errors import MensuraError

COLUMNS = ("subject", "dimension", "level", "rate", "low", "high")
PANELS = {"least": 110, "gap": 14, "frame": 56}  # pixels: of a panel at least, between panels, around them all
MOST = len(SHAPES)


def level_curves(points: object) -> alt.FacetChart | alt.LayerChart:
    """Draw each subject's rate of success over demand levels, one panel per dimension.

    ``points``: subject, dimension, level, rate, low, high (rates as shares from 0 to 1).
    """
    rows = rows_of(points, COLUMNS, needed=["subject", "dimension", "level", "rate"])
    if not rows:
        return empty("no outcome by level")
    subjects = list(dict.fromkeys(row["subject"] for row in rows))
    if len(subjects) > MOST:
        raise MensuraError(f"points: {len(subjects)} subjects; panels tell at most {MOST} apart, so choose some")
    for row in rows:
        row["aria"] = f"{row['subject']}, {row['dimension']} level {row['level']:g}, {row['rate']:.0%} correct"
    legend = alt.Legend(symbolSize=DOTS[1], offset=12, symbolOpacity=1) if len(subjects) > 1 else None
    colour: dict[str, Any] = {"scale": alt.Scale(domain=subjects, range="category"), "legend": legend}
    base = alt.Chart().encode(
        x=alt.X(
            "level:Q",
            scale=alt.Scale(domain=_ends(rows), nice=False),
            axis=alt.Axis(title="level", tickMinStep=1, format="d", grid=False),
        ),
        y=alt.Y(
            "rate:Q",
            scale=alt.Scale(domain=[-0.06, 1.06], nice=False),
            axis=alt.Axis(title=None, format="%", values=[0, 0.5, 1], grid=True),
        ),
    )
    interval = (
        base.transform_filter(KNOWN)
        .mark_rule(strokeWidth=1.25, opacity=0.4, aria=False, tooltip=None)
        .encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), stroke=alt.Stroke("subject:N", **colour))
    )
    line = base.mark_line(strokeWidth=1.5, aria=False, tooltip=None).encode(stroke=alt.Stroke("subject:N", **colour))
    dot = base.mark_point(size=DOTS[2], opacity=1, tooltip=None).encode(
        fill=alt.Fill("subject:N", **colour),
        stroke=alt.Stroke("subject:N", **colour),
        shape=alt.Shape("subject:N", scale=alt.Scale(domain=subjects, range="symbol"), legend=legend),
        description=alt.Description("aria:N"),
    )
    panel = alt.layer(interval, line, dot, data=alt.NamedData("points")).properties(width=120, height=110)
    order = list(dict.fromkeys(row["dimension"] for row in rows))
    facet = alt.Facet("dimension:N", sort=order, title=None, header=alt.Header(labelPadding=4))
    chart: alt.FacetChart = panel.facet(facet=facet, columns=4, spacing=PANELS["gap"])
    finish(chart, {"points": rows}, _describe(rows, order, subjects))
    column = max(text_width(name) for name in subjects) + 26
    chart.usermeta = {"panels": PANELS, "legend": {"inset": 40, "column": round(column)}}
    return chart


def _ends(rows: list[Row]) -> list[float]:
    levels = [float(row["level"]) for row in rows]
    return [min(levels) - 0.3, max(levels) + 0.3]


def _describe(rows: list[Row], dimensions: list[str], subjects: list[str]) -> str:
    levels = [row["level"] for row in rows]
    return (
        f"Rate of success over demand levels {min(levels):g} to {max(levels):g} in "
        f"{counted(len(dimensions), 'dimension')} for {listed(subjects, MOST)}."
    )
