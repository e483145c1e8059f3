"""Calibrated dimensions and curves: from an annotated level to a world success rate, from a score to a capability."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from mensura.core.arrays import Floats, logit
from mensura.core.errors import MensuraError
from mensura.scale.ruler import Z90, level_to_rate, rate_to_level

USABLE = ("High", "Standard", "Slow")
"""Verdicts under which a line is a ruler."""
_EVERYBODY = rate_to_level(1.0)  # the empirical level of a rate of 1
_ROUNDING = 1e-12  # a level this little below the line's start is the start, printed and read again
_LEVELS_OF_MEANS = (1.0, 5.0)  # the published lines go through the means of these levels

HIGH_ABOVE, STANDARD_FROM = 10.0, 2.95
"""Bases of the published classes: High above 10, Standard from 3 (2.99 is printed as Standard), else Slow."""


def scaling_of(base: float) -> str:
    """Return the published class of a base.

    Parameters
    ----------
    base : float
        Factor by which world success falls per level.

    Returns
    -------
    str
        High (above 10), Standard (from 3) or Slow.

    Examples
    --------
    >>> from mensura.scale import scaling_of
    >>> scaling_of(4.2)
    'Standard'

    """
    return "High" if base > HIGH_ABOVE else "Standard" if base >= STANDARD_FROM else "Slow"


@dataclass(frozen=True)
class LevelLine:
    """The calibrated line of one dimension: empirical level = slope · annotated level + intercept.

    The empirical level is the common base-10 one, −log10(p / √10); one annotated level therefore divides the
    world success rate by ``base`` = 10^slope. ``printed_base``: the base as its source prints it, computed there from
    a slope with more digits; shown in its place. ``covered``: the annotated levels that its items reach.
    ``slope_error``: standard error of the slope, where an interval of the base says it. ``tested``: the largest number
    of people who took the same items of the calibration; a rarer success than one of them cannot be known.
    """

    dimension: str
    slope: float
    intercept: float
    code: str = ""
    name: str = ""
    printed_base: float | None = None
    r_squared: float | None = None
    covered: tuple[float, float] | None = None
    source: str = ""
    slope_error: float | None = None
    tested: float | None = None

    def __post_init__(self) -> None:
        if not (np.isfinite(self.slope) and self.slope > 0 and np.isfinite(self.intercept)):
            raise MensuraError(
                f"dimension {self.dimension!r}: slope {self.slope!r}, intercept {self.intercept!r}; "
                "expected a slope above 0 and a finite intercept (without a rising line no level can be read)"
            )

    @property
    def base(self) -> float:
        """Factor by which world success falls per annotated level."""
        return float(10.0**self.slope) if self.printed_base is None else self.printed_base

    @property
    def scaling(self) -> str:
        """The class of the base: High, Standard or Slow."""
        return scaling_of(self.base)

    @property
    def reach(self) -> tuple[float, float]:
        """The levels the line speaks of: those its items cover; of one that does not say, the means it goes through."""
        return self.covered or _LEVELS_OF_MEANS

    def outside(self, level: float) -> str:
        """Return a sentence where a level lies outside what the calibration's items cover, else nothing."""
        low, high = self.reach
        if low - _ROUNDING <= level <= high + _ROUNDING:
            return ""
        if self.covered is None:
            return f"level {level:.2f} lies beyond the levels {low:g} to {high:g} of the line: extrapolated"
        return (
            f"level {level:.2f} of {self.dimension} is outside what its items cover ({low:g} to {high:g}): extrapolated"
        )

    @property
    def lowest_level(self) -> float:
        """The annotated level at which everybody succeeds; the line says nothing below it."""
        return (_EVERYBODY - self.intercept) / self.slope

    def rate(self, level: ArrayLike) -> float | Floats:
        """Return the world success rate at an annotated level."""
        levels = np.asarray(level, dtype=np.float64)
        if np.any(levels < self.lowest_level - _ROUNDING):
            raise MensuraError(
                f"level: got {float(levels.min()):g}; on dimension {self.dimension!r} the calibrated line starts at "
                f"{self.lowest_level:.3f}, where everybody succeeds; choose at least that level"
            )
        empirical = np.maximum(self.slope * levels + self.intercept, _EVERYBODY)
        return level_to_rate(empirical if empirical.ndim else float(empirical))

    def level(self, rate: ArrayLike) -> float | Floats:
        """Return the annotated level at which the world has this success rate."""
        return (rate_to_level(rate) - self.intercept) / self.slope


