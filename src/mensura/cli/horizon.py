"""``mensura horizon``: how long a task a model can do, in minutes that people need."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import polars as pl

from mensura.cli.options import Json, Out, inarg, infile, opt
from mensura.cli.output import console, emit, print_notes
from mensura.cli.settings import Settings, read_settings, takes
from mensura.cli.tables import show
from mensura.core.errors import MensuraError
from mensura.core.frames import sort_highest

if TYPE_CHECKING:
    from mensura.horizon import HorizonFit


@dataclass(frozen=True, kw_only=True)
class HorizonSettings:
    """The rarer settings of ``mensura horizon``."""

    score: Annotated[str | None, "Column of the score, such as score_cont of METR's runs."] = None
    weights: Annotated[str | None, "Published method: invsqrt (default) or equal."] = None
    penalty: Annotated[float | None, "Published method: penalty on the squared slope (default 0.1)."] = None
    draws: Annotated[int, "Draws behind the intervals."] = 600
    seed: Annotated[int, "Seed of the draws."] = 0


@takes(HorizonSettings)
def horizon(
    runs: Annotated[Path | None, inarg("Runs: subject, task, score; METR's runs; logs. Embedded without it.")] = None,
    times: Annotated[
        list[Path] | None,
        infile("Times: task, minutes, how, …; repeatable. A table of subject, released adds the doubling time."),
    ] = None,
    method: Annotated[str, opt("mensura (default), or metr: as published.")] = "mensura",
    settings: Settings = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Find the length of task at which each model succeeds half (p50) and four fifths (p80) of the time.

    Lengths are the minutes that a typical professional needs. Times that somebody judged, ranges and bounds count with
    their errors. A table of benchmark, subject, percent as RUNS gives horizons from total scores.
    """
    from mensura.horizon import fit_horizons, fit_totals, load_runs
    from mensura.horizon.totals import check_totals
    from mensura.intake.tables import as_frame
    from mensura.trends import follow_horizons

    rare = read_settings(settings, HorizonSettings)
    derived, dates = None, pl.DataFrame(schema={"subject": pl.String, "released": pl.String})
    sources: list[object] = []
    for file in times or ():
        table = as_frame(file, name=str(file))
        if "released" in table.columns and "task" not in table.columns:
            dates = table
        else:
            sources.append(file)
    if runs is not None and runs.suffix == ".csv" and check_totals(as_frame(runs, name=str(runs)).columns):
        if not times:
            raise MensuraError(f"{runs}: total scores need lengths; add --times FILE with benchmark, minutes")
        totals = fit_totals(runs, times[0], seed=rare.seed)
        emit({"horizons": totals})
        show({"horizons": totals}, "horizon totals")
        console.print(
            "Domains differ 40 to 100 times, and work outside tests is messier. Compare within one benchmark."
        )
        return
    if runs is None:
        embedded = load_runs()
        sources = [*embedded.times, *sources]
        dates, derived = dates if dates.height else embedded.systems, embedded.derived
    fit = fit_horizons(embedded.runs if runs is None else runs, sources or None, method=method, **asdict(rare))
    table = fit.horizons
    if derived is not None and method == "mensura":
        table = pl.concat([table, derived], how="diagonal_relaxed")
    trend = follow_horizons(_domains(table, runs is None), dates)
    notes = list(fit.notes)
    if dates.height and not trend.height:
        notes.append("no doubling time: it needs five systems with a horizon and a release date")
    tables = {**{name: one for name, one in fit.tables().items() if one.width}, "horizons": table, "trend": trend}
    emit(tables, heading=fit.heading, notes=notes)
    console.print(fit.heading)
    print_notes(notes)
    shown = fit.shown
    if runs is None:
        study = embedded.published.select("subject", study_p50="p50_minutes")
        shown = shown.join(study, on="subject", how="left", maintain_order="left")
    _print(fit, shown, table, trend)


def _domains(table: pl.DataFrame, is_embedded: bool) -> pl.DataFrame:
    """Return the rows over all suites; the embedded ones are of the domain security."""
    domains = ["all", "science", "software"] if is_embedded else ["all"]
    rows = table.filter(pl.col("suite").is_in(domains))
    return rows.with_columns(pl.col("suite").replace("all", "security")) if is_embedded else rows


def _print(fit: HorizonFit, shown: pl.DataFrame, table: pl.DataFrame, trend: pl.DataFrame) -> None:
    """Print the longest horizons, the trend and what to doubt."""
    others = table.filter(pl.col("suite").is_in(["science", "software"])).drop_nulls("p50")
    best = sort_highest(others, "p50", "subject").group_by("suite", maintain_order=True).head(3)
    show({"shown": shown, "others": best, "trend": trend}, "horizon")
    if fit.parts.height:
        means = fit.parts.select(pl.exclude("subject").mean()).row(0, named=True)
        shares = ", ".join(f"{name} {value:.0%}" for name, value in means.items())
        console.print(f"The uncertainty of p50 comes from: {shares}.")
        console.print("An empty end is open: at least or at most the other end.")
