"""Where an ability stands among the people of the world: through a calibrated line, with the errors of both.

The line turns a level L into the empirical level e = slope · L + intercept and the world rate 10^(½ − e). Its own error
grows away from the middle of its levels, se(L) = se(slope) · √(v + (L − m)²), with m and v mean and variance of the
levels it was drawn through: the usual error of a regression line. se(slope) comes from the interval of the base; a
published line has none, so it follows from R² of the five level means, se = slope · √((1/R² − 1) / 3), and Student's
t with 3 degrees of freedom takes the place of the normal quantile.

A profile in words, never stronger than its numbers: each claim is the near end of a 90% interval.

Tables of a profile: every ability with where it stands among the people of the world, and why not where not.

What speaks against calibrated lines: how well they predict people, and bases of open items beside published ones.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from mensura.calibration.abilities import FoundAbilities
from mensura.calibration.items import TOP
from mensura.calibration.open_pool import FOLDER, HELD_OUT, calibration_name, quality_of
from mensura.core.arrays import Floats, just_below
from mensura.core.errors import MensuraError
from mensura.core.frames import read_csv
from mensura.demands.rubrics import annotated_dimensions
from mensura.scale import Z90, Calibration, LevelLine, rate_to_iq, rate_to_one_in, rate_to_percentile, say_rarity

T90 = 2.3533634348018264
"""Student's t with 3 degrees of freedom at 0.95: five level means less two parameters."""
_MEANS_MIDDLE, _MEANS_VARIANCE, _MEANS_FREE = 3.0, 2.0, 3  # of the levels 1 to 5
NEARLY_ALL = 0.9999
"""The largest rate that is stated: beyond it a line says no more than that everybody succeeds."""


@dataclass(frozen=True)
class Place:
    """The world rate of an ability with the ends of its 90% interval, with its reservations; or none, and why.

    The interval holds the errors of ability and line together. ``at_least``: the ability is rarer than the data can
    tell, so the rate is the rarest that they can.
    """

    rates: tuple[float, float, float] | None
    note: str = ""
    at_least: bool = False


def place(line: LevelLine | str, ability: float, low: float, high: float) -> Place:
    """Read an ability with its 90% interval off the calibrated line of its dimension, as :func:`find_line` gives it.

    Beyond the highest level of the calibration's items, and beyond one of the people tested, a line tells nothing: the
    rate is cut there, and the note says that the ability is at least so rare.
    """
    if isinstance(line, str):
        return Place(None, line)
    if not math.isfinite(ability):
        return Place(None, "no ability")
    empirical = line.slope * ability + line.intercept
    if empirical <= TOP:
        return Place(None, f"below level {line.lowest_level:.2f}, where the calibrated line says everybody succeeds")
    error, notes = line_error(line, ability)
    down = math.hypot(line.slope * (ability - low), error)
    up = math.hypot(line.slope * (high - ability), error)
    rate = min(_rate(empirical), NEARLY_ALL)
    high_rate = max(min(_rate(empirical - down), NEARLY_ALL), rate)
    rarest, why = _rarest(line)
    if rate < rarest:
        notes.append(why)
        return Place((rarest, rarest, max(high_rate, rarest)), "; ".join(notes), at_least=True)
    if outside := line.outside(ability):
        notes.append(outside)
    low_rate = min(max(_rate(empirical + up), 1.0 / (line.tested or math.inf)), rate)
    return Place((rate, low_rate, high_rate), "; ".join(notes))


def _rarest(line: LevelLine) -> tuple[float, str]:
    """Return the rarest success that a line can tell of, and the words for an ability beyond it."""
    top = line.reach[1]
    rate = min(_rate(line.slope * top + line.intercept), NEARLY_ALL)
    if line.tested and rate < 1.0 / line.tested:
        return 1.0 / line.tested, f"{say_rarity(rate, line.tested)}: no more people took the items of the calibration"
    return rate, f"at least {say_rarity(rate)}: the items of the calibration end at level {top:g}"


def find_line(lines: Calibration, dimension: str) -> LevelLine | str:
    """Return the line of a dimension, or why there is none."""
    try:
        return lines[dimension]
    except MensuraError:
        reason = next((why for name, why in lines.unusable.items() if name.casefold() == dimension.casefold()), "")
        return f"base {reason}" if reason else "the calibration has no line for it"


