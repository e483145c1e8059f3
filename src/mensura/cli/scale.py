"""``mensura scale``: the ruler on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple, cast

import typer

from mensura.cli.output import Json, Out, console, emit, print_note
from mensura.cli.tables import print_table
from mensura.core.errors import MensuraError

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from mensura.scale import Calibration, LevelLine, Position, Reading
    from mensura.scale.ruler import Convention

DEFAULT_BASE = 10.0
_WHOSE = "Rates speak of the population they were measured in or extrapolated to."
EXAMPLES = """
[bold]Examples[/]

  mensura scale 0.038                            a success rate of 3.8%
  mensura scale 0.038 --low 0.027 --high 0.053   with its interval
  mensura scale --iq 130                         from an IQ-equivalent
  mensura scale --level 2.3 --dimension volume   from a calibrated level
  mensura scale --level 2 --base 3               a level of another base
  mensura scale 0.02 --calibration mine          levels of your own calibration
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
    dimensions: Annotated[
        bool, typer.Option("--dimensions", help="Also print the level on each calibrated dimension.")
    ] = False,
    calibration: Annotated[
        str | None,
        typer.Option(
            help="published, open, or a file: calibration.json or bases.csv of mensura calibrate, or a CSV with "
            "dimension, slope, intercept. Default: published.",
            metavar="FILE",
        ),
    ] = None,
    base: Annotated[float | None, typer.Option(help="Base of --level, instead of 10 or a dimension's.")] = None,
    convention: Annotated[
        str, typer.Option(help="Of uncalibrated levels: adele (level 1 centred on 1 in √base) or calibrated (0: all).")
    ] = "adele",
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Read a success rate as level, rarity, percentile, IQ; and back."""
    start = {"rate": rate, "iq": iq, "level": level, "one_in": one_in, "percentile": percentile}
    if not (dimension or dimensions or calibration or out or as_json):  # a formula: nothing is read, so it is quick
        unit = _Unit(None, base, convention)
        _print_readings(_readings(_position(start, low, high, unit), unit), unit)
        console.print("--dimensions: the level this is on each calibrated dimension.", style="dim")
        console.print(_WHOSE, style="dim")
        return
    from mensura.calibration import chosen_lines

    lines = chosen_lines(calibration)
    line = None if dimension is None else lines[dimension]
    unit = _Unit(line, base, convention)
    position = _position(start, low, high, unit)
    readings = _readings(position, unit)
    tables = {"scale": _table(readings), "dimensions": _dimension_table(position, lines)}
    facts: dict[str, object] = {name: reading.value for name, reading in readings.items()}
    if position.p_low is not None:
        facts |= {end: {name: getattr(r, end) for name, r in readings.items()} for end in ("low", "high")}
    notes = []
    if line is not None:
        facts["dimension"] = line.dimension
        notes = [note for value in readings["level"] if value is not None and (note := line.outside(value))][:1]
    facts["notes"] = notes
    facts["unusable"] = dict(lines.unusable)
    if emit(tables, out=out, as_json=as_json, **facts):
        return
    _print_readings(readings, unit)
    for note in notes:
        print_note(note)
    if dimensions or calibration is not None:
        _print_dimensions(tables["dimensions"], lines)
    else:
        console.print("--dimensions: the level this is on each calibrated dimension.", style="dim")
    console.print(_WHOSE, style="dim")


def _print_dimensions(table: pl.DataFrame, lines: Calibration) -> None:
    print_table(table, title="The level this is on each calibrated dimension")
    if lines.unusable:
        told = "; ".join(f"{name} ({reason})" for name, reason in lines.unusable.items())
        print_note(f"no level can be read on {told}")


class _Unit(NamedTuple):
    """In what levels are read: those of a calibrated line, or of a base and convention."""

    line: LevelLine | None
    base: float | None
    convention: str

    @property
    def words(self) -> str:
        """The unit in words."""
        if self.line is not None:
            return f"{self.line.dimension}, base {self.line.base:.2f} ({self.line.scaling})"
        base = self.base or DEFAULT_BASE
        return f"base {base:g}, " + (
            f"level 1 centred on 1 in √{base:g}" if self.convention == "adele" else "level 0: everybody succeeds"
        )


def _position(start: dict[str, float | None], low: float | None, high: float | None, unit: _Unit) -> Position:
    from mensura.scale import Position

    given = {name: value for name, value in start.items() if value is not None}
    if len(given) != 1:
        named = ", ".join(given) or "nothing"
        raise MensuraError(f"scale: got {named}; give exactly one of a rate, --iq, --level, --one-in, --percentile")
    if unit.line is not None and unit.base is not None:
        raise MensuraError("scale: give --dimension or --base, not both: a dimension has its own base")
    [(name, value)] = given.items()
    if name == "rate":
        return Position(value, low, high)
    if name == "level" and unit.line is not None:
        return Position.from_dimension(unit.line, value, low, high)
    make: Callable[[float, float | None, float | None], Position] = {
        "iq": Position.from_iq,
        "level": lambda value, low, high: Position.from_level(
            value, low, high, base=unit.base or DEFAULT_BASE, convention=cast("Convention", unit.convention)
        ),
        "one_in": Position.from_one_in,
        "percentile": Position.from_percentile,
    }[name]
    return make(value, low, high)


def _readings(position: Position, unit: _Unit) -> dict[str, Reading]:
    level = (
        position.level(unit.base or DEFAULT_BASE, cast("Convention", unit.convention))
        if unit.line is None
        else position.annotated_level(unit.line)
    )
    return {
        "rate": position.rate,
        "level": level,
        "one_in": position.one_in,
        "percentile": position.percentile,
        "iq": position.iq,
    }


def _print_readings(readings: dict[str, Reading], unit: _Unit) -> None:
    """Print each reading with its unit in words."""
    from rich.table import Table

    units = {
        "rate": ("success rate", "{:.3%}", "of the population succeed"),
        "one_in": ("rarity", "1 in {:,.4g}", "people"),
        "percentile": ("percentile", "{:.6g}", "percent of people do not succeed"),
        "iq": ("IQ-equivalent", "{:.1f}", "mean 100, standard deviation 15"),
        "level": ("level", "{:.2f}", unit.words + _band(readings["rate"].value, unit)),
    }
    table = Table(title="On the human ruler", title_justify="left", show_header=False)
    for name, (title, form, meaning) in units.items():
        value, low, high = readings[name]
        interval = "" if low is None or high is None else f"{form.format(low)} to {form.format(high)}"
        table.add_row(title, form.format(value), *([interval] if interval else []), meaning)
    console.print(table)


def _band(rate: float, unit: _Unit) -> str:
    """Return the band of the common scale in words; other scales have no named bands."""
    from mensura.scale import band_of

    common = unit.line is None and unit.base in (None, DEFAULT_BASE) and unit.convention == "adele"
    return f"; band {band_of(rate)}" if common else ""


def _table(readings: dict[str, Reading]) -> pl.DataFrame:
    import polars as pl

    rows = [(name, *reading) for name, reading in readings.items()]
    frame = pl.DataFrame(rows, schema={"reading": pl.String, "value": float, "low": float, "high": float}, orient="row")
    return frame if frame["low"].is_not_null().any() else frame.drop("low", "high")


def _origin(source: str) -> str:
    """Return whose a line is: of the open pool, published, or given."""
    from mensura.calibration.open_pool import OPEN

    return "open" if source == OPEN else "published" if "Table 16" in source else "given"


def _dimension_table(position: Position, lines: Calibration) -> pl.DataFrame:
    import polars as pl

    rows = [
        (
            line.dimension,
            line.base,
            line.r_squared,
            line.scaling,
            *position.annotated_level(line),
            "outside" if line.outside(position.annotated_level(line).value) else "",
            _origin(line.source),
        )
        for line in lines
    ]
    names = {
        "dimension": pl.String,
        "base": float,
        "r2": float,
        "class": pl.String,
        "level": float,
        "low": float,
        "high": float,
        "items": pl.String,
        "calibration": pl.String,
    }
    frame = pl.DataFrame(rows, schema=names, orient="row")
    return frame if frame["low"].is_not_null().any() else frame.drop("low", "high")
