"""Pictures of the stitched scale: one axis, time, sensors, profiles, progress, acceleration."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from mensura import charts
from mensura.frames import read_csv
from mensura.site.pictures.registry import Picture, labelled, picture
from mensura.site.study import Study

_AXIS_LABELS = 30  # models named on the tall axis, where a name takes one line
_PROFILED_MODELS = 24  # rows of the heat map, a screen of them
_LINES_APART = 0.5  # of capability between two human lines, so that their names do not collide
_PROGRESS = Path(__file__).parents[1] / "data" / "algorithmic_progress.csv"
_NO_PROVIDER = pl.lit(None, pl.String)


@picture("one-axis")
def one_axis(study: Study) -> Picture:
    """Models, benchmarks and groups of people on one axis."""
    columns = ("kind", "name", "provider", "subject", "value", "low", "high", "label")
    models = labelled(study.charted("capability"), "capability", _AXIS_LABELS).select(
        pl.lit("model").alias("kind"),
        *("name", "provider", "subject", "label"),
        value="capability",
        low="capability_low",
        high="capability_high",
    )
    tests = study.benchmarks.drop_nulls("difficulty").select(
        pl.lit("benchmark").alias("kind"),
        "name",
        provider=_NO_PROVIDER,
        subject=_NO_PROVIDER,
        label=True,
        value="difficulty",
        low=pl.lit(None, pl.Float64),
        high=pl.lit(None, pl.Float64),
    )
    people = study.groups.select(
        pl.lit("people").alias("kind"),
        *("low", "high"),
        name="group",
        provider=_NO_PROVIDER,
        subject=_NO_PROVIDER,
        label=True,
        value="capability",
    )
    points = pl.concat([part.select(columns) for part in (models, tests, people)])
    return Picture(
        "one-axis",
        "Models, benchmarks and people on one axis",
        "A model whose capability equals a benchmark's difficulty is halfway up its range. Classes of people have wide "
        "intervals, because their standing differs from test to test; they do not move the scale.",
        charts.one_axis(points),
    )


@picture("capability-time")
def capability_time(study: Study) -> Picture:
    """Capability over time with the forecast and human lines."""
    points = study.models.drop_nulls("capability").select(
        *("subject", "name", "provider", "released"),
        value="capability",
        low="capability_low",
        high="capability_high",
        status=pl.lit("measured"),
    )
    pace = study.pace
    return Picture(
        "capability-time",
        "Capability over time, and where it is heading",
        f"{pace.heading}. "
        "The fan holds 90% of simulated futures if releases go on as in the last two years; lines are classes of "
        "people, from measured scores, with 90% bands.",
        charts.timeline(
            labelled(points, "value", study.policy.labels),
            y_title="capability, standard deviations among models",
            forecast=pace.forecast,
            levels=_human_lines(study.groups),
            today=pace.until,
        ),
    )


def _human_lines(groups: pl.DataFrame) -> pl.DataFrame:
    """Choose measured classes for lines: the surest first, those too near a chosen one left out."""
    kept: list[tuple[str, float, float, float]] = []
    surest = groups.filter(pl.col("status") == "measured").sort(pl.col("high") - pl.col("low"))
    for row in surest.select("group", "capability", "low", "high").iter_rows():
        if all(abs(row[1] - other[1]) >= _LINES_APART for other in kept):
            kept.append(row)
    schema = {"label": pl.String, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    return pl.DataFrame(kept, schema=schema, orient="row")


@picture("sensors")
def sensors(study: Study) -> Picture:
    """The range in which each benchmark informs."""
    models = study.charted("capability").select("subject", "name", "provider", value="capability")
    return Picture(
        "sensors",
        "Benchmarks are sensors with a range",
        "Where each benchmark tells models apart: at least half of its largest information about capability.",
        charts.sensors(study.sensors, models),
    )


@picture("residual-profiles")
def residual_profiles(study: Study) -> Picture:
    """Where models score above and below their own level."""
    chosen = study.charted("capability").sort("capability", descending=True).head(_PROFILED_MODELS)
    titles = study.benchmarks.select("benchmark", title="name")
    points = (
        chosen.select("subject", "name", "provider")
        .join(study.residuals, on="subject", maintain_order="left")
        .join(titles, on="benchmark", maintain_order="left")
        .select("subject", "name", "provider", "residual", benchmark="title")
    )
    return Picture(
        "residual-profiles",
        "Better at some things than its capability says",
        "Measured score minus the score its capability alone predicts, as a fraction of the scale.",
        charts.heatmap(points),
    )


@picture("algorithmic-progress")
def algorithmic_progress(study: Study) -> Picture:
    """How fast less compute reaches the same capability."""
    estimates = read_csv(_PROGRESS).select("label", "value", "low", "high")
    return Picture(
        "algorithmic-progress",
        "Algorithmic progress",
        "By what factor the training compute for a given capability falls per year, measured in several ways, with 90% "
        "intervals. From benchmark scores and compute estimates of Epoch AI up to November 2025 (CC BY 4.0).",
        charts.progress(estimates),
    )


@picture("acceleration")
def acceleration(study: Study) -> Picture:
    """The acceleration watch."""
    watch = study.watch
    verdict = f"The alarm sounded on {watch.alarm}." if watch.alarm else "The alarm has not sounded."
    return Picture(
        "acceleration",
        "Is it accelerating?",
        f"{verdict} Every month the statistic compares the slope of all releases, not of the frontier, before and "
        "after any day since the start of the watch; without a change of pace it crosses the boundary in "
        f"{watch.plan.rate:.0%} of whole watches "
        f"(p = {watch.p_value:.2f}).",
        charts.watch(watch.looks.select("date", "statistic", "boundary")),
    )
