"""``mensura trends``: the pace, the frontier and where it goes, what compute buys, whether progress accelerates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from mensura.cli.dated_scores import ModelDates, ScoresFile, dated_scores, once_per_evidence, read_dated_scores
from mensura.cli.inputs import AddedScores, EvidencePath, Released, ScoreUnit, load_evidence
from mensura.cli.options import Settings, list_settings, read_settings
from mensura.cli.output import Json, Out, emit
from mensura.cli.paths import check_input
from mensura.cli.progress import progress_bar
from mensura.cli.trends_out import print_trends, show_published

if TYPE_CHECKING:
    import polars as pl

EXAMPLES = """
[bold]Examples[/]

  mensura trends
  mensura trends scores.csv --method rosetta --anchor-benchmark Winogrande
  mensura trends --no-watch --out trends
  mensura trends scores.csv --compute compute.csv --horizons metr.csv
"""


@dataclass(frozen=True, kw_only=True)
class RareTrendSettings:
    """The rarer settings of ``mensura trends``."""

    since: Annotated[date | None, "First release that counts, such as 2024-06-01 (rosetta: 2022-11-01)."] = None
    fewest_benchmarks: Annotated[int | None, "Benchmarks a model needs (rosetta: 4)."] = None
    distilled: Annotated[bool, "Count models distilled from others in algorithmic progress."] = False
    watch_from: Annotated[date | None, "Start of the watch."] = None
    seed: Annotated[int, "Seed of the simulations."] = 0


EXAMPLES += list_settings(RareTrendSettings)


def _or_embedded(name: str) -> Callable[[Path | None], Path | None]:
    """Return a check of an option that takes a file, or the word "embedded" for the table of that name."""

    def check(path: Path | None) -> Path | None:
        return embedded_table(name) if path is not None and str(path) == "embedded" else check_input(path)

    return check


def embedded_table(name: str) -> Path:
    """Return the file of a table that comes with the package."""
    from mensura.trends.capabilities import DATA

    return DATA / f"{name}.csv"


def trends(
    scores: ScoresFile = None,
    models: ModelDates = None,
    method: Annotated[str, typer.Option(help="Fit: pooled (default), or rosetta: as published.")] = "pooled",
    anchor_benchmark: Annotated[
        str | None, typer.Option(help="Benchmark with difficulty 0 and slope 1.", metavar="NAME")
    ] = None,
    level: Annotated[float, typer.Option(help="Level of the intervals.", min=0.01, max=0.999)] = 0.9,
    compute: Annotated[
        Path | None,
        typer.Option(
            help="CSV with subject, training_compute_flop, family, or the word embedded: algorithmic progress.",
            metavar="CSV",
            callback=_or_embedded("compute"),
        ),
    ] = None,
    horizons: Annotated[
        Path | None,
        typer.Option(
            help="CSV with subject, minutes, or the word embedded: time horizons on capability.",
            metavar="CSV",
            callback=_or_embedded("horizons"),
        ),
    ] = None,
    levels: Annotated[
        Path | None,
        typer.Option(
            help="CSV with group, capability (low, high): when the frontier passed them.",
            metavar="CSV",
            callback=check_input,
        ),
    ] = None,
    to: Annotated[
        list[datetime] | None,
        typer.Option(
            "--to", formats=["%Y-%m-%d"], help="Day to forecast; repeatable (default: one to three years on)."
        ),
    ] = None,
    streams: Annotated[int, typer.Option(help="Simulated streams behind the alarm of the watch.", min=19)] = 199,
    watch: Annotated[bool, typer.Option(help="Watch for an acceleration (takes some seconds).")] = True,
    settings: Settings = None,
    unit: ScoreUnit = None,
    evidence: EvidencePath = None,
    add: AddedScores = None,
    released: Released = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Measure the pace of all releases and follow the frontier: forecast, crossings, compute, acceleration.

    With --method rosetta: the published analyses, to the digit, instead.
    """
    days = [day.date() for day in to or ()]
    rare = read_settings(settings, RareTrendSettings)
    if method == "rosetta":
        from mensura.trends.published import follow_published

        table = read_dated_scores(
            scores, models, lambda: load_evidence(evidence, add, released), undated=True, unit=unit
        )
        selection = {"fewest": rare.fewest_benchmarks, "since": rare.since}
        given = {name: value for name, value in selection.items() if value is not None}
        found = follow_published(
            table,
            compute=compute,
            horizons=horizons,
            to=days,
            distilled=rare.distilled,
            anchor_benchmark=anchor_benchmark,
            **given,  # type: ignore[arg-type]
        )
        show_published(found, out, as_json)
        return
    asked = TrendSettings(
        method, anchor_benchmark, level, tuple(days), rare.since, rare.fewest_benchmarks or 1, rare.seed
    )
    files = TrendFiles(
        compute, horizons, levels, rare.distilled, scores is None and compute == embedded_table("compute")
    )
    watched = (rare.watch_from, streams) if watch else None
    how = {**asked._asdict(), **files._asdict(), "watched": watched}
    tables, facts = once_per_evidence(
        "trends",
        scores,
        lambda: load_evidence(evidence, add, released),
        how,
        lambda data: _follow(dated_scores(data, models, unit), asked, files, watched),
    )
    if emit(tables, out=out, as_json=as_json, **facts):
        return
    print_trends(tables, facts, level)


