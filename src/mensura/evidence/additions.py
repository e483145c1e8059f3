"""What is assumed of scores that users add, which of them a part of a benchmark gave, and which to look at again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mensura.core.arrays import just_above
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
_RUNS = 100  # of all items: more answers are no plausible number
_FEW = 50  # answers up to which the share of right ones shows in the score
_ROUNDED = 0.005  # of all answers: a score is printed as a whole percentage at worst
_GAP, _ELO_GAP = 25.0, 200.0  # points of 100, and of Elo, from other scores that call for a second look
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


def doubtful_figures(reading: ScoreReading, scores: pl.DataFrame, benchmarks: pl.DataFrame) -> tuple[str, ...]:
    """Say which figures are hardly what they seem, beside the evidence's ``scores``: a unit or a number of answers."""
    optional = [pl.lit(None, pl.Float64).alias(name) for name in ("n", "stderr") if name not in reading.scores.columns]
    primary = scores.filter("primary")
    ranges = primary.group_by("benchmark").agg(least=pl.min("score"), most=pl.max("score"))
    earlier = primary.select("subject", "benchmark", before="score", before_unit="unit")
    rows = (
        reading.scores.with_columns(optional)
        .with_columns(pl.col("score", "n", "stderr").cast(pl.Float64, strict=False))
        .join(benchmarks.select("benchmark", "items"), on="benchmark", how="left")
        .join(ranges, on="benchmark", how="left")
        .join(earlier, on=["subject", "benchmark"], how="left")
    )
    return tuple(
        f"{row['subject']} on {row['benchmark']}: {doubt}"
        for row in rows.sort("row").iter_rows(named=True)
        for doubt in _doubts(row)
    )


def _doubts(row: dict[str, Any]) -> Iterator[str]:
    """Say what is odd about a figure: its number of answers, its unit, or its distance from an earlier one."""
    score, unit, n, items, least = row["score"], row["unit"], row["n"], row["items"] or np.inf, row["least"]
    size, before, of = RATE_UNITS.get(unit), row["before"], RATE_UNITS.get(row["before_unit"])
    if size and 0 < score < size:
        rate = score / size
        tries = max(n or 0.0, rate * (1 - rate) * (size / row["stderr"]) ** 2 if row["stderr"] else 0.0)
        if tries > _RUNS * items:
            yield f"its n or standard error says {tries:.3g} answers to {items} items; check its unit"
        if n and n <= _FEW and abs(rate * n - round(rate * n)) > just_above(_ROUNDED * n):
            yield f"{score:g} {unit} of {n:g} answers is no whole number of right ones; check n"
    if unit == "percent" and 0 < score < 1 and least is not None and score < least:
        yield f"{score:g} percent is below every other score; if it is a share, say fraction"
    if unit == "elo" and least is not None and not least - _ELO_GAP <= score <= row["most"] + _ELO_GAP:
        yield f"{score:g} Elo is far from all others ({least:g} to {row['most']:g}); check it"
    if before is not None and size and of and abs(score / size - before / of) * 100 > just_above(_GAP):
        yield f"{score:g} {unit} counts in place of {before:g} {row['before_unit']} of the evidence"


def doubtful_models(reading: ScoreReading, models: pl.DataFrame) -> tuple[str, ...]:
    """Say which new models are hardly what they seem: one written twice, released on two days or before all others."""
    new = reading.names.filter(pl.col("kind") == "model", pl.col("how") == "new")["id"].unique(maintain_order=True)
    messages = [f"{name}: counts as a model, not as a group of people" for name in new if name.startswith("People: ")]
    alike: dict[str, list[str]] = {}
    for name in new:
        alike.setdefault(re.sub(r"[^a-z0-9]", "", name.casefold()), []).append(name)
    messages += [f"{listed_names(names)}: counted as different models" for names in alike.values() if len(names) > 1]
    if "released" in reading.scores.columns:
        day = pl.col("released").str.slice(0, 10).drop_nulls().unique(maintain_order=True)
        new_rows = reading.scores.filter(pl.col("subject").is_in(new))
        first = str(models["released"].min())
        for subject, days in new_rows.group_by("subject", maintain_order=True).agg(day).iter_rows():
            if len(days) > 1:
                messages.append(f"{subject}: released on {listed_names(days)}; the first date counts")
            early = (one for one in days if one < first)
            messages += [f"{subject}: its release on {one} is before all others; check it" for one in early]
    return tuple(messages)
