"""``mensura trends`` and ``acceleration``: pace, frontier, compute, and the watch for a change of pace."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import polars as pl

from mensura.cli.findings import interval, print_trust
from mensura.cli.inputs import DAY, ScoresFile, dated_scores, kept_for, load_evidence
from mensura.cli.options import AddedScores, EvidencePath, Json, Out, ScoreUnit, check_input, infile, opt
from mensura.cli.output import console, emit, print_notes, progress_bar
from mensura.cli.settings import Settings, read_settings, takes
from mensura.cli.tables import show
from mensura.core.errors import MensuraError

if TYPE_CHECKING:
    from mensura.trends import Watch
    from mensura.trends.published import PublishedTrends


STREAMS = 199
"""Simulations without change behind the alarm of a watch."""


@dataclass(frozen=True, kw_only=True)
class TrendSettings:
    """The rarer settings of ``mensura trends``."""

    models: Annotated[Path | None, "CSV with subject and released, where the scores have no dates."] = None
    level: Annotated[float, "Level of the intervals."] = 0.9
    since: Annotated[date | None, "First release that counts, such as 2024-06-01 (rosetta: 2022-11-01)."] = None
    fewest_benchmarks: Annotated[int | None, "Benchmarks a model needs (rosetta: 4)."] = None
    distilled: Annotated[bool, "Count models distilled from others in algorithmic progress."] = False
    seed: Annotated[int, "Seed of the simulations."] = 0


def _compute_table(path: Path | None) -> Path | list[Path] | None:
    """Return the table of compute; the word "embedded" stands for the one that comes with the package."""
    return _embedded_compute() if str(path) == "embedded" else check_input(path)


def _embedded_compute() -> Path:
    from mensura.trends.capabilities import DATA

    return DATA / "compute.csv"


@takes(TrendSettings)
def trends(
    scores: ScoresFile = None,
    method: Annotated[str, opt("Fit: pooled (default), or rosetta: as published.")] = "pooled",
    anchor_benchmark: Annotated[str | None, opt("Benchmark with difficulty 0 and slope 1.", metavar="NAME")] = None,
    compute: Annotated[Path | None, opt("CSV of training compute, or embedded.", callback=_compute_table)] = None,
    horizons: Annotated[Path | None, infile("CSV of subject, minutes: time horizons (rosetta).")] = None,
    to: Annotated[list[datetime] | None, opt("Day to forecast; repeatable.", formats=[DAY])] = None,
    watch: Annotated[bool, opt("Watch for an acceleration (takes some seconds).")] = True,
    settings: Settings = None,
    unit: ScoreUnit = None,
    evidence: EvidencePath = None,
    add: AddedScores = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Measure the pace of all releases and follow the frontier: forecast, compute, acceleration.

    Without SCORES the embedded evidence is used. The file of --compute has the columns subject, training_compute_flop
    and family. Forecasts reach one to three years ahead unless --to names days.
    With --method rosetta: the published analyses instead.
    """
    days = tuple(day.date() for day in to or ())
    rare = read_settings(settings, TrendSettings)
    data = scores or load_evidence(evidence, add)
    if method == "rosetta":
        from mensura.trends.published import follow_published

        table = dated_scores(data, rare.models, unit, undated=True)
        given: dict[str, Any] = {"fewest": rare.fewest_benchmarks, "since": rare.since}
        given = {name: value for name, value in given.items() if value is not None}
        given |= {"compute": compute, "horizons": horizons, "to": list(days), "distilled": rare.distilled}
        _show_published(follow_published(table, anchor_benchmark=anchor_benchmark, **given))
        return
    if horizons is not None:
        raise MensuraError("--horizons: belongs to --method rosetta; mensura horizon has the time horizons of models")
    how = {"method": method, "anchor": anchor_benchmark, "days": days, "watch": watch, "compute": compute}
    how |= asdict(rare)
    tables, facts = kept_for("trends", data, how, lambda: _follow(dated_scores(data, rare.models, unit), how, data))
    emit(tables, **facts)
    _print(tables, facts, rare.level)


