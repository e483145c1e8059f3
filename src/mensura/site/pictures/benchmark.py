"""Pictures of one benchmark, drawn by its page: all models with people, the ladder, and the history."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date
from typing import Any

import polars as pl

from mensura.charts import Mark, Reference, Strip, draw_forest, draw_history, draw_ladder
from mensura.charts.canvas import ROOT
from mensura.core.errors import MensuraError
from mensura.evidence import Evidence, slug
from mensura.site.pictures.registry import Figure, model_link
from mensura.study.headlines import short_name
from mensura.study.study import Study
from mensura.study.units import factor, show, show_range, unit_name

SHOWN = 25
"""Models drawn; the table below the picture has all."""
_LADDER_IQS = (70, 85, 100, 115, 130, 145, 160)
_Z90 = 1.6448536269514722
_JUDGED = {"estimated": "judged"}
Point = tuple[float, float]
"""Score and IQ of a ladder's step."""
_FEWEST_DATED = 3  # dated models below which a history says nothing


def benchmark_scores(study: Study, benchmark: str) -> pl.DataFrame:
    """Return :func:`score_rows` with the IQ that each score stands for, its interval, and the residual."""
    trail = study.iq.trail.filter(benchmark=benchmark, status="measured").select(
        "subject", "iq", iq_low="low", iq_high="high"
    )
    residuals = study.residuals.filter(benchmark=benchmark).select("subject", "residual")
    rows = score_rows(study, benchmark)
    for part in (trail, residuals):
        rows = rows.join(part, on="subject", how="left", maintain_order="left")
    return rows


def score_rows(study: Study, benchmark: str) -> pl.DataFrame:
    """Return the models with a primary score, best first: score, low, high (90%, where known), source and date.

    The interval is the sampling error of a share of the benchmark's items (normal, clipped to the range), null where
    the number of items is not known or the unit is no share.
    """
    facts = study.evidence.benchmarks.row(by_predicate=pl.col("benchmark") == benchmark, named=True)
    scale = {"percent": 100.0, "fraction": 1.0}.get(facts["unit"])
    names = study.evidence.models.select("subject", "name", "provider", "released")
    rows = (
        study.evidence.primary_scores.filter(benchmark=benchmark)
        .select("subject", "score", "source", "date", "note")
        .join(names, on="subject", maintain_order="left")
        .sort("score", descending=True)
    )
    trials = None if facts["items"] is None or scale is None else facts["items"] * (facts["repeats"] or 1)
    if trials is None or scale is None:
        return rows.with_columns(low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64))
    share = pl.col("score") / scale
    half = _Z90 * (share * (1 - share) / trials).sqrt() * scale
    return rows.with_columns(low=(pl.col("score") - half).clip(0, scale), high=(pl.col("score") + half).clip(0, scale))


def people_on(study: Study, benchmark: str) -> list[dict[str, Any]]:
    """Return the groups of people with a score in the benchmark's own unit, with how it came about and n."""
    unit = study.evidence.benchmarks.filter(benchmark=benchmark)["unit"][0]
    rows = study.evidence.human_references.filter(benchmark=benchmark, unit=unit).with_columns(
        pl.when(pl.col("group").str.contains("panel"))
        .then(pl.lit("panel"))
        .otherwise(pl.col("status").replace(_JUDGED))
        .alias("status")
    )
    return rows.sort("score", descending=True).to_dicts()


def group_subject(test: str, group: str) -> str:
    """Return by which name the mark of a group on a test calls its card."""
    return f"people:{test}/{group}"


def said_group(row: dict[str, Any], unit: str) -> str:
    """Say a group and how its score came about; the title of the picture names the test."""
    size = f", n = {row['n']:,}" if row["n"] is not None else ""
    return f"{short_name(row['benchmark'], row['group'])}, {row['status']}{size}: {show(row['score'], unit)}"


