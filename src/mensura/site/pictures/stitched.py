"""Pictures of the stitched scale: one axis, time, sensors, profiles, progress, acceleration; and the published fit."""

import re
from pathlib import Path
from typing import Any

import polars as pl

from mensura import charts
from mensura.charts.plot import draw_nothing
from mensura.charts.theme import ROOT
from mensura.charts.values import listed
from mensura.core.frames import read_csv, sort_highest
from mensura.evidence import slug
from mensura.site.pictures.registry import Figure, labelled, linked, picture, worded
from mensura.study.headlines import capability_leader_sentence, pace_sentence, unit_words, year_sentence
from mensura.study.policy import list_models
from mensura.study.study import Study
from mensura.study.units import show, show_range
from mensura.trends import find_break, find_frontier, load_horizons, load_published, relate_horizons

_AXIS_LABELS = 30  # models named on the tall axis, where a name takes one line
_PROFILED_MODELS = 24  # rows of the heat map, a screen of them
_BELOW = 0.3  # of capability below the lowest value at which intervals are cut on the axis
_LINES_APART = 0.5  # of capability between two human lines, so that their names do not collide
_PUBLISHED_LABELS = 20
_PROGRESS = Path(__file__).parents[1] / "data" / "algorithmic_progress.csv"
_NO_PROVIDER = pl.lit(None, pl.String)
_NO_END = pl.lit(None, pl.Float64)
_CAPABILITY = {"value": "capability", "low": "capability_low", "high": "capability_high"}


@picture("one-axis")
def one_axis(study: Study) -> Figure:
    """Models, benchmarks and groups of people on one axis."""
    models = linked(labelled(study.charted("capability"), "capability", _AXIS_LABELS)).select(
        pl.lit("model").alias("kind"), "name", "provider", "subject", "label", "href", **_CAPABILITY
    )
    tests = study.benchmarks.drop_nulls("difficulty").select(
        "name",
        kind=pl.lit("benchmark"),
        provider=_NO_PROVIDER,
        subject=pl.format("benchmark:{}", pl.col("benchmark")),
        href=_benchmark_pages(),
        label=True,
        value="difficulty",
        low=_NO_END,
        high=_NO_END,
    )
    people = study.groups.select(
        *("low", "high"),
        kind=pl.lit("people"),
        name=pl.col("group").replace(study.class_names),
        provider=_NO_PROVIDER,
        subject=_class_subjects(),
        href=pl.lit(f"{ROOT}people.html"),
        label=True,
        value="capability",
    )
    points = pl.concat([part.select(sorted(models.columns)) for part in (models, tests, people)])
    edge = pl.col("value").min() - _BELOW  # a score of about zero bounds nothing from below
    points = points.with_columns(low=pl.when(pl.col("low") < edge).then(edge).otherwise("low"))
    below = tests.filter(pl.col("value") < models["value"].max()).height
    drawing = charts.one_axis(points, units=_unit_ends(study))
    return worded("one-axis", drawing, stands_beside(study), below=below, tests=tests.height)


def _benchmark_pages() -> pl.Expr:
    return pl.col("benchmark").map_elements(lambda key: f"{ROOT}benchmarks/{slug(key)}.html", pl.String)


@picture("capability-time")
def capability_time(study: Study) -> Figure:
    """Capability over time with the forecast and human lines."""
    rows = list_models(study, "capability").drop_nulls("capability")
    points = rows.select("subject", "name", "provider", "released", **_CAPABILITY, status=pl.lit("measured"))
    pace = study.pace
    classes = human_lines(study.groups).with_columns(
        pl.col("label").replace(study.class_names), subject=_class_subjects("label"), href=pl.lit(f"{ROOT}people.html")
    )
    drawing = charts.timeline(
        linked(labelled(points, "value", study.policy.labels)),
        y_title="capability",
        forecast=pace.forecast,
        levels=classes,
        today=pace.until,
    )
    last, best = pace.forecast.row(-1, named=True), float(rows["capability"].max())  # type: ignore[arg-type]
    ends = {key: show(last[key], "capability") for key in ("low", "high")}
    facts: dict[str, Any] = {**ends, "end": f"{last['date']:%B %Y}", "best": show(best, "capability")}
    return worded("capability-time", drawing, year_sentence(study), pace=pace_sentence(study), **facts)


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
    """Say among which classes of people, by their scores on tests, the highest model stands."""
    best = study.capability_ranks.drop_nulls("rank")["capability"].max()
    places: dict[str, list[str]] = {"above": [], "inside the range of": [], "below": []}
    for row in study.groups.filter(status="measured").sort("capability").iter_rows(named=True) if best else ():
        place = "above" if row["high"] < best else "below" if row["low"] > best else "inside the range of"
        places[place].append(row["group"].rpartition(",")[0])
    parts = [f"{place} {' and '.join(names)}" for place, names in places.items() if names]
    return f"On one scale the best model stands {', and '.join(parts)}." if parts else capability_leader_sentence(study)


