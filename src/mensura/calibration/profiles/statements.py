"""A profile in words, never stronger than its numbers: each claim is the near end of a 90% interval."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

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
    parts += [f"not placed in {_listed(absent)}"] if absent else []
    return ", ".join(parts)


def _percent(step: float) -> str:
    return "half" if step == MEDIAN else f"{step:g}%"


def _listed(names: list[str]) -> str:
    if len(names) > _MOST_NAMED:
        return f"{', '.join(names[:_MOST_NAMED])} and {len(names) - _MOST_NAMED} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
