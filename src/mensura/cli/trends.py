"""``mensura trends``: the pace, the frontier and where it goes, what compute buys, whether progress accelerates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeVar

import typer

from mensura.cli.inputs import AddedScores, EvidencePath, ScoreUnit, load_evidence
from mensura.cli.options import rare
from mensura.cli.output import Json, Out, console, emit
from mensura.cli.paths import check_input
from mensura.cli.progress import progress_bar
from mensura.cli.tables import print_table
from mensura.cli.trust import print_trust
from mensura.core.cache import keep

if TYPE_CHECKING:
    import polars as pl

    from mensura.evidence import Evidence
    from mensura.trends.published import PublishedTrends

T = TypeVar("T")
EXAMPLES = (
    "Examples: mensura trends · mensura trends scores.csv --method rosetta --anchor-benchmark Winogrande"
    " · mensura trends --no-watch --out trends · mensura trends scores.csv --compute compute.csv --horizons metr.csv"
)
Day = Annotated[datetime | None, rare("Start of the watch.", formats=["%Y-%m-%d"])]
ScoresFile = Annotated[
    Path | None,
    typer.Argument(
        help="CSV with model (or subject), benchmark, score in [0, 1] and release_date (or released); "
        "the embedded evidence if absent.",
        callback=check_input,
    ),
]
ModelDates = Annotated[
    Path | None,
    typer.Option(
        "--models",
        help="CSV with subject and released, where the scores have no dates.",
        metavar="CSV",
        callback=check_input,
    ),
]


def _or_embedded(name: str) -> Callable[[Path | None], Path | None]:
    """Return a check of an option that takes a file, or the word "embedded" for the table of that name."""

    def check(path: Path | None) -> Path | None:
        return embedded_table(name) if path is not None and str(path) == "embedded" else check_input(path)

    return check


def embedded_table(name: str) -> Path:
    """Return the file of a table that comes with the package."""
    from mensura.trends.embedded import DATA

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
    since: Annotated[
        datetime | None, rare("First release that counts (rosetta: 2022-11-01).", formats=["%Y-%m-%d"])
    ] = None,
    fewest_benchmarks: Annotated[int | None, rare("Benchmarks a model needs (rosetta: 4).", min=1)] = None,
    distilled: Annotated[bool, rare("Count models distilled from others in algorithmic progress.")] = False,
    watch_from: Day = None,
    streams: Annotated[int, typer.Option(help="Simulated streams behind the alarm of the watch.", min=19)] = 199,
    watch: Annotated[bool, typer.Option(help="Watch for an acceleration (takes some seconds).")] = True,
    seed: Annotated[int, rare("Seed of the simulations.")] = 0,
    unit: ScoreUnit = None,
    evidence: EvidencePath = None,
    add: AddedScores = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Measure the pace of all releases and follow the frontier: forecast, crossings, compute, acceleration.

    With --method rosetta: the published analyses, to the digit, instead.
    """
    days = [day.date() for day in to or ()]
    begin = since.date() if since else None
    if method == "rosetta":
        from mensura.trends.published import follow_published

        table = read_dated_scores(scores, models, evidence, add, undated=True, unit=unit)
        selection = {"fewest": fewest_benchmarks, "since": begin}
        given = {name: value for name, value in selection.items() if value is not None}
        found = follow_published(
            table,
            compute=compute,
            horizons=horizons,
            to=days,
            distilled=distilled,
            anchor_benchmark=anchor_benchmark,
            **given,  # type: ignore[arg-type]
        )
        show_published(found, out, as_json)
        return
    asked = TrendSettings(method, anchor_benchmark, level, tuple(days), begin, fewest_benchmarks or 1, seed)
    files = TrendFiles(compute, horizons, levels, distilled, scores is None and compute == embedded_table("compute"))
    start = watch_from.date() if watch_from else None
    watched = (start, streams) if watch else None
    settings = {**asked._asdict(), **files._asdict(), "watched": watched}
    tables, facts = once_per_evidence(
        "trends",
        scores,
        evidence,
        add,
        settings,
        lambda data: _follow(dated_scores(data, models, unit), asked, files, watched),
    )
    if emit(tables, out=out, as_json=as_json, **facts):
        return
    _print(tables, facts, level)


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
    from mensura.trends.progress import read_compute
    from mensura.trends.selection import select_scores

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


