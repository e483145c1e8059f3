"""The open pool: real items with human rates, demands and world estimates, embedded as facts without texts.

What is measured, extrapolated and judged:

* ``rate``: measured, in the people who took the test (ENEM: implied by the official item parameters);
* levels: judged by a language model, once on all items and a second time on part of them;
* ``rate_asked``: the world's rate, judged by a language model that saw the item and the measured rate;
* ``rate_carried``: the world's rate, extrapolated by post-stratification from the measured rate and the world tables;
* ``both``: their mean on the logit scale, with an interval that reaches over both;
* outcomes of AI systems: measured, as published with the pools, a share where an item was tried several times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from mensura.calibration.file import read_calibration_file
from mensura.core.arrays import Floats, expit, logit
from mensura.core.errors import MensuraError
from mensura.core.frames import read_csv
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
    told = read_csv(FOLDER / "open_outcomes.csv")
    return told.join(open_items().select("item", "options"), on="item", how="left", maintain_order="left")


HELD_OUT = 0.39  # measured: people.skill_demands
"""Rank correlation with people's success of every demand, calibrated without the pool that it orders."""


def open_lines() -> Calibration:
    """Return the lines of the embedded calibration of the open pool, as the ruler reads them."""
    read = replace(read_calibration_file(FOLDER / "open_calibration.json"), origin=OPEN).lines
    most = float(open_items()["n"].max())  # type: ignore[arg-type]
    return replace(read, lines=tuple(replace(line, tested=most) for line in read.lines))
