"""The layers that pictures share: models as dots, their names, reference lines, and how layers become a chart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import altair as alt

from mensura.charts.labels import DIAMETERS, LINE, WIDTH_INDEX, text_width
from mensura.charts.rows import STATUSES, Row, Span
from mensura.charts.theme import LABS, LIGHT, OTHER, config

ROW_LIMIT = 215  # pixels that the name of a row may take
_USUAL_ROW = 150  # pixels of a row's name that a legend makes room for
LAB_COLUMN = 70  # pixels of a provider in a legend
KNOWN = "isValid(datum.low) && isValid(datum.high)"  # rows that have an interval
SPOT = f"datum.spots[{WIDTH_INDEX}]"
DOTS = tuple(round(0.64 * diameter**2) for diameter in DIAMETERS)  # areas of a model's mark, square pixels


def scale_of(span: Span) -> alt.Scale:
    """Return the scale that draws a span exactly as the label placement computed it."""
    kind: dict[str, Any] = {"type": "log"} if span.log else {"type": "linear", "zero": False}
    return alt.Scale(domain=[span.low, span.high], reverse=span.reverse, nice=False, **kind)


def axis_of(span: Span, title: str, *, upright: bool = False) -> alt.Axis:
    """Return an axis with its title, as many ticks as fit its length and, on a logarithmic scale, round ones."""
    rest: dict[str, Any] = {"title": title, "grid": True}
    if span.reverse:
        rest["titleAnchor"] = "start"  # Vega counts from the start of the values, which is at the right now
    ticks = span.ticks()
    if ticks is None:
        room = "height / 45" if upright else "width / 75"
        return alt.Axis(tickCount=alt.ExprRef(f"max(2, floor({room}))"), **rest)
    return alt.Axis(values=ticks, format=",~r", **rest)


def lab_scale(kind: str) -> alt.Scale:
    """Return the scale from provider to colour (``category``) or shape (``symbol``) of the theme."""
    return alt.Scale(domain=[*LABS, OTHER], range=kind)


def lab_legend(rows: Sequence[Row], *, offset: int = 28) -> alt.Legend | None:
    """Return the legend of the providers that occur, if there are at least two.

    Every channel that encodes the provider must be given the same legend, or Vega-Lite drops them all.
    """
    present = [lab for lab in (*LABS, OTHER) if any(row["lab"] == lab for row in rows)]
    if len(present) < 2:
        return None
    return alt.Legend(values=present, symbolSize=DOTS[0], symbolOpacity=1, offset=offset)


def lab_stroke(legend: alt.Legend | None) -> alt.Stroke:
    """Return the channel that draws outlines and lines in the provider's colour."""
    return alt.Stroke("lab:N", scale=lab_scale("category"), legend=legend)


def lab_fill(legend: alt.Legend | None) -> alt.Fill:
    """Return the channel that fills marks with the provider's colour."""
    return alt.Fill("lab:N", scale=lab_scale("category"), legend=legend)


def status_opacity() -> alt.FillOpacity:
    """Return the channel that fills what was measured and leaves what was estimated nearly hollow."""
    return alt.FillOpacity("status:O", scale=alt.Scale(domain=list(STATUSES), range=[0.95, 0.18]), legend=None)


def status_note(rows: Sequence[Row], word: str = "hollow", *, lift: int = 9) -> list[alt.Chart]:
    """Return the note that says how estimates look, where there are any."""
    measured = all(row["status"] == "measured" for row in rows)
    return [] if measured else [corner_note(f"{word}: estimated", lift=lift)]


def corner_note(text: str, *, lift: int = 9) -> alt.Chart:
    """Return a note at the right, above the plot."""
    base = alt.Chart(alt.NamedData("points")).transform_aggregate(n="count()")
    note = base.mark_text(style="hint", align="right", baseline="bottom", aria=False, tooltip=None)
    drawn: alt.Chart = note.encode(x=alt.XValue("width"), y=alt.YValue(-lift), text=alt.value(text))
    return drawn


def model_dots(base: alt.Chart, legend: alt.Legend | None, **mark: Any) -> alt.Chart:  # noqa: ANN401
    """Return one mark per model: colour and shape say who made it, the fill whether it was measured."""
    size = alt.ExprRef(f"[{', '.join(map(str, DOTS))}][{WIDTH_INDEX}]")
    dots: alt.Chart = base.mark_point(size=size, strokeWidth=1.4, opacity=1, tooltip=None, **mark).encode(
        fill=lab_fill(legend),
        stroke=lab_stroke(legend),
        shape=alt.Shape("lab:N", scale=lab_scale("symbol"), legend=legend),
        fillOpacity=status_opacity(),
        description=alt.Description("aria:N"),
    )
    return dots


