"""``mensura calibrate`` and ``profile``: how fast success falls with demand, and abilities on those scales."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from mensura.calibration import (
    ProfileResult,
    bases_beside,
    calibrate as find_bases,
    chosen_lines,
    open_demands,
    open_outcomes,
    open_rates,
    say_quality,
)
from mensura.calibration.outcomes import match_items, pick_subjects, read_outcomes
from mensura.cli.findings import print_trust, say_bases
from mensura.cli.options import ColumnMap, Json, Out, arg, infile, opt
from mensura.cli.output import console, emit, print_note, print_notes
from mensura.cli.settings import Settings, read_settings, takes
from mensura.cli.tables import print_table, show
from mensura.core.errors import MensuraError

MOST_NAMED = 6  # subjects in one note
Demands = Annotated[list[Path] | None, infile("Levels: demands.csv or a filled sheet; repeatable.", "--demands")]


@dataclass(frozen=True, kw_only=True)
class CalibrateSettings:
    """The rarer settings of ``mensura calibrate``."""

    readers: Annotated[float | None, "Share of people who can read the items and guess (1; open pool 0.86)."] = None
    level_error: Annotated[float | None, "Error of one reading of a level; learned from repeats when left out."] = None
    draws: Annotated[int, "Draws of the posterior, or bootstrap samples."] = 1000
    seed: Annotated[int, "Seed of the draws."] = 0


@takes(CalibrateSettings)
def calibrate(
    rates: Annotated[Path | None, infile("World rates: CSV of item, rate[, low, high, n, options, pool].")] = None,
    demands: Demands = None,
    pool: Annotated[str | None, opt("Instead of files: open, the embedded items.")] = None,
    method: Annotated[str, opt("hierarchical, largest, chosen or means (published).")] = "hierarchical",
    groups: Annotated[bool, opt("Use the published groups of dimensions, such as KN.", "--groups")] = False,
    columns: ColumnMap = None,
    settings: Settings = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Find by how much success falls per demand level."""
    from mensura.calibration.open_pool import READERS
    from mensura.calibration.result import calibration_text

    rare = read_settings(settings, CalibrateSettings)
    readers = READERS if rare.readers is None and pool is not None and method != "means" else rare.readers
    how: dict[str, Any] = {"readers": readers, "level_error": rare.level_error, "draws": rare.draws, "seed": rare.seed}
    how["columns"] = columns
    made = find_bases(*_rates_and_demands(rates, demands, pool, columns), method=method, groups=groups, **how)
    tables = made.tables()
    if made.method == "means":
        tables["raw"] = made.raw_lines()
    facts = {"method": made.method, "items": made.items.size, "pools": len(made.items.pools)}
    facts |= {"inputs": dict(made.inputs), "warnings": list(made.warnings)}
    if pool is not None:
        tables["beside"] = bases_beside()
    emit(tables, texts={"calibration.json": calibration_text(made)}, **facts)
    others = ("together", "spreads") if made.method == "means" else ()
    show({name: table for name, table in tables.items() if name not in others}, "calibrate", heading=made.heading)
    if made.rulers["skill"].count():
        show({"rulers": made.rulers.drop_nulls("skill")}, "calibrate rulers")
        rulers = made.rulers.filter(pl.col("ruler"))["dimension"].to_list()
        console.print(f"Rulers (better than the largest demand): {', '.join(rulers) or 'none'}")
    show(tables, "calibrate beside")
    print_notes(made.warnings)
    console.print(say_bases(tables["bases"]))
    one = "calibrate, one annotator" if made.items.one_annotator else "calibrate"
    print_trust("calibrate by means" if made.method == "means" else one)
    if pool is not None:
        about = "Open pool: human rates measured; levels and half of the world rates judged by one language model, "
        console.print(f"{about}whose common errors can raise bases.", style="dim")


def _rates_and_demands(
    rates: Path | None, demands: list[Path] | None, pool: str | None, columns: str | None
) -> tuple[Any, Any]:
    """Return rates and demands of files, or of the open pool."""
    if _is_open("calibrate", pool, "--rates and --demands", rates is not None or bool(demands or columns)):
        return open_rates(), open_demands()
    if rates is None or not demands:
        raise MensuraError("calibrate: give --rates CSV and --demands CSV, or --pool open")
    return rates, demands[0] if len(demands) == 1 else _levels(demands, columns)