def once_per_evidence(
    name: str,
    scores: Path | None,
    evidence: Path | None,
    add: list[Path] | None,
    settings: Mapping[str, object],
    compute: Callable[[Evidence | Path], T],
) -> T:
    """Return what a command computes of a file of scores or of the evidence; of the evidence it is kept."""
    if scores is not None:
        return compute(scores)
    loaded = load_evidence(evidence, add)
    return keep(name, loaded, settings, lambda: compute(loaded))


def show_published(found: PublishedTrends, out: Path | None, as_json: bool) -> None:
    """Write or print the published analyses."""
    tables = {name: table for name, table in found.tables().items() if table.height}
    if emit(tables, out=out, as_json=as_json, method="rosetta", heading=found.heading):
        return
    titles = {
        "trend": "Slope of capability per year (95%): the line through the records, and that of all releases",
        "forecast": "Forecast of the record line (95%, of its mean)",
        "breaks": "One break in the record line",
        "families": "Capability per unit of ln(compute), within families",
        "progress": "Compute saved per year at equal capability, as a factor",
        "joint": "Capability on log10(compute) and year",
        "constancy": "Change of k per decade of compute (scale) and per year (date)",
        "fixed_capability": "Decades of compute saved per year at fixed capability",
        "horizons": "ln(minutes) on capability",
        "doubling": "Doubling and halving times, in months",
        "sensitivity": "Slopes under other weights of the penalty",
    }
    console.print(found.heading)
    for name, title in titles.items():
        if name in tables:
            print_table(tables[name], title=title, rows=20, digits=4)


def read_dated_scores(
    scores: Path | None,
    models: Path | None,
    evidence: Path | None,
    add: list[Path] | None,
    *,
    undated: bool = False,
    unit: str | None = None,
) -> pl.DataFrame:
    """Read scores with a release date for every subject, from a file or from the evidence; ``undated`` may stay so."""
    data = load_evidence(evidence, add) if scores is None else scores
    return dated_scores(data, models, unit, undated=undated)


def dated_scores(
    data: Evidence | Path, models: Path | None, unit: str | None = None, *, undated: bool = False
) -> pl.DataFrame:
    """Return scores of an evidence or a file, with the release date of every subject."""
    from mensura.core.frames import read_frame
    from mensura.evidence.intake import read_own_scores
    from mensura.stitching import evidence_scores, read_scores
    from mensura.trends import add_dates
    from mensura.trends.capabilities import read_dates

    if not isinstance(data, Path):
        return evidence_scores(data)[0]
    table = read_scores(read_own_scores(data, unit=unit))
    if models is not None:
        return add_dates(table.drop("released", "release_date", strict=False), read_frame(models))
    return table if undated and "released" in table.columns else read_dates(table, name=str(data))


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


def _print(tables: dict[str, pl.DataFrame], facts: dict[str, object], level: float) -> None:
    """Print the tables for people; the looks of the watch are summed up in its verdict."""
    titles = {
        "pace": f"Slope per year ({level:.0%}): releases is the pace; records is the line through the best at release",
        "frontier": "Frontier: best at release",
        "forecast": f"Forecast of the frontier ({level:.0%})",
        "crossings": "When the frontier passed",
        "families": "Capability per unit of ln(compute), within families",
        "progress": "Compute saved per year at equal capability, as a factor",
        "joint": "Capability on log10(compute) and year",
        "constancy": "Change of k per decade of compute (scale) and per year (date)",
        "fixed_capability": "Decades of compute saved per year at fixed capability",
        "horizons": "Time horizon in minutes, measured and expected",
    }
    console.print(f"Unit of capability: {facts['unit']}.")
    if "compute" in facts:
        console.print(f"Compute: {facts['compute']}.")
    for name, title in titles.items():
        if name in tables and tables[name].height:
            print_table(tables[name], title=title, rows=20, digits=3)
    verdict = facts.get("watch")
    if isinstance(verdict, dict):
        console.print(f"Watch: {verdict['verdict']}")
    print_trust("trends")