def _follow(
    table: pl.DataFrame, how: dict[str, Any], data: object
) -> tuple[dict[str, pl.DataFrame], dict[str, object]]:
    """Compute the tables and the facts of the command.

    The embedded compute is set against the capabilities of the published fit, whose models it contains.
    """
    from mensura.stitching import stitch
    from mensura.trends import forecast, load_published, measure_progress
    from mensura.trends.capabilities import select_scores
    from mensura.trends.pace import UNFORESEEN
    from mensura.trends.progress import read_compute

    level, seed = how["level"], how["seed"]
    table = select_scores(table, since=how["since"], fewest=how["fewest_benchmarks"] or 1)
    fit = stitch(table, method=how["method"], anchor_benchmark=how["anchor"])
    ahead = forecast(fit, to=list(how["days"]) or None, level=level, seed=seed)
    tables = {"pace": ahead.pace, "frontier": ahead.frontier, "forecast": ahead.table}
    facts: dict[str, object] = {"method": how["method"], "level": level, "unit": fit.unit}
    facts["notes"] = [*fit.notes, *fit.warnings, UNFORESEEN]
    if how["compute"] is not None:
        published = not isinstance(data, Path) and how["compute"] == _embedded_compute()
        if published:
            facts["compute"] = "models of the published fit, in its unit"
        amounts = read_compute(how["compute"], distilled=how["distilled"])
        progress = measure_progress(load_published().models if published else fit, amounts, level=level)
        tables |= {"families": progress.families, "progress": progress.estimates}
        tables |= {"joint": progress.joint, "constancy": progress.constancy, "fixed_capability": progress.buckets}
    if how["watch"]:
        try:
            watched = _watched(table, {"streams": STREAMS, "seed": seed})
            tables["looks"], facts["watch"] = watched.looks, watched.facts
        except MensuraError as fault:  # too few data for a watch that nobody asked for
            tables["looks"], facts["watch"] = pl.DataFrame(), {"alarm": None, "verdict": f"none ({fault})"}
    return tables, facts


def _show_published(published: PublishedTrends) -> None:
    """Write or print the published analyses."""
    tables = {name: table for name, table in published.tables().items() if table.height}
    emit(tables, method="rosetta", heading=published.heading)
    console.print(published.heading)
    show(tables, "trends", forecast="the record line (95%, of its mean)")
    line = tables["trend"].row(0, named=True)
    gain = f"{line['slope']:.3f} a year {interval(line, '.3f', '95%')}"
    console.print(f"Capability of {line['line']} gains {gain}.")


def _print(tables: dict[str, pl.DataFrame], facts: dict[str, object], level: float) -> None:
    """Print the tables for people; the looks of the watch are summed up in its verdict."""
    console.print(f"Unit of capability: {facts['unit']}.")
    if "compute" in facts:
        console.print(f"Compute: {facts['compute']}.")
    newest_first = tables | {"frontier": tables["frontier"].reverse()}
    show(newest_first, "trends", level=level, forecast=f"the frontier ({level:.0%})")
    verdict = facts.get("watch")
    if isinstance(verdict, dict):
        console.print(f"Watch: {verdict['verdict']}")
    console.print(_finding(tables, facts, level))
    print_trust("trends")


def _finding(tables: dict[str, pl.DataFrame], facts: dict[str, object], level: float) -> str:
    """Say the pace and the first forecast in a sentence each, with their intervals, and what they suppose."""
    from mensura.trends.pace import UNFORESEEN

    pace = tables["pace"].row(0, named=True)
    ahead = tables["forecast"].row(0, named=True)
    return (
        f"Capability grows by {pace['slope']:.2f} a year ({pace['low']:.2f} to {pace['high']:.2f}, {level:.0%}); "
        f"1 is {facts['unit']}. The best model of {ahead['date']} is expected at {ahead['capability']:.2f} "
        f"({ahead['low']:.2f} to {ahead['high']:.2f}). {UNFORESEEN}"
    )


@dataclass(frozen=True, kw_only=True)
class WatchSettings:
    """The rarer settings of ``mensura acceleration watch``."""

    models: Annotated[Path | None, "CSV with subject and released, where the scores have no dates."] = None
    streams: Annotated[int, "Simulations without change."] = STREAMS
    until: Annotated[date | None, "Planned end; a later day spends less of the false-alarm rate so far."] = None
    seed: Annotated[int, "Seed of the simulations."] = 0


@takes(WatchSettings)
def watch(
    scores: ScoresFile = None,
    start: Annotated[datetime | None, opt("Start of the watch.", "--from", formats=[DAY])] = None,
    rate: Annotated[float, opt("False-alarm rate over the whole watch.", min=0.001, max=0.5)] = 0.05,
    settings: Settings = None,
    evidence: EvidencePath = None,
    add: AddedScores = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Check month by month whether the slope of the releases has changed; the false-alarm rate covers all checks.

    Every check uses all releases so far. Without SCORES the embedded evidence is used, and without --from the watch
    starts in the middle of the time span.
    """
    rare = read_settings(settings, WatchSettings)
    day = start.date() if start else None
    data = scores or load_evidence(evidence, add)
    how: dict[str, Any] = {"start": day, "rate": rate, "until": rare.until, "seed": rare.seed, "streams": rare.streams}
    result = kept_for("watch", data, how, lambda: _watched(dated_scores(data, rare.models), how))
    emit({"looks": result.looks, "plan": result.plan.table}, **result.facts)
    show({"looks": result.looks}, "acceleration watch")
    print_notes(result.warnings, "warning")
    console.print(result.heading)


def _watched(table: pl.DataFrame, settings: dict[str, Any]) -> Watch:
    from mensura.trends import watch_acceleration

    with progress_bar("simulations without change", settings["streams"]) as advance:
        return watch_acceleration(table, **settings, advance=advance)
