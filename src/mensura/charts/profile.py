"""Profiles: a few subjects side by side, one row per dimension."""

from __future__ import annotations

from typing import Any

import altair as alt

from mensura.charts.labels import text_width
from mensura.charts.marks import (
    DOTS,
    KNOWN,
    ROW_LIMIT,
    axis_of,
    empty,
    picture,
    row_inset,
    scale_of,
    status_note,
    status_opacity,
)
from mensura.charts.rows import Row, Span, counted, rows_of, say, say_range
from mensura.charts.theme import SHAPES
from mensura.core.errors import MensuraError

COLUMNS = ("subject", "name", "provider", "dimension", "value", "low", "high", "status")
MOST = len(SHAPES)


def dots(points: object, *, x_title: str = "IQ", reference: float | None = None) -> alt.LayerChart:
    """Draw a dot and its interval per subject and dimension; subjects differ by colour and shape.

    ``points``: subject, name, provider, dimension, value, low, high, status, dimensions in the order to draw.
    ``reference`` marks one value, such as the average person or the model's own level. Names and the reference
    (dataset ``level``) come from the data, so that a page may give the chart other subjects.
    """
    rows = rows_of(points, COLUMNS, needed=["subject", "name", "dimension", "value"])
    if not rows:
        return empty(f"no {x_title} by dimension")
    shown = list(dict.fromkeys(row["name"] for row in rows))
    if len(shown) > MOST:
        raise MensuraError(f"points: {len(shown)} subjects; a profile tells at most {MOST} apart, so choose some")
    for row in rows:
        row["aria"] = (
            f"{row['name']}, {row['dimension']}, {x_title} {say(row['value'])}{say_range(row['low'], row['high'])}, "
            f"{row['status']}"
        )
    span = Span.around([reference, *(row[key] for row in rows for key in ("value", "low", "high"))], pad=0.05)
    legend = _legend(shown)
    colour: dict[str, Any] = {"scale": alt.Scale(range="category"), "sort": None, "legend": legend}
    y = alt.Y(
        "dimension:N",
        sort=list(dict.fromkeys(row["dimension"] for row in rows)),
        axis=alt.Axis(title=None, labelLimit=ROW_LIMIT, labelOverlap=False, grid=True, tickBand="extent"),
    )
    x = alt.X("value:Q", scale=scale_of(span), axis=axis_of(span, x_title))
    base = alt.Chart(alt.NamedData("points")).encode(x=x, y=y)
    if len(shown) > 1:
        base = base.encode(yOffset=alt.YOffset("name:N", sort=None, scale=alt.Scale(paddingOuter=0.3)))
    interval = (
        base.transform_filter(KNOWN)
        .mark_rule(
            stroke=alt.ExprRef("scale('fill', datum.name)"), strokeWidth=1.5, opacity=0.5, aria=False, tooltip=None
        )
        .encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"))
    )
    mark = base.mark_point(size=DOTS[0], strokeWidth=1.5, opacity=1, tooltip=None).encode(
        fill=alt.Fill("name:N", **colour),
        stroke=alt.Stroke("name:N", **colour),
        shape=alt.Shape("name:N", scale=alt.Scale(range="symbol"), sort=None, legend=legend),
        fillOpacity=status_opacity(),
        description=alt.Description("aria:N"),
    )
    level = alt.Chart(alt.NamedData("level")).mark_rule(style="reference", aria=False, tooltip=None).encode(x=x)
    layers = [level, interval, mark, *status_note(rows)]
    height = (12 + 15 * len(shown)) * len({row["dimension"] for row in rows})
    datasets: dict[str, list[Row]] = {"points": rows, "level": [] if reference is None else [{"value": reference}]}
    return picture(
        layers,
        datasets,
        height=height,
        description=_describe(rows, shown, x_title),
        inset=row_inset(row["dimension"] for row in rows),
        column=max(text_width(name) for name in shown) + 26,
    )


def _legend(shown: list[str]) -> alt.Legend | None:
    if len(shown) < 2:
        return None
    return alt.Legend(symbolSize=DOTS[0], offset=28, symbolOpacity=1)


def _describe(rows: list[Row], shown: list[str], x_title: str) -> str:
    parts = []
    for name in shown:
        own = [row for row in rows if row["name"] == name]
        best, worst = max(own, key=lambda row: row["value"]), min(own, key=lambda row: row["value"])
        parts.append(
            f"{name} is highest in {best['dimension']} ({say(best['value'])}) and lowest in {worst['dimension']} "
            f"({say(worst['value'])})"
        )
    dimensions = len({row["dimension"] for row in rows})
    return f"{x_title} by dimension, {counted(dimensions, 'dimension')}: {'; '.join(parts)}."