def _is_open(command: str, pool: str | None, files: str, given: bool) -> bool:
    """Return whether the embedded items are asked for; refuse other pools, and files beside them."""
    if pool is not None and given:
        raise MensuraError(f"{command}: give --pool open, or {files}, not both")
    if pool not in (None, "open"):
        raise MensuraError(f"pool: {pool!r} is not known; the embedded one is open (or give {files})")
    return pool is not None


def _levels(demands: list[Path], columns: str | None) -> pl.DataFrame:
    """Return the levels of one or several files."""
    from mensura.demands import combine, read_demands

    readings = [read_demands(path, columns=columns) for path in demands]
    return readings[0] if len(readings) == 1 else combine(readings)


def profile(
    subjects: Annotated[list[str] | None, arg("Models or groups of people; all when left out.")] = None,
    outcomes: Annotated[list[Path] | None, infile("Table (subject, item, correct) or logs; repeatable.")] = None,
    demands: Demands = None,
    pool: Annotated[str | None, opt("Instead of files: open, AI systems and people on the embedded items.")] = None,
    method: Annotated[str | None, opt("joint (default: every demand must be met) or adele (published).")] = None,
    calibration: Annotated[str | None, opt("published (default), open or a file, as for mensura scale.")] = None,
    draws: Annotated[int, opt("Draws behind the intervals of the published recipe.", min=1)] = 200,
    columns: ColumnMap = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Find the demand level that models and people reach per dimension."""
    from mensura.calibration.profiles import profile as profile_of, profile_counts
    from mensura.evidence import load

    lines = chosen_lines(calibration)
    wanted = list(subjects or [])
    if pool is None and not outcomes:
        if demands or columns:
            option = "--demands" if demands else "--map"
            raise MensuraError(f"profile: {option} goes with --outcomes; give both, or neither for the embedded counts")
        if method not in (None, "adele"):
            raise MensuraError(
                f"method: {method!r} needs outcomes item by item; the embedded counts by level know adele alone "
                "(or give --outcomes and --demands, or --pool open)"
            )
        result = profile_counts(pick_subjects(load().demand_outcomes, wanted), calibration=lines, draws=draws)
    else:
        table, levels = _outcomes_and_demands(wanted, outcomes, demands, pool, columns)
        result = profile_of(table, levels, method=method or "joint", calibration=lines, draws=draws)
    emit(result, method=result.method)
    _print_profile(result)
    console.print(say_quality(lines), style="dim")


def _outcomes_and_demands(
    wanted: list[str], outcomes: list[Path] | None, demands: list[Path] | None, pool: str | None, columns: str | None
) -> tuple[object, object]:
    """Return outcomes and demands of files, or of the open pool."""
    if _is_open("profile", pool, "--outcomes and --demands", bool(outcomes or demands)):
        return pick_subjects(open_outcomes(), wanted), open_demands()
    if not outcomes or not demands:
        raise MensuraError("profile: --outcomes needs --demands, the levels of the same items")
    levels, name = _levels(demands, columns), wanted[0] if len(wanted) == 1 else None
    tables = [match_items(read_outcomes(path, subject=name, columns=columns), levels["item"]) for path in outcomes]
    return pick_subjects(pl.concat(tables, how="diagonal_relaxed"), wanted), levels


def _print_profile(result: ProfileResult) -> None:
    keys, ends = ["subject", "dimension"], {"percentile_low": "from", "percentile_high": "to"}
    places = result.positions.select(*keys, "at_least", *ends).rename(ends)
    shown = result.profile.join(places, on=keys, maintain_order="left")
    placed = shown["one_in"].count() > 0
    shown = shown.drop("world_rate") if placed else shown.select(*keys, "ability", "low", "high")  # rate: 1 over one_in
    print_table(shown.drop("subject") if result.statements.height == 1 else shown, title=result.heading)
    for row in result.statements.iter_rows(named=True):
        console.print(f"{row['subject']}: {row['statement']}.")
    noted: dict[str, list[str]] = {}
    for row in result.positions.filter(result.positions["note"] != "").iter_rows(named=True):
        noted.setdefault(row["note"], []).append(f"{row['subject']} {row['dimension']}")
    for note, whose in noted.items():
        more = f" and {len(whose) - MOST_NAMED} more" if len(whose) > MOST_NAMED else ""
        everybody = len(whose) == result.positions.height
        print_note(f"nobody is placed: {note}" if everybody else f"{', '.join(whose[:MOST_NAMED])}{more}: {note}")
    print_notes(result.warnings, "warning")
    about = "; percentile from–to: 90%, with the error of the calibrated line" if placed else ""
    console.print(f"ability: level with its 90% interval{about}.", style="dim")
