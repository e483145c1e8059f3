"""From a table to what a chart carries: checked, finite, JSON-ready rows, and spans that turn values into pixels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from mensura.charts.labels import DIAMETERS, WIDTHS, Box, place
from mensura.charts.theme import lab_of
from mensura.core.errors import MensuraError, counted as counted
from mensura.core.frames import require_columns
from mensura.intake.tables import as_frame
from mensura.scale import iq_to_rate

Row = dict[str, Any]
STATUSES = ("measured", "estimated")
PEOPLE_STATUSES = (*STATUSES, "constructed")  # such as the rate of guessing, which follows from the test's rules


def rows_of(
    table: object,
    columns: Sequence[str],
    *,
    name: str = "points",
    needed: Sequence[str] = (),
    statuses: Sequence[str] = STATUSES,
) -> list[Row]:
    """Return the named columns as JSON-ready rows; rows without a finite value in a ``needed`` column are left out.

    Dates become ISO text, numbers keep six significant digits, and a ``provider`` brings the field ``lab``, the
    provider as the palette knows it.
    """
    frame = as_frame(table, name=name)
    require_columns(frame, columns, name=name)
    rows: list[Row] = [{key: _plain(value) for key, value in row.items()} for row in frame.select(columns).to_dicts()]
    rows = [row for row in rows if all(row[key] is not None for key in needed)]
    if "status" in columns:
        _check_status(rows, name, statuses)
    if "provider" in columns:
        for row in rows:
            row["lab"] = lab_of(row["provider"])
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


def milliseconds(day: str | date) -> int:
    """Return a day as the milliseconds since 1970 (UTC) that time scales count in."""
    when = date.fromisoformat(day) if isinstance(day, str) else day
    return int(datetime(when.year, when.month, when.day, tzinfo=UTC).timestamp() * 1000)


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
    largest = max(abs(value) for value in values)
    places = 0 if all(value == int(value) for value in values) else max(0, 2 - int(math.log10(max(largest, 1.0))))
    return [f"{value:,.{places}f}".replace("-", "−") for value in values]


def say_range(low: float | None, high: float | None) -> str:
    """Return ", 120 to 131" for a known interval, nothing for an unknown one."""
    return "" if low is None or high is None else f", {say(low)} to {say(high)}"


def listed(names: Iterable[str], most: int = 3) -> str:
    """Return names as a sentence lists them: "a, b and c"."""
    shown = list(names)[:most]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}" if shown else ""


@dataclass(frozen=True)
class Span:
    """The stretch of an axis from low to high, linear or logarithmic, perhaps reversed."""

    low: float
    high: float
    log: bool = False
    reverse: bool = False

    @classmethod
    def around(
        cls,
        values: Iterable[float | None],
        *,
        log: bool = False,
        reverse: bool = False,
        pad: float = 0.06,
        end: float | None = None,
    ) -> Span:
        """Return the span of all known values with a share ``pad`` of its length added at the start and ``end``."""
        known = [float(value) for value in values if value is not None and (value > 0 or not log)]
        if not known:
            raise MensuraError(
                "an axis needs at least one value" + (" above zero, as it is logarithmic" if log else "")
            )
        ends = [math.log10(value) for value in (min(known), max(known))] if log else [min(known), max(known)]
        length = ends[1] - ends[0] or (1.0 if log else abs(ends[0]) or 1.0)
        low, high = ends[0] - length * pad, ends[1] + length * (pad if end is None else end)
        return cls(10**low, 10**high, log, reverse) if log else cls(low, high, log, reverse)

    def share(self, value: float) -> float:
        """Return where a value lies from the axis' start (0) to its end (1)."""
        low, high, at = (math.log(v) if self.log else v for v in (self.low, self.high, value))
        part = (at - low) / (high - low)
        return 1 - part if self.reverse else part

    def ticks(self) -> list[float] | None:
        """Return round values for a logarithmic axis: tens, with 2 and 5 between them where there is room."""
        if not self.log:
            return None
        decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        ratio = self.high / self.low
        steps = (1, 1.5, 2, 3, 4, 5, 7) if ratio < 12 else (1, 2, 5) if ratio < 2000 else (1,)
        return [
            value
            for decade in decades
            for value in (step * 10.0**decade for step in steps)
            if self.low <= value <= self.high
        ]


def add_spots(
    rows: Sequence[Row],
    at: Sequence[tuple[float, float]],
    *,
    height: float,
    blocked: Sequence[Sequence[Box]] | None = None,
    upward: bool = False,
    lifts: Sequence[Sequence[float]] | None = None,
) -> None:
    """Give every row with ``label`` its label's place at each nominal width, in the field ``spots`` (null: no room).

    ``at`` holds each dot's place as shares of the plot's width and height (from the top), ``lifts`` how far it is
    raised from there in pixels, ``blocked`` the rectangles to keep free, both per nominal width.
    """
    wanted = [index for index, row in enumerate(rows) if row.get("label")]
    texts = [row["name"] for row in rows]
    placed = []
    for step, width in enumerate(WIDTHS):
        xs = [share * width for share, _ in at]
        rise = lifts[step] if lifts else [0.0] * len(rows)
        ys = [share * height - lift for (_, share), lift in zip(at, rise, strict=True)]
        keep = blocked[step] if blocked else ()
        radius = DIAMETERS[step] / 2
        placed.append(
            place(xs, ys, texts, wanted, width=width, height=height, radius=radius, blocked=keep, upward=upward)
        )
    for index in wanted:
        rows[index]["spots"] = [spots[index].datum() if index in spots else None for spots in placed]


def _plain(value: object) -> object:
    if isinstance(value, datetime | date):
        return value.isoformat()[:10]
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return value


def _check_status(rows: Sequence[Row], name: str, statuses: Sequence[str]) -> None:
    strange = sorted({str(row["status"]) for row in rows} - set(statuses))
    if strange:
        raise MensuraError(f"{name}: status {strange[0]!r} is unknown; expected {' or '.join(map(repr, statuses))}")