@dataclass(frozen=True)
class Calibration:
    """A set of calibrated lines, found by dimension id, ADeLe code or name.

    ``unusable``: dimensions that the calibration lists but no level can be read on, with the reason.
    """

    lines: tuple[LevelLine, ...]
    unusable: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_rows(cls, rows: Iterable[Mapping[str, object]]) -> Calibration:
        """Build from rows with ``dimension``, ``slope``, ``intercept`` and, where known, what else a line has.

        ``verdict``, where given, must be a class of bases; a dimension with another one, or whose line does not rise,
        is listed as unusable.
        """
        lines: list[LevelLine] = []
        unusable: dict[str, str] = {}
        for row in rows:
            dimension = str(row["dimension"])
            if reason := _why_unusable(row):
                unusable[dimension] = reason
            else:
                lines.append(_line(dimension, row))
        if not lines and not unusable:
            raise MensuraError("calibration: no dimension given; expected at least one row")
        return cls(tuple(lines), unusable)

    def __iter__(self) -> Iterator[LevelLine]:
        return iter(self.lines)

    def __getitem__(self, dimension: str) -> LevelLine:
        """Find a line; a specific ADeLe code such as ``KNn`` finds its broad dimension ``KN``."""
        wanted = dimension.casefold()
        for line in self.lines:
            if wanted and wanted in {line.dimension.casefold(), line.name.casefold(), line.code.casefold()}:
                return line
        for line in self.lines:
            if line.code and wanted[:2] == line.code.casefold() and len(wanted) == 3:
                return line
        why = next((f"cannot be read: {why}" for name, why in self.unusable.items() if name.casefold() == wanted), "")
        calibrated = ", ".join(line.dimension for line in self.lines) or "(none is usable)"
        raise MensuraError(f"dimension: {dimension!r} {why or 'has no calibrated line'}; choose one of {calibrated}")


def _why_unusable(row: Mapping[str, object]) -> str:
    """Return why no level can be read on a line: its verdict, or that it does not rise; else nothing."""
    verdict = str(row.get("verdict") or "")
    if verdict and verdict not in USABLE:
        return verdict
    slope = _number(row, "slope")
    if slope is None:
        return "no slope"
    return f"its slope is {slope:g}: success does not fall with the level" if slope <= 0 else ""


def _line(dimension: str, row: Mapping[str, object]) -> LevelLine:
    low, high = _number(row, "lowest"), _number(row, "highest")
    r_squared = _number(row, "r_squared")
    return LevelLine(
        dimension=dimension,
        slope=float(str(row["slope"])),
        intercept=float(str(row["intercept"])),
        code=str(row.get("code") or ""),
        name=str(row.get("name") or ""),
        printed_base=_number(row, "base"),
        r_squared=_number(row, "r2") if r_squared is None else r_squared,
        covered=None if low is None or high is None else (low, high),
        source=str(row.get("source") or ""),
        slope_error=_slope_error(row),
        tested=_number(row, "tested"),
    )


def _slope_error(row: Mapping[str, object]) -> float | None:
    """Return the standard error of log10 of the base, from its 90% interval."""
    low, high = _number(row, "low"), _number(row, "high")
    return None if not low or not high or low > high else float(np.log10(high / low)) / (2.0 * Z90)


def _number(row: Mapping[str, object], column: str) -> float | None:
    value = row.get(column)
    return None if value is None or value == "" else float(str(value))


# From a score to the stitched scale: the capability at which a benchmark's curve gives that score.

EDGE_SHARE = 0.01
"""A score nearer than this share of the range to chance or ceiling only bounds the capability; it is read from here."""


def share_above_chance(score: ArrayLike, chance: ArrayLike = 0.0, ceiling: ArrayLike = 1.0) -> Floats:
    """Return which share of the way from chance to ceiling a score has gone.

    Parameters
    ----------
    score, chance, ceiling : float or array
        The score, that of guessing, and the best one.

    Returns
    -------
    array
        The share; below 0 where guessing does better.

    Examples
    --------
    >>> from mensura.scale import share_above_chance
    >>> float(share_above_chance(0.625, chance=0.25))
    0.5

    """
    low, high = np.asarray(chance, dtype=float), np.asarray(ceiling, dtype=float)
    return np.asarray((np.asarray(score, dtype=float) - low) / (high - low))


def score_to_capability(
    score: ArrayLike, difficulty: ArrayLike, slope: ArrayLike, chance: ArrayLike = 0.0, ceiling: ArrayLike = 1.0
) -> Floats:
    """Return the capability at which a benchmark's curve gives a score.

    Parameters
    ----------
    score : float or array
        Scores; at or below chance, or at the ceiling, they are read at 1% and 99% of the range.
    difficulty, slope, chance, ceiling : float or array
        The curve chance + (ceiling − chance) · σ(slope · (C − difficulty)).

    Returns
    -------
    array
        C.

    Examples
    --------
    >>> from mensura.scale import score_to_capability
    >>> float(score_to_capability(0.5, difficulty=1.2, slope=2.0))
    1.2

    """
    share = np.clip(share_above_chance(score, chance, ceiling), EDGE_SHARE, 1 - EDGE_SHARE)
    return np.asarray(np.asarray(difficulty, dtype=float) + logit(share) / np.asarray(slope, dtype=float))
