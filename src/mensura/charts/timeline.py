"""A quantity over time: models by release, provider lines, a forecast fan and human levels."""

from __future__ import annotations

from datetime import date
from typing import Any

import altair as alt

from mensura.charts.labels import LINE, WIDTH_INDEX, WIDTHS, Box, spread, text_width
from mensura.charts.marks import (
    KNOWN,
    axis_of,
    empty,
    lab_legend,
    lab_stroke,
    model_dots,
    names,
    picture,
    scale_of,
    status_note,
)
from mensura.charts.rows import Row, Span, add_spots, counted, listed, milliseconds, rows_of, say, say_range
from mensura.intake.tables import as_frame

COLUMNS = ("subject", "name", "provider", "released", "value", "low", "high", "status", "label")
LEVELS = ("label", "value", "low", "high")
HEIGHT = 400
MOST_BANDS = 4  # human levels whose intervals are drawn; more would hide each other
LEVEL_SHARE = 0.8  # of the plot's width that a level's name may take


def timeline(
    points: object,
    *,
    y_title: str,
    lines: object | None = None,
    forecast: object | None = None,
    levels: object | None = None,
    today: date | None = None,
) -> alt.LayerChart:
    """Draw a value over release dates.

    ``points``: subject, name, provider, released, value, low, high, status, label. ``lines``: provider, released,
    value, joined per provider. ``forecast``: date, value, low, high, drawn as a fan. ``levels``: label, value, low,
    high and perhaps subject, drawn as human lines across the plot, the first ones named as far as there is room.
    ``today`` sets a divider.
    """
    rows = rows_of(points, COLUMNS, needed=["subject", "name", "released", "value"])
    if not rows:
        return empty("no model has a release date and a value here")
    paths = _dated(lines, ("provider", "released", "value"), "lines", "released")
    fan = _dated(forecast, ("date", "value", "low", "high"), "forecast", "date")
    people = [] if levels is None else _levels(levels)
    rows.sort(key=lambda row: -row["value"])
    for row in rows:
        row["when"] = milliseconds(row["released"])
        row["aria"] = (
            f"{row['name']}, {y_title} {say(row['value'])}{say_range(row['low'], row['high'])}, {row['status']}, "
            f"released {row['released']}"
        )
    across = Span.around([row["when"] for row in (*rows, *fan)], pad=0.04)
    upright = Span.around(_heights(rows, fan, people), pad=0.05)
    _place_levels(people, upright)
    at = [(across.share(row["when"]), 1 - upright.share(row["value"])) for row in rows]
    divider = None if today is None else across.share(milliseconds(today))
    add_spots(rows, at, height=HEIGHT, blocked=_blocked(people, at, divider))
    x = alt.X("when:T", scale=time_scale(across), axis=time_axis())
    y = alt.Y("value:Q", scale=scale_of(upright), axis=axis_of(upright, y_title, upright=True))
    base = alt.Chart(alt.NamedData("points")).encode(x=x, y=y)
    legend = lab_legend(rows)
    layers = [
        *_level_layers(people, y),
        *_fan_layers(fan, x, y),
        *_today_layers(today, divider, x),
        *_line_layers(paths, x, y, legend),
        base.transform_filter(KNOWN)
        .mark_rule(style="interval", aria=False, tooltip=None)
        .encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), stroke=lab_stroke(legend)),
        *names(base),
        *status_note(rows),
        model_dots(base, legend),
        *_level_names(people, y),  # over the models, which would hide their words
    ]
    datasets: dict[str, list[Row]] = {"points": rows}
    datasets |= {name: table for name, table in (("lines", paths), ("forecast", fan), ("levels", people)) if table}
    return picture(layers, datasets, height=HEIGHT, description=_describe(rows, fan, people, y_title))


def _dated(table: object | None, columns: tuple[str, ...], name: str, day: str) -> list[Row]:
    if table is None:
        return []
    rows = rows_of(table, columns, name=name, needed=[day, "value"])
    return [{**row, "when": milliseconds(row[day])} for row in sorted(rows, key=lambda row: str(row[day]))]


def _heights(*tables: list[Row]) -> list[float | None]:
    return [row[key] for table in tables for row in table for key in ("value", "low", "high")]


def time_scale(span: Span) -> alt.Scale:
    """Return the scale that draws a span of milliseconds as days, in universal time."""
    return alt.Scale(domain=[span.low, span.high], type="utc", nice=False)


def time_axis() -> alt.Axis:
    """Return a time axis that writes years at January and months between them."""
    return alt.Axis(
        title=None,
        tickCount=alt.ExprRef("max(3, floor(width / 80))"),
        labelExpr="utcmonth(datum.value) == 0 ? utcFormat(datum.value, '%Y') : utcFormat(datum.value, '%b')",
    )


def _levels(levels: object) -> list[Row]:
    """Return the human lines; those with a subject can be pressed."""
    frame = as_frame(levels, name="levels")
    known = [name for name in ("subject",) if name in frame.columns]
    return rows_of(frame, (*LEVELS, *known), name="levels", needed=["value"])


