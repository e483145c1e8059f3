"""One quantity of each model, sorted, beside people who did the same."""

from __future__ import annotations

from typing import Any

import altair as alt

from mensura.charts.labels import LINE
from mensura.charts.marks import (
    KNOWN,
    axis_of,
    corner_note,
    empty,
    lab_fill,
    lab_legend,
    lab_stroke,
    label_limit,
    model_dots,
    picture,
    row_inset,
    rule_at,
    scale_of,
    status_note,
    status_opacity,
    value_texts,
)
from mensura.charts.rows import PEOPLE_STATUSES, Row, Span, counted, listed, rows_of, say, say_alike, say_range

COLUMNS = ("subject", "name", "provider", "value", "low", "high", "status")
STEP = 20  # pixels per model
ROW = int(LINE) + 3  # pixels per human group above the plot


def bars(
    points: object,
    *,
    x_title: str,
    references: object | None = None,
    zero: bool = True,
    log: bool = False,
    rule: float | None = None,
    ascending: bool = False,
    beside: str = "",
) -> alt.LayerChart:
    """Draw one row per model, sorted by value.

    ``points``: subject, name, provider, value, low, high, status. ``references``: group, value, low, high, status:
    human groups as named vertical lines (dashed when estimated, dotted when constructed).
    Bars start at zero; with ``zero=False`` or on a ``log`` axis, where length means nothing, dots stand in their
    place. ``rule`` marks one value, such as 1×. ``beside`` is what a second value of each row, in the column ``other``,
    is called; it is drawn as an upright stroke.
    """
    columns = (*COLUMNS, "other") if beside else COLUMNS
    rows = rows_of(points, columns, needed=["subject", "name", "value"])
    rows = [row for row in rows if row["value"] > 0 or not log]
    if not rows:
        return empty(f"no model has {x_title}")
    rows.sort(key=lambda row: row["value"], reverse=not ascending)
    people = _people(references)
    _prepare(rows, x_title, log, beside)
    span = _span(rows, people, zero=zero, log=log, rule=rule, end=0.4 if beside else 0.16)  # room for the texts
    x = alt.X("value:Q", scale=scale_of(span), axis=axis_of(span, x_title))
    dots = log or not zero
    y = alt.Y(
        "row:N",
        sort=alt.EncodingSortField("rank", order="ascending"),
        axis=alt.Axis(title=None, labelLimit=label_limit(row["row"] for row in rows), labelOverlap=False, grid=dots),
    )
    base = alt.Chart(alt.NamedData("points")).encode(x=x, y=y)
    legend = lab_legend(rows, offset=28 + len(people) * ROW)
    body = model_dots(base, legend) if dots else _bars(base, legend)
    note = status_note(rows, "hollow" if dots else "pale", lift=9 + len(people) * ROW)
    others = [_others(base), corner_note(f"upright stroke and brackets: {beside}")] if beside else []
    layers = [*rule_at(rule, x), *_people_layers(people, x, span), *note, *others, body, _intervals(base)]
    layers += value_texts(base)
    datasets: dict[str, list[Row]] = {"points": rows} | ({"references": people} if people else {})
    return picture(
        layers,
        datasets,
        height=alt.Step(STEP),
        inset=row_inset(row["row"] for row in rows),
        description=_describe(rows, people, x_title),
    )


def _people(references: object | None) -> list[Row]:
    if references is None:
        return []
    columns = ("group", "value", "low", "high", "status")
    people = rows_of(references, columns, name="references", needed=["group", "value"], statuses=PEOPLE_STATUSES)
    people.sort(key=lambda row: row["value"])
    return people


def _prepare(rows: list[Row], x_title: str, log: bool, beside: str) -> None:
    seen: set[str] = set()
    values = [row["value"] for row in rows]
    texts = [say(value) for value in values] if log else say_alike(values)
    for rank, row in enumerate(rows):
        row["rank"] = rank
        row["row"] = row["name"] if row["name"] not in seen else f"{row['name']} ({row['subject']})"
        seen.add(row["row"])
        row["end"] = max(row["value"], row["high"] or row["value"], row.get("other") or row["value"])
        row["text"] = texts[rank]
        row["aria"] = f"{row['name']}, {x_title} {row['text']}{say_range(row['low'], row['high'])}, {row['status']}"
        if beside and row["other"] is not None:
            row["text"] += f" ({say(row['other'])})"
            row["aria"] += f", {beside} {say(row['other'])}"


