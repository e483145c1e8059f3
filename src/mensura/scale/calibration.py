"""Calibrated dimensions: the line that turns an annotated level into a world success rate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mensura.arrays import Floats
from mensura.errors import MensuraError
from mensura.scale.ruler import level_to_rate, rate_to_level

_EVERYBODY = rate_to_level(1.0)  # the empirical level of a rate of 1
_ROUNDING = 1e-12  # a level this little below the line's start is the start, printed and read again


@dataclass(frozen=True)
class LevelLine:
    """The calibrated line of one dimension: empirical level = slope · annotated level + intercept.

    The empirical level is the common base-10 one, −log10(p / √10); one annotated level therefore divides the
    world success rate by ``base`` = 10^slope.
    """

    dimension: str
    slope: float
    intercept: float
    code: str = ""
    name: str = ""

    def __post_init__(self) -> None:
        if not (np.isfinite(self.slope) and self.slope > 0 and np.isfinite(self.intercept)):
            raise MensuraError(
                f"dimension {self.dimension!r}: slope {self.slope!r}, intercept {self.intercept!r}; "
                "expected a slope above 0 and a finite intercept (without a rising line no level can be read)"
            )

    @property
    def base(self) -> float:
        """Factor by which world success falls per annotated level."""
        return float(10.0**self.slope)

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
                f"{self.lowest_level:.3f}, where everybody succeeds"
            )
        empirical = np.maximum(self.slope * levels + self.intercept, _EVERYBODY)
        return level_to_rate(empirical if empirical.ndim else float(empirical))

    def level(self, rate: ArrayLike) -> float | Floats:
        """Return the annotated level at which the world has this success rate."""
        return (rate_to_level(rate) - self.intercept) / self.slope


@dataclass(frozen=True)
class Calibration:
    """A set of calibrated lines, found by dimension id, ADeLe code or name."""

    lines: tuple[LevelLine, ...]

    @classmethod
    def from_rows(cls, rows: Iterable[Mapping[str, object]]) -> Calibration:
        """Build from rows with ``dimension``, ``slope``, ``intercept`` and, where known, ``code`` and ``name``."""
        lines = tuple(
            LevelLine(
                dimension=str(row["dimension"]),
                slope=float(str(row["slope"])),
                intercept=float(str(row["intercept"])),
                code=str(row.get("code") or ""),
                name=str(row.get("name") or ""),
            )
            for row in rows
        )
        if not lines:
            raise MensuraError("calibration: no dimension given; expected at least one row")
        return cls(lines)

    def __iter__(self) -> Iterator[LevelLine]:
        return iter(self.lines)

    def __getitem__(self, dimension: str) -> LevelLine:
        """Find a line; a specific ADeLe code such as ``KNn`` finds its broad dimension ``KN``."""
        wanted = dimension.casefold()
        for line in self.lines:
            if wanted in {line.dimension.casefold(), line.name.casefold(), line.code.casefold()}:
                return line
        for line in self.lines:
            if line.code and wanted[:2] == line.code.casefold() and len(wanted) == 3:
                return line
        known = ", ".join(line.dimension for line in self.lines)
        raise MensuraError(f"dimension: {dimension!r} has no calibrated line; choose one of {known}")
