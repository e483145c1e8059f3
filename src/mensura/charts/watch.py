"""The acceleration watch: a test statistic over time and the boundary it must cross before we say so."""

from __future__ import annotations

import altair as alt

from mensura.charts.marks import DOTS, axis_of, empty, picture, scale_of
from mensura.charts.rows import Row, Span, milliseconds, rows_of, say
from mensura.charts.timeline import time_axis, time_scale

HEIGHT = 240


def watch(points: object, *, y_title: str = "Evidence for acceleration") -> alt.LayerChart:
    """Draw the statistic and its boundary; days on which the statistic is beyond it are dots.

    ``points``: date, statistic, boundary.
    """
    rows = rows_of(points, ("date", "statistic", "boundary"), needed=["date", "statistic"])
    if not rows:
        return empty("no day has been watched")
    rows.sort(key=lambda row: str(row["date"]))
    for row in rows:
        row["when"] = milliseconds(row["date"])
        row["beyond"] = row["boundary"] is not None and row["statistic"] > row["boundary"]
        row["aria"] = f"{row['date']}, {y_title} {say(row['statistic'])}, boundary {say(row['boundary'])}"
    across = Span.around([row["when"] for row in rows], pad=0.02)
    upright = Span.around([0.0, *(row[key] for row in rows for key in ("statistic", "boundary"))])
    x = alt.X("when:T", scale=time_scale(across), axis=time_axis())
    y = alt.Y("statistic:Q", scale=scale_of(upright), axis=axis_of(upright, y_title, upright=True))
    base = alt.Chart(alt.NamedData("points")).encode(x=x, y=y)
    bound = base.encode(y=alt.Y("boundary:Q"))
    rows[len(rows) // 2]["named"] = True
    hint = bound.transform_filter("datum.named").encode(text=alt.value("boundary"))
    layers = [
        bound.mark_line(style="reference", aria=False, tooltip=None),
        hint.mark_text(style="hint", baseline="bottom", dy=-5, aria=False, tooltip=None),
        base.mark_line(style="trend", aria=False, tooltip=None),
        base.mark_point(style="plain", filled=True, size=DOTS[2], opacity=0, tooltip=None).encode(
            description=alt.Description("aria:N")
        ),
        base.transform_filter("datum.beyond").mark_point(
            style="people-dot", filled=True, size=DOTS[0], opacity=1, aria=False, tooltip=None
        ),
    ]
    return picture(layers, {"points": rows}, height=HEIGHT, description=_describe(rows, y_title))


def _describe(rows: list[Row], y_title: str) -> str:
    beyond = [row for row in rows if row["beyond"]]
    last = rows[-1]
    verdict = f"beyond it first on {beyond[0]['date']}" if beyond else "never beyond it"
    return (
        f"{y_title} from {rows[0]['date']} to {last['date']} with its boundary; {verdict}; last value "
        f"{say(last['statistic'])}, boundary {say(last['boundary'])}."
    )
