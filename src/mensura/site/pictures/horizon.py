"""Pictures of how long a task models do: all kinds of work on one axis, the trend, judged times, one model."""

from dataclasses import replace
from math import log2
from statistics import mean, median
from typing import Any

import polars as pl

from mensura.charts import Mark, Reference, draw_judged, draw_lengths
from mensura.charts.lengths import TimeAxis, WorkGroup, say_minutes
from mensura.charts.panels import draw_panels
from mensura.charts.plot import Plot, draw_plot
from mensura.charts.theme import paint
from mensura.charts.values import Axis, month
from mensura.core.errors import MensuraError
from mensura.core.frames import sort_highest
from mensura.evidence import Evidence, slug
from mensura.horizon.minutes import SECURITY
from mensura.site.pictures.first_parts import sign
from mensura.site.pictures.registry import Figure, model_link, picture, picture_words, worded
from mensura.study.horizons import (
    DOMAINS,
    fitted_horizons,
    horizon_sentence,
    judged_errors,
    pace_words,
    price_tasks,
    say_horizon,
    say_interval,
    say_lengths,
    task_horizons,
    typical_error,
)
from mensura.study.study import Study
from mensura.study.units import dollars
from mensura.trends.horizons import RECENT

_SHOWN = {"security": 9, "science": 6, "software": 6}
"""Systems drawn by kind of work, the longest; the table has all."""
_NAMED = 3
"""Systems named in each panel of the trend."""
_JUDGES = {"expert who saw the solution": ("experts", None), "language model": ("language models", "Anthropic")}


def _mark(study: Study, row: dict[str, Any]) -> Mark:
    """Return the mark of a system: hollow where the times near its horizon were judged; a model leads to its page."""
    value = row["p50"] if row["p50"] is not None else row["p50_low"] or row["p50_high"]
    label = f"{row['name']}, succeeds half of the time at {say_horizon(row)}, 90%: {say_interval(row)}, {row['status']}"
    timed = row["status"] == "measured times" or row["domain"] == "science"
    link = {"subject": row["model"], "href": model_link(row["model"])} if row["model"] in study.rows.by_subject else {}
    look: dict[str, Any] = {"low": row["p50_low"], "high": row["p50_high"], "detail": say_horizon(row), **link}
    look["status"] = "measured" if timed else "estimated"
    return Mark(row["name"], row["provider"], value, row["p80"] or 0.0, label, **look)


def _sure(row: dict[str, Any]) -> float:
    """Return which share of a system's interval is left where the times of tasks are taken as right."""
    parts = fitted_horizons().parts.filter(subject=row["subject"])
    return {"science": 1.0, "software": 0.0}.get(row["domain"], float((1 - parts["times"]).sqrt().sum()))


def _facts(domain: str, rows: pl.DataFrame) -> list[str]:
    newest = month(str(rows["released"].drop_nulls().max()))
    return [picture_words()["horizon"]["facts"][domain].format(tasks=rows["tasks"].max()), f"results to {newest}"]


def _pins(domain: str) -> list[Reference]:
    """Return kinds of work at their middle task; full where most tasks were timed."""
    pins = []
    for name, suites in picture_words()["horizon"]["works"][domain].items():
        own = task_horizons().lengths.filter(pl.col("suite").is_in(suites))
        middle, timed = median(own["minutes"]), own["timed"].mean() >= 0.5  # type: ignore[operator]
        note = f"half under {say_minutes(middle)}{'' if timed else ', as judged'}"
        pins.append(Reference(name, middle, status="measured" if timed else "judged", note=note))
    return pins


def _table(rows: pl.DataFrame) -> list[dict[str, Any]]:
    columns = ("domain", "name", "provider", "released", "p50", "p50_low", "p50_high", "p80", "status", "p50_minutes")
    return rows.select(columns).to_dicts()


