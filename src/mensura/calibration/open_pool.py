"""The open pool: real items with human rates, demands and world estimates, embedded as facts without texts.

What is measured, extrapolated and judged:

* ``rate``: measured, in the people who took the test (ENEM: implied by the official item parameters);
* levels: judged by a language model, once on all items and a second time on part of them;
* ``rate_asked``: the world's rate, judged by a language model that saw the item and the measured rate;
* ``rate_carried``: the world's rate, extrapolated by post-stratification from the measured rate and the world tables;
* ``both``: their mean on the logit scale, with an interval that reaches over both;
* outcomes of AI systems: measured, as published with the pools, a share where an item was tried several times.

Which calibrated lines a ruler reads levels with: the open ones, the published ones, or those of a file; and how well
lines predict people, which each picture of levels states beside its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mensura.calibration.items import RatedItems, published_groups, read_items
from mensura.calibration.result import read_calibration_file
from mensura.calibration.skill import skill_of
from mensura.core.arrays import Floats, expit, logit
from mensura.core.errors import MensuraError
from mensura.core.frames import read_csv
from mensura.evidence import load, read_calibration
from mensura.intake.tables import as_frame
from mensura.scale import Calibration

OPEN = "open pool"
FOLDER = Path(__file__).parent / "data"
LEFT_OUT = {
    "word-prevalence": "CC BY-NC-SA 4.0, non-commercial",
    "viqt": "terms not cleared, to be treated as non-commercial",
}
"""Pools of the development data that are not embedded, with the reason."""
ESTIMATES = ("both", "asked", "carried")
READERS = 0.86
"""Share of the world that can read an item and so guesses: adult literacy of the world, rounded (UNESCO)."""
OPEN_SETTINGS = {"readers": READERS}
RUNS = ("run-1", "run-2")


def open_items() -> pl.DataFrame:
    """Return the items: item, pool, options, n, rate and the world estimates."""
    return read_csv(FOLDER / "open_items.csv")


def list_pools() -> pl.DataFrame:
    """Return origin, pool, test, coverage, subset: the pools behind the published and the open calibration.

    The published ones are those of the paper's Table 1; the subset of an open one is counted here.
    """
    counted = open_items().group_by("pool").agg(subset_open=pl.format("{} items", pl.len()))
    table = read_csv(FOLDER / "pools.csv").join(counted, on="pool", how="left", maintain_order="left")
    return table.with_columns(pl.coalesce("subset_open", "subset").alias("subset")).drop("subset_open")


_DIGITS = 8
"""Digits of a rate: a calibration's fingerprint of its inputs must not hang on the last bit of a logarithm."""


def open_rates(estimate: str = "both") -> pl.DataFrame:
    """Return the world's rates: item, pool, options, rate, low, high; ``estimate``: both, asked or carried."""
    if estimate not in ESTIMATES:
        raise MensuraError(f"estimate: {estimate!r} is not known; choose one of {', '.join(ESTIMATES)}")
    table = open_items()
    if estimate == "both":
        asked, carried = (_triple(table, how) for how in ("asked", "carried"))
        middle = expit((logit(asked[0]) + logit(carried[0])) / 2)
        low, high = np.minimum(asked[1], carried[1]), np.maximum(asked[2], carried[2])
    else:
        middle, low, high = _triple(table, estimate)
    rates = {"rate": middle, "low": np.minimum(low, middle), "high": np.maximum(high, middle)}
    return table.select("item", "pool", "options").with_columns(
        pl.Series(name, values).round(_DIGITS) for name, values in rates.items()
    )


def _triple(table: pl.DataFrame, how: str) -> Sequence[Floats]:
    return [table[f"{name}_{how}"].to_numpy() for name in ("rate", "low", "high")]


def open_demands(run: str | None = None) -> pl.DataFrame:
    """Return the levels, wide: item, annotator, a column per dimension; one run's alone where named."""
    table = read_csv(FOLDER / "open_levels.csv")
    if run is None:
        return table
    if run not in RUNS:
        raise MensuraError(f"run: {run!r} is not known; choose one of {', '.join(RUNS)}")
    return table.filter(annotator=run)


def open_outcomes() -> pl.DataFrame:
    """Return subject, kind (AI or people), item, correct, options: AI systems and people on the same items."""
    outcomes = read_csv(FOLDER / "open_outcomes.csv")
    return outcomes.join(open_items().select("item", "options"), on="item", how="left", maintain_order="left")


