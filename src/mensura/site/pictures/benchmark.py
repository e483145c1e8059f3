"""Pictures of one benchmark (all models with people, the ladder, the history) and of one maker over time."""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import polars as pl

from mensura.charts import Drawing, Mark, Reference, Strip, draw_forest, draw_history, draw_ladder
from mensura.charts.theme import ROOT
from mensura.core.frames import sort_highest
from mensura.evidence import RATE_UNITS, Evidence, slug, with_tries
from mensura.scale import rate_interval
from mensura.site.pictures.registry import Figure, model_link, worded
from mensura.study.headlines import short_name
from mensura.study.study import Study
from mensura.study.units import factor, show, show_range, unit_name

SHOWN = 25
"""Models drawn; the table below the picture has all."""
_LADDER_IQS = (70, 85, 100, 115, 130, 145, 160)
_JUDGED = {"estimated": "judged"}
Point = tuple[float, float]
"""Score and IQ of a ladder's step."""
_FEWEST_DATED = 3  # dated models below which a history says nothing
_FEWEST = 2
"""Dated models of a maker with an IQ from which a picture over time says anything."""


def benchmark_scores(study: Study, benchmark: str) -> pl.DataFrame:
    """Return :func:`score_rows` with the IQ that each score stands for, its interval, and the residual."""
    trail = study.iq.trail.filter(benchmark=benchmark, status="measured")
    trail = trail.select("subject", "iq", iq_low="low", iq_high="high")
    residuals = study.residuals.filter(benchmark=benchmark).select("subject", "residual")
    rows = score_rows(study, benchmark)
    for part in (trail, residuals):
        rows = rows.join(part, on="subject", how="left", maintain_order="left")
    return rows


def score_rows(study: Study, benchmark: str) -> pl.DataFrame:
    """Return the models with a primary score, best first: score, low, high (90%, where known), source and date.

    The interval is that of a share of the score's answers, null where nobody knows how many or the unit is no share.
    """
    facts = _facts(study, benchmark)
    names = study.evidence.models.select("subject", "name", "provider", "released")
    rows = (
        with_tries(study.evidence, study.evidence.primary_scores.filter(benchmark=benchmark))
        .select("subject", "score", "source", "date", "note", "tries")
        .join(names, on="subject", maintain_order="left")
        .sort("score", "subject", descending=[True, False])
    )
    scale = RATE_UNITS.get(facts["unit"], math.nan)
    tries = rows["tries"].to_numpy()
    low, high = (scale * end for end in rate_interval(rows["score"].to_numpy() / scale * tries, tries))
    return rows.with_columns(low=pl.Series(low, nan_to_null=True), high=pl.Series(high, nan_to_null=True))


def people_on(study: Study, benchmark: str) -> list[dict[str, Any]]:
    """Return the groups of people with a score in the benchmark's own unit, with how it came about and n."""
    unit = study.evidence.benchmarks.filter(benchmark=benchmark)["unit"][0]
    rows = study.evidence.human_references.filter(benchmark=benchmark, unit=unit).with_columns(
        pl.when(pl.col("group").str.contains("panel"))
        .then(pl.lit("panel"))
        .otherwise(pl.col("status").replace(_JUDGED))
        .alias("status")
    )
    return sort_highest(rows, "score", "group").to_dicts()


def group_subject(test: str, group: str) -> str:
    """Return by which name the mark of a group on a test calls its card."""
    return f"people:{test}/{group}"


def said_group(row: dict[str, Any], unit: str) -> str:
    """Say a group and how its score came about; the title of the picture names the test."""
    size = f", n = {row['n']:,}" if row["n"] is not None else ""
    return f"{short_name(row['benchmark'], row['group'])}, {row['status']}{size}: {show(row['score'], unit)}"


def _facts(study: Study, benchmark: str) -> dict[str, Any]:
    return study.evidence.benchmarks.row(by_predicate=pl.col("benchmark") == benchmark, named=True)


