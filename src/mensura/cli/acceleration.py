"""``mensura acceleration``: watch for a change of pace, in all releases or a rolling window, and try the watch out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mensura.cli.dated_scores import ModelDates, ScoresFile, dated_scores, once_per_evidence, read_dated_scores
from mensura.cli.findings import say_detection
from mensura.cli.inputs import AddedScores, EvidencePath, Released, load_evidence
from mensura.cli.options import Ray, Settings, list_settings, read_settings
from mensura.cli.output import Json, Out, console, emit, print_note
from mensura.cli.progress import progress_bar
from mensura.cli.tables import print_table

if TYPE_CHECKING:
    import polars as pl

    from mensura.trends import Watch

app = typer.Typer(
    help="Has progress accelerated? A watch with a stated false-alarm rate, a rolling detector, and simulated changes.",
    no_args_is_help=True,
)
MONTHS = 12
Day = Annotated[
    datetime | None,
    typer.Option("--from", formats=["%Y-%m-%d"], help="Start of the watch (default: the middle of the time span)."),
]
Until = Annotated[
    datetime | None,
    typer.Option("--until", formats=["%Y-%m-%d"], help="Planned end; later than the last release: spends less so far."),
]
Rolling = Annotated[
    int | None,
    typer.Option(help="Rolling detector: look at the releases of so many months only (12).", min=3, metavar="MONTHS"),
]
Rate = Annotated[float, typer.Option(help="False-alarm rate over the whole watch.", min=0.001, max=0.5)]
Streams = Annotated[int, typer.Option(help="Simulations without change behind the alarm.", min=19)]


@dataclass(frozen=True, kw_only=True)
class WatchSettings:
    """The rarer settings of all these commands."""

    seed: Annotated[int, "Seed of the simulations."] = 0


@dataclass(frozen=True, kw_only=True)
class StreamSettings(WatchSettings):
    """The rarer settings of ``mensura acceleration simulate``."""

    noise: Annotated[float, "Factor on all three sources of noise."] = 1.0


@app.command(
    "watch",
    epilog="""
[bold]Examples[/]

  mensura acceleration watch
  mensura acceleration watch --rolling 12
  mensura acceleration watch scores.csv --from 2025-06-01 --json
"""
    + list_settings(WatchSettings),
)
def watch_command(
    scores: ScoresFile = None,
    models: ModelDates = None,
    rolling: Rolling = None,
    start: Day = None,
    until: Until = None,
    rate: Rate = 0.05,
    streams: Streams = 199,
    settings: Settings = None,
    evidence: EvidencePath = None,
    add: AddedScores = None,
    released: Released = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Look, month by month, for a kink in the slope of the releases; the false-alarm rate holds over all looks.

    Every look takes in all releases known by then or, with --rolling 12, those of the last 12 months only.
    """
    how: dict[str, Any] = {
        "start": start.date() if start else None,
        "until": until.date() if until else None,
        "window": _years(rolling),
        "rate": rate,
        "streams": streams,
        "seed": read_settings(settings, WatchSettings).seed,
    }
    found = once_per_evidence(
        "watch",
        scores,
        lambda: load_evidence(evidence, add, released),
        how,
        lambda data: _watched(dated_scores(data, models), how),
    )
    if emit({"looks": found.looks, "plan": found.plan.table}, out=out, as_json=as_json, **found.facts):
        return
    title = "Monthly checks: the statistic, in standard deviations without a change, and the boundary it must pass"
    print_table(found.looks, title=title)
    for text in found.warnings:
        print_note(text, kind="warning")
    console.print(found.heading)


def _watched(table: pl.DataFrame, settings: dict[str, Any]) -> Watch:
    from mensura.trends import watch_acceleration

    with progress_bar("simulations without change", settings["streams"]) as advance:
        return watch_acceleration(table, **settings, advance=advance)


@app.command(
    "simulate",
    epilog="""
[bold]Examples[/]

  mensura acceleration simulate
  mensura acceleration simulate --acceleration 1 --acceleration 4 --runs 50
"""
    + list_settings(StreamSettings),
)
def simulate_command(
    acceleration: Annotated[
        list[float] | None, typer.Option(help="Factor on the pace (1: none, false alarms); repeatable.", min=0.1)
    ] = None,
    runs: Annotated[int, typer.Option(help="Simulated streams per factor.", min=1)] = 10,
    rolling: Rolling = None,
    change: Annotated[
        datetime, typer.Option("--from", formats=["%Y-%m-%d"], help="Day of the change, and start of the watch.")
    ] = datetime(2027, 1, 1),
    streams: Streams = 99,
    ray: Ray = None,
    settings: Settings = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Simulate releases and scores from 2024 to 2030 with a known change of pace, and see who finds it and when.

    The set-up is the published one: 180 models, 60 benchmarks. The published rule runs beside the watch.
    """
    import polars as pl

    from mensura.stitching import to_years
    from mensura.trends import simulate_detection

    rare = read_settings(settings, StreamSettings)
    factors = tuple(acceleration or (1.0, 2.0))
    year = float(to_years(pl.Series([change.date()]))[0])
    with progress_bar("simulated streams", runs * len(factors)) as advance:
        found = simulate_detection(
            factors,
            noise=rare.noise,
            runs=runs,
            streams=streams,
            change=year,
            window=_years(rolling),
            seed=rare.seed,
            advance=advance,
            ray=ray,
        )
    if emit({"detection": found.table}, out=out, as_json=as_json, noise=rare.noise, streams=streams):
        return
    print_table(found.table, title=found.heading)
    console.print(say_detection(found.table))


@app.command(
    "slopes",
    epilog="""
[bold]Examples[/]

  mensura acceleration slopes --break gpt-5
  mensura acceleration slopes scores.csv --json
"""
    + list_settings(WatchSettings),
)
def slopes_command(
    scores: ScoresFile = None,
    models: ModelDates = None,
    at: Annotated[
        str | None, typer.Option("--break", help="Model at whose release the slope may change.", metavar="MODEL")
    ] = None,
    streams: Annotated[int, typer.Option(help="Simulated streams without change.", min=19)] = 200,
    settings: Settings = None,
    evidence: EvidencePath = None,
    add: AddedScores = None,
    released: Released = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Compare the slopes before and after a release, with the interval of their ratio and its false-alarm rate."""
    from mensura.stitching import stitch
    from mensura.trends import slope_ratios

    fit = stitch(read_dated_scores(scores, models, lambda: load_evidence(evidence, add, released)))
    found = slope_ratios(fit, at=at, streams=streams, seed=read_settings(settings, WatchSettings).seed)
    facts = {"chosen_alarms": found.chosen_alarms, "any_alarms": found.any_alarms}
    if emit({"slopes": found.table}, out=out, as_json=as_json, **facts):
        return
    print_table(
        found.table,
        title="Slope ratio at every record: pace after over pace before; faster: chance of a faster pace",
        spare=("faster",),
    )
    console.print(found.heading)


def _years(months: int | None) -> float | None:
    """Months as years."""
    return None if months is None else months / MONTHS
