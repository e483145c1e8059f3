"""Models, benchmarks and groups of people on one capability axis."""

from __future__ import annotations

from typing import Any

import altair as alt

from mensura.charts.labels import LINE, spread, text_width
from mensura.charts.marks import KNOWN, empty, lab_fill, lab_legend, picture, scale_of
from mensura.charts.rows import Row, Span, counted, listed, rows_of, say, say_range
from mensura.core.errors import MensuraError

COLUMNS = ("kind", "name", "provider", "subject", "value", "low", "high", "label")
LANES = {"model": "models", "benchmark": "benchmarks", "people": "people"}
HEIGHT = 560
LEAST_WIDTH = 720  # below which names of groups would be cut, pixels: a page scrolls the picture sideways instead
STARTS = {"model": 0.0, "benchmark": 0.34, "people": 0.66}  # of the lanes, as shares of the width
TICK = 10  # length of a mark, pixels
LEADER = "(width < 460 ? 8 : 18)"  # from a mark to its name, pixels
LANE_ROOM = f"(width * 0.34 - {TICK + 6} - {LEADER})"  # for a name, pixels
FARTHEST = 50.0  # that a name may stand above or below its mark, pixels


def one_axis(points: object, *, y_title: str = "Capability") -> alt.LayerChart:
    """Draw three lanes on one vertical axis: models by capability, benchmarks by difficulty, people with intervals.

    ``points``: kind ("model", "benchmark" or "people"), name, provider, subject, value, low, high, label. Names are
    moved apart just enough not to overlap and joined to their marks; where a lane is full, the first ones stay.
    """
    rows = rows_of(points, COLUMNS, needed=["kind", "name", "value"])
    strange = sorted({str(row["kind"]) for row in rows} - set(LANES))
    if strange:
        raise MensuraError(f"points: kind {strange[0]!r} is unknown; expected {', '.join(map(repr, LANES))}")
    if not rows:
        return empty("nothing is on the axis")
    heights = [row["value"] for row in rows]
    heights += [row[end] for row in rows if row["kind"] == "people" for end in ("low", "high")]
    span = Span.around(heights, pad=0.04)
    for row in rows:
        row["lane"] = STARTS[row["kind"]]
        row["wide"] = round(text_width(row["name"]))  # a name that fits has no limit: see label_limit
        row["aria"] = f"{row['name']}, {row['kind']}, {y_title} {say(row['value'])}{say_range(row['low'], row['high'])}"
    for kind in LANES:
        _spread_names([row for row in rows if row["kind"] == kind], span)
    x = alt.X("lane:Q", scale=alt.Scale(domain=[0, 1], nice=False), axis=None)
    y = alt.Y("value:Q", scale=scale_of(span), axis=alt.Axis(title=y_title, titleY=-26, grid=True))
    base = alt.Chart(alt.NamedData("points")).encode(x=x, y=y)
    models = [row for row in rows if row["kind"] == "model"]
    legend = lab_legend(models, offset=44)
    marks: dict[str, Any] = {
        "orient": "horizontal",
        "size": TICK,
        "thickness": 2.5,
        "opacity": 1,
        "xOffset": TICK / 2,
        "tooltip": None,
    }
    layers = [
        *_headings(x),
        _of(base, "people")
        .transform_filter(KNOWN)
        .mark_rule(style="people", aria=False, tooltip=None, xOffset=TICK / 2)
        .encode(
            y=alt.Y("low:Q"),
            y2=alt.Y2("high:Q"),
            strokeDash=alt.condition("indexof(datum.name, 'judged') >= 0", alt.value([4, 3]), alt.value([1, 0])),
        ),
        *_names(base),
        _of(base, "benchmark").mark_tick(style="tick", **marks),
        _of(base, "people").mark_tick(style="people-dot", **marks),
        _of(base, "model").mark_tick(**marks).encode(fill=lab_fill(legend)),
    ]
    chart = picture(layers, {"points": rows}, height=HEIGHT, description=_describe(rows, y_title))
    chart.usermeta = {**chart.usermeta, "min_width": LEAST_WIDTH}
    return chart


def _of(base: alt.Chart, kind: str) -> alt.Chart:
    chosen = base.transform_filter(f"datum.kind == '{kind}'")
    drawn: alt.Chart = chosen.encode(description=alt.Description("aria:N"))
    return drawn


def _spread_names(rows: list[Row], span: Span) -> None:
    """Give each name of one lane the pixels by which it moves up or down.

    Where names crowd so that one would stand too far from its mark, the last one nearby in the table goes.
    """
    shown = [row for row in rows if row["label"]]
    while shown:
        ideal = [(1 - span.share(row["value"])) * HEIGHT for row in shown]
        moves = [at - want for at, want in zip(spread(ideal, LINE, LINE / 2, HEIGHT - LINE / 2), ideal, strict=True)]
        worst = max(range(len(shown)), key=lambda index: abs(moves[index]))
        if abs(moves[worst]) <= FARTHEST:
            break
        last = max(index for index, at in enumerate(ideal) if abs(at - ideal[worst]) <= 2 * FARTHEST)
        shown.pop(last)["label"] = False
    for row, move in zip(shown, moves if shown else [], strict=True):
        row["dy"] = round(move, 1)


def _names(base: alt.Chart) -> list[alt.Chart]:
    shown = base.transform_filter("datum.label")
    leader = shown.encode(x2=alt.X2("lane"), y2=alt.Y2("value")).mark_rule(
        style="leader",
        xOffset=TICK + 1,
        x2Offset=alt.ExprRef(f"{TICK - 2} + {LEADER}"),
        y2Offset=alt.ExprRef("datum.dy"),
        aria=False,
        tooltip=None,
    )
    text = shown.encode(text=alt.Text("name:N")).mark_text(
        style="label",
        align="left",
        baseline="middle",
        dx=alt.ExprRef(f"{TICK} + {LEADER}"),
        dy=alt.ExprRef("datum.dy"),
        limit=alt.ExprRef(f"datum.wide > {LANE_ROOM} ? {LANE_ROOM} : 0"),
        aria=False,
        tooltip=None,
    )
    return [leader, text]


def _headings(x: alt.X) -> list[alt.Chart]:
    """Return the lane names above the plot, one per kind that occurs."""
    titles = " : ".join(f"datum.kind == '{kind}' ? '{title}'" for kind, title in LANES.items())
    base = alt.Chart(alt.NamedData("points")).transform_aggregate(n="count()", groupby=["kind", "lane"])
    text = base.transform_calculate(heading=f"{titles} : ''").encode(x=x, y=alt.YValue(-8), text=alt.Text("heading:N"))
    return [text.mark_text(style="heading", align="left", baseline="bottom", aria=False, tooltip=None)]


def _describe(rows: list[Row], y_title: str) -> str:
    parts = []
    for kind, title in LANES.items():
        best = sorted((row for row in rows if row["kind"] == kind), key=lambda row: -row["value"])
        if best:
            top = listed((f"{row['name']} ({say(row['value'])})" for row in best), 2)
            parts.append(f"{counted(len(best), title.removesuffix('s'))}, highest {top}")
    return f"One {y_title.lower()} axis: {'; '.join(parts)}.".replace("peoples", "groups of people")
