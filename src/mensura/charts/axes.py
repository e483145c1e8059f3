"""Axes: the span of values they show, where values lie on them, and round ticks with their words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any

from mensura.charts.canvas import Place, scale
from mensura.charts.rows import say, say_alike
from mensura.core.errors import MensuraError

_MONTHS = (1, 3, 6, 12, 24, 60, 120, 600)
"""Months between two ticks of time."""


@dataclass(frozen=True)
class Axis:
    """An axis: its title, its ends, how it writes a value (``second``: another reading below it), and its kind.

    ``days``: values are days (:meth:`datetime.date.toordinal`), written as months and years. ``whole``: ticks are whole
    numbers.
    """

    title: str
    low: float
    high: float
    tick: Callable[[float], str] = say
    log: bool = False
    reverse: bool = False
    days: bool = False
    second: Callable[[float], str] | None = None
    whole: bool = False

    @classmethod
    def around(
        cls,
        title: str,
        values: Iterable[float | None],
        tick: Callable[[float], str] = say,
        *,
        pad: float = 0.05,
        least: float | None = None,
        log: bool = False,
        **kind: Any,  # noqa: ANN401
    ) -> Axis:
        """Return the axis of all values with room at both ends, a share ``pad`` of its length; it starts at ``least``.

        A logarithmic axis leaves out values that are not positive. ``kind``: the other fields of an axis.
        """
        shown = [value for value in values if value is not None and math.isfinite(value) and (value > 0 or not log)]
        if not shown:
            raise MensuraError(f"{title}: an axis needs a value{' above 0' if log else ''}, got none")
        low, high = min(shown), max(shown)
        if log:
            room = max((high / low) ** pad, 1.1)
            low, high = low / room, high * room
        else:
            room = pad * ((high - low) or abs(high) or 1.0)
            low, high = low - room, high + room
        return cls(title, low if least is None else max(low, least), high, tick, log, **kind)

    def scale(self, start: float, end: float) -> Place:
        """Return the map from values to pixels."""
        return scale(self.low, self.high, *((end, start) if self.reverse else (start, end)), log=self.log)

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """Return round values and their words, at most so many."""
        if self.days:
            return _month_ticks(self.low, self.high, most)
        values = round_ticks(self.low, self.high, most, log=self.log, whole=self.whole)
        if self.log or self.tick is not say:
            return [(value, self.tick(value)) for value in values]
        return list(zip(values, say_alike(values), strict=True))


def round_ticks(low: float, high: float, most: int = 6, *, log: bool = False, whole: bool = False) -> list[float]:
    """Return round values inside a span, at most so many; with ``log`` 1, 2 and 5 times powers of ten."""
    if high <= low:
        return [low]
    if log:
        return _log_ticks(low, high, most)
    raw = max((high - low) / most, 1.0 if whole else 0.0)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(
        factor * power
        for factor in (1, 2, 2.5, 5, 10)
        if factor * power >= raw - 1e-12 and not (whole and factor == 2.5)
    )
    first = math.ceil(low / step - 1e-9)
    return [step * k for k in range(first, math.floor(high / step + 1e-9) + 1)]


def _log_ticks(low: float, high: float, most: int) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks: list[float] = []
    for steps in ((1, 2, 5), (1, 3), (1,)):
        ticks = [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]
        if len(ticks) <= most:
            return ticks if len(ticks) > 1 else [low, high]
    return ticks[:: math.ceil(len(ticks) / most)]


def _month_ticks(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Return the first days of all months inside a span of days, or of quarters, years …: years and names of months."""
    first, last = date.fromordinal(math.ceil(low)), date.fromordinal(int(high))
    months = range(12 * first.year + first.month - (first.day == 1), 12 * last.year + last.month)
    starts = next(
        (some for step in _MONTHS if len(some := [month for month in months if month % step == 0]) <= most), []
    )
    days = [date(month // 12, month % 12 + 1, 1) for month in starts]
    bare = any(day.month == 1 for day in days)  # a January says the year, the other months need none
    return [
        (float(day.toordinal()), format(day, "%Y" if day.month == 1 else "%b" if bare else "%b %Y")) for day in days
    ]
