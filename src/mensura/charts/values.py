"""From a table to an axis: checked rows, numbers and days in words, spans of values with round ticks."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from statistics import NormalDist
from typing import Any

from mensura.charts.canvas import Place, scale
from mensura.core.errors import MensuraError, counted as counted
from mensura.core.frames import require_columns
from mensura.intake.tables import as_frame
from mensura.scale import iq_to_rate

Row = dict[str, Any]
STATUSES = ("measured", "estimated")
_MONTHS = (1, 3, 6, 12, 24, 60, 120, 600)
"""Months between two ticks of time."""
CROWD = 1000
"""People drawn: one dot is one in a thousand."""
_HUMAN = NormalDist(100.0, 15.0)
QUANTILES = tuple(_HUMAN.inv_cdf((place + 0.5) / CROWD) for place in range(CROWD))


def rows_of(
    table: object,
    columns: Sequence[str],
    *,
    name: str = "points",
    needed: Sequence[str] = (),
    optional: Sequence[str] = (),
) -> list[Row]:
    """Return the named columns as JSON-ready rows; rows without a finite value in a ``needed`` column are left out.

    ``optional`` columns are null where the table lacks them. Dates become ISO text, numbers keep six digits.
    """
    frame = as_frame(table, name=name)
    require_columns(frame, columns, name=name)
    present = [*columns, *(name for name in optional if name in frame.columns and name not in columns)]
    missing = dict.fromkeys(name for name in optional if name not in present)
    rows = [{key: _plain(value) for key, value in row.items()} | missing for row in frame.select(present).to_dicts()]
    rows = [row for row in rows if all(row[key] is not None for key in needed)]
    strange = sorted({str(row["status"]) for row in rows} - set(STATUSES)) if "status" in columns else []
    if strange:
        raise MensuraError(f"{name}: status {strange[0]!r} is unknown; expected {' or '.join(map(repr, STATUSES))}")
    return rows


def people_above(iq: float) -> str:
    """Return how many people are above an IQ, short enough for an axis: "84%", "1 in 44", "1 in 32k"."""
    share = iq_to_rate(iq)
    if share > 0.3:
        return f"{share:.0%}"
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if 1 / share >= size:
            return f"1 in {1 / share / size:.0f}{unit}"
    return f"1 in {1 / share:.0f}"


def crowd_above(iq: float) -> int:
    """Return how many of a thousand people stand at or above an IQ."""
    return CROWD - bisect_left(QUANTILES, iq)


def said_above(iq: int, *, short: bool = False) -> tuple[str, str]:
    """Say in two lines how many of a thousand people stand at or above an IQ, the long way or as a phone has room."""
    count = crowd_above(iq)
    shown = str(count) if count else ("under 1" if short else "fewer than 1")
    return (f"{shown} in 1,000", f"at {iq}+") if short else (f"{shown} in 1,000 people", f"at {iq} or above")


def month(day: str) -> str:
    """Return a day, such as 2026-05-28, as a month and its year: "May 2026"."""
    return f"{date.fromisoformat(day):%B %Y}"


def say(value: float | None, digits: int = 3) -> str:
    """Return a number as people write it: three significant digits, thousands separated, no trailing zeros."""
    if value is None:
        return "unknown"
    if value == 0:
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{places}f}".replace("-", "−")
    return text.rstrip("0").rstrip(".") if "." in text else text


def say_alike(values: Sequence[float]) -> list[str]:
    """Return numbers of one kind with as many decimals each: none for whole numbers, two where all are below ten."""
    largest = max((abs(value) for value in values), default=0.0)
    most = max(0, 2 - math.floor(math.log10(largest))) if largest else 0
    exact = (count for count in range(most) if all(abs(value - round(value, count)) < 1e-9 for value in values))
    places = next(exact, most)
    return [f"{value:,.{places}f}".replace("-", "−") for value in values]


def say_range(low: float | None, high: float | None, words: Callable[[float], str] = say) -> str:
    """Return ", 120 to 131" for a known interval, nothing for an unknown one."""
    return "" if low is None or high is None else f", {words(low)} to {words(high)}"


def listed(names: Iterable[str], most: int = 3) -> str:
    """Return names as a sentence lists them: "a, b and c"."""
    shown = list(names)[:most]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}" if shown else ""


def _plain(value: object) -> object:
    if isinstance(value, datetime | date):
        return value.isoformat()[:10]
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return value


@dataclass(frozen=True)
class Axis:
    """An axis: its title, its ends, how it writes a value, and its kind.

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
