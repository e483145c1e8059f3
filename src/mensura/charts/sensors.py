"""Where on the capability axis each benchmark tells models apart."""

from __future__ import annotations

import altair as alt

from mensura.charts.marks import axis_of, empty, lab_fill, lab_legend, label_limit, picture, row_inset, scale_of
from mensura.charts.rows import Row, Span, counted, rows_of, say

COLUMNS = ("benchmark", "name", "low", "peak", "high")
MODEL_COLUMNS = ("subject", "name", "provider", "value")
STEP = 18
RUG = 9  # length of a model's tick above the plot, pixels


def sensors(points: object, models: object, *, x_title: str = "Capability") -> alt.LayerChart:
    """Draw the range that each benchmark informs as a bar with a tick at its peak, and models as a rug above.

    ``points``: benchmark, name, low, peak, high. ``models``: subject, name, provider, value. In the chart's data the
    models are ``points``, as everywhere, and the benchmarks ``benchmarks``.
    """
    ranges = rows_of(points, COLUMNS, needed=["benchmark", "name", "low", "peak", "high"])
    subjects = rows_of(models, MODEL_COLUMNS, name="models", needed=["subject", "name", "value"])
    if not ranges:
        return empty("no benchmark has a range")
    ranges.sort(key=lambda row: -row["peak"])
    for rank, row in enumerate(ranges):
        row["rank"] = rank
        row["aria"] = f"{row['name']}, informs from {say(row['low'])} to {say(row['high'])}, most at {say(row['peak'])}"
    for row in subjects:
        row["aria"] = f"{row['name']}, {x_title} {say(row['value'])}"
    ends = [row[key] for row in ranges for key in ("low", "high")]
    span = Span.around([*ends, *(row["value"] for row in subjects)], pad=0.03)
    x_axis = axis_of(span, x_title)
    y = alt.Y(
        "name:N",
        sort=alt.EncodingSortField("rank", order="ascending"),
        axis=alt.Axis(title=None, labelLimit=label_limit(row["name"] for row in ranges), labelOverlap=False),
    )
    base = alt.Chart(alt.NamedData("benchmarks")).encode(y=y)
    bar = base.mark_bar(style="span", height={"band": 0.55}, cornerRadius=3, tooltip=None).encode(
        x=alt.X("low:Q", scale=scale_of(span), axis=x_axis), x2=alt.X2("high:Q"), description=alt.Description("aria:N")
    )
    peak = base.mark_tick(
        style="peak", height={"band": 0.75}, thickness=2.5, opacity=1, aria=False, tooltip=None
    ).encode(x=alt.X("peak:Q"))
    rug = alt.Chart(alt.NamedData("points")).mark_tick(
        orient="vertical", size=RUG, thickness=2, opacity=0.85, tooltip=None
    )
    rug = rug.encode(
        x=alt.X("value:Q"),
        y=alt.YValue(-4 - RUG / 2),
        fill=lab_fill(lab_legend(subjects, offset=32)),
        description=alt.Description("aria:N"),
    )
    note = alt.Chart(alt.NamedData("points")).transform_aggregate(n="count()").encode(text=alt.value("models"))
    hint = note.mark_text(style="hint", align="right", baseline="middle", dx=-6, aria=False, tooltip=None)
    layers = [bar, peak, rug, hint.encode(x=alt.XValue(0), y=alt.YValue(-4 - RUG / 2))]
    datasets = {"points": subjects, "benchmarks": ranges}
    return picture(
        layers,
        datasets,
        height=alt.Step(STEP),
        inset=row_inset(row["name"] for row in ranges),
        description=_describe(ranges, subjects, x_title),
    )


def _describe(ranges: list[Row], subjects: list[Row], x_title: str) -> str:
    hardest, easiest = ranges[0], ranges[-1]
    text = (
        f"Range of {x_title.lower()} that each of {counted(len(ranges), 'benchmark')} informs; highest peak: "
        f"{hardest['name']} ({say(hardest['peak'])}), lowest: {easiest['name']} ({say(easiest['peak'])})."
    )
    if not subjects:
        return text
    values = sorted(row["value"] for row in subjects)
    return f"{text} {counted(len(values), 'model')} lie between {say(values[0])} and {say(values[-1])}."
