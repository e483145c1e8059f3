"""Profiles among people: AI systems and groups of people on the calibrated scales, one row per dimension."""

from __future__ import annotations

from typing import Any

import altair as alt

from mensura.charts.labels import text_width
from mensura.charts.marks import DOTS, KNOWN, empty, label_limit, picture, row_inset
from mensura.charts.rows import Row, counted, listed, rows_of, say, say_range
from mensura.charts.theme import SHAPES
from mensura.core.errors import MensuraError
from mensura.intake.tables import as_frame

COLUMNS = ("subject", "dimension", "one_in", "low", "high", "kind", "note")
MOST = len(SHAPES)
FARTHEST = 1e6
"""Rarest position that is drawn to scale; beyond it an interval ends at the edge."""
_ROUND = (1, 2, 10, 100, 1_000, 10_000, 100_000, 1_000_000)


def among_people(points: object) -> alt.LayerChart:
    """Draw where each subject stands in each dimension, as "1 in N people", with its interval.

    ``points``: subject, dimension (as it is to be written), one_in, low, high, kind (AI, or people: hollow), note,
    and if wanted at_least (cut at what the data can tell), in the order to draw. A dimension in which nobody is placed
    keeps its row, which says so.
    """
    columns = [*COLUMNS, *({"at_least"} & set(as_frame(points, name="points").columns))]
    told = rows_of(points, columns, needed=["subject", "dimension"])
    placed = [row for row in told if row["one_in"] is not None]
    if not placed:
        return empty("no ability could be placed among people")
    shown = list(dict.fromkeys(row["subject"] for row in told))
    if len(shown) > MOST:
        raise MensuraError(f"points: {len(shown)} subjects; a profile tells at most {MOST} apart, so choose some")
    dimensions = list(dict.fromkeys(row["dimension"] for row in told))
    reached = {row["dimension"] for row in placed}
    absent: list[Row] = [
        {"dimension": name, "one_in": 2.0, "text": "nobody placed: no usable line, or too few items"}
        for name in dimensions
        if name not in reached
    ]
    for row in placed:
        row["aria"] = (
            f"{row['subject']}, {row['dimension']}: {_rarity(row)}"
            f"{say_range(row['low'], row['high'])}{', ' + row['note'] if row['note'] else ''}"
        )
        row |= {key: min(row[key], FARTHEST) for key in ("one_in", "low", "high") if row[key] is not None}
    top = max(row[key] for row in placed for key in ("one_in", "high") if row[key] is not None)
    ends = [1.0, min(top * 1.2, FARTHEST)]
    axis = alt.Axis(
        title="as rare as 1 in so many people",
        values=[tick for tick in _ROUND if tick <= ends[1]],
        format=",~r",
        grid=True,
        labelOverlap=True,
    )
    x = alt.X("one_in:Q", scale=alt.Scale(type="log", domain=ends, nice=False), axis=axis)
    y = alt.Y(
        "dimension:N",
        sort=dimensions,
        scale=alt.Scale(domain=dimensions),
        axis=alt.Axis(title=None, labelLimit=label_limit(dimensions), labelOverlap=False, grid=True, tickBand="extent"),
    )
    legend = alt.Legend(symbolSize=DOTS[0], offset=28, symbolOpacity=1) if len(shown) > 1 else None
    colour: dict[str, Any] = {"scale": alt.Scale(domain=shown, range="category"), "sort": None, "legend": legend}
    base = alt.Chart(alt.NamedData("points")).encode(x=x, y=y)
    if len(shown) > 1:
        offset = alt.Scale(domain=shown, paddingOuter=0.3)
        base = base.encode(yOffset=alt.YOffset("subject:N", sort=None, scale=offset))
    interval = (
        base.transform_filter(KNOWN)
        .mark_rule(
            stroke=alt.ExprRef("scale('fill', datum.subject)"), strokeWidth=1.5, opacity=0.5, aria=False, tooltip=None
        )
        .encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"))
    )
    mark = base.mark_point(size=DOTS[0], strokeWidth=1.5, opacity=1, tooltip=None).encode(
        fill=alt.Fill("subject:N", title=None, **colour),
        stroke=alt.Stroke("subject:N", title=None, **colour),
        shape=alt.Shape(
            "subject:N", title=None, scale=alt.Scale(domain=shown, range="symbol"), sort=None, legend=legend
        ),
        fillOpacity=alt.FillOpacity(
            "kind:N", scale=alt.Scale(domain=["AI", "people"], range=[0.95, 0.15]), legend=None
        ),
        description=alt.Description("aria:N"),
    )
    median = alt.Chart(alt.NamedData("median")).mark_rule(style="reference", aria=False, tooltip=None).encode(x=x)
    missing = (
        alt.Chart(alt.NamedData("absent"))
        .mark_text(style="hint", align="left", dx=8, tooltip=None)
        .encode(y=y, x=x, text=alt.Text("text:N"))
    )
    return picture(
        [median, interval, mark, missing],
        {"points": placed, "median": [{"one_in": 2.0}], "absent": absent},
        height=(10 + 11 * len(shown)) * len(dimensions),
        description=_describe(placed, shown, absent),
        inset=row_inset(dimensions),
        column=max(text_width(name) for name in shown) + 26,
    )


def _describe(placed: list[Row], shown: list[str], absent: list[Row]) -> str:
    parts = []
    for name in shown:
        own = [row for row in placed if row["subject"] == name]
        if own:
            best = max(own, key=lambda row: row["one_in"])
            parts.append(f"{name} is rarest in {best['dimension']} ({_rarity(best)})")
        else:
            parts.append(f"{name} is placed nowhere")
    gone = f" Nobody is placed in {listed((row['dimension'] for row in absent), len(absent))}." if absent else ""
    total = counted(len({row["dimension"] for row in placed}) + len(absent), "dimension")
    return f"Places among the people of the world in {total}: {'; '.join(parts)}.{gone}"


def _rarity(row: Row) -> str:
    return f"{'at least ' if row.get('at_least') else ''}1 in {say(row['one_in'])} people"