def scores_figure(study: Study, benchmark: str, rows: pl.DataFrame, people: list[dict[str, Any]]) -> Figure:
    """Draw the best models on the benchmark, with people as lines."""
    facts = study.evidence.benchmarks.row(by_predicate=pl.col("benchmark") == benchmark, named=True)
    unit = facts["unit"]
    top = rows.head(SHOWN).to_dicts()
    strips = [
        Strip(
            row["name"],
            row["score"],
            row["low"],
            row["high"],
            "measured",
            row["provider"],
            show(row["score"], unit),
            model_link(row["subject"]),
            row["subject"],
            show_range(row["low"], row["high"], unit),
        )
        for row in top
    ]
    best = top[0]
    return Figure(
        f"scores-{slug(benchmark)}",
        f"Models on {facts['name']}",
        f"The best {len(top)} of {rows.height} models with a score. Bars: 90% sampling error of the number of "
        "items, where "
        "it is known. Upright lines are people: full where measured, dashed where judged.",
        finding=f"{best['name']} leads with {show(best['score'], unit)}",
        drawing=draw_forest(
            strips,
            axis=f"score, {unit_name(unit)}",
            tick=lambda value: show(value, unit),
            description=f"Scores on {facts['name']}: {best['name']} leads with {show(best['score'], unit)}.",
            references=_references(people, unit),
        ),
        rows=_table(rows.select("subject", "name", "provider", "score", "low", "high", "source", "date"), unit),
        columns=_heads(unit),
    )


def hardest_first(study: Study, dimension: str) -> list[Figure]:
    """Draw the best models on each benchmark of a dimension, that with the lowest best score first."""
    inside = study.evidence.benchmarks.filter(dimension=dimension, in_composite=True)["benchmark"]
    drawn = [(name, rows) for name in inside if not (rows := score_rows(study, name)).is_empty()]
    drawn.sort(key=lambda one: float(one[1]["score"][0]))
    return [scores_figure(study, name, rows, people_on(study, name)) for name, rows in drawn]


def ladder_figure(study: Study, benchmark: str, rows: pl.DataFrame, people: list[dict[str, Any]]) -> Figure | None:
    """Draw the ladder from score to IQ with models and people on it; nothing where there is no ladder."""
    ladders = study.evidence.ladders.filter(benchmark=benchmark)
    if ladders.is_empty():
        return None
    facts = study.evidence.benchmarks.row(by_predicate=pl.col("benchmark") == benchmark, named=True)
    unit, ladder = facts["unit"], ladders.row(0, named=True)
    points = [(ladder[f"iq{iq}"], float(iq)) for iq in _LADDER_IQS if ladder[f"iq{iq}"] is not None]
    drawn, beyond = up_to(points, facts["ceiling"])
    iqs = study.iq.benchmark_iqs.filter(benchmark=benchmark, status="measured").select("subject", on_ladder="iq")
    spots = [
        Mark(
            row["name"],
            row["provider"],
            row["score"],
            row["on_ladder"],
            f"{row['name']}: {show(row['score'], unit)}, IQ {show(row['on_ladder'], 'iq')}",
            subject=row["subject"],
            href=model_link(row["subject"]),
            named=False,
        )
        for row in rows.join(iqs, on="subject", maintain_order="left").to_dicts()
    ]
    top = max((y for x, y in points if rows["score"][0] >= x), default=None)
    past = "the best model is past its top" if top == _LADDER_IQS[-1] else "the best model is still on it"
    return Figure(
        f"ladder-{slug(benchmark)}",
        f"The ladder of {facts['name']}",
        "Dots on the line: the scores judged typical of people at IQ 70, 85, …, 160; nobody measured them. Marks: "
        f"models, read off the line. Upright lines: groups of people, dashed where judged.{said_beyond(beyond, unit)}",
        finding=f"From score to IQ: {past}",
        drawing=draw_ladder(
            drawn,
            spots,
            _references(people, unit),
            tick=lambda value: show(value, unit),
            description=f"Ladder of {facts['name']} from {show(points[0][0], unit)} at IQ 70 up; {past}.",
        ),
        rows=_table(pl.DataFrame([{"iq": iq, "score": score, "status": "judged"} for score, iq in points]), unit),
        columns=_heads(unit),
        source="Ladder: calibration choices of AI IQ",
    )