def names(base: alt.Chart, *, y_offset: str = "0") -> list[alt.Chart]:
    """Return the layers that write the placed labels: leader lines, a halo in the page's colour, the text.

    ``y_offset`` is an expression for the pixels by which the dots themselves are moved from their y.
    """
    shown = base.transform_filter(f"datum.label && {SPOT}")
    end = f"{SPOT}.dy + ({SPOT}.dy < 0 ? 1 : -1) * {LINE / 2}"
    leaders = base.transform_filter(f"datum.label && {SPOT} && {SPOT}.leader").mark_point(
        style="leader",
        shape=alt.ExprRef(f"'M0,0L' + {SPOT}.dx + ',' + ({end})"),
        size=4,  # at which a path's own coordinates are pixels
        filled=False,
        opacity=1,
        yOffset=alt.ExprRef(y_offset),
        aria=False,
        tooltip=None,
    )
    place: dict[str, Any] = {
        "dx": alt.ExprRef(f"{SPOT}.dx"),
        "dy": alt.ExprRef(f"{y_offset} + {SPOT}.dy"),
        "align": alt.ExprRef(f"{SPOT}.align"),
        "baseline": "middle",
        "aria": False,
        "tooltip": None,
    }
    text = shown.encode(text=alt.Text("name:N"))
    return [leaders, text.mark_text(style="halo", **place), text.mark_text(style="label", **place)]


def value_texts(base: alt.Chart) -> list[alt.Chart]:
    """Return the layers that write each row's ``text`` right of its ``end``."""
    text = base.encode(x=alt.X("end:Q"), text=alt.Text("text:N"))
    place: dict[str, Any] = {"align": "left", "baseline": "middle", "dx": 9, "aria": False, "tooltip": None}
    return [text.mark_text(style=style, **place) for style in ("halo", "hint")]


def rule_at(value: float | None, x: alt.X) -> list[alt.Chart]:
    """Return the layer that marks one value on the x axis, if there is one."""
    if value is None:
        return []
    base = alt.Chart(alt.NamedData("points")).transform_aggregate(n="count()").transform_calculate(value=str(value))
    return [base.mark_rule(style="reference", aria=False, tooltip=None).encode(x=x)]


def picture(
    layers: Sequence[alt.Chart | alt.LayerChart],
    datasets: Mapping[str, Sequence[Row]],
    *,
    height: int | alt.Step,
    description: str,
    inset: float = 20,
    column: float = LAB_COLUMN,
) -> alt.LayerChart:
    """Return the layers as one chart that carries its data by name, its alternative text and the light theme.

    ``inset`` is the room left of the plot and ``column`` that of one legend entry, in pixels; with the width they
    decide how many entries stand in a row.
    """
    chart = cast(alt.LayerChart, alt.layer(*layers))
    chart.width, chart.height = 640, height
    finish(chart, datasets, description)
    chart.usermeta = {"legend": {"inset": round(inset), "column": round(column)}}
    return chart


def row_inset(names: Iterable[str]) -> float:
    """Return the room that the names of rows take left of the plot, in pixels."""
    return min(_USUAL_ROW, max(text_width(name) for name in names)) + 14


def label_limit(names: Iterable[str], most: int = ROW_LIMIT) -> int:
    """Return the pixels after which labels are cut, or 0 (never) if every name fits.

    The chart library measures a label with a limit again and again, which took a third of the time of a drawing.
    """
    return most if any(text_width(name) > most for name in names) else 0


def finish(chart: alt.LayerChart | alt.FacetChart, datasets: Mapping[str, Sequence[Row]], description: str) -> None:
    """Give a chart its named datasets, its alternative text and the light theme.

    Set as attributes, because the method ``properties`` validates all data, which the tests do once for all.
    """
    chart.datasets = {name: list(rows) for name, rows in datasets.items()}
    chart.description = description
    chart.config = config(LIGHT)


def empty(what: str) -> alt.LayerChart:
    """Return the picture of nothing: one sentence that says what is missing."""
    sentence = f"nothing to show: {what}"
    text = (
        alt.Chart(alt.NamedData("points"))
        .mark_text(style="hint", align="center", tooltip=None)
        .encode(
            text=alt.Text("name:N"), x=alt.XValue(alt.ExprRef("width / 2")), y=alt.YValue(alt.ExprRef("height / 2"))
        )
    )
    return picture([text], {"points": [{"name": sentence}]}, height=120, description=sentence)