def line_error(line: LevelLine, level: float) -> tuple[float, list[str]]:
    """Return half the width of the line's 90% interval at a level, and a note where it is unknown."""
    if line.slope_error is not None:
        low, high = line.reach
        return Z90 * line.slope_error * math.sqrt((high - low) ** 2 / 12 + (level - (low + high) / 2) ** 2), []
    if line.r_squared:
        slope_error = line.slope * math.sqrt(max(1.0 / line.r_squared - 1.0, 0.0) / _MEANS_FREE)
        return T90 * slope_error * math.sqrt(_MEANS_VARIANCE + (level - _MEANS_MIDDLE) ** 2), []
    return 0.0, ["the line's own error is not known and not in the interval"]


def uncalibrated_rate(ability: float) -> float:
    """Return the rate that the scales' theory gives a level, base 10 and level 1 centred on 1 in √10; else NaN."""
    return _rate(ability) if math.isfinite(ability) and ability > TOP else math.nan


def _rate(empirical: float) -> float:
    """Return 10^(½ − e): an uncalibrated level is an empirical one."""
    return float(10.0 ** (TOP - empirical))


MEDIAN = 50.0
STEPS = (99.99, 99.9, 99.0, 98.0, 97.0, 95.0, 90.0, 80.0, 75.0, 66.0, 50.0)
"""Percentiles that are claimed: the largest that the low end of the interval reaches."""
EXTRAPOLATED = "extrapolated"
_MOST_NAMED = 4


def statement(rows: Iterable[Mapping[str, object]]) -> str:
    """Return one sentence on a subject from rows with name, percentile_low, percentile_high and note.

    Above so many percent of people: the low end of the interval is. Below the median: its high end is. All else is not
    told apart from the median, or not placed.
    """
    above: dict[float, list[str]] = {}
    below, level, absent = [], [], []
    for row in rows:
        low, high = row["percentile_low"], row["percentile_high"]
        name = str(row["name"]).lower() + (" (extrapolated)" if EXTRAPOLATED in str(row["note"]) else "")
        if not isinstance(low, float) or not isinstance(high, float) or math.isnan(low + high):
            absent.append(name)
        elif low >= MEDIAN:
            above.setdefault(next(step for step in STEPS if low >= step), []).append(name)
        elif high < MEDIAN:
            below.append(name)
        else:
            level.append(name)
    parts = [f"above {_percent(step)} of people in {_listed(above[step])}" for step in sorted(above, reverse=True)]
    parts += [f"below the median in {_listed(below)}"] if below else []
    parts += [f"not told apart from the median in {_listed(level)}"] if level else []
    if absent and not parts:
        return "not placed among people"
    parts += [f"not placed in {_listed(absent)}"] if absent else []
    return ", ".join(parts)


def _percent(step: float) -> str:
    return "half" if step == MEDIAN else f"{step:g}%"


def _listed(names: list[str]) -> str:
    if len(names) > _MOST_NAMED:
        return f"{', '.join(names[:_MOST_NAMED])} and {len(names) - _MOST_NAMED} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


_READ: Mapping[str, Callable[[Floats], Floats]] = {
    "one_in": rate_to_one_in,
    "percentile": rate_to_percentile,
    "iq": rate_to_iq,
}
_PROFILE = ("subject", "dimension", "ability", "low", "high", "world_rate", *_READ)
_HALVES = ("level_at_half", "half_low", "half_high", "alone", "alone_low", "alone_high")
_ENDS = [f"{name}_{end}" for name in ("rate", *_READ) for end in ("low", "high")]
_WORDS = ("uncalibrated_rate", "line", "at_least", "note")
_POSITIONS = ("subject", "dimension", "name", "items", *_HALVES, *_ENDS, *_WORDS)


