"""What is assumed of scores that users add: facts of new models, and runs of a part of a benchmark."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import polars as pl

from mensura.core.errors import listed_names
from mensura.intake.figures import RATE_UNITS
from mensura.intake.scores import ScoreReading
from mensura.scale import rate_interval

USER = "user"

_ASSUMED = {
    "reasoning": "no (it does not think before it answers)",
    "tier": "0 (a flagship)",
    "provider": f"{USER!r}",
    "predecessor": "none",
}
"""What instruments take a new model for where its rows do not say; each is a warning of the evidence."""
KIND = "tracked"
"""Kind of a new benchmark that says none: it counts for no dimension of the IQ."""


def assumptions(reading: ScoreReading) -> tuple[str, ...]:
    """Say what is assumed of new models, those that are silent about the same together."""
    new = reading.names.filter(pl.col("kind") == "model", pl.col("how") == "new")["id"].to_list()
    rows = reading.scores.filter(pl.col("subject").is_in(new)).unique("subject", keep="first", maintain_order=True)
    kinds: dict[tuple[str, ...], list[str]] = {}
    for row in rows.iter_rows(named=True):
        silent = tuple(name for name in _ASSUMED if row.get(name) is None)
        kinds.setdefault(silent, []).append(row["subject"])
    return tuple(
        f"{Path(reading.name).name}: {listed_names(names)} {'is' if len(names) == 1 else 'are'} new; assumed "
        + ", ".join(f"{name} = {_ASSUMED[name]}" for name in silent)
        + f"; say otherwise in the column{'s' if len(silent) > 1 else ''} {', '.join(silent)}"
        for silent, names in kinds.items()
        if silent
    )


def future_releases(reading: ScoreReading, today: date) -> tuple[str, ...]:
    """Say which models are released later than today: comparisons by date would be wrong."""
    if "released" not in reading.scores.columns:
        return ()
    days = reading.scores.select("subject", day=pl.col("released").str.slice(0, 10)).unique(maintain_order=True)
    late = days.filter(pl.col("day") > today.isoformat())
    return tuple(f"{subject}: its release on {day} is in the future; check the date" for subject, day in late.rows())


def partial_runs(reading: ScoreReading, benchmarks: pl.DataFrame) -> tuple[str, ...]:
    """Say which scores rest on a part of their benchmark's items, and how far off they may be."""
    if "n" not in reading.scores.columns:
        return ()
    numbers = pl.col("score", "n").cast(pl.Float64, strict=False)
    rows = reading.scores.with_columns(numbers).join(benchmarks.select("benchmark", "items"), on="benchmark")
    partial = rows.filter(pl.col("n").is_between(1, pl.col("items"), closed="left"))
    messages = []
    for subject, benchmark, score, unit, n, items in partial.select(
        "subject", "benchmark", "score", "unit", "n", "items"
    ).iter_rows():
        message = f"{subject} on {benchmark}: a partial run, {n:g} of {items} items"
        size = RATE_UNITS.get(unit, 0.0)
        if 0 <= score <= size:
            low, high = rate_interval(score / size * n, n)
            message += f"; the score of a full run may be {size * low:.3g} to {size * high:.3g} {unit} (90%)"
        messages.append(message)
    return tuple(messages)