Drawer = Callable[[Study, str, pl.DataFrame, list[dict[str, Any]]], Figure | None]
"""Draws one kind of picture of a benchmark from its scores and its people."""


def benchmark_keys(evidence: Evidence) -> Iterable[tuple[str, str]]:
    """Return the benchmarks with their names."""
    return evidence.benchmarks.select("benchmark", "name").iter_rows()


def benchmark_picture(draw: Drawer) -> Callable[[Study, str], Figure]:
    """Return what builds one kind of picture of a benchmark for print."""

    def build(study: Study, benchmark: str) -> Figure:
        rows = score_rows(study, benchmark)
        found = draw(study, benchmark, rows, people_on(study, benchmark)) if rows.height else None
        if found is None:
            raise MensuraError(
                f"figure: {benchmark} has too little for this picture; choose another one (mensura figure --list)"
            )
        return found

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
    said = " and ".join(f"IQ {iq:.0f} at {show(score, unit)}" for score, iq in beyond)
    return f" The ladder puts {said}, beyond what the test can give: no score tells that far." if said else ""


def history_figure(study: Study, benchmark: str, rows: pl.DataFrame, people: list[dict[str, Any]]) -> Figure | None:
    """Draw scores by release with the record as a line; nothing for fewer than three dated models."""
    facts = study.evidence.benchmarks.row(by_predicate=pl.col("benchmark") == benchmark, named=True)
    unit = facts["unit"]
    dated = rows.drop_nulls("released")
    if dated.height < _FEWEST_DATED:
        return None
    spots = [
        Mark(
            row["name"],
            row["provider"],
            float(row["released"].toordinal()),
            row["score"],
            f"{row['name']}: {show(row['score'], unit)}, released {row['released']:%B %Y}",
            subject=row["subject"],
            href=model_link(row["subject"]),
        )
        for row in dated.to_dicts()
    ]
    year = date.fromordinal(int(max(spot.x for spot in spots)) - 365)
    before = max((spot.y for spot in spots if spot.x <= year.toordinal()), default=None)
    best = max(spot.y for spot in spots)
    gained = "" if before is None else f" from {show(before, unit)} a year before"
    return Figure(
        f"history-{slug(benchmark)}",
        f"{facts['name']} over time",
        "Scores by release date of the model, not by date of the test; the line is the record.",
        finding=f"The record stands at {show(best, unit)},{gained}"
        if gained
        else f"The record stands at {show(best, unit)}",
        drawing=draw_history(
            spots,
            _references(people, unit),
            tick=lambda value: show(value, unit),
            description=f"Scores on {facts['name']} by release date; the record is {show(best, unit)}.",
        ),
        rows=_table(dated.select("name", "released", "score"), unit),
        columns=_heads(unit),
    )


def _table(rows: pl.DataFrame, unit: str) -> tuple[dict[str, Any], ...]:
    """Return the rows of a picture's table, scores in the unit that its axis says."""
    return tuple(rows.with_columns(pl.col("^(score|low|high)$") * factor(unit)).to_dicts())


def _heads(unit: str) -> dict[str, str]:
    return {"score": f"score ({unit_name(unit)})"}


def _references(people: list[dict[str, Any]], unit: str) -> list[Reference]:
    return [
        Reference(
            said_group(row, unit),
            row["score"],
            row["low"],
            row["high"],
            row["status"],
            f"{ROOT}benchmarks/{slug(row['benchmark'])}.html#people",
            group_subject(row["benchmark"], row["group"]),
        )
        for row in people
        if row["status"] in ("measured", "judged")
    ]
