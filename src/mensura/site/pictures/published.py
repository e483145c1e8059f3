"""Pictures of the published stitched fit: difficulties, the break in its frontier, time horizons on capability."""

from __future__ import annotations

import polars as pl

from mensura import charts
from mensura.site.pictures.registry import Figure, labelled, picture
from mensura.study.study import Study
from mensura.trends import find_break, find_frontier, load_horizons, load_published, relate_horizons

_SOURCE = "Computed by Mensura from scores of Epoch AI (CC BY 4.0), November 2025"
_UNIT = "Winogrande has difficulty 0 and slope 1."
_LABELS = 20


@picture("published-difficulty")
def published_difficulty(study: Study) -> Figure:
    """Benchmarks by difficulty in the published fit."""
    rows = load_published().benchmarks.sort("difficulty", descending=True)
    hardest, easiest = rows.row(0, named=True), rows.row(-1, named=True)
    return Figure(
        "published-difficulty",
        "Benchmarks by difficulty, as published",
        "The capability at which a model gets half of the score. A bar ends where the squared error of the benchmark "
        f"is 5% larger; it is no interval of confidence. {_UNIT}",
        charts.difficulties(rows),
        finding=f"From {easiest['benchmark']} at {easiest['difficulty']:.2f} to {hardest['benchmark']} at "
        f"{hardest['difficulty']:.2f}",
        rows=tuple(rows.drop("source").to_dicts()),
        source=_SOURCE,
    )


@picture("published-break")
def published_break(study: Study) -> Figure:
    """The frontier of the published fit and its one break."""
    models = load_published().models
    frontier, bend = find_frontier(models), find_break(models)
    points = _points(frontier).with_columns(
        released=pl.col("released"), value="capability", low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64)
    )
    return Figure(
        "published-break",
        "One break in the published frontier",
        "Models that were the best at their release, and the continuous two-piece line nearest to them. The paper "
        f"calls a ratio of the slopes of at least 1.5 an acceleration. {_UNIT}",
        charts.timeline(
            labelled(points, "value", _LABELS),
            y_title="capability",
            lines=bend.path(frontier["released"]).with_columns(provider=pl.lit(None, pl.String)),
        ),
        finding=f"{bend.before:.2f} a year before {bend.date} and {bend.after:.2f} after it: {bend.ratio:.2f} times as "
        "fast",
        source=_SOURCE,
        columns={"value": "capability"},
    )


@picture("published-horizons")
def published_horizons(study: Study) -> Figure:
    """Time horizons of METR against capability in the published fit."""
    related = relate_horizons(load_published().models, load_horizons())
    table = related.table.drop_nulls("minutes")
    points = _points(table).with_columns(x="capability", y="minutes")
    ends = table.filter(pl.col("capability").is_in([table["capability"].min(), table["capability"].max()]))
    return Figure(
        "published-horizons",
        "Time horizons grow with capability",
        "The length of tasks, in minutes of a person's work, that a model completes in half of its tries, against the "
        f"capability of the published fit. The line is that of ln(minutes). {_UNIT}",
        charts.scatter(
            labelled(points, "y", _LABELS),
            x_title="capability",
            y_title="time horizon, minutes",
            log_y=True,
            line=ends.select(x="capability", y="expected"),
        ),
        finding=f"Horizons double with every {related.doubling:.2f} of capability (R² "
        f"{related.checks['r_squared'][0]:.2f}, {points.height} models)",
        source=f"{_SOURCE}; horizons: METR, Time Horizon 1.1",
        columns={"x": "capability", "y": "minutes"},
    )


def _points(table: pl.DataFrame) -> pl.DataFrame:
    """Return models under the names of the published fit, all of one colour."""
    return table.with_columns(name=pl.col("subject"), provider=pl.lit(None, pl.String), status=pl.lit("measured"))
