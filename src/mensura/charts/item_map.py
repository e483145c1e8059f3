"""Items and subjects on one axis: what is hard, and for whom."""

from __future__ import annotations

import json
from typing import Any

import altair as alt

from mensura.charts.marks import DOTS, KNOWN, axis_of, empty, picture, scale_of
from mensura.charts.rows import Span, counted, rows_of, say, say_range

COLUMNS = ("name", "kind", "value", "low", "high")
ROW = 80
"""Height of one kind's strip, in pixels."""
SPREAD, GOLDEN = 0.8, 0.6180339887
"""Marks of a strip are spread over most of it, by the golden ratio, so that many remain apart."""
_PEOPLE = "datum.kind == 'people'"
"""People are warm, in every picture."""
CROWD, SMALL = 60, 26
"""Marks above which they shrink, and the area they shrink to, in square pixels."""


def item_map(points: object) -> alt.LayerChart:
    """Draw one strip per kind (items, people, models …) along the ability scale, with intervals.

    ``points``: name, kind, value (difficulty of an item, ability of a subject), low, high. Where an item stands level
    with a subject, the subject has an even chance (more, where items can be guessed).
    """
    rows = rows_of(points, COLUMNS, needed=["name", "kind", "value"])
    if not rows:
        return empty("no item and no subject")
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    for at, row in enumerate(rows):
        row["place"] = kinds.index(row["kind"]) + SPREAD * ((at * GOLDEN) % 1.0 - 0.5)
        row["aria"] = f"{row['kind']} {row['name']}, {say(row['value'])}{say_range(row['low'], row['high'])}"
    span = Span.around([row[end] for row in rows for end in ("value", "low", "high") if row[end] is not None])
    x = alt.X("value:Q", scale=scale_of(span), axis=axis_of(span, "ability of subjects, difficulty of items"))
    scale = alt.Scale(domain=[-0.5, len(kinds) - 0.5], reverse=True, nice=False, zero=False)
    names = f"{json.dumps(kinds, ensure_ascii=False)}[round(datum.value)]"
    axis = alt.Axis(title=None, values=list(range(len(kinds))), labelExpr=names, grid=False, ticks=False)
    base = alt.Chart(alt.NamedData("points")).encode(x=x, y=alt.Y("place:Q", scale=scale, axis=axis))
    told = "; ".join(_strip(kind, [row["value"] for row in rows if row["kind"] == kind]) for kind in kinds)
    return picture(
        _layers(base, kinds, DOTS[0] if len(rows) <= CROWD else SMALL),
        {"points": rows},
        height=ROW * len(kinds),
        description=f"Items and subjects on one axis: {told}.",
    )


def _layers(base: alt.Chart, kinds: list[str], size: int) -> list[alt.Chart]:
    """Return intervals and marks: people in their own colour, the other kinds each in one."""
    line: dict[str, Any] = {"opacity": 0.3, "clip": True, "aria": False, "tooltip": None}
    dot: dict[str, Any] = {"size": size, "opacity": 0.9, "tooltip": None}
    ends = {"x": alt.X("low:Q"), "x2": alt.X2("high:Q")}
    layers = []
    if "people" in kinds:
        people = base.transform_filter(_PEOPLE)
        layers = [
            people.transform_filter(KNOWN).mark_rule(style="people", **line).encode(**ends),
            people.mark_point(style="people-dot", shape="circle", filled=True, **dot).encode(description="aria:N"),
        ]
    others = [kind for kind in kinds if kind != "people"]
    if not others:
        return layers
    rest = base.transform_filter(f"!({_PEOPLE})")
    colour = alt.Scale(domain=others, range="category")
    stroke = alt.Stroke("kind:N", scale=colour, legend=None)
    return [
        *layers,
        rest.transform_filter(KNOWN).mark_rule(**line).encode(**ends, stroke=stroke),
        rest.mark_point(**dot).encode(
            fill=alt.Fill("kind:N", scale=colour, legend=None),
            stroke=stroke,
            shape=alt.Shape("kind:N", scale=alt.Scale(domain=others, range="symbol"), legend=None),
            description=alt.Description("aria:N"),
        ),
    ]


def _strip(kind: str, values: list[float]) -> str:
    return f"{counted(len(values), 'mark')} of {kind} from {say(min(values))} to {say(max(values))}"