@picture("horizon")
def horizon(study: Study) -> Figure:
    """How long a task models do half of the time, by kind of work, on one axis of time."""
    rows = task_horizons().rows
    groups = []
    for domain, title in DOMAINS.items():
        own = rows.filter(domain=domain)
        placed = own.filter(pl.col("status") != "cannot be told").head(_SHOWN[domain])
        marks = [_mark(study, row) for row in placed.iter_rows(named=True)]
        groups.append(WorkGroup(title, _facts(domain, own), marks, sure=[*map(_sure, placed.to_dicts())]))
    kind = pl.when(pl.col("suite").is_in(list(DOMAINS))).then("suite").otherwise(pl.lit(SECURITY))
    tasks = task_horizons().lengths.select(kind, "minutes", "timed").rows_by_key("suite")
    words = f"Tasks of people by length, and AI models below. {horizon_sentence()}"
    drawing = draw_lengths(tasks, [pin for domain in DOMAINS for pin in _pins(domain)], groups, words)
    return worded("horizon", drawing, horizon_sentence(), rows=_table(rows))


@picture("horizon-trend")
def horizon_trend(study: Study) -> Figure:
    """How fast the length of tasks grows, by kind of work."""
    horizons = task_horizons()
    dated = horizons.rows.drop_nulls(["p50", "released"])
    days = [[day.toordinal() for day in dated.filter(domain=domain)["released"]] for domain in DOMAINS]
    x = [Axis("release", min(own) - 60, max(own) + 90, days=True) for own in days]
    y = TimeAxis("", 1 / 8, 4000.0, log=True)
    titles = [(name, f"{dated.filter(domain=key).height} systems") for key, name in DOMAINS.items()]

    def draw_one(index: int, plot: Plot) -> None:
        domain = list(DOMAINS)[index]
        own = sort_highest(dated.filter(domain=domain), "p50", "subject").to_dicts()
        marks = []
        for place, row in enumerate(own):
            at: dict[str, Any] = {"x": float(row["released"].toordinal()), "y": row["p50"], "named": place < _NAMED}
            at |= {"low": row["p50_low"] or y.low, "high": row["p50_high"] or y.high}
            marks.append(replace(_mark(study, row), detail="", **at))
        people = [Reference(pin.label.lower().replace("gpqa", "GPQA"), pin.value) for pin in _pins(domain)]
        blocked = plot.levels(people, marks)
        if domain == "security":
            recent = [one for one in own if str(one["released"]) >= RECENT]
            pace = horizons.trend.filter(domain=domain, since=RECENT)["doubling_months"][0]
            start, end = (choose(one["released"].toordinal() for one in recent) for choose in (min, max))
            middle = mean(one["released"].toordinal() for one in recent)
            level = mean(log2(one["p50"]) for one in recent)
            ends = [(day, 2 ** (level + (day - middle) / 30.44 / pace)) for day in (start, end)]
            plot.sheet.path(plot.points(ends), paint.ink, 1.75)
        plot.models(marks, blocked=blocked)

    words = pace_words()
    drawing = draw_panels(titles, x, y, draw_one, words, least=300, tall=300, rows=_table(dated))
    return worded("horizon-trend", drawing, words)


@picture("horizon-judged")
def horizon_judged(study: Study) -> Figure:
    """How far judged times of tasks lie from measured ones."""
    judges, factors = [], []
    for how, errors in judged_errors().items():
        who, maker = _JUDGES[how]
        factor, share = typical_error(errors)
        factors.append(factor)
        note = f"typically off by a factor of {factor:.0f}, on average {share:.1f} of the true time"
        judges.append((f"{len(errors)} judgements of {who}", note, errors, maker))
    finding = f"A judged time is off by a factor of {min(factors):.0f} to {max(factors):.0f}"
    return worded("horizon-judged", draw_judged(judges, f"{finding}, most of them too short."), finding)


def horizon_keys(evidence: Evidence) -> list[tuple[str, str]]:
    """Return the models that were run on tasks with times."""
    rows = task_horizons().rows.drop_nulls("model").unique("model", maintain_order=True)
    return [(row["model"], row["name"]) for row in rows.iter_rows(named=True)]


def task_length(study: Study, row: dict[str, Any]) -> Figure | None:
    """Return how long a task one model does, by kind of work; nothing where it was never run."""
    subject = row["subject"]
    own, rows = task_horizons().by_model.get(subject), task_horizons().rows
    if own is None:
        return None
    groups = []
    for domain, title in DOMAINS.items():
        length, why = own.get(domain), "not measured: nobody published its results on these tasks"
        if length and length["status"] == "cannot be told":
            length, why = None, "cannot be told: its success does not clearly fall with length"
        facts = _facts(domain, rows.filter(domain=domain))[:1]
        marks, sure = ([_mark(study, length)], [_sure(length)]) if length else ([], [])
        groups.append(WorkGroup(title, facts, marks, why, sure))
    finding = say_lengths(study, subject)
    drawing = draw_lengths({}, [], groups, f"How long a task {row['name']} does: {finding}.")
    return worded("task-length-", drawing, finding, of=slug(subject), rows=_table(pl.DataFrame(list(own.values()))))


