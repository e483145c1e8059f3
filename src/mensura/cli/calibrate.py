"""``mensura calibrate``: bases of the dimensions from world rates and demands."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mensura.cli.findings import say_bases
from mensura.cli.options import ColumnMap, Settings, list_settings, read_settings
from mensura.cli.output import Json, Out, console, emit, notices, print_note, write_settings
from mensura.cli.paths import check_input, check_inputs
from mensura.cli.tables import print_table
from mensura.cli.trust import print_trust
from mensura.core.errors import MensuraError

if TYPE_CHECKING:
    from mensura.calibration import CalibrationResult

EXAMPLES = """
[bold]Examples[/]

  mensura calibrate --pool open                                            the embedded items, our method
  mensura calibrate --pool open --method means --groups                    the published procedure
  mensura calibrate --rates rates/rates.csv --demands out/demands.csv --out mine
  mensura scale 0.02 --calibration mine                                    read levels off it
  mensura calibrate --pool open --compare mine/calibration.json            base by base
"""


@dataclass(frozen=True, kw_only=True)
class CalibrateSettings:
    """The rarer settings of ``mensura calibrate``."""

    level_error: Annotated[float | None, "Error of one reading of a level; learned from repeats when left out."] = None
    seed: Annotated[int, "Seed of the draws."] = 0


EXAMPLES += list_settings(CalibrateSettings)


def calibrate(
    rates: Annotated[
        Path | None,
        typer.Option(
            help="World rates: item, rate[, low, high, n, options, pool].", metavar="FILE", callback=check_input
        ),
    ] = None,
    demands: Annotated[
        list[Path] | None,
        typer.Option(help="Levels: demands.csv or a filled sheet; repeatable.", metavar="FILE", callback=check_inputs),
    ] = None,
    pool: Annotated[str | None, typer.Option(help="Instead of files: open, the embedded items.")] = None,
    estimate: Annotated[
        str | None, typer.Option(help="World rates of the open pool: both (default), asked or carried.")
    ] = None,
    method: Annotated[
        str, typer.Option(help="hierarchical, largest (demand), chosen (of both) or means (published).")
    ] = ("hierarchical"),
    groups: Annotated[bool, typer.Option("--groups", help="By the published groups, such as KN.")] = False,
    readers: Annotated[
        float | None, typer.Option(help="Share of people who can read the items and so guess (1; open pool 0.86).")
    ] = None,
    draws: Annotated[int, typer.Option(help="Draws of the posterior, or bootstrap samples.", min=1)] = 1000,
    compare: Annotated[
        Path | None,
        typer.Option(
            help="Another calibration to compare with (calibration.json).", metavar="FILE", callback=check_input
        ),
    ] = None,
    columns: ColumnMap = None,
    settings: Settings = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Find by how much success falls per demand level."""
    import polars as pl

    from mensura.calibration import calibrate as find_bases, compare_calibrations, read_calibration_file

    rare = read_settings(settings, CalibrateSettings)
    made = find_bases(
        *_inputs(rates, demands, pool, estimate, columns),
        method=method,
        groups=groups,
        level_error=rare.level_error,
        readers=_readers(readers, pool, method),
        draws=draws,
        seed=rare.seed,
        columns=columns,
    )
    tables = made.tables()
    if made.method == "means":
        tables["raw"] = made.raw_lines()
    if compare is not None:
        tables["comparison"] = compare_calibrations(made, read_calibration_file(compare))
    if out is not None:
        _write(made, tables, out)
        notices.print(f"wrote {', '.join(f'{name}.csv' for name in tables)} and calibration.json to {out}", style="dim")
    facts = {"method": made.method, "items": made.items.size, "pools": len(made.items.pools)}
    if emit(tables, out=None, as_json=as_json, **facts, inputs=dict(made.inputs), warnings=list(made.warnings)):
        return
    print_table(tables["bases"], title=made.heading)
    if made.method != "means":
        title = "Items as they are: the other demands move along (levels are read off these lines)"
        print_table(tables["together"].select("dimension", "base", "low", "high", "verdict"), title=title)
        print_table(made.spreads, title="Errors and differences found")
    else:
        print_table(tables["raw"], title="The base by level means, beside that of a regression on the items (base_raw)")
    if made.rulers["skill"].count():
        title = "Rank correlation with people's success in pools left out, beside that of the largest demand"
        print_table(made.rulers.drop_nulls("skill"), title=title, digits=2)
        rulers = made.rulers.filter(pl.col("ruler"))["dimension"].to_list()
        console.print(f"Rulers (better than the largest demand): {', '.join(rulers) or 'none'}")
    if compare is not None:
        print_table(tables["comparison"], title=f"Against {compare} (ratio of bases)")
    for warning in made.warnings:
        print_note(warning)
    console.print(say_bases(tables["bases"]))
    print_trust("calibrate by means" if made.method == "means" else "calibrate")
    if pool is not None:
        console.print(
            "Open pool: human rates measured; levels judged by a language model; world rates judged by one, "
            "extrapolated by post-stratification, or both.",
            style="dim",
        )


def _inputs(
    rates: Path | None, demands: list[Path] | None, pool: str | None, estimate: str | None, columns: str | None
) -> tuple[Any, Any]:
    """Return rates and demands of files, or of the open pool."""
    from mensura.calibration import open_demands, open_rates
    from mensura.demands import combine, read_demands

    if pool is not None:
        if rates is not None or demands or columns:
            raise MensuraError("calibrate: give --pool open, or --rates and --demands (and --map), not both")
        if pool != "open":
            raise MensuraError(f"pool: {pool!r} is not known; the embedded one is open (or give --rates and --demands)")
        return open_rates(estimate or "both"), open_demands()
    if estimate is not None:
        raise MensuraError("estimate: it chooses the world rates of --pool open; files bring their own")
    if rates is None or not demands:
        raise MensuraError("calibrate: give --rates CSV and --demands CSV, or --pool open")
    if len(demands) == 1:
        return rates, demands[0]
    return rates, combine([read_demands(path, columns=columns) for path in demands])


def _readers(given: float | None, pool: str | None, method: str) -> float | None:
    """Return the share of readers: as given, else that of the open pool where the method uses one."""
    from mensura.calibration.open_pool import READERS

    return READERS if given is None and pool is not None and method != "means" else given


def _write(made: CalibrationResult, tables: dict[str, Any], out: Path) -> None:
    """Write tables and calibration.json as one set."""
    from mensura.calibration import write_calibration
    from mensura.core.folders import whole_folder

    with whole_folder(out, "calibrate") as stage:
        for name, table in tables.items():
            table.write_csv(stage / f"{name}.csv")
        write_calibration(made, stage / "calibration.json")
        write_settings(stage, "calibrate")