HELD_OUT = 0.4  # measured: people.skill_demands
"""Rank correlation with people's success of every demand, calibrated without the pool that it orders."""


def open_lines() -> Calibration:
    """Return the lines of the embedded calibration of the open pool, as the ruler reads them."""
    read = replace(read_calibration_file(FOLDER / "open_calibration.json"), origin=OPEN).lines
    most = float(open_items()["n"].max())  # type: ignore[arg-type]
    return replace(read, lines=tuple(replace(line, tested=most) for line in read.lines))


def chosen_lines(calibration: str | None = None, published: Calibration | None = None) -> Calibration:
    """Return the lines asked for: ``open``, ``published`` or a file's (of :func:`write_calibration`, or a CSV).

    By default the published ones, which are those of the embedded evidence unless given. Lines of two calibrations are
    never mixed: their bases differ tenfold, and a picture of both compares nothing.
    """
    if calibration is None or calibration == "published":
        return load().calibration if published is None else published
    if calibration == "open":
        return open_lines()
    path = Path(calibration)
    if path.is_dir() or path.suffix.lower() == ".json" or "verdict" in as_frame(path).columns:
        return read_calibration_file(path).lines
    return read_calibration(path)


QUALITY_COLUMNS: Mapping[str, Any] = {
    "dimension": pl.String,
    **dict.fromkeys(("base", "r2", "skill", "by_pools", "largest"), pl.Float64),
}


def predict_by_lines(items: RatedItems, lines: Calibration) -> Floats:
    """Return the rate of every item by calibrated lines: that of its rarest demand; NaN where no line applies.

    A line of a group, such as KN, reads the level of the group, as the published procedure does.
    """
    rate = np.full(items.size, np.nan)
    grouped = items.grouped(published_groups())
    for line in lines:
        source = items if line.code in items.dimensions else grouped
        if line.code not in source.dimensions:
            continue
        level = source.levels[:, source.dimensions.index(line.code)]
        asked = level > 0
        rate[asked] = np.fmin(rate[asked], line.rate(np.maximum(level[asked], line.lowest_level)))
    return rate


def quality_of(lines: Calibration) -> pl.DataFrame:
    """Return dimension, base, r2, skill, by_pools, largest: how well a calibration's lines predict people.

    ``r2``: of each line, as its calibration states it. ``skill``: rank correlation of the dimension's level with
    people's success, within the pools of the open items. ``by_pools``: that of all lines together, the rarest demand
    deciding, the same in every row; ``largest``: that of the largest demand. The published lines were fitted elsewhere,
    so all are held out for them; the open lines were fitted on these pools.
    """
    items = read_items(open_items().select("item", "pool", "options", "n", "rate"), open_demands())
    whole = skill_of(items, predict_by_lines(items, lines))[3]
    largest = skill_of(items, -items.levels.max(axis=1))[3]
    rows = []
    for line in lines:
        skill = skill_of(items, predict_by_lines(items, Calibration((line,))))[3]
        rows.append((line.dimension, line.base, line.r_squared, skill, whole, largest))
    return pl.DataFrame(rows, schema=QUALITY_COLUMNS, orient="row")


def calibration_name(lines: Calibration) -> str:
    """Return whose lines these are: published, open or given."""
    sources = {line.source for line in lines}
    return "open" if sources == {OPEN} else "published" if all("Table 16" in text for text in sources) else "given"


def say_quality(lines: Calibration) -> str:
    """Return in a sentence or two how well the lines of a calibration predict people.

    The open lines were fitted on the items that judge them, so their figure is that of fits without the pool judged.
    """
    rows, name = quality_of(lines), calibration_name(lines)
    skill = HELD_OUT if name == "open" else rows["by_pools"][0] if rows.height else None
    middle = rows["r2"].median()
    fitted = "" if middle is None else f", median R² {float(str(middle)):.2f}"
    whose = f"{name.capitalize()} calibration: {rows.height} lines{fitted}."
    if skill is None:
        return f"{whose} No open item asks for its dimensions, so nothing shows how well it predicts people."
    where = "on the open items" if name == "given" else "on pools left out"
    return (
        f"{whose} Its rank correlation with people's success {where} is {skill:.2g}; that of the largest demand alone "
        f"is {rows['largest'][0]:.2f}."
    )
