"""``mensura scale``: the ruler on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mensura.cli.output import Json, Out, console, emit, print_table
from mensura.errors import MensuraError

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from mensura.scale import Calibration, LevelLine, Position, Reading

EXAMPLES = """
[bold]Examples[/]

  mensura scale 0.038                            a success rate of 3.8%
  mensura scale 0.038 --low 0.027 --high 0.053   with its interval
  mensura scale --iq 130                         from an IQ-equivalent
  mensura scale --level 2.3 --dimension volume   from a calibrated level
  mensura scale --one-in 26 --json               for programs
"""


def scale(
    rate: Annotated[float | None, typer.Argument(help="Success rate in the population, between 0 and 1.")] = None,
    iq: Annotated[float | None, typer.Option(help="Start from an IQ-equivalent.")] = None,
    level: Annotated[float | None, typer.Option(help="Start from a level (base 10, or of --dimension).")] = None,
    one_in: Annotated[float | None, typer.Option(help="Start from a rarity: 1 in N people.")] = None,
    percentile: Annotated[float | None, typer.Option(help="Start from a percentile.")] = None,
    low: Annotated[float | None, typer.Option(help="Low end of the interval, in the unit you start from.")] = None,
    high: Annotated[float | None, typer.Option(help="High end of the interval, in the unit you start from.")] = None,
    dimension: Annotated[str | None, typer.Option(help="Calibrated dimension, such as volume or KN.")] = None,
    calibration: Annotated[
        Path | None, typer.Option(help="CSV of your own bases: dimension, slope, intercept.", metavar="CSV")
    ] = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Read a success rate as level, rarity, percentile and IQ, and back."""
    from mensura.evidence import load, read_calibration

    lines = load().calibration if calibration is None else read_calibration(calibration)
    line = None if dimension is None else lines[dimension]
    start = {"rate": rate, "iq": iq, "level": level, "one_in": one_in, "percentile": percentile}
    position = _position(start, low, high, line)
    readings = _readings(position, line)
    tables = {"scale": _table(readings), "dimensions": _dimension_table(position, lines)}
    facts: dict[str, object] = {name: reading.value for name, reading in readings.items()}
    if position.p_low is not None:
        facts |= {end: {name: getattr(r, end) for name, r in readings.items()} for end in ("low", "high")}
    if dimension is not None:
        facts["dimension"] = lines[dimension].dimension
    if emit(tables, out=out, as_json=as_json, **facts):
        return
    _print_readings(readings, line)
    print_table(tables["dimensions"], title="The level this is on each calibrated dimension", digits=2)
    console.print("Rates speak of the population they were measured in or extrapolated to.", style="dim")


def _position(
    start: dict[str, float | None], low: float | None, high: float | None, line: LevelLine | None
) -> Position:
    from mensura.scale import Position

    given = {name: value for name, value in start.items() if value is not None}
    if len(given) != 1:
        named = ", ".join(given) or "nothing"
        raise MensuraError(f"scale: got {named}; give exactly one of a rate, --iq, --level, --one-in, --percentile")
    [(unit, value)] = given.items()
    if unit == "rate":
        return Position(value, low, high)
    if unit == "level" and line is not None:
        return Position.from_dimension(line, value, low, high)
    make: Callable[[float, float | None, float | None], Position] = {
        "iq": Position.from_iq,
        "level": lambda value, low, high: Position.from_level(value, low, high),
        "one_in": Position.from_one_in,
        "percentile": Position.from_percentile,
    }[unit]
    return make(value, low, high)


def _readings(position: Position, line: LevelLine | None) -> dict[str, Reading]:
    return {
        "rate": position.rate,
        "level": position.level() if line is None else position.annotated_level(line),
        "one_in": position.one_in,
        "percentile": position.percentile,
        "iq": position.iq,
    }


def _print_readings(readings: dict[str, Reading], line: LevelLine | None) -> None:
    """Print each reading with its unit in words."""
    from rich.table import Table

    level_unit = "base 10, level 1 centred on 1 in √10" if line is None else f"{line.dimension}, base {line.base:.3g}"
    units = {
        "rate": ("success rate", "{:.3%}", "of the population succeed"),
        "one_in": ("rarity", "1 in {:,.4g}", "people"),
        "percentile": ("percentile", "{:.6g}", "percent of people do not succeed"),
        "iq": ("IQ-equivalent", "{:.1f}", "mean 100, standard deviation 15"),
        "level": ("level", "{:.2f}", level_unit),
    }
    table = Table(title="On the human ruler", title_justify="left", show_header=False)
    for name, (title, form, unit) in units.items():
        value, low, high = readings[name]
        interval = "" if low is None or high is None else f"{form.format(low)} to {form.format(high)}"
        table.add_row(title, form.format(value), *([interval] if interval else []), unit)
    console.print(table)


def _table(readings: dict[str, Reading]) -> pl.DataFrame:
    import polars as pl

    rows = [(name, *reading) for name, reading in readings.items()]
    frame = pl.DataFrame(rows, schema={"reading": pl.String, "value": float, "low": float, "high": float}, orient="row")
    return frame if frame["low"].is_not_null().any() else frame.drop("low", "high")


def _dimension_table(position: Position, lines: Calibration) -> pl.DataFrame:
    import polars as pl

    rows = [(line.dimension, line.base, *position.annotated_level(line)) for line in lines]
    names = {"dimension": pl.String, "base": float, "level": float, "low": float, "high": float}
    frame = pl.DataFrame(rows, schema=names, orient="row")
    return frame if frame["low"].is_not_null().any() else frame.drop("low", "high")