def harder_said(study: Study) -> str:
    """Say which tests still stand above the best model, where one does."""
    best = study.capability_ranks.drop_nulls("rank")["capability"].max()
    harder = study.benchmarks.filter(pl.col("difficulty") > best)["name"] if best else ()
    return f"Still above it: {listed(harder, len(harder))}." if len(harder) else ""


def human_lines(groups: pl.DataFrame) -> pl.DataFrame:
    """Choose measured classes for lines: the surest first, those too near a chosen one left out."""
    kept: list[tuple[str, float, float, float]] = []
    surest = sort_highest(groups.filter(status="measured"), pl.col("low") - pl.col("high"), "group")
    for row in surest.select("group", "capability", "low", "high").iter_rows():
        if all(abs(row[1] - other[1]) >= _LINES_APART for other in kept):
            kept.append(row)
    schema = {"label": pl.String, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    return pl.DataFrame(kept, schema=schema, orient="row")


@picture("sensors")
def sensors(study: Study) -> Figure:
    """The range in which each benchmark informs."""
    models = linked(study.charted("capability").select("subject", "name", "provider", value="capability"))
    drawing = charts.sensors(study.sensors.with_columns(href=_benchmark_pages()), models)
    rows = study.sensors.select("benchmark", "name", "low", "peak", "high").to_dicts()
    return worded("sensors", drawing, in_range(study), rows=rows, see=ended_said(study))


@picture("residual-profiles")
def residual_profiles(study: Study) -> Figure:
    """Where models score above and below their own level."""
    chosen = sort_highest(study.charted("capability"), "capability", "subject").head(_PROFILED_MODELS)
    titles = study.benchmarks.select("benchmark", title="name")
    points = (
        chosen.select("subject", "name", "provider")
        .join(study.residuals, on="subject", maintain_order="left")
        .join(titles, on="benchmark", maintain_order="left")
        .select("subject", "name", "provider", "residual", benchmark="title")
    )
    return worded("residual-profiles", charts.residuals(linked(points)), oddest(points))


@picture("algorithmic-progress")
def algorithmic_progress(study: Study) -> Figure:
    """How fast less compute reaches the same capability."""
    rows = read_csv(_PROGRESS).select("label", "value", "low", "high")
    least, most = (rows.sort("value").row(place, named=True) for place in (0, -1))
    title = "Less compute for the same capability, × per year"
    look: dict[str, Any] = {"order": lambda _: 0.0, "log": True, "rule": 1.0}
    drawing = charts.estimates(rows, label="label", value="value", x_title=title, **look)
    finding = (
        f"By {rows.height} measurements the compute for a given capability falls "
        f"{least['value']:.0f} to {most['value']:.0f} times a year, with wide intervals"
    )
    return worded("algorithmic-progress", drawing, finding, rows=rows.to_dicts(), least=least, most=most)


@picture("acceleration")
def acceleration(study: Study) -> Figure:
    """The acceleration watch."""
    watch = study.watch
    if watch is None:
        nothing = "Too few models were released to watch for an acceleration"
        return Figure("acceleration", "Is it accelerating?", f"{nothing}.", draw_nothing(nothing), nothing)
    verdict = (
        f"The alarm sounded in {watch.alarm:%B %Y}" if watch.alarm else "No acceleration that chance would not explain"
    )
    drawing, last = charts.watch(watch.looks.select("date", "statistic", "boundary")), watch.looks.row(-1, named=True)
    facts = {key: show(last[key], "capability") for key in ("statistic", "boundary")} | {"date": last["date"]}
    return worded("acceleration", drawing, verdict, rate=watch.plan.rate, p_value=watch.p_value, **facts)


def in_range(study: Study) -> str:
    """Say how many benchmarks still tell the best model from others."""
    best = study.capabilities["capability"].max()
    able = study.sensors.filter((pl.col("low") <= best) & (pl.col("high") >= best)).height
    return f"{able} of {study.sensors.height} benchmarks still inform at the level of the best model"


def ended_said(study: Study) -> str:
    """Say how many benchmarks end below the best model, and which one reaches highest."""
    best, highest = study.capabilities["capability"].max(), sort_highest(study.sensors, "high", "name")
    ended = study.sensors.filter(pl.col("high") < best).height
    reaches = f"; {highest['name'][0]} reaches highest" if highest.height else ""
    return (
        f"{ended} of {study.sensors.height} bars end below the best model: these tests tell no leaders apart{reaches}."
    )


def oddest(points: pl.DataFrame) -> str:
    """Say which score lies farthest from its model's level."""
    farthest = sort_highest(points.drop_nulls("residual"), pl.col("residual").abs(), "name")
    if farthest.is_empty():
        return "No model has a residual"
    top = farthest.row(0, named=True)
    way = "above" if top["residual"] > 0 else "below"
    size = show(abs(top["residual"]), "fraction")
    return f"Farthest from its level: {top['name']} on {top['benchmark']}, {size} of the range {way} it"


@picture("published-difficulty")
def published_difficulty(study: Study) -> Figure:
    """Benchmarks by difficulty in the published fit."""
    rows = load_published().benchmarks.sort("difficulty", descending=True)
    hardest, easiest = rows.row(0, named=True), rows.row(-1, named=True)
    named = rows.with_columns(pl.col("benchmark").str.replace(r"-(20\d\d)", " $1"))  # where a long name may break
    drawing = charts.estimates(named, label="benchmark", value="difficulty", x_title="Difficulty")
    ends = [f"{one['benchmark']} at {show(one['difficulty'], 'capability')}" for one in (easiest, hardest)]
    wide = sort_highest(rows, pl.col("high") - pl.col("low"), "benchmark").row(0, named=True)
    rows_shown = rows.drop("source").to_dicts()
    unsure = {"wide": wide["benchmark"], "ends": show_range(wide["low"], wide["high"], "capability")}
    return worded("published-difficulty", drawing, f"From {ends[0]} to {ends[1]}", rows=rows_shown, **unsure)


@picture("published-break")
def published_break(study: Study) -> Figure:
    """The frontier of the published fit and its one break."""
    models = load_published().models
    frontier, bend = find_frontier(models), find_break(models)
    points = _published(frontier.with_columns(value="capability", low=_NO_END, high=_NO_END), "value")
    path = bend.path(frontier["released"]).with_columns(provider=_NO_PROVIDER)
    paces = f"{bend.before:.2f} a year before {bend.date:%B %Y} and {bend.after:.2f} after it"
    finding = f"{paces}: {bend.ratio:.2f} times as fast"
    counts: dict[str, Any] = {"late": (frontier["released"] > bend.date).sum(), "records": frontier.height}
    return worded("published-break", charts.timeline(points, y_title="capability", lines=path), finding, **counts)


@picture("published-horizons")
def published_horizons(study: Study) -> Figure:
    """Time horizons of METR against capability in the published fit."""
    related = relate_horizons(load_published().models, load_horizons())
    table = related.table.drop_nulls("minutes")
    points = _published(table.with_columns(x="capability", y="minutes"), "y")
    ends = table.filter(pl.col("capability").is_in([table["capability"].min(), table["capability"].max()]))
    line = ends.select(x="capability", y="expected")
    titles: dict[str, Any] = {"x_title": "capability", "y_title": "time horizon, minutes"}
    finding = (
        f"Horizons double with every {related.doubling:.2f} of capability (R² "
        f"{related.checks['r_squared'][0]:.2f}, {points.height} models)"
    )
    far = sort_highest(table, pl.col("minutes") / pl.col("expected"), "subject").row(0, named=True)
    return worded("published-horizons", charts.scatter(points, log_y=True, line=line, **titles), finding, far=far)


def _published(table: pl.DataFrame, value: str) -> pl.DataFrame:
    """Return models under the names of the published fit, all of one colour, the highest labelled."""
    points = table.with_columns(name=pl.col("subject"), provider=_NO_PROVIDER, status=pl.lit("measured"))
    return labelled(points, value, _PUBLISHED_LABELS)
