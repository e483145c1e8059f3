"""``mensura acceleration``: watch for a change of pace, in all releases or a rolling window, and try the watch out."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from mensura.cli.findings import say_detection
from mensura.cli.inputs import DAY, ScoresFile, dated_scores, kept_for, load_evidence
from mensura.cli.options import AddedScores, EvidencePath, Json, Out, opt
from mensura.cli.output import console, emit, print_notes, progress_bar
from mensura.cli.settings import Settings, read_settings, takes
from mensura.cli.tables import print_table

if TYPE_CHECKING:
    import polars as pl

    from mensura.trends import Watch

MONTHS = 12
Rolling = Annotated[int | None, opt("Check only the releases of so many months (12).", min=3, metavar="MONTHS")]


@dataclass(frozen=True, kw_only=True)
class SlopeSettings:
    """The rarer settings of ``mensura acceleration slopes``."""

    models: Annotated[Path | None, "CSV with subject and released, where the scores have no dates."] = None
    streams: Annotated[int, "Simulations without change."] = 200
    seed: Annotated[int, "Seed of the simulations."] = 0


@dataclass(frozen=True, kw_only=True)
class WatchSettings(SlopeSettings):
    """The rarer settings of ``mensura acceleration watch``."""

    streams: Annotated[int, "Simulations without change behind the alarm."] = 199
    until: Annotated[date | None, "Planned end; later than the last release: spends less so far."] = None


@dataclass(frozen=True, kw_only=True)
class StreamSettings:
    """The rarer settings of ``mensura acceleration simulate``."""

    streams: Annotated[int, "Simulations without change behind the alarm."] = 99
    noise: Annotated[float, "Factor on all three sources of noise."] = 1.0
    ray: Annotated[str | None, "Run on Ray: local, or the address of a cluster."] = None
    seed: Annotated[int, "Seed of the simulations."] = 0


@takes(WatchSettings)
def watch(
    scores: ScoresFile = None,
    rolling: Rolling = None,
    start: Annotated[datetime | None, opt("Start of the watch.", "--from", formats=[DAY])] = None,
    rate: Annotated[float, opt("False-alarm rate over the whole watch.", min=0.001, max=0.5)] = 0.05,
    settings: Settings = None,
    evidence: EvidencePath = None,
    add: AddedScores = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Look, month by month, for a kink in the slope of the releases; the false-alarm rate holds over all checks.

    Every check takes in all releases known by then or, with --rolling 12, those of the last 12 months only. Without
    SCORES the embedded evidence is used, and without --from the watch starts in the middle of the time span.
    """
    rare = read_settings(settings, WatchSettings)
    how: dict[str, Any] = {
        "start": start.date() if start else None,
        "window": rolling and rolling / MONTHS,
        "rate": rate,
    }
    how |= {name: getattr(rare, name) for name in ("until", "streams", "seed")}
    data = scores or load_evidence(evidence, add)
    result = kept_for("watch", data, how, lambda: _watched(dated_scores(data, rare.models), how))
    if emit({"looks": result.looks, "plan": result.plan.table}, out, as_json, **result.facts):
        return
    title = "Monthly checks: the statistic, in standard deviations without a change, and the boundary it must pass"
    print_table(result.looks, title=title)
    print_notes(result.warnings, "warning")
    console.print(result.heading)


def _watched(table: pl.DataFrame, settings: dict[str, Any]) -> Watch:
    from mensura.trends import watch_acceleration

    with progress_bar("simulations without change", settings["streams"]) as advance:
        return watch_acceleration(table, **settings, advance=advance)


@takes(StreamSettings)
def simulate(
    acceleration: Annotated[list[float] | None, opt("Factor on the pace (1: no change); repeatable.", min=0.1)] = None,
    runs: Annotated[int, opt("Simulated streams per factor.", min=1)] = 10,
    rolling: Rolling = None,
    change: Annotated[datetime, opt("Day of the change, and start of the watch.", "--from", formats=[DAY])] = datetime(
        2027, 1, 1
    ),
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
        detection = simulate_detection(
            factors, runs=runs, change=year, window=rolling and rolling / MONTHS, advance=advance, **asdict(rare)
        )
    if emit({"detection": detection.table}, out, as_json, noise=rare.noise, streams=rare.streams):
        return
    print_table(detection.table, title=detection.heading)
    console.print(say_detection(detection.table))


@takes(SlopeSettings)
def slopes(
    scores: ScoresFile = None,
    at: Annotated[str | None, opt("Model at whose release the slope may change.", "--break", metavar="MODEL")] = None,
    settings: Settings = None,
    evidence: EvidencePath = None,
    add: AddedScores = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Compare the slopes before and after a release, with the interval of their ratio and its false-alarm rate."""
    from mensura.stitching import stitch
    from mensura.trends import slope_ratios

    rare = read_settings(settings, SlopeSettings)
    fit = stitch(dated_scores(scores or load_evidence(evidence, add), rare.models))
    ratios = slope_ratios(fit, at=at, streams=rare.streams, seed=rare.seed)
    alarms = {"chosen_alarms": ratios.chosen_alarms, "any_alarms": ratios.any_alarms}
    if emit({"slopes": ratios.table}, out, as_json, **alarms):
        return
    title = "Slope ratio at every record: pace after over pace before; faster: chance of a faster pace"
    print_table(ratios.table, title=title, spare=("faster",))
    console.print(ratios.heading)
