"""What is assumed of scores that users add, which of them a part of a benchmark gave, and which to look at again."""

import re
import unicodedata
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mensura.core.arrays import just_above
from mensura.core.errors import listed_names
from mensura.intake.figures import RATE_UNITS
from mensura.intake.scores import UNNAMED_SOURCE as USER, ScoreReading
from mensura.scale import rate_interval

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
_EARLY = 6  # months before a model's release from which on no score of it can be
_VARIANT = re.compile(r"(?<!no )(?<!without )\btools?\b|pass@(?!1\b)|(cons|maj)@|best.of", re.IGNORECASE)
_LOOK_ALIKE = {"CYRILLIC", "GREEK"}  # scripts with letters that pass for Latin ones
_COPIES = 4  # tests on which one model hardly has the very same score
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


def doubtful_figures(
    reading: ScoreReading, scores: pl.DataFrame, benchmarks: pl.DataFrame, models: pl.DataFrame, today: date
) -> tuple[str, ...]:
    """Say which figures are hardly what they seem beside the evidence's: a unit, a number of answers, a date."""
    absent = {"n", "stderr", "date", "released", "note"} - set(reading.scores.columns)
    optional = [pl.lit(None, pl.String).alias(name) for name in absent]
    primary = scores.filter("primary")
    ranges = primary.group_by("benchmark").agg(least=pl.min("score"), most=pl.max("score"), usual=pl.first("unit"))
    earlier = primary.select("subject", "benchmark", before="score", before_unit="unit")
    rows = (
        reading.scores.with_columns(optional)
        .with_columns(pl.col("score", "n", "stderr").cast(pl.Float64, strict=False))
        .join(benchmarks.select("benchmark", "items"), on="benchmark", how="left")
        .join(ranges, on="benchmark", how="left")
        .join(earlier, on=["subject", "benchmark"], how="left")
        .join(models.select("subject", known=pl.col("released").cast(pl.String)), on="subject", how="left")
        .with_columns(released=pl.coalesce("known", "released"), today=pl.lit(today.isoformat()))
    )
    same = rows.group_by("subject", "score", maintain_order=True).agg(tests=pl.col("benchmark").n_unique())
    return (
        *(
            f"{row['subject']} on {row['benchmark']}: {doubt}"
            for row in rows.sort("row").iter_rows(named=True)
            for doubt in _doubts(row)
        ),
        *(
            f"{subject}: the same score, {score:g}, on {tests} tests; check that each is its own"
            for subject, score, tests in same.filter(pl.col("tests") >= _COPIES).iter_rows()
        ),
    )


def _doubts(row: dict[str, Any]) -> Iterator[str]:
    """Say what is odd about a figure: its number of answers, unit or date, or its distance from an earlier one."""
    score, unit, n, items, least = row["score"], row["unit"], row["n"], row["items"] or np.inf, row["least"]
    size, before, of = RATE_UNITS.get(unit), row["before"], RATE_UNITS.get(row["before_unit"])
    if size and 0 < score < size:
        rate = score / size
        tries = max(n or 0.0, rate * (1 - rate) * (size / row["stderr"]) ** 2 if row["stderr"] else 0.0)
        if tries > _RUNS * items:
            yield f"its n or standard error says {tries:.3g} answers to {items} items; check its unit"
        if n and n <= _FEW and abs(rate * n - round(rate * n)) > just_above(_ROUNDED * n):
            yield f"{score:g} {unit} of {n:g} answers is no whole number of right ones; check n"
        if row["stderr"] == 0:
            yield "a standard error of 0 is not possible here; it counts as unknown"
    if row["note"] and _VARIANT.search(row["note"]):
        yield f"its note says {row['note']!r}, but it is compared with scores taken without that"
    taken, released = (_months(row[name] or "") for name in ("date", "released"))
    if taken is not None and row["date"] > row["today"]:
        yield f"its date, {row['date']}, is in the future; check it"
    elif taken is not None and released is not None and released - taken > _EARLY:
        yield f"its date, {row['date']}, is long before the model's release on {row['released'][:10]}; check both"
    if unit == "percent" and 0 < score < 1 and least is not None and score < least:
        yield f"{score:g} percent is below every other score; if it is a share, say fraction"
    if least is not None and (size or unit == "elo"):
        per = (size or 1.0) / RATE_UNITS.get(row["usual"], 1.0)
        gap, least, most = size * _GAP / 100 if size else _ELO_GAP, per * least, per * row["most"]
        if score > most + just_above(gap) or (unit == "elo" and score < least - gap):
            yield f"{score:g} {unit} is far from all others ({least:g} to {most:g}); check it"
    if before is not None and size and of and (n or items) < items:
        yield f"these {n:g} answers count in place of {before:g} {row['before_unit']} of the evidence"
    elif before is not None and size and of and abs(score / size - before / of) * 100 > just_above(_GAP):
        yield f"{score:g} {unit} counts in place of {before:g} {row['before_unit']} of the evidence"


def _months(day: str) -> int | None:
    """Count the months from year 0 to a day such as 2026-10-01 or a month such as 2026-10; other words have none."""
    parts = re.match(r"(\d{4})-(\d\d)", day)
    return 12 * int(parts[1]) + int(parts[2]) if parts else None


def doubtful_models(
    reading: ScoreReading, models: pl.DataFrame, benchmarks: pl.DataFrame, today: date
) -> tuple[str, ...]:
    """Say which new models are hardly what they seem: by their names, their releases or their predecessors."""
    new = reading.names.filter(pl.col("kind") == "model", pl.col("how") == "new")["id"].unique(maintain_order=True)
    messages = [f"{name}: counts as a model, not as a group of people" for name in new if name.startswith("People: ")]
    tests = set(benchmarks["benchmark"]) | set(benchmarks["name"])
    messages += [f"{name}: counts as a model, but it is the name of a benchmark" for name in new if name in tests]
    alike: dict[str, list[str]] = {}
    for name in new:
        alike.setdefault(re.sub(r"[^a-z0-9]", "", name.casefold()), []).append(name)
        for word in re.findall(r"[^\W\d_]+", name):
            scripts = {unicodedata.name(letter).split()[0] for letter in word}
            if "LATIN" in scripts and scripts & _LOOK_ALIKE:
                messages.append(f"{name}: {word} has letters of {listed_names(sorted(scripts))}; check them")
    messages += [f"{listed_names(names)}: counted as different models" for names in alike.values() if len(names) > 1]
    if "released" not in reading.scores.columns:
        return tuple(messages)
    released = dict(models.drop_nulls("released").select("subject", pl.col("released").cast(pl.String)).iter_rows())
    first = min(released.values(), default="")
    rows = reading.scores.filter(pl.col("subject").is_in(new.to_list()))
    if "predecessor" not in rows.columns:
        rows = rows.with_columns(predecessor=pl.lit(None, pl.String))
    unique = pl.col("released", "predecessor").drop_nulls().unique(maintain_order=True)
    rows = rows.with_columns(pl.col("released").str.slice(0, 10)).group_by("subject", maintain_order=True).agg(unique)
    for subject, days, parents in rows.iter_rows():
        if len(days) > 1:
            messages.append(f"{subject}: released on {listed_names(days)}; the first date counts")
        for one in days:
            if one > today.isoformat() or one < first:
                when = "before all others; check it" if one < first else "in the future; check the date"
                messages.append(f"{subject}: its release on {one} is {when}")
        for parent in parents:
            if days and released.get(parent, "") > days[0]:
                messages.append(f"{subject}: its predecessor {parent} was released later, on {released[parent]}")
    return tuple(messages)
