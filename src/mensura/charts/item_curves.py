"""What items say: information over ability, one item's curve with what was observed, differences between groups."""

from __future__ import annotations

import json

import altair as alt

from mensura.charts.marks import DOTS, KNOWN, axis_of, empty, picture, rule_at, scale_of
from mensura.charts.rows import Span, counted, rows_of, say, say_range

INFORMATION = ("ability", "information", "error")
CURVE = ("ability", "rate")
OBSERVED = ("ability", "rate", "low", "high", "n")
DIFFERENCES = ("item", "difference", "low", "high", "flagged")
HEIGHT = 280
LINE_HEIGHT, MOST_LINES, MOST_HEIGHT = 16, 40, 640
"""Height of one item's line in the picture of differences, items that have such a line each, and all together at
most."""


def information_curve(points: object) -> alt.LayerChart:
    """Draw a test's information over ability: where it places subjects well.

    ``points``: ability, information, error (half-width of the 90% interval there).
    """
    rows = rows_of(points, INFORMATION, needed=["ability", "information"])
    if not rows:
        return empty("no information at any ability")
    for row in rows:
        within = "" if row["error"] is None else f", within ±{say(row['error'])}"
        row["aria"] = f"ability {say(row['ability'])}, information {say(row['information'])}{within}"
    across = Span.around([row["ability"] for row in rows])
    upright = Span(0.0, 1.08 * max(row["information"] for row in rows) or 1.0)
    base = alt.Chart(alt.NamedData("points")).encode(
        x=alt.X("ability:Q", scale=scale_of(across), axis=axis_of(across, "ability")),
        y=alt.Y("information:Q", scale=scale_of(upright), axis=axis_of(upright, "information", upright=True)),
    )
    line = base.mark_line(style="trend", aria=False, tooltip=None)
    dots = base.mark_point(style="plain", filled=True, size=16, opacity=1, tooltip=None)
    best = max(rows, key=lambda row: row["information"])
    told = f"Information of a test over ability, highest ({say(best['information'])}) at {say(best['ability'])}."
    return picture(
        [line, dots.encode(description=alt.Description("aria:N"))], {"points": rows}, height=HEIGHT, description=told
    )


def item_characteristic(curve: object, observed: object) -> alt.LayerChart:
    """Draw one item's curve and the rates observed at abilities along it.

    ``curve``: ability, rate. ``observed``: ability, rate, low, high, n of subjects of about that ability.
    """
    line_rows = rows_of(curve, CURVE, needed=list(CURVE))
    rows = rows_of(observed, OBSERVED, needed=["ability", "rate"])
    if not line_rows or not rows:
        return empty("no curve or no observed rate")
    for row in rows:
        count = "" if row["n"] is None else f", {counted(int(row['n']), 'subject')}"
        row["aria"] = (
            f"ability {say(row['ability'])}, {row['rate']:.0%} right{say_range(row['low'], row['high'])}{count}"
        )
    across = Span.around([row["ability"] for row in (*line_rows, *rows)])
    upright = Span(-0.03, 1.03)
    x = alt.X("ability:Q", scale=scale_of(across), axis=axis_of(across, "ability"))
    y = alt.Y("rate:Q", scale=scale_of(upright), axis=axis_of(upright, "share right", upright=True))
    base = alt.Chart(alt.NamedData("points")).encode(x=x, y=y)
    line = alt.Chart(alt.NamedData("curve")).encode(x=x, y=y).mark_line(style="trend", aria=False, tooltip=None)
    interval = (
        base.transform_filter(KNOWN)
        .mark_rule(style="plain", opacity=0.4, aria=False, tooltip=None)
        .encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q"))
    )
    dots = base.mark_point(style="plain", filled=True, size=DOTS[1], opacity=1, tooltip=None)
    off = max(abs(row["rate"] - _nearest(line_rows, row["ability"])) for row in rows)
    told = f"An item's curve and {counted(len(rows), 'observed rate')}, at most {say(off)} from it."
    layers = [line, interval, dots.encode(description=alt.Description("aria:N"))]
    return picture(layers, {"points": rows, "curve": line_rows}, height=HEIGHT, description=told)


def item_differences(points: object) -> alt.LayerChart:
    """Draw by how much each item is easier or harder for one group than for another of equal ability, with intervals.

    ``points``: item, difference (logits), low, high, flagged (true where it is large and no chance finding).
    """
    rows = sorted(rows_of(points, DIFFERENCES, needed=["item", "difference"]), key=lambda row: row["difference"])
    if not rows:
        return empty("no item was compared between groups")
    for at, row in enumerate(rows):
        row["place"], row["kind"] = at, "differs" if row["flagged"] else "alike"
        row["aria"] = f"{row['item']}, {say(row['difference'])}{say_range(row['low'], row['high'])}, {row['kind']}"
    ends = [row[side] for row in rows for side in ("low", "high", "difference") if row[side] is not None]
    across = Span.around([*ends, 0.0])
    x = alt.X("value:Q", scale=scale_of(across), axis=axis_of(across, "easier (+) or harder (−), logits"))
    named = json.dumps([row["item"] for row in rows] if len(rows) <= MOST_LINES else [], ensure_ascii=False)
    ticks = list(range(len(rows)))
    axis = alt.Axis(
        title=None, values=ticks, labelExpr=f"{named}[datum.value]", grid=False, ticks=False, labelOverlap=False
    )
    scale = alt.Scale(domain=[-0.7, len(rows) - 0.3], nice=False, zero=False)
    base = alt.Chart(alt.NamedData("points")).encode(y=alt.Y("place:Q", scale=scale, axis=axis))
    kinds, shapes = (alt.Scale(domain=["alike", "differs"], range=kind) for kind in ("category", "symbol"))
    legend = alt.Legend(symbolSize=DOTS[0], symbolOpacity=1, offset=28)
    stroke = alt.Stroke("kind:N", title=None, scale=kinds, legend=legend)
    interval = (
        base.transform_filter(KNOWN)
        .mark_rule(opacity=0.4, aria=False, tooltip=None)
        .encode(x=alt.X("low:Q", scale=scale_of(across)), x2=alt.X2("high:Q"), stroke=stroke)
    )
    dots = base.mark_point(size=DOTS[2], opacity=1, tooltip=None).encode(
        x=alt.X("difference:Q", scale=scale_of(across), axis=axis_of(across, "easier (+) or harder (−), logits")),
        stroke=stroke,
        fill=alt.Fill("kind:N", title=None, scale=kinds, legend=legend),
        shape=alt.Shape("kind:N", title=None, scale=shapes, legend=legend),
        description=alt.Description("aria:N"),
    )
    count = sum(row["kind"] == "differs" for row in rows)
    told = f"Differences of {counted(len(rows), 'item')} between two groups of equal ability; {count} differ."
    height = min(MOST_HEIGHT, max(60, LINE_HEIGHT * len(rows)))
    return picture([*rule_at(0.0, x), interval, dots], {"points": rows}, height=height, description=told)


def _nearest(curve: list[dict[str, float]], ability: float) -> float:
    return min(curve, key=lambda row: abs(row["ability"] - ability))["rate"]