class TrendSettings(NamedTuple):
    """What to fit and forecast."""

    method: str
    anchor: str | None
    level: float
    days: tuple[date, ...]
    since: date | None
    fewest: int
    seed: int


class TrendFiles(NamedTuple):
    """Tables beside the scores; ``distilled`` says which rows of the first count.

    ``published``: the compute is set against the capabilities of the published fit, whose models it contains.
    """

    compute: Path | None
    horizons: Path | None
    levels: Path | None
    distilled: bool
    published: bool


def _follow(
    table: pl.DataFrame, asked: TrendSettings, files: TrendFiles, watched: tuple[date | None, int] | None
) -> tuple[dict[str, pl.DataFrame], dict[str, object]]:
    """Compute the tables and the facts of the command."""
    from mensura.stitching import stitch
    from mensura.trends import find_crossings, forecast, load_published, measure_progress, relate_horizons
    from mensura.trends.capabilities import select_scores
    from mensura.trends.progress import read_compute

    level, seed = asked.level, asked.seed
    table = select_scores(table, since=asked.since, fewest=asked.fewest)
    fit = stitch(table, method=asked.method, anchor_benchmark=asked.anchor)  # type: ignore[arg-type]
    ahead = forecast(fit, to=list(asked.days) or None, level=level, seed=seed)
    tables = {"pace": ahead.pace, "frontier": ahead.frontier, "forecast": ahead.table}
    facts: dict[str, object] = {"method": asked.method, "level": level, "unit": fit.unit}
    facts["notes"] = [*fit.notes, *fit.warnings]
    if files.levels is not None:
        tables["crossings"] = find_crossings(fit, files.levels, level=level, seed=seed)
    if files.compute is not None:
        known = read_compute(files.compute, distilled=files.distilled)
        progress = measure_progress(load_published().models if files.published else fit, known, level=level)
        if files.published:
            facts["compute"] = "models of the published fit, in its unit"
        tables |= {"families": progress.families, "progress": progress.estimates}
        tables |= {"joint": progress.joint, "constancy": progress.constancy, "fixed_capability": progress.buckets}
    if files.horizons is not None:
        tables["horizons"] = relate_horizons(fit, files.horizons, level=level).table
    if watched is not None:
        tables["looks"], facts["watch"] = _watch(table, *watched, seed)
    return tables, facts


def _watch(table: pl.DataFrame, begin: date | None, streams: int, seed: int) -> tuple[pl.DataFrame, dict[str, object]]:
    """Run the watch and return its looks and its verdict; data too few for one nobody asked for are no fault."""
    import polars as pl

    from mensura.core.errors import MensuraError
    from mensura.trends import watch_acceleration

    try:
        with progress_bar("simulated streams", streams) as advance:
            result = watch_acceleration(table, start=begin, streams=streams, seed=seed, advance=advance)
    except MensuraError as fault:
        if begin is not None:
            raise
        return pl.DataFrame(), {"alarm": None, "verdict": f"none ({fault})"}
    return result.looks, result.facts
