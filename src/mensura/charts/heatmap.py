"""Residual profiles: where each model is better or worse than its own level."""

from __future__ import annotations

import altair as alt

from mensura.charts.marks import empty, label_limit, picture
from mensura.charts.rows import Row, counted, rows_of, say

COLUMNS = ("subject", "name", "provider", "benchmark", "residual")
CELL = 17  # pixels


def heatmap(points: object, *, title: str = "Score minus what the model's level predicts") -> alt.LayerChart:
    """Draw one cell per model and benchmark: purple above expectation, green below, blank where there is no score.

    ``points``: subject, name, provider, benchmark, residual, in the order to draw. The colours saturate at the 98th
    percentile of the sizes, so that one odd cell does not pale all others.
    """
    rows = rows_of(points, COLUMNS, needed=["subject", "name", "benchmark", "residual"])
    if not rows:
        return empty("no model has a residual")
    for row in rows:
        way = "above" if row["residual"] > 0 else "below"
        row["aria"] = f"{row['name']} on {row['benchmark']}, {say(abs(row['residual']))} {way} its level"
    sizes = sorted(abs(row["residual"]) for row in rows)
    edge = sizes[int(0.98 * (len(sizes) - 1))] or 1.0
    benchmarks = list(dict.fromkeys(row["benchmark"] for row in rows))
    models = {row["name"] for row in rows}
    cell = (
        alt.Chart(alt.NamedData("points"))
        .mark_rect(cornerRadius=1, width={"band": 0.94}, height={"band": 0.9}, tooltip=None)
        .encode(
            x=alt.X(
                "benchmark:N",
                sort=benchmarks,
                axis=alt.Axis(
                    title=None,
                    orient="top",
                    labelAngle=-55,
                    labelLimit=label_limit(benchmarks),
                    labelOverlap=False,
                    ticks=False,
                ),
            ),
            y=alt.Y("name:N", sort=None, axis=alt.Axis(title=None, labelLimit=label_limit(models), labelOverlap=False)),
            fill=alt.Fill(
                "residual:Q",
                scale=alt.Scale(domain=[-edge, 0, edge], range="diverging", interpolate="rgb", clamp=True),
                legend=alt.Legend(
                    title=title, orient="bottom", gradientLength=180, gradientThickness=9, titleLimit=400, tickCount=3
                ),
            ),
            description=alt.Description("aria:N"),
        )
    )
    chart = picture([cell], {"points": rows}, height=alt.Step(CELL), description=_describe(rows, benchmarks))
    chart.usermeta = {"min_width": 190 + CELL * len(benchmarks)}
    return chart


def _describe(rows: list[Row], benchmarks: list[str]) -> str:
    models = {row["subject"] for row in rows}
    up = max(rows, key=lambda row: row["residual"])
    down = min(rows, key=lambda row: row["residual"])
    return (
        f"Residuals of {counted(len(models), 'model')} on {counted(len(benchmarks), 'benchmark')}: furthest above its "
        f"level is {up['name']} on {up['benchmark']} ({say(up['residual'])}), furthest below {down['name']} on "
        f"{down['benchmark']} ({say(down['residual'])})."
    )
