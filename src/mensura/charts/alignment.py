"""Countries by how well their items are predicted: correlation against error, two clusters and their means."""

from __future__ import annotations

import altair as alt

from mensura.charts.labels import text_width
from mensura.charts.marks import DOTS, axis_of, empty, names, picture, scale_of
from mensura.charts.rows import Row, Span, add_spots, counted, rows_of, say

COLUMNS = ("group", "pearson", "mae", "cluster", "cluster_pearson", "cluster_mae")
HEIGHT = 340
_NAMES = {1: "higher alignment", 2: "lower alignment"}


def alignment_clusters(points: object) -> alt.LayerChart:
    """Draw a dot per country, coloured by its cluster, and each cluster's mean as a cross.

    ``points``: group, pearson, mae, cluster (1 has the higher r), cluster_pearson, cluster_mae; the table ``clusters``
    of a validation.
    """
    rows = rows_of(points, COLUMNS, needed=list(COLUMNS))
    if not rows:
        return empty("too few countries to tell clusters apart")
    for row in rows:
        row["alignment"] = _NAMES.get(row["cluster"], f"cluster {row['cluster']}")
        row |= {"name": str(row["group"]).partition("=")[2] or str(row["group"]), "label": True}
        row["aria"] = f"{row['name']}, r {say(row['pearson'])}, error {say(row['mae'])}, {row['alignment']}"
    means: list[Row] = []
    for name in dict.fromkeys(row["alignment"] for row in rows):
        first = next(row for row in rows if row["alignment"] == name)
        means.append({"alignment": name, "pearson": first["cluster_pearson"], "mae": first["cluster_mae"]})
    for row in means:
        row["aria"] = f"mean of {row['alignment']}: r {say(row['pearson'])}, error {say(row['mae'])}"
        row["text"] = f"{row['alignment']} (+ mean: r {say(row['pearson'], 2)}, error {say(row['mae'])})"
    across = Span.around([row["mae"] for row in rows], pad=0.08)
    upright = Span.around([row["pearson"] for row in rows], pad=0.08)
    words = {row["alignment"]: row["text"] for row in means}
    for row in rows:
        row["legend"] = words[row["alignment"]]
    add_spots(rows, [(across.share(row["mae"]), 1 - upright.share(row["pearson"])) for row in rows], height=HEIGHT)
    shown = list(words.values())
    legend = alt.Legend(symbolSize=DOTS[0], offset=20, symbolOpacity=1, labelLimit=400) if len(shown) > 1 else None
    colour = alt.Scale(domain=shown, range="category")
    x = alt.X("mae:Q", scale=scale_of(across), axis=axis_of(across, "mean absolute error of predicted rates"))
    y = alt.Y("pearson:Q", scale=scale_of(upright), axis=axis_of(upright, "correlation r", upright=True))
    base = alt.Chart(alt.NamedData("points")).encode(x=x, y=y)
    dots = base.mark_point(size=DOTS[1], strokeWidth=1.2, fillOpacity=0.8, opacity=1, tooltip=None).encode(
        fill=alt.Fill("legend:N", title=None, sort=None, scale=colour, legend=legend),
        stroke=alt.Stroke("legend:N", title=None, sort=None, scale=colour, legend=legend),
        shape=alt.Shape(
            "legend:N", title=None, sort=None, scale=alt.Scale(domain=shown, range="symbol"), legend=legend
        ),
        description=alt.Description("aria:N"),
    )
    middle = alt.Chart(alt.NamedData("means")).encode(x=x, y=y)
    cross = middle.mark_point(
        style="plain", shape="cross", filled=True, size=170, opacity=1, strokeWidth=0, tooltip=None
    ).encode(description=alt.Description("aria:N"))
    return picture(
        [*names(base), dots, cross],
        {"points": rows, "means": means},
        height=HEIGHT,
        description=_describe(rows, means),
        column=max(text_width(name) for name in shown) + 26,
    )


def _describe(rows: list[Row], means: list[Row]) -> str:
    parts = []
    for mean in means:
        size = counted(sum(row["alignment"] == mean["alignment"] for row in rows), "group")
        figures = f"mean r {say(mean['pearson'])} and error {say(mean['mae'])}"
        parts.append(f"{size} of {mean['alignment']} with {figures}")
    return f"Correlation against mean absolute error per country: {'; '.join(parts)}."
