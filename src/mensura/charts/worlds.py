"""Rates observed in a sample against those estimated for the world, coloured by what the items demand most."""

from __future__ import annotations

from collections import Counter
from typing import Any

import altair as alt

from mensura.charts.labels import text_width
from mensura.charts.marks import DOTS, KNOWN, axis_of, empty, picture, scale_of
from mensura.charts.rows import Row, Span, counted, listed, rows_of, say, say_range
from mensura.charts.theme import SHAPES

COLUMNS = ("item", "observed", "world", "low", "high", "dimension")
SEVERAL, OTHERS = "several", "others"
"""Items with more than one dominant dimension, in grey, and dimensions too rare for a colour; both below the rest."""
CROWD, SMALL = 80, 34
"""Items above which dots shrink, and the area they shrink to, in square pixels."""
MOST = len(SHAPES)
"""Dimensions that colours and shapes tell apart; with more, the rarest are drawn as others."""
HEIGHT = 400


def world_scatter(points: object) -> alt.LayerChart:
    """Draw one dot per item: observed rate across, world estimate with its interval upright, the line of equal rates.

    ``points``: item, observed, world, low, high (rates between 0 and 1), dimension (the dominant one). Colour and shape
    tell dimensions apart; with more than a palette has, the rarest share one.
    """
    rows = rows_of(points, COLUMNS, needed=["item", "observed", "world"])
    if not rows:
        return empty("no item has both an observed rate and a world estimate")
    shown = _group_rare(rows)
    for row in rows:
        row["aria"] = (
            f"{row['item']}, {row['dimension']}, observed {say(row['observed'])}, world {say(row['world'])}"
            f"{say_range(row['low'], row['high'])}"
        )
    span = Span(-0.015, 1.015)
    x = alt.X("observed:Q", scale=scale_of(span), axis=axis_of(span, "rate observed in the sample"))
    y = alt.Y("world:Q", scale=scale_of(span), axis=axis_of(span, "rate estimated for the world", upright=True))
    base = alt.Chart(alt.NamedData("points")).encode(x=x, y=y)
    legend = alt.Legend(values=shown, symbolSize=DOTS[0], symbolOpacity=1, offset=28) if len(shown) > 1 else None
    size = DOTS[0] if len(rows) <= CROWD else SMALL
    colour: dict[str, Any] = {"scale": alt.Scale(domain=_palette(shown), range="category"), "legend": legend}
    interval = (
        base.transform_filter(KNOWN)
        .mark_rule(stroke=alt.ExprRef("scale('fill', datum.group)"), opacity=0.25, aria=False, tooltip=None)
        .encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q"))
    )
    dots = base.mark_point(size=size, strokeWidth=1, opacity=0.9, tooltip=None).encode(
        fill=alt.Fill("group:N", title=None, **colour),
        stroke=alt.Stroke("group:N", title=None, **colour),
        shape=alt.Shape("group:N", title=None, scale=alt.Scale(domain=_palette(shown), range="symbol"), legend=legend),
        description=alt.Description("aria:N"),
    )
    equal = alt.Chart(alt.NamedData("diagonal")).encode(x=x, y=y).mark_line(style="reference", aria=False, tooltip=None)
    ends = [{"observed": end, "world": end} for end in (0.0, 1.0)]
    return picture(
        [equal, interval, dots],
        {"points": rows, "diagonal": ends},
        height=HEIGHT,
        description=_describe(rows, shown),
        column=max(text_width(name) for name in shown) + 26,
    )


def _group_rare(rows: list[Row]) -> list[str]:
    """Give every row its group of the legend and return the groups, the commonest dimension first."""
    common = [name for name, _ in Counter(row["dimension"] for row in rows).most_common() if name != SEVERAL]
    kept = common if len(common) <= MOST - 2 else common[: MOST - 2]
    for row in rows:
        known = row["dimension"] in kept or row["dimension"] == SEVERAL
        row["group"] = row["dimension"] if known else OTHERS
    rows.sort(key=lambda row: row["group"] in kept)
    return [*kept, *(name for name in (OTHERS, SEVERAL) if any(row["group"] == name for row in rows))]


def _palette(shown: list[str]) -> list[str]:
    """Return the groups padded to the palette's length, so that its last colour, the grey, goes to items of several."""
    named = [name for name in shown if name not in (SEVERAL, OTHERS)]
    return [*named, *(f"(unused {k})" for k in range(MOST - 2 - len(named))), OTHERS, SEVERAL]


def _describe(rows: list[Row], shown: list[str]) -> str:
    gap = sum(row["world"] - row["observed"] for row in rows) / len(rows)
    side = "below" if gap < 0 else "above"
    return (
        f"World estimates against observed rates for {counted(len(rows), 'item')}, on average {say(abs(gap))} {side} "
        f"them; dimensions: {listed(shown)}."
    )
