"""Tables of a profile: every ability with where it stands among the people of the world, and why not where not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars as pl

from mensura.calibration.open_pool import OPEN
from mensura.calibration.profiles.abilities import FoundAbilities
from mensura.calibration.profiles.placing import find_line, place, uncalibrated_rate
from mensura.calibration.profiles.statements import statement
from mensura.core.arrays import Floats
from mensura.demands.dimensions import annotated_dimensions
from mensura.scale import Calibration, LevelLine, rate_to_iq, rate_to_one_in, rate_to_percentile

READINGS = ("rate", "one_in", "percentile", "iq")
PROFILE_COLUMNS: Mapping[str, Any] = {
    "subject": pl.String,
    "dimension": pl.String,
    **dict.fromkeys(("ability", "low", "high", "world_rate", "one_in", "percentile", "iq"), pl.Float64),
}
_ENDS = [f"{name}_{end}" for name in READINGS for end in ("low", "high")]
POSITION_COLUMNS: Mapping[str, Any] = {
    "subject": pl.String,
    "dimension": pl.String,
    "name": pl.String,
    "items": pl.Float64,
    **dict.fromkeys(("level_at_half", "half_low", "half_high"), pl.Float64),
    **dict.fromkeys(("alone", "alone_low", "alone_high"), pl.Float64),
    **dict.fromkeys(_ENDS, pl.Float64),
    "uncalibrated_rate": pl.Float64,
    "line": pl.String,
    "at_least": pl.Boolean,
    "note": pl.String,
}


def placed_tables(found: FoundAbilities, lines: Calibration) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return profile, positions and statements: abilities among people, by the calibration's lines."""
    known = annotated_dimensions()
    line_of = {code: find_line(lines, code) for code in found.dimensions}
    cells: list[tuple[object, ...]] = []
    figures: list[tuple[float, ...]] = []
    for i, subject in enumerate(found.subjects):
        for j, code in enumerate(found.dimensions):
            line = line_of[code]
            ability = tuple(float(part[i, j]) for part in found.ability)
            where = place(line, *ability)
            rates = None if (i, j) in found.untold else where.rates
            whose = "" if isinstance(line, str) else f"{line.dimension}, {_whose(line)}"
            cut = rates is not None and where.at_least
            cells.append((subject, code, known[code].name, whose, cut, found.untold.get((i, j), where.note)))
            figures.append((*ability, *(rates or _NO_RATES), uncalibrated_rate(ability[0])))
    return _tables(found, cells, np.array(figures).T)


def _tables(
    found: FoundAbilities, cells: list[tuple[object, ...]], figures: Floats
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return the three tables from one entry per subject and dimension, in that order."""
    ability, rates, theory = figures[:3], figures[3:6], figures[6]
    read = {"rate": rates, **{name: _read(rates, name) for name in READINGS[1:]}}
    words = pl.DataFrame(cells, schema=["subject", "dimension", "name", "line", "at_least", "note"], orient="row")
    halves = [part.ravel() for part in (*found.half, *(found.alone or _nothing(found.half)))]
    columns = {
        "items": found.items.ravel(),
        **dict(zip(_HALVES, halves, strict=True)),
        **{f"{name}_{end}": values[at] for name, values in read.items() for at, end in ((1, "low"), (2, "high"))},
        "uncalibrated_rate": theory,
        **dict(zip(("ability", "low", "high"), ability, strict=True)),
        "world_rate": rates[0],
        **{name: read[name][0] for name in READINGS[1:]},
    }
    whole = words.hstack(pl.DataFrame(columns).fill_nan(None))
    positions = whole.select(pl.col(name).cast(kind) for name, kind in POSITION_COLUMNS.items())
    told = positions.select("name", "percentile_low", "percentile_high", "note").to_dicts()
    size = len(found.dimensions)
    spoken = [(name, statement(told[at * size : (at + 1) * size])) for at, name in enumerate(found.subjects)]
    return (
        whole.select(pl.col(name).cast(kind) for name, kind in PROFILE_COLUMNS.items()),
        positions,
        pl.DataFrame(spoken, schema={"subject": pl.String, "statement": pl.String}, orient="row"),
    )


_HALVES = ("level_at_half", "half_low", "half_high", "alone", "alone_low", "alone_high")
_NO_RATES = (np.nan, np.nan, np.nan)
_READ: Mapping[str, Callable[[Floats], Floats]] = {
    "one_in": rate_to_one_in,
    "percentile": rate_to_percentile,
    "iq": rate_to_iq,
}


def _read(rates: Floats, name: str) -> Floats:
    """Return value, low and high end of another reading of rates; it rises where a rate falls."""
    read = np.full_like(rates, np.nan)
    there = np.isfinite(rates)
    read[there] = _READ[name](rates[there])
    return read[[0, 2, 1]]


def _nothing(like: tuple[Floats, Floats, Floats]) -> list[Floats]:
    return [np.full_like(part, np.nan) for part in like]


def _whose(line: LevelLine) -> str:
    return "open" if line.source == OPEN else "published" if "Table 16" in line.source else "given"
