"""Where an ability stands among the people of the world: through a calibrated line, with the errors of both.

The line turns a level L into the empirical level e = slope · L + intercept and the world rate 10^(½ − e). Its own error
grows away from the middle of its levels, se(L) = se(slope) · √(v + (L − m)²), with m and v mean and variance of the
levels it was drawn through: the usual error of a regression line. se(slope) comes from the interval of the base; a
published line has none, so it follows from R² of the five level means, se = slope · √((1/R² − 1) / 3), and Student's
t with 3 degrees of freedom takes the place of the normal quantile.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mensura.calibration.inputs import Z90
from mensura.calibration.levels import TOP
from mensura.core.errors import MensuraError
from mensura.scale import Calibration, LevelLine, say_rarity

T90 = 2.3533634348018264
"""Student's t with 3 degrees of freedom at 0.95: five level means less two parameters."""
_MEANS_MIDDLE, _MEANS_VARIANCE, _MEANS_FREE = 3.0, 2.0, 3  # of the levels 1 to 5
NEARLY_ALL = 0.9999
"""The largest rate that is stated: beyond it a line says no more than that everybody succeeds."""


@dataclass(frozen=True)
class Place:
    """The world rate of an ability with the ends of its 90% interval, and what must be said of it; or none, and why.

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
        found = next((why for name, why in lines.unusable.items() if name.casefold() == dimension.casefold()), "")
        return f"base {found}" if found else "the calibration has no line for it"


def line_error(line: LevelLine, level: float) -> tuple[float, list[str]]:
    """Return half the width of the line's 90% interval at a level, and what is to be said where it is unknown."""
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