def _place_levels(people: list[Row], upright: Span) -> None:
    """Name the human levels, first ones first, where a name stays beside its line and off those of other names."""
    ideal = [(1 - upright.share(row["value"])) * HEIGHT - LINE / 2 - 1 for row in people]
    shown: list[int] = []
    for index, row in enumerate(people):
        row["named"] = False
        tried = [*shown, index]
        moved = spread([ideal[i] for i in tried], LINE, LINE / 2, HEIGHT - LINE / 2)
        lines = [ideal[i] + LINE / 2 + 1 for i in tried]
        beside = all(abs(at - ideal[i]) <= 3 for i, at in zip(tried, moved, strict=True))
        if beside and not any(abs(at - line) < LINE / 2 for at in moved for line in lines):
            shown = tried
    moved = spread([ideal[i] for i in shown], LINE, LINE / 2, HEIGHT - LINE / 2)
    for index, at in zip(shown, moved, strict=True):
        people[index] |= {"named": True, "dy": round(at - ideal[index] - LINE / 2 - 1, 1), "top": at - LINE / 2}


def _blocked(people: list[Row], at: list[tuple[float, float]], divider: float | None) -> list[list[Box]]:
    """Return, per nominal width, the rectangles that the names of levels and the word "today" take.

    A level's name stands at the right edge, or at the left where fewer dots would cover it (``left``).
    """
    boxes: list[list[Box]] = []
    named = [row for row in people if row["named"]]
    for row in named:
        row["left"] = []
    for width in WIDTHS:
        taken: list[Box] = []
        for row in named:
            size, top = min(text_width(row["label"]), LEVEL_SHARE * width), row["top"]
            sides = [(width - size, top, float(width), top + LINE), (0.0, top, size, top + LINE)]
            covered = [sum(_within(box, x * width, y * HEIGHT) for x, y in at) for box in sides]
            row["left"].append(covered[1] < covered[0])
            taken.append(sides[row["left"][-1]])
        if divider is not None:
            taken.append((divider * width, 0.0, divider * width + text_width("today") + 6, LINE))
        boxes.append(taken)
    for row in named:
        del row["top"]
    return boxes


def _within(box: Box, x: float, y: float) -> bool:
    return box[0] - 5 < x < box[2] + 5 and box[1] - 5 < y < box[3] + 5


def _level_layers(people: list[Row], y: alt.Y) -> list[alt.Chart]:
    if not people:
        return []
    base = alt.Chart(alt.NamedData("levels")).encode(y=y)
    return [
        base.transform_filter(KNOWN if len(people) <= MOST_BANDS else "false")
        .mark_rect(style="people-band", aria=False, tooltip=None)
        .encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), x=alt.XValue(0), x2=alt.X2Value("width")),
        base.mark_rule(style="people", opacity=alt.ExprRef("datum.named ? 1 : 0.3"), tooltip=None).encode(
            description=alt.Description("label:N")
        ),
    ]


def _level_names(people: list[Row], y: alt.Y) -> list[alt.Chart]:
    if not people:
        return []
    name: dict[str, Any] = {
        "align": alt.ExprRef(f"datum.left[{WIDTH_INDEX}] ? 'left' : 'right'"),
        "dx": alt.ExprRef(f"datum.left[{WIDTH_INDEX}] ? -width : 0"),
        "baseline": "middle",
        "dy": alt.ExprRef("datum.dy"),
        "limit": alt.ExprRef(f"width * {LEVEL_SHARE}"),
        "tooltip": None,
        "aria": False,
    }
    base = alt.Chart(alt.NamedData("levels")).encode(y=y, text=alt.Text("label:N"), x=alt.XValue("width"))
    text = base.transform_filter("datum.named")
    return [text.mark_text(style="halo", **name), text.mark_text(style="people-label", **name)]


def _fan_layers(fan: list[Row], x: alt.X, y: alt.Y) -> list[alt.Chart]:
    if not fan:
        return []
    base = alt.Chart(alt.NamedData("forecast")).encode(x=x, y=y)
    return [
        base.mark_area(style="fan", aria=False, tooltip=None).encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q")),
        base.mark_line(style="trend", strokeDash=[5, 3], aria=False, tooltip=None),
    ]


def _today_layers(today: date | None, divider: float | None, x: alt.X) -> list[alt.Chart]:
    if today is None or divider is None or not 0 < divider < 1:
        return []
    base = alt.Chart(alt.NamedData("points")).transform_aggregate(n="count()")
    at = base.transform_calculate(when=str(milliseconds(today))).encode(x=x)
    return [
        at.mark_rule(style="reference", aria=False, tooltip=None),
        at.mark_text(style="hint", align="left", baseline="top", dx=4, aria=False, tooltip=None).encode(
            y=alt.YValue(0), text=alt.value("today")
        ),
    ]


def _line_layers(paths: list[Row], x: alt.X, y: alt.Y, legend: alt.Legend | None) -> list[alt.Chart]:
    if not paths:
        return []
    return [
        alt.Chart(alt.NamedData("lines"))
        .mark_line(strokeWidth=1.5, opacity=0.55, aria=False, tooltip=None)
        .encode(x=x, y=y, stroke=lab_stroke(legend), detail=alt.Detail("provider:N"))
    ]


def _describe(rows: list[Row], fan: list[Row], people: list[Row], y_title: str) -> str:
    days = sorted(str(row["released"]) for row in rows)
    best = sorted(rows, key=lambda row: -row["value"])
    top = listed(f"{row['name']} ({say(row['value'])})" for row in best)
    text = (
        f"{y_title} of {counted(len(rows), 'model')} by release date, {days[0][:7]} to {days[-1][:7]}; highest: {top}."
    )
    if people:
        text += f" Human lines: {listed((row['label'] for row in people), 5)}."
    if fan:
        end = fan[-1]
        text += f" Forecast for {end['date']}: {say(end['value'])}{say_range(end['low'], end['high'])}."
    return text