def horizon_curve(study: Study, subject: str) -> Figure:
    """Return one model's success on security tasks by their length, with people beside it."""
    row = task_horizons().by_model.get(subject, {}).get("security")
    if row is None:
        raise MensuraError(f"figure: {subject} has no security runs; expected a model that mensura horizon lists")
    curves = fitted_horizons().curves
    own = curves.filter(subject=row["subject"]).sort("minutes").to_dicts()
    people = curves.filter(subject="people").drop_nulls("rate").to_dicts()
    x = TimeAxis("length of the task, in a professional's time", 1 / 8, 4000.0, log=True)
    y = Axis("share solved", -0.03, 1.03, lambda share: f"{share:.0%}")
    inside = [one for one in own if x.low <= one["minutes"] <= x.high]
    finding = f"{row['name']} solves half of the tasks of {say_horizon(row)}"

    def draw(plot: Plot) -> None:
        edge = [(one["minutes"], one["low"]) for one in inside]
        edge += [(one["minutes"], one["high"]) for one in reversed(inside)]
        plot.sheet.area(plot.points(edge), paint.accent, 0.15)
        plot.sheet.path(plot.points((one["minutes"], one["rate"]) for one in inside), paint.ink)
        for one in people:
            with plot.sheet.marked(f"people, {say_minutes(one['minutes'])}: {one['rate']:.0%} of {one['n']} attempts"):
                plot.interval(one["minutes"], (one["low"], one["high"]), paint.people_strong, 2.2, 0.5)
                plot.sheet.bar(plot.x(one["minutes"]), plot.y(one["rate"]), "measured")
        plot.note("line: the model, 90% band; bars: people who tried")

    drawing = draw_plot(x, y, f"{finding}.", draw, height=340.0, rows=[*own, *people])
    return worded("horizon-curve-", drawing, finding, of=slug(subject), model=row["name"])


def best_rows(study: Study) -> list[dict[str, Any]]:
    """Return the best system of each kind of work with its sign and words, for the list beside the sentence."""
    rows = []
    for domain, title in DOMAINS.items():
        row = task_horizons().best(domain)
        about = f"{row['name']}, {row['released']:%B %Y}; 90%: {say_interval(row)}"
        mark = sign(row["provider"], full=_mark(study, row).status == "measured")
        rows.append({"title": title, "length": say_horizon(row), "about": about, "sign": mark})
    return rows


def table_rows(study: Study) -> list[dict[str, Any]]:
    """Return every horizon in words, for the table of the page."""
    rows = []
    for row in task_horizons().rows.iter_rows(named=True):
        own = "" if row["p50_minutes"] is None else say_minutes(row["p50_minutes"])
        words = {"half": say_horizon(row), "interval": say_interval(row), "most": say_horizon(row, "p80"), "own": own}
        released = "not known" if row["released"] is None else month(row["released"].isoformat())
        page = f"models/{slug(row['model'])}.html" if row["model"] in study.rows.by_subject else None
        rows.append({**row, **words, "kind": DOMAINS[row["domain"]], "since": released, "name_href": page})
    return rows


def task_rows(study: Study) -> list[dict[str, Any]]:
    """Return from which length of task each model is cheaper than people at 45 dollars an hour, in words."""
    bounds, lengths = price_tasks(study.evidence.models, 45)
    rows = []
    for row in bounds.join(lengths.filter(minutes=60.0), on="subject", maintain_order="left").iter_rows(named=True):
        start, low, high = (None if end is None else say_minutes(end) for name, end in row.items() if "r_from" in name)
        ends = "–" if low is None else f"{low} or later" if high is None else f"{low} to {high}"
        name = study.rows.by_subject[row["subject"]]["name"]
        hour = f"{dollars(row['cost'])} ({dollars(row['cost_low'])} to {dollars(row['cost_high'])})"
        rows.append({"subject": row["subject"], "name": name, "from": start, "interval": ends, "hour": hour})
    return rows
