"""Models on the bell curve of human IQ."""

from __future__ import annotations

import math

import altair as alt

from mensura.charts.labels import DIAMETERS, LINE, WIDTH_INDEX, WIDTHS, Box, swarm, text_width
from mensura.charts.marks import empty, lab_legend, model_dots, names, picture, scale_of, status_note
from mensura.charts.rows import Row, Span, add_spots, counted, listed, rows_of, say_range
from mensura.scale import iq_to_rate

COLUMNS = ("subject", "name", "provider", "iq", "low", "high", "status", "label")
PEAK = 190  # height of the curve, pixels
PEOPLE = "all people"  # the words in the curve
WORDS = 0.4  # and their height, as a share of the peak
LOWEST = 300  # height of the plot at least, pixels


def bell_curve(points: object, *, x_title: str = "IQ equivalent") -> alt.LayerChart:
    """Draw models as dots that sit on the curve of human IQ, N(100, 15²), stacked where they would overlap.

    ``points``: subject, name, provider, iq, low, high, status, label. Under each tick: how many people are above.
    """
    rows = rows_of(points, COLUMNS, needed=["subject", "name", "iq"])
    if not rows:
        return empty("no model has an IQ here")
    rows.sort(key=lambda row: -row["iq"])
    span = Span(min(70, *(row["iq"] - 3 for row in rows)), max(160, *(row["iq"] + 3 for row in rows)))
    height = _arrange(rows, span)
    x = alt.X("iq:Q", scale=scale_of(span), axis=_axis(span, x_title))
    y = alt.Y("curve:Q", scale=alt.Scale(domain=[0, height / PEAK], nice=False), axis=None)
    crowd = alt.Chart(alt.NamedData("people")).encode(x=x, y=y)
    outline = crowd.transform_filter("!datum.text")
    base = alt.Chart(alt.NamedData("points")).encode(x=x, y=y)
    lift = f"-datum.lifts[{WIDTH_INDEX}]"
    layers = [
        outline.mark_area(style="crowd", aria=False, tooltip=None),
        outline.mark_line(style="crowd-edge", aria=False, tooltip=None),
        crowd.transform_filter("datum.text")
        .mark_text(style="hint", aria=False, tooltip=None)
        .encode(text=alt.Text("text:N")),
        *status_note(rows),
        *names(base, y_offset=f"({lift})"),
        model_dots(base, lab_legend(rows), yOffset=alt.ExprRef(lift)),
    ]
    curve: list[Row] = [{"iq": iq, "curve": round(_density(iq), 5)} for iq in _grid(span)]
    curve.append({"iq": 100.0, "curve": WORDS, "text": PEOPLE})
    return picture(layers, {"points": rows, "people": curve}, height=height, description=_describe(rows))


def _arrange(rows: list[Row], span: Span) -> int:
    """Stack the dots and place the names at every nominal width; return the height of the plot they need."""
    for row in rows:
        row["curve"] = round(_density(row["iq"]), 5)
        row["aria"] = f"{row['name']}, IQ {row['iq']:.0f}{say_range(row['low'], row['high'])}, {row['status']}"
    shares = [span.share(row["iq"]) for row in rows]
    ground = [row["curve"] * PEAK for row in rows]
    named = [bool(row["label"]) for row in rows]
    lifts = [
        [lift + size / 2 + 1 for lift in swarm([share * width for share in shares], ground, size + 1, named)]
        for width, size in zip(WIDTHS, DIAMETERS, strict=True)
    ]
    for index, row in enumerate(rows):
        row["lifts"] = [round(step[index], 1) for step in lifts]
    highest = max(base + lift for step in lifts for base, lift in zip(ground, step, strict=True))
    height = max(LOWEST, int(highest + 3 * LINE))
    at = [(share, 1 - base / height) for share, base in zip(shares, ground, strict=True)]
    hint = [_hint_box(span.share(100) * width, height) for width in WIDTHS]
    add_spots(rows, at, height=height, lifts=lifts, blocked=[[box] for box in hint], upward=True)
    return height


def _hint_box(x: float, height: float) -> Box:
    """Return the rectangle that the words in the middle of the curve take."""
    half, y = text_width(PEOPLE) / 2 + 2, height - WORDS * PEAK
    return x - half, y - LINE / 2, x + half, y + LINE / 2


def _density(iq: float) -> float:
    """Return the height of N(100, 15²), as a share of its peak."""
    return math.exp(-(((iq - 100) / 15) ** 2) / 2)


def _grid(span: Span) -> list[float]:
    return [round(span.low + (span.high - span.low) * step / 180, 3) for step in range(181)]


def _axis(span: Span, title: str) -> alt.Axis:
    """Return the IQ axis: standard-deviation ticks, and under each the share of people above it."""
    ticks = [iq for iq in range(40, 221, 15) if span.low <= iq <= span.high]
    hints = ", ".join(f"'{iq}': {above(iq)!r}" for iq in ticks)
    return alt.Axis(
        title=[f"{title} (100 = the average person)", "and how many people are above it"],
        values=ticks,
        grid=False,
        labelExpr=f"[datum.label, {{{hints}}}[datum.label]]",
        labelSeparation=2,
    )


def above(iq: float) -> str:
    """Return how many people are above an IQ, short enough for an axis: "84%", "1 in 44", "1 in 32k"."""
    share = iq_to_rate(iq)
    if share > 0.3:
        return f"{share:.0%}"
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if 1 / share >= size:
            return f"1 in {1 / share / size:.0f}{unit}"
    return f"1 in {1 / share:.0f}"


def _describe(rows: list[Row]) -> str:
    best = sorted(rows, key=lambda row: -row["iq"])
    top = listed(f"{row['name']} (IQ {row['iq']:.0f})" for row in best)
    estimated = sum(row["status"] == "estimated" for row in rows)
    return (
        f"Bell curve of human IQ with {counted(len(rows), 'model')} on it, from IQ {best[-1]['iq']:.0f} to "
        f"{best[0]['iq']:.0f}; highest: {top}. {estimated} of them estimated, drawn hollow."
    )
