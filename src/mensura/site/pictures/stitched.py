"""Pictures of the stitched scale: one axis, time, sensors, profiles, progress, acceleration."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from mensura import charts
from mensura.charts.canvas import ROOT
from mensura.charts.plot import draw_nothing
from mensura.core.frames import read_csv
from mensura.evidence import slug
from mensura.site.pictures.registry import Figure, labelled, linked, picture
from mensura.study.headlines import capability_leader_sentence, pace_sentence, unit_words
from mensura.study.policy import list_models
from mensura.study.study import Study
from mensura.study.units import show, show_range

_AXIS_LABELS = 30  # models named on the tall axis, where a name takes one line
_PROFILED_MODELS = 24  # rows of the heat map, a screen of them
_BELOW = 0.3  # of capability below the lowest value at which intervals are cut on the axis
_LINES_APART = 0.5  # of capability between two human lines, so that their names do not collide
_PROGRESS = Path(__file__).parents[1] / "data" / "algorithmic_progress.csv"
_NO_PROVIDER = pl.lit(None, pl.String)


@picture("one-axis")
def one_axis(study: Study) -> Figure:
    """Models, benchmarks and groups of people on one axis."""
    columns = ("kind", "name", "provider", "subject", "value", "low", "high", "label", "href")
    models = linked(labelled(study.charted("capability"), "capability", _AXIS_LABELS)).select(
        pl.lit("model").alias("kind"),
        *("name", "provider", "subject", "label", "href"),
        value="capability",
        low="capability_low",
        high="capability_high",
    )
    tests = study.benchmarks.drop_nulls("difficulty").select(
        pl.lit("benchmark").alias("kind"),
        "name",
        provider=_NO_PROVIDER,
        subject=pl.format("benchmark:{}", pl.col("benchmark")),
        href=pl.col("benchmark").map_elements(lambda key: f"{ROOT}benchmarks/{slug(key)}.html", pl.String),
        label=True,
        value="difficulty",
        low=pl.lit(None, pl.Float64),
        high=pl.lit(None, pl.Float64),
    )
    people = study.groups.select(
        pl.lit("people").alias("kind"),
        *("low", "high"),
        name=pl.col("group").replace(study.class_names),
        provider=_NO_PROVIDER,
        subject=_class_subjects(),
        href=pl.lit(f"{ROOT}people.html"),
        label=True,
        value="capability",
    )
    points = pl.concat([part.select(columns) for part in (models, tests, people)])
    edge = pl.col("value").min() - _BELOW  # a score of about zero bounds nothing from below
    points = points.with_columns(low=pl.when(pl.col("low") < edge).then(edge).otherwise("low"))
    return Figure(
        "one-axis",
        "Models, benchmarks and people on one axis",
        "Models by capability, benchmarks by difficulty and classes of people on one scale. A model whose capability "
        "equals a benchmark's difficulty is halfway up its range. Classes of people stand "
        "where their scores on the named tests put them, with 90% intervals, wide because their standing differs from "
        "test to test; judged classes are outlines, and an interval may end at the lower edge. They do not move the "
        "scale. Press any tick for who they are.",
        charts.one_axis(points, units=_unit_ends(study)),
        finding=stands_beside(study),
        columns={"value": "capability or difficulty"},
    )


@picture("capability-time")
def capability_time(study: Study) -> Figure:
    """Capability over time with the forecast and human lines."""
    points = (
        list_models(study, "capability")
        .drop_nulls("capability")
        .select(
            *("subject", "name", "provider", "released"),
            value="capability",
            low="capability_low",
            high="capability_high",
            status=pl.lit("measured"),
        )
    )
    pace = study.pace
    return Figure(
        "capability-time",
        "Capability over time, and where it is heading",
        "Capability of each model by release, with the line into the future. "
        "The fan contains 90% of simulated futures if releases go on as in the last three years. Warm lines are "
        "classes of people, from measured scores on the tests named, with 90% bands. "
        f"{pace_sentence(study)}",
        charts.timeline(
            linked(labelled(points, "value", study.policy.labels)),
            y_title="capability",
            forecast=pace.forecast,
            levels=human_lines(study.groups).with_columns(
                pl.col("label").replace(study.class_names),
                subject=_class_subjects("label"),
                href=pl.lit(f"{ROOT}people.html"),
            ),
            today=pace.until,
        ),
        finding=f"Releases gain {pace.slope:.2f} a year (90% interval {pace.low:.2f} to {pace.high:.2f}); "
        f"1 is {unit_words(study)}",
        columns={"value": "capability"},
    )


def _unit_ends(study: Study) -> dict[float, str]:
    """Return the models that stand at 0 and at 1 of the scale, where it is counted in them."""
    ends = re.search(r" from (.+) to (.+)$", unit_words(study))
    return {} if ends is None else {0.0: ends[1], 1.0: ends[2]}


def class_subject(group: str) -> str:
    """Return by which name the mark of a class of people, such as "experts, measured", calls its card."""
    return f"people:{group}"


def _class_subjects(column: str = "group") -> pl.Expr:
    return pl.format(class_subject("{}"), pl.col(column))


def stands_beside(study: Study) -> str:
    """Say where the highest model stands relative to the measured class nearest below it."""
    said = capability_leader_sentence(study)
    ranked = study.capability_ranks.drop_nulls("rank")
    if ranked.is_empty():
        return said
    best = ranked.row(0, named=True)
    below = study.groups.filter((pl.col("status") == "measured") & (pl.col("capability") < best["capability"]))
    if below.is_empty():
        return said
    nearest = below.sort("capability").row(-1, named=True)
    theirs = show_range(nearest["low"], nearest["high"], "capability")
    return f"{said} Next below it: {study.class_names[nearest['group']]}, anywhere from {theirs}."


def human_lines(groups: pl.DataFrame) -> pl.DataFrame:
    """Choose measured classes for lines: the surest first, those too near a chosen one left out."""
    kept: list[tuple[str, float, float, float]] = []
    surest = groups.filter(pl.col("status") == "measured").sort(pl.col("high") - pl.col("low"))
    for row in surest.select("group", "capability", "low", "high").iter_rows():
        if all(abs(row[1] - other[1]) >= _LINES_APART for other in kept):
            kept.append(row)
    schema = {"label": pl.String, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    return pl.DataFrame(kept, schema=schema, orient="row")


@picture("sensors")
def sensors(study: Study) -> Figure:
    """The range in which each benchmark informs."""
    models = linked(study.charted("capability").select("subject", "name", "provider", value="capability"))
    return Figure(
        "sensors",
        "Benchmarks are sensors with a range",
        "Where each benchmark tells models apart: at least half of its largest information about capability.",
        charts.sensors(
            study.sensors.with_columns(
                href=pl.col("benchmark").map_elements(lambda key: f"{ROOT}benchmarks/{slug(key)}.html", pl.String)
            ),
            models,
        ),
        finding=in_range(study),
        rows=tuple(study.sensors.select("benchmark", "name", "low", "peak", "high").to_dicts()),
        columns={"low": "informs from", "peak": "most at", "high": "to"},
    )


@picture("residual-profiles")
def residual_profiles(study: Study) -> Figure:
    """Where models score above and below their own level."""
    chosen = study.charted("capability").sort("capability", descending=True).head(_PROFILED_MODELS)
    titles = study.benchmarks.select("benchmark", title="name")
    points = (
        chosen.select("subject", "name", "provider")
        .join(study.residuals, on="subject", maintain_order="left")
        .join(titles, on="benchmark", maintain_order="left")
        .select("subject", "name", "provider", "residual", benchmark="title")
    )
    return Figure(
        "residual-profiles",
        "Better at some things than its capability says",
        "Where models score above (right of the line) and below (left of it) what their capability predicts. "
        "Each stroke is a test: the measured score, sources taken together, minus the score that the stitched model "
        "expects of the model's capability alone (without the further dimensions of the fit), as a share of the "
        "whole range of the score (of Elo: as expected win rates). The farthest test on each side has its name.",
        charts.residuals(linked(points)),
        finding=oddest(points),
    )


@picture("algorithmic-progress")
def algorithmic_progress(study: Study) -> Figure:
    """How fast less compute reaches the same capability."""
    estimates = read_csv(_PROGRESS).select("label", "value", "low", "high")
    factors: list[float] = estimates["value"].to_list()
    return Figure(
        "algorithmic-progress",
        "Algorithmic progress",
        "By what factor the training compute for a given capability falls per year, measured in several ways, with 90% "
        "intervals. From benchmark scores and compute estimates of Epoch AI up to November 2025 (CC BY 4.0).",
        charts.progress(estimates),
        rows=tuple(estimates.to_dicts()),
        finding=f"By {estimates.height} measurements the compute for a given capability falls "
        f"{min(factors):.0f} to {max(factors):.0f} times a year, with wide intervals",
        source="Computed by Mensura from scores and compute estimates of Epoch AI (CC BY 4.0), November 2025",
        columns={"label": "measured by", "value": "less compute, × per year"},
    )


@picture("acceleration")
def acceleration(study: Study) -> Figure:
    """The acceleration watch."""
    watch = study.watch
    if watch is None:
        said = "Too few models were released to watch for an acceleration"
        return Figure("acceleration", "Is it accelerating?", f"{said}.", draw_nothing(said), finding=said)
    verdict = (
        f"The alarm sounded in {watch.alarm:%B %Y}" if watch.alarm else "No acceleration that chance would not explain"
    )
    return Figure(
        "acceleration",
        "Is it accelerating?",
        "A monthly test for a faster pace: the higher the line, the stronger the evidence. "
        "Each month takes all releases known by then and looks for the day after which the pace rose most (a kink "
        "statistic). The unit is one standard deviation of that statistic in simulations without any change. "
        "It crosses the boundary in "
        f"{watch.plan.rate:.0%} of whole watches without a change (p = {watch.p_value:.2f} for this one).",
        charts.watch(watch.looks.select("date", "statistic", "boundary")),
        finding=verdict,
    )


def in_range(study: Study) -> str:
    """Say how many benchmarks still tell the best model from others."""
    best = study.capabilities["capability"].max()
    able = study.sensors.filter((pl.col("low") <= best) & (pl.col("high") >= best)).height
    return f"{able} of {study.sensors.height} benchmarks still inform at the level of the best model"


def oddest(points: pl.DataFrame) -> str:
    """Say which score lies farthest from its model's level."""
    known = points.drop_nulls("residual").sort(pl.col("residual").abs(), descending=True)
    if known.is_empty():
        return "No model has a residual"
    top = known.row(0, named=True)
    way = "above" if top["residual"] > 0 else "below"
    size = show(abs(top["residual"]), "fraction")
    return f"Farthest from its level: {top['name']} on {top['benchmark']}, {size} of the range {way} it"
