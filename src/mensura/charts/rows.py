"""From a table to what a chart carries: checked, finite, JSON-ready rows; and numbers, days and lists in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from typing import Any

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
    optional: Sequence[str] = (),
    statuses: Sequence[str] = STATUSES,
) -> list[Row]:
    """Return the named columns as JSON-ready rows; rows without a finite value in a ``needed`` column are left out.

    ``optional`` columns are null where the table lacks them. Dates become ISO text, numbers keep six digits.
    """
    frame = as_frame(table, name=name)
    require_columns(frame, columns, name=name)
    known = [*columns, *(name for name in optional if name in frame.columns and name not in columns)]
    missing = dict.fromkeys(name for name in optional if name not in known)
    rows: list[Row] = [
        {key: _plain(value) for key, value in row.items()} | missing for row in frame.select(known).to_dicts()
    ]
    rows = [row for row in rows if all(row[key] is not None for key in needed)]
    if "status" in columns:
        _check_status(rows, name, statuses)
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
    places = next(count for count in range(most + 1) if count == most or _rounded(values, count))
    return [f"{value:,.{places}f}".replace("-", "−") for value in values]


def _rounded(values: Sequence[float], places: int) -> bool:
    """Tell whether numbers need no more decimals."""
    return all(abs(value - round(value, places)) < 1e-9 for value in values)


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


def _check_status(rows: Sequence[Row], name: str, statuses: Sequence[str]) -> None:
    strange = sorted({str(row["status"]) for row in rows} - set(statuses))
    if strange:
        raise MensuraError(f"{name}: status {strange[0]!r} is unknown; expected {' or '.join(map(repr, statuses))}")
