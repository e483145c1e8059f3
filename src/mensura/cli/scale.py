"""``mensura scale`` and ``equate``: the ruler on the command line, and one test read in another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mensura.cli.options import Json, Out, arg, opt
from mensura.cli.output import console, emit, print_note, print_notes
from mensura.cli.tables import show
from mensura.core.errors import MensuraError

if TYPE_CHECKING:
    import polars as pl

    from mensura.scale import Calibration, LevelLine, Position, Reading

_FURTHER = "--dimension all: the level this is on each calibrated dimension."
_WHOSE = "Rates speak of the population they were measured in or extrapolated to."
Test = Annotated[str, arg("A pool of the embedded items, or a CSV with item, observed, rate.")]


def number(text: str) -> float:
    """Return a number as people write it: 0.038, 0,038 or 3.8%; 1,000 could be two numbers."""
    plain = text.strip()
    plain = f"0.{plain[2:]}" if plain.startswith("0,") else plain
    try:
        return float(plain[:-1]) / 100 if plain.endswith("%") else float(plain)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no number; expected one such as 0.038 or 3.8%") from None


def scale(
    rate: Annotated[float | None, arg("Success rate: 0.038 or 3.8%.", parser=number)] = None,
    iq: Annotated[float | None, opt("Start from an IQ-equivalent.")] = None,
    level: Annotated[float | None, opt("Start from a level (base 10, or of --dimension).")] = None,
    one_in: Annotated[float | None, opt("Start from a rarity: 1 in N people.")] = None,
    percentile: Annotated[float | None, opt("Start from a percentile.")] = None,
    low: Annotated[float | None, opt("Low end of the interval, in the unit you start from.", parser=number)] = None,
    high: Annotated[float | None, opt("High end of the interval, in the unit you start from.", parser=number)] = None,
    dimension: Annotated[str | None, opt("Calibrated dimension, such as volume or KN; all lists each.")] = None,
    calibration: Annotated[str | None, opt("published (default), open, or a file of mensura calibrate.")] = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Read a success rate as level, rarity, percentile, IQ; and back.

    --calibration takes calibration.json or bases.csv of mensura calibrate, or a CSV of dimension, slope, intercept.
    Without a dimension, a level has base 10, and level 1 is centred on 1 in √10 people.
    """
    start = {"rate": rate, "iq": iq, "level": level, "one_in": one_in, "percentile": percentile}
    if not (dimension or calibration or out or as_json):  # a formula: nothing is read, so it is quick
        _print_readings(_readings(_position(start, low, high, None), None), None)
        console.print(f"{_FURTHER}\n{_WHOSE}", style="dim")
        return
    from mensura.calibration import chosen_lines

    lines = chosen_lines(calibration)
    line = None if dimension in (None, "all") else lines[str(dimension)]
    position = _position(start, low, high, line)
    readings = _readings(position, line)
    tables = {"scale": _table(readings), "dimensions": _dimension_table(position, lines)}
    facts: dict[str, object] = {name: reading.value for name, reading in readings.items()}
    if position.p_low is not None:
        facts |= {end: {name: getattr(r, end) for name, r in readings.items()} for end in ("low", "high")}
    notes = []
    if line is not None:
        facts["dimension"] = line.dimension
        notes = [note for value in readings["level"] if value is not None and (note := line.outside(value))][:1]
    emit(tables, **facts, notes=notes, unusable=dict(lines.unusable))
    _print_readings(readings, line)
    print_notes(notes)
    if dimension == "all" or calibration is not None:
        show(tables, "scale")
        if lines.unusable:
            unread = "; ".join(f"{name} ({reason})" for name, reason in lines.unusable.items())
            print_note(f"no level can be read on {unread}")
    else:
        console.print(_FURTHER, style="dim")
    console.print(_WHOSE, style="dim")


def _position(
    start: dict[str, float | None], low: float | None, high: float | None, line: LevelLine | None
) -> Position:
    from mensura.scale import Position

    given = {name: value for name, value in start.items() if value is not None}
    if len(given) != 1:
        named = ", ".join(given) or "nothing"
        raise MensuraError(f"scale: got {named}; give exactly one of a rate, --iq, --level, --one-in, --percentile")
    [(name, value)] = given.items()
    if name == "rate":
        return Position(value, low, high)
    if name == "level" and line is not None:
        return Position.from_dimension(line, value, low, high)
    position: Position = getattr(Position, f"from_{name}")(value, low, high)
    return position