def scores_figure(study: Study, benchmark: str, rows: pl.DataFrame, people: list[dict[str, Any]]) -> Figure:
    """Draw the best models on the benchmark, with people as lines."""
    facts = _facts(study, benchmark)
    unit, test, top = facts["unit"], facts["name"], rows.head(SHOWN).to_dicts()
    strips = []
    for row in top:
        about: dict[str, Any] = {"provider": row["provider"], "subject": row["subject"]}
        about |= {"href": model_link(row["subject"]), "note": show_range(row["low"], row["high"], unit)}
        strips.append(Strip.of(row, "name", "score", show(row["score"], unit), **about))
    leads = f"{top[0]['name']} leads with {show(top[0]['score'], unit)}"
    drawing = draw_forest(
        strips,
        axis=f"score, {unit_name(unit)}",
        tick=lambda value: show(value, unit),
        description=f"Scores on {test}: {leads}.",
        references=_references(people, unit),
    )
    table = rows.select("subject", "name", "provider", "score", "low", "high", "source", "date")
    level = rows.filter(pl.col("high") >= pl.lit(top[0]["low"], pl.Float64)).height - 1
    see = f"The intervals of {level} of {rows.height - 1} other models reach that of the leader."
    if level < 0:  # nobody knows the number of items
        see = f"The last of these {len(top)} scores {show(top[-1]['score'], unit)}."
    words = {"test": test, "unit": unit, "shown": len(top), "models": rows.height, "see": see}
    return _of_benchmark("scores-", benchmark, drawing, leads, table, words)


def _of_benchmark(
    family: str, benchmark: str, drawing: Drawing, finding: str, table: pl.DataFrame, words: dict[str, Any]
) -> Figure:
    """Return a picture of a benchmark; the scores of its table are in the unit that its axis says."""
    unit = words["unit"]
    rows = table.with_columns(pl.col("^(score|low|high)$") * factor(unit)).to_dicts()
    return worded(family, drawing, finding, of=slug(benchmark), rows=rows, **{**words, "unit": unit_name(unit)})


def ladder_figure(study: Study, benchmark: str, rows: pl.DataFrame, people: list[dict[str, Any]]) -> Figure | None:
    """Draw the ladder from score to IQ with models and people on it; nothing where there is no ladder."""
    ladders = study.evidence.ladders.filter(benchmark=benchmark)
    if ladders.is_empty():
        return None
    facts, ladder = _facts(study, benchmark), ladders.row(0, named=True)
    unit, test = facts["unit"], facts["name"]
    points = [(ladder[f"iq{iq}"], float(iq)) for iq in _LADDER_IQS if ladder[f"iq{iq}"] is not None]
    drawn, beyond = up_to(points, facts["ceiling"])
    iqs = study.iq.benchmark_iqs.filter(benchmark=benchmark, status="measured").select("subject", on_ladder="iq")
    marks = []
    for row in rows.join(iqs, on="subject", maintain_order="left").to_dicts():
        label = f"{row['name']}: {show(row['score'], unit)}, IQ {show(row['on_ladder'], 'iq')}"
        links: dict[str, Any] = {"subject": row["subject"], "href": model_link(row["subject"])}
        marks.append(Mark(row["name"], row["provider"], row["score"], row["on_ladder"], label, **links, named=False))
    top = max((y for x, y in points if rows["score"][0] >= x), default=None)
    past = "the best model is past its top" if top == _LADDER_IQS[-1] else "the best model is still on it"
    about = f"Ladder of {test} from {show(points[0][0], unit)} at IQ 70 up; {past}."
    people_drawn = _references(people, unit)
    drawing = draw_ladder(drawn, marks, people_drawn, tick=lambda value: show(value, unit), description=about)
    table = pl.DataFrame([{"iq": iq, "score": score, "status": "judged"} for score, iq in points])
    high, low = (sum(one.y >= iq for one in marks) for iq in (130, 100))
    counts = {"high": high, "low": len(marks) - low, "models": len(marks)}
    words = {"test": test, "unit": unit, "beyond": said_beyond(beyond, unit), **counts}
    return _of_benchmark("ladder-", benchmark, drawing, f"From score to IQ: {past}", table, words)


Drawer = Callable[[Study, str, pl.DataFrame, list[dict[str, Any]]], Figure | None]
"""Draws one kind of picture of a benchmark from its scores and its people."""


def benchmark_keys(evidence: Evidence) -> Iterable[tuple[str, str]]:
    """Return the benchmarks with their names."""
    return evidence.benchmarks.select("benchmark", "name").iter_rows()


def benchmark_picture(draw: Drawer) -> Callable[[Study, str], Figure | None]:
    """Return what builds one kind of picture of a benchmark for print."""

    def build(study: Study, benchmark: str) -> Figure | None:
        rows = score_rows(study, benchmark)
        return draw(study, benchmark, rows, people_on(study, benchmark)) if rows.height else None

    build.__doc__ = draw.__doc__
    return build