def _span(rows: list[Row], people: list[Row], *, zero: bool, log: bool, rule: float | None, end: float) -> Span:
    values = [row.get(key) for row in (*rows, *people) for key in ("value", "low", "high", "other")]
    span = Span.around([*values, rule, 0.0 if zero and not log else None], log=log, pad=0.06, end=end)
    lowest = min(value for value in values if value is not None)
    return span if log or not zero or lowest < 0 else Span(0.0, span.high)


def _bars(base: alt.Chart, legend: alt.Legend | None) -> alt.Chart:
    drawn: alt.Chart = base.mark_bar(height={"band": 0.66}, strokeWidth=1, cornerRadiusEnd=2, tooltip=None).encode(
        fill=lab_fill(legend),
        stroke=lab_stroke(legend),
        fillOpacity=status_opacity(),
        x2=alt.datum(0),
        description=alt.Description("aria:N"),
    )
    return drawn


def _intervals(base: alt.Chart) -> alt.Chart:
    known = base.transform_filter(KNOWN).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"))
    drawn: alt.Chart = known.mark_rule(style="tick", strokeWidth=1.25, opacity=0.6, aria=False, tooltip=None)
    return drawn


def _others(base: alt.Chart) -> alt.Chart:
    drawn: alt.Chart = base.transform_filter("isValid(datum.other)").mark_tick(
        style="tick", thickness=2, height=13, aria=False, tooltip=None
    )
    return drawn.encode(x=alt.X("other:Q"))


def _people_layers(people: list[Row], x: alt.X, span: Span) -> list[alt.Chart]:
    """Return a line per human group, its name above the plot on a line of its own, and the band of its range."""
    if not people:
        return []
    for place, row in enumerate(reversed(people)):
        row["lift"] = -(place + 0.7) * ROW
        row["share"] = round(span.share(row["value"]), 4)
        row["aria"] = f"{row['group']}, {say(row['value'])}{say_range(row['low'], row['high'])}, {row['status']}"
        row["text"] = f"{say(row['value'])} {row['group']}"
    base = alt.Chart(alt.NamedData("references")).encode(x=x)
    return [
        base.transform_filter(KNOWN)
        .mark_rect(style="people-band", aria=False, tooltip=None)
        .encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=alt.YValue(0), y2=alt.Y2Value("height")),
        base.mark_rule(style="people", tooltip=None, yOffset=alt.ExprRef("datum.lift")).encode(
            y=alt.YValue(0),
            y2=alt.Y2Value("height"),
            strokeDash=alt.StrokeDash(
                "status:N", scale=alt.Scale(domain=list(PEOPLE_STATUSES), range=[[1, 0], [4, 3], [1, 3]]), legend=None
            ),
            description=alt.Description("aria:N"),
        ),
        *_people_names(base),
    ]


def _people_names(base: alt.Chart) -> list[alt.Chart]:
    """Write each group's value and name beside the top of its line, towards the roomier side."""
    place: dict[str, Any] = {
        "baseline": "middle",
        "align": alt.ExprRef("datum.share > 0.5 ? 'right' : 'left'"),
        "dx": alt.ExprRef("datum.share > 0.5 ? -4 : 4"),
        "yOffset": alt.ExprRef("datum.lift"),
        "limit": alt.ExprRef("width * max(datum.share, 1 - datum.share) + (datum.share > 0.5 ? 80 : 0)"),
        "aria": False,
        "tooltip": None,
    }
    text = base.encode(y=alt.YValue(0), text=alt.Text("text:N"))
    return [text.mark_text(style=style, **place) for style in ("halo", "people-label")]


def _describe(rows: list[Row], people: list[Row], x_title: str) -> str:
    top = listed(f"{row['name']} ({row['text']})" for row in rows)
    text = f"{x_title} of {counted(len(rows), 'model')}; first: {top}; last: {rows[-1]['name']} ({rows[-1]['text']})."
    groups = listed((f"{row['group']} ({say(row['value'])})" for row in people), 6)
    return f"{text} People: {groups}." if people else text
