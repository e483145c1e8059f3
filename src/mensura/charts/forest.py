"""Estimates with intervals, one row each: regions, drivers, bases, algorithmic progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from textwrap import fill

import altair as alt

from mensura.charts.marks import DOTS, KNOWN, axis_of, empty, picture, rule_at, scale_of, value_texts
from mensura.charts.rows import Row, Span, rows_of, say, say_alike, say_range

STEP = 28
_CENTRED = {"condition": {"test": "indexof(datum.value, '\\n') >= 0", "value": -6}, "value": 0}  # two lines of text
LINE_LENGTH = 24  # letters of a row's name before it breaks


def bases(points: object, *, x_title: str = "Base: factor by which success falls per level") -> alt.LayerChart:
    """Draw the base of each dimension on a logarithmic axis, with the design value 10 as a line.

    ``points``: dimension, name, base; bases are printed with two decimals, as calibrations print them.
    """
    rows = rows_of(points, ("dimension", "name", "base"), needed=["name", "base"])
    unknown = {"low": None, "high": None}
    estimates = [
        {**row, **unknown, "label": row["name"], "value": row["base"], "text": f"{row['base']:.2f}"} for row in rows
    ]
    return _forest(estimates, x_title=x_title, log=True, rule=10.0, nothing="no dimension has a base")


def regions(points: object, *, x_title: str = "Rate of success") -> alt.LayerChart:
    """Draw the rate of each region of the world. ``points``: region, rate, low, high (shares from 0 to 1)."""
    rows = rows_of(points, ("region", "rate", "low", "high"), needed=["region", "rate"])
    estimates = [{**row, "label": row["region"], "value": row["rate"]} for row in rows]
    return _forest(estimates, x_title=x_title, percent=True, nothing="no region has a rate")


def drivers(points: object, *, x_title: str = "Change of the rate, percentage points") -> alt.LayerChart:
    """Draw what a number hangs on: the change that each driver brings. ``points``: driver, effect, low, high."""
    rows = rows_of(points, ("driver", "effect", "low", "high"), needed=["driver", "effect"])
    estimates = [{**row, "label": row["driver"], "value": row["effect"]} for row in rows]
    size: Callable[[Row], float] = lambda row: -abs(row["value"])  # noqa: E731
    return _forest(estimates, x_title=x_title, rule=0.0, order=size, nothing="no driver has an effect")


def progress(points: object, *, x_title: str = "Less compute for the same capability, × per year") -> alt.LayerChart:
    """Draw estimates of algorithmic progress, as given, on a logarithmic axis. ``points``: label, value, low, high."""
    rows = rows_of(points, ("label", "value", "low", "high"), needed=["label", "value"])
    return _forest(rows, x_title=x_title, log=True, rule=1.0, order=None, nothing="no estimate of progress")


def _forest(
    rows: list[Row],
    *,
    x_title: str,
    nothing: str,
    log: bool = False,
    percent: bool = False,
    rule: float | None = None,
    order: Callable[[Row], float] | None = lambda row: -row["value"],
) -> alt.LayerChart:
    """Draw one dot with its interval per row; an end beyond all bounds is drawn to the edge of the plot."""
    rows = [row for row in rows if row["value"] > 0 or not log]
    if not rows:
        return empty(nothing)
    if order is not None:
        rows.sort(key=order)
    span = _span(rows, log=log, percent=percent, rule=rule)
    values = [row["value"] for row in rows]
    texts = [f"{v:.0%}" for v in values] if percent else [say(v) for v in values] if log else say_alike(values)
    for rank, row in enumerate(rows):
        row["rank"] = rank
        row["row"] = fill(row["label"], LINE_LENGTH)
        row.setdefault("text", texts[rank])
        row["aria"] = f"{row['label']}, {x_title} {row['text']}{_say_range(row, percent)}"
        row["end"] = max(row["value"], row["high"] if row["high"] is not None else row["value"])
    axis = axis_of(span, x_title) if not percent else alt.Axis(title=x_title, format="%", grid=True, tickCount=6)
    x = alt.X("value:Q", scale=scale_of(span), axis=axis)
    y = alt.Y(
        "row:N",
        sort=alt.EncodingSortField("rank", order="ascending"),
        axis=alt.Axis(title=None, labelLimit=190, labelOverlap=False, labelOffset=_CENTRED),
    )
    base = alt.Chart(alt.NamedData("points")).encode(x=x, y=y)
    interval = base.transform_filter(KNOWN).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"))
    layers = [
        *rule_at(rule, x),
        interval.mark_rule(style="plain-rule", opacity=0.55, clip=True, aria=False, tooltip=None),
        base.mark_point(style="plain", filled=True, size=DOTS[0], opacity=1, tooltip=None).encode(
            description=alt.Description("aria:N")
        ),
        *value_texts(base),
    ]
    return picture(layers, {"points": rows}, height=alt.Step(STEP), description=_describe(rows, x_title))


def _span(rows: Sequence[Row], *, log: bool, percent: bool, rule: float | None) -> Span:
    ends = [row[key] for row in rows for key in ("value", "low", "high")]
    span = Span.around([rule, *ends], log=log, pad=0.06, end=0.16)
    return Span(max(span.low, 0.0), span.high) if percent else span


def _say_range(row: Row, percent: bool) -> str:
    low, high = row["low"], row["high"]
    if percent and low is not None and high is not None:
        return f", {low:.0%} to {high:.0%}"
    return say_range(low, high)


def _describe(rows: Sequence[Row], x_title: str) -> str:
    top = sorted(rows, key=lambda row: -row["value"])
    first, last = top[0], top[-1]
    return (
        f"{x_title}: from {first['label']} ({first['text']}) to {last['label']} ({last['text']}), {len(rows)} in all."
    )