def _readings(position: Position, line: LevelLine | None) -> dict[str, Reading]:
    level = position.level() if line is None else position.annotated_level(line)
    others = {name: getattr(position, name) for name in ("one_in", "percentile", "iq")}
    return {"rate": position.rate, "level": level, **others}


def _print_readings(readings: dict[str, Reading], line: LevelLine | None) -> None:
    """Print each reading with its unit in words."""
    from rich.table import Table

    from mensura.scale import band_of

    common = f"base 10, level 1 centred on 1 in √10; band {band_of(readings['rate'].value)}"
    ruler = common if line is None else f"{line.dimension}, base {line.base:.2f} ({line.scaling})"
    units = {
        "rate": ("success rate", "{:.3%}", "of the population succeed"),
        "one_in": ("rarity", "1 in {:,.4g}", "people"),
        "percentile": ("percentile", "{:.6g}", "percent of people do not succeed"),
        "iq": ("IQ-equivalent", "{:.1f}", "mean 100, standard deviation 15"),
        "level": ("level", "{:.2f}", ruler),
    }
    table = Table(title="On the human ruler", title_justify="left", show_header=False)
    for name, (title, form, meaning) in units.items():
        value, low, high = readings[name]
        interval = "" if low is None or high is None else f"{form.format(low)} to {form.format(high)}"
        table.add_row(title, form.format(value), *([interval] if interval else []), meaning)
    console.print(table)


def _table(readings: dict[str, Reading]) -> pl.DataFrame:
    import polars as pl

    rows = [(name, *reading) for name, reading in readings.items()]
    frame = pl.DataFrame(rows, schema={"reading": pl.String, "value": float, "low": float, "high": float}, orient="row")
    return frame if frame["low"].count() else frame.drop("low", "high")


def _dimension_table(position: Position, lines: Calibration) -> pl.DataFrame:
    """Return the level on each calibrated dimension, and whose line it is read from."""
    import polars as pl

    from mensura.calibration.open_pool import OPEN

    rows = []
    for line in lines:
        level = position.annotated_level(line)
        outside = "outside" if line.outside(level.value) else ""
        origin = "open" if line.source == OPEN else "published" if "Table 16" in line.source else "given"
        rows.append((line.dimension, line.base, line.r_squared, line.scaling, *level, outside, origin))
    texts, numbers = ("dimension", "class", "items", "calibration"), ("base", "r2", "level", "low", "high")
    types = dict.fromkeys(texts, pl.String) | dict.fromkeys(numbers, pl.Float64)
    columns = ["dimension", "base", "r2", "class", "level", "low", "high", "items", "calibration"]
    frame = pl.DataFrame(rows, schema={name: types[name] for name in columns}, orient="row")
    return frame if frame["low"].count() else frame.drop("low", "high")


def equate(
    one: Test,
    other: Test,
    draws: Annotated[int, opt("Bootstrap samples of items.", min=1)] = 1000,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Read one test's levels and scores in another's."""
    from mensura.calibration import equate as equated

    first, second = (Path(test).name.partition(".")[0] if Path(test).is_file() else test for test in (one, other))
    result = equated(_read_test(one), _read_test(other), names=(first, second), draws=draws)
    emit(result.tables(), tests=list(result.tests), items=list(result.items))
    show(result, "equate", heading=result.heading, first=result.tests[0], second=result.tests[1])
    if result.scores.height:
        like = result.scores.row(result.scores.height // 2, named=True)
        console.print(
            f"{like['score']:.0%} right in {result.tests[0]} is like {like['other_score']:.0%} in {result.tests[1]} "
            f"(90%: {like['low']:.0%} to {like['high']:.0%})."
        )
    about = "A level is −log10(rate/√10) among those who took the test; covered: both tests have items there."
    console.print(f"{about} World rates are extrapolated, so is what follows from them.", style="dim")


def _read_test(test: str) -> pl.DataFrame:
    """Return item, observed, rate, low, high, options of a file or an embedded pool."""
    import polars as pl

    from mensura.calibration import open_items, open_rates
    from mensura.intake.tables import read_table

    if test.endswith(".csv") or Path(test).is_file():
        return read_table(Path(test))
    items = open_items()
    if test not in items["pool"]:
        pools = ", ".join(items["pool"].unique().sort())
        raise MensuraError(f"equate: {test!r} is unknown; expected a CSV file or an embedded pool ({pools})")
    chosen = items.filter(pl.col("pool") == test).select("item", observed="rate")
    return chosen.join(open_rates().drop("pool"), on="item")
