"""One benchmark's ladder from score to IQ, with the models on it."""

from __future__ import annotations

import altair as alt

from mensura.charts.marks import axis_of, empty, lab_legend, model_dots, names, picture, scale_of, status_note
from mensura.charts.rows import Row, Span, add_spots, counted, listed, rows_of, say

SCORE_COLUMNS = ("subject", "name", "provider", "score", "iq", "status")
HEIGHT = 320
NAMED = 10  # models that get a name, from the top


def ladder(points: object, scores: object, *, x_title: str = "Score", y_title: str = "IQ") -> alt.LayerChart:
    """Draw the expected score at each IQ as a line, and each model where its score meets it.

    ``points``: iq, score. ``scores``: subject, name, provider, score, iq, status. In the chart's data the models are
    ``points``, as everywhere, and the rungs ``ladder``.
    """
    rungs = rows_of(points, ("iq", "score"), needed=["iq", "score"])
    rows = rows_of(scores, SCORE_COLUMNS, name="scores", needed=["subject", "name", "score", "iq"])
    if not rungs:
        return empty("the benchmark has no ladder")
    rungs.sort(key=lambda row: (row["iq"], row["score"]))
    rows.sort(key=lambda row: (-row["iq"], -row["score"]))
    for rank, row in enumerate(rows):
        row["label"] = rank < NAMED
        row["aria"] = f"{row['name']}, score {say(row['score'])}, IQ {row['iq']:.0f}, {row['status']}"
    across = Span.around([row["score"] for row in (*rungs, *rows)], pad=0.04)
    upright = Span.around([row["iq"] for row in (*rungs, *rows)], pad=0.06)
    add_spots(rows, [(across.share(row["score"]), 1 - upright.share(row["iq"])) for row in rows], height=HEIGHT)
    x = alt.X("score:Q", scale=scale_of(across), axis=axis_of(across, x_title))
    y = alt.Y("iq:Q", scale=scale_of(upright), axis=axis_of(upright, y_title, upright=True))
    line = alt.Chart(alt.NamedData("ladder")).encode(x=x, y=y)
    base = alt.Chart(alt.NamedData("points")).encode(x=x, y=y)
    layers = [
        line.mark_line(style="crowd-edge", aria=False, tooltip=None).encode(order=alt.Order("iq:Q")),
        line.mark_point(style="rung", filled=True, size=26, opacity=1, aria=False, tooltip=None),
        *names(base),
        *status_note(rows),
        model_dots(base, lab_legend(rows)),
    ]
    datasets = {"points": rows, "ladder": rungs}
    return picture(layers, datasets, height=HEIGHT, description=_describe(rungs, rows, x_title))


def _describe(rungs: list[Row], rows: list[Row], x_title: str) -> str:
    low, high = rungs[0], rungs[-1]
    text = (
        f"{x_title} expected at each IQ, from {say(low['score'])} at IQ {low['iq']:.0f} to {say(high['score'])} at IQ "
        f"{high['iq']:.0f}"
    )
    top = listed(f"{row['name']} ({say(row['score'])}, IQ {row['iq']:.0f})" for row in rows)
    return f"{text}; {counted(len(rows), 'model')} on it, highest: {top}." if rows else f"{text}."
