"""Pictures of the stitched scale: one axis, time, sensors, profiles, progress, acceleration."""

from __future__ import annotations

import polars as pl

from mensura import charts
from mensura.site.pictures.registry import Picture, labelled, picture
from mensura.site.study import Study

_PROFILED_MODELS = 24
_NO_PROVIDER = pl.lit(None, pl.String)


@picture("one-axis")
def one_axis(study: Study) -> Picture:
    """Models, benchmarks and groups of people on one axis."""
    columns = ("kind", "name", "provider", "subject", "value", "low", "high", "label")
    models = labelled(study.charted("capability"), "capability", 30).select(
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
        "A model halfway up a benchmark's range has its difficulty. Groups of people stand where their scores put them; "
        "they do not move the scale.",
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
    levels = study.groups.filter(pl.col("status") == "measured").select(
        "low", "high", label="group", value="capability"
    )
    return Picture(
        "capability-time",
        "Capability over time, and where it is heading",
        study.pace.caption,
        charts.timeline(
            labelled(points, "value", study.policy.labels),
            y_title="capability, standard deviations among models",
            forecast=study.pace.forecast,
            levels=levels,
            today=study.evidence.models["released"].max(),
        ),
    )


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
    return Picture(
        "algorithmic-progress",
        "Algorithmic progress",
        study.progress.caption,
        charts.progress(study.progress.estimates),
    )


@picture("acceleration")
def acceleration(study: Study) -> Picture:
    """The acceleration watch."""
    return Picture("acceleration", "Is it accelerating?", study.watch.caption, charts.watch(study.watch.points))