def up_to(points: list[Point], ceiling: float | None) -> tuple[list[Point], list[Point]]:
    """Return a ladder up to the highest score a test can give, and its points beyond, which no score can show."""
    if ceiling is None or points[-1][0] <= ceiling:
        return points, []
    inside, beyond = [one for one in points if one[0] <= ceiling], [one for one in points if one[0] > ceiling]
    if inside and inside[-1][0] < ceiling:
        (x, y), (next_x, next_y) = inside[-1], beyond[0]
        inside.append((ceiling, y + (next_y - y) * (ceiling - x) / (next_x - x)))
    return inside, beyond


def said_beyond(beyond: list[Point], unit: str) -> str:
    """Say which steps of a ladder lie beyond what the test can give."""
    steps = " and ".join(f"IQ {iq:.0f} at {show(score, unit)}" for score, iq in beyond)
    return f" The ladder puts {steps}, beyond what the test can give: no score tells that far." if steps else ""


def _dated_mark(row: dict[str, Any], value: float, shown: str, status: str = "measured") -> Mark:
    """Return the mark of a model by release."""
    label = f"{row['name']}: {shown}, released {row['released']:%B %Y}"
    x, links = float(row["released"].toordinal()), (row["subject"], model_link(row["subject"]))
    return Mark(row["name"], row["provider"], x, value, label, status, *links)


def history_figure(study: Study, benchmark: str, rows: pl.DataFrame, people: list[dict[str, Any]]) -> Figure | None:
    """Draw scores by release with the record as a line; nothing for fewer than three dated models."""
    facts = _facts(study, benchmark)
    unit, test = facts["unit"], facts["name"]
    dated = rows.drop_nulls("released")
    if dated.height < _FEWEST_DATED:
        return None
    marks = [_dated_mark(row, row["score"], show(row["score"], unit)) for row in dated.to_dicts()]
    year = max(one.x for one in marks) - 365
    before = max((one.y for one in marks if one.x <= year), default=None)
    record = show(max(one.y for one in marks), unit)
    gained = "" if before is None else f", from {show(before, unit)} a year before"
    about = f"Scores on {test} by release date; the record is {record}."
    people_drawn = _references(people, unit)
    drawing = draw_history(marks, people_drawn, tick=lambda value: show(value, unit), description=about)
    table = dated.select("name", "released", "score")
    steps = [one for one in marks if all(one.y > other.y for other in marks if other.x <= one.x and other is not one)]
    last = max(steps, key=lambda one: one.x, default=marks[0])
    words = {"test": test, "unit": unit, "steps": len(steps), "models": len(marks), "last": last.label}
    return _of_benchmark("history-", benchmark, drawing, f"The record stands at {record}{gained}", table, words)


def _references(people: list[dict[str, Any]], unit: str) -> list[Reference]:
    references = []
    for row in people:
        if row["status"] in ("measured", "judged"):
            values = (row["score"], row["low"], row["high"], row["status"])
            href = f"{ROOT}benchmarks/{slug(row['benchmark'])}.html#people"
            subject = group_subject(row["benchmark"], row["group"])
            references.append(Reference(said_group(row, unit), *values, href, subject))
    return references


def maker_figure(study: Study, provider: str) -> Figure | None:
    """Draw all models of one maker over time; nothing where fewer than two have a date and an IQ."""
    rows = study.models.filter(pl.col("provider") == provider)
    dated = rows.drop_nulls(["released", "exact_iq"]).sort("released")
    if dated.height < _FEWEST:
        return None
    marks = [
        _dated_mark(row, iq, f"IQ {iq:.0f}", "measured" if row["well_measured"] else "estimated")
        for row in dated.iter_rows(named=True)
        for iq in [row["exact_iq"]]
    ]
    first, last = dated.row(0, named=True), sort_highest(dated, "exact_iq", "subject").row(0, named=True)
    finding = f"From IQ {first['exact_iq']:.0f} ({first['name']}) to {last['exact_iq']:.0f} ({last['name']})"
    drawing = draw_history(marks, (), tick=lambda value: show(value, "iq"), description=f"IQ by release. {finding}.")
    table = dated.select("subject", "name", "released", "exact_iq", "iq_low", "iq_high").to_dicts()
    facts: dict[str, Any] = {"provider": provider, "best": last, "newest": table[-1]}
    return worded("maker-", drawing, finding, of=slug(provider), rows=table, **facts)


def maker_keys(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """Yield the makers of the evidence, each under its own name."""
    yield from ((one, one) for one in evidence.models["provider"].drop_nulls().unique(maintain_order=True))