def placed_tables(abilities: FoundAbilities, lines: Calibration) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return profile, positions and statements: abilities among people, by the calibration's lines.

    Lines that predict people worse than the largest demand does place nobody; every note gives the reason.
    """
    dimensions = annotated_dimensions()
    doubt = doubt_of_lines(lines)
    line_of = {code: doubt or find_line(lines, code) for code in abilities.dimensions}
    cells: list[tuple[object, ...]] = []
    figures: list[tuple[float, ...]] = []
    for i, subject in enumerate(abilities.subjects):
        for j, code in enumerate(abilities.dimensions):
            line = line_of[code]
            ability = tuple(float(part[i, j]) for part in abilities.ability)
            where = place(line, *ability)
            rates = None if (i, j) in abilities.untold else where.rates
            whose = "" if isinstance(line, str) else f"{line.dimension}, {calibration_name(Calibration((line,)))}"
            cut = rates is not None and where.at_least
            cells.append((subject, code, dimensions[code].name, whose, cut, abilities.untold.get((i, j), where.note)))
            figures.append((*ability, *(rates or [np.nan] * 3), uncalibrated_rate(ability[0])))
    return _tables(abilities, cells, np.array(figures).T)


def _tables(
    abilities: FoundAbilities, cells: list[tuple[object, ...]], figures: Floats
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return the three tables from one entry per subject and dimension, in that order."""
    ability, rates, theory = figures[:3], figures[3:6], figures[6]
    read = {"rate": rates, **{name: _read(rates, name) for name in _READ}}
    words = pl.DataFrame(cells, schema=["subject", "dimension", "name", "line", "at_least", "note"], orient="row")
    nothing = np.full_like(abilities.items, np.nan)
    halves = [part.ravel() for part in (*abilities.half, *(abilities.alone or (nothing, nothing, nothing)))]
    columns = {
        "items": abilities.items.ravel(),
        **dict(zip(_HALVES, halves, strict=True)),
        **{f"{name}_{end}": values[at] for name, values in read.items() for at, end in ((1, "low"), (2, "high"))},
        "uncalibrated_rate": theory,
        **dict(zip(("ability", "low", "high"), ability, strict=True)),
        "world_rate": rates[0],
        **{name: read[name][0] for name in _READ},
    }
    whole = words.hstack(pl.DataFrame(columns).fill_nan(None))
    positions = whole.select(_POSITIONS)
    rows = positions.select("name", "percentile_low", "percentile_high", "note").to_dicts()
    size = len(abilities.dimensions)
    spoken = [(name, statement(rows[at * size : (at + 1) * size])) for at, name in enumerate(abilities.subjects)]
    statements = pl.DataFrame(spoken, schema=["subject", "statement"], orient="row")
    return whole.select(_PROFILE), positions, statements


def _read(rates: Floats, name: str) -> Floats:
    """Return value, low and high end of another reading of rates; it rises where a rate falls."""
    read = np.full_like(rates, np.nan)
    there = np.isfinite(rates)
    read[there] = _READ[name](rates[there])
    return read[[0, 2, 1]]


def doubt_of_lines(lines: Calibration) -> str:
    """Return why the lines of a calibration place nobody among people; nothing where they predict people well enough.

    The bar is what the largest demand does alone, without any calibration. The open lines were fitted on the items that
    judge them, so fits without the pool judged speak for them.
    """
    rows = quality_of(lines)
    if not rows.height or not np.isfinite(rows["by_pools"][0]):
        return "" if not rows.height else "no open item tells how well these lines predict people"
    skill = HELD_OUT if calibration_name(lines) == "open" else float(rows["by_pools"][0])
    if skill > just_below(rows["largest"][0]):
        return ""
    return (
        f"the rank correlation of these lines with people's success is {skill:.2g}, that of the largest demand alone "
        f"{rows['largest'][0]:.2f}: no rarity, percentile or IQ"
    )


def bases_beside() -> pl.DataFrame:
    """Return the published bases beside those of the open items, with and without a language model's world rates.

    The table comes with Mensura (``python -m tools.embed_open_pool`` computes it).

    Returns
    -------
    polars.DataFrame
        dimension (a published group), name, published (its base in the paper), base, low, high and verdict of the open
        items, asked (world rates judged by a language model alone), carried (without any language model).

    Examples
    --------
    >>> from mensura.calibration import bases_beside
    >>> bases_beside().columns[:4]
    ['dimension', 'name', 'published', 'base']

    """
    return read_csv(FOLDER / "open_bases.csv")
