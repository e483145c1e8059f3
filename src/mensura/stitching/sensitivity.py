"""The published sensitivity bars: how far one parameter can move before its own squared error rises by 5%.

They are a measure of curvature, not an interval: a bootstrap is about six times wider. Here for comparison.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, expit
from mensura.core.errors import MensuraError
from mensura.core.frames import sort_highest
from mensura.stitching.result import Stitch
from mensura.stitching.rosetta_model import RosettaModel

RISE = 1.05
"""A bar ends where the squared error is so many times that at the estimate, as published."""
FIRST_STEP, GROWTH, BISECTIONS = 1e-3, 1.4, 45
"""The search moves out from the estimate by growing steps, then halves the last one to rounding error."""
TRIAL_SLOPES, GOLDEN_SECTIONS = 25, 30
FURTHEST = 10.0
"""Where the loss has not risen by so much this far out, the bar has no end (null)."""
SLOPES = (0.01, 20.0)
"""Range in which a benchmark's slope is refitted at every trial difficulty, as published."""


def sens5(fit: Stitch) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return (subject, capability, low, high) and (benchmark, difficulty, low, high) for a rosetta fit."""
    model = fit.model
    if not isinstance(model, RosettaModel):
        raise MensuraError(
            "sens5: the published sensitivity belongs to method='rosetta'; use intervals of this fit instead"
        )
    data, layout = fit.data, fit.data.layout
    at = fit.estimate
    C, D, slope = at.capability[0], at.difficulty[0], at.slope[0]

    def by_subject(trial: Floats) -> Floats:
        expected = expit(slope[layout.cols] * (trial[layout.rows] - D[layout.cols]))
        return np.asarray(np.bincount(layout.rows, data.counts * (expected - data.y) ** 2), dtype=float)

    def error(trial: Floats, a: Floats) -> Floats:
        expected = expit(a[layout.cols] * (C[layout.rows] - trial[layout.cols]))
        return np.asarray(np.bincount(layout.cols, data.counts * (expected - data.y) ** 2), dtype=float)

    limit = RISE * error(D, slope)
    subjects = _crossings(by_subject, C, RISE * by_subject(C))
    benchmarks = _crossings(lambda trial: _best_slope(lambda a: error(trial, a), layout.n_benchmarks), D, limit)
    capabilities = pl.DataFrame({"subject": data.subjects, "capability": C, "low": subjects[0], "high": subjects[1]})
    difficulties = pl.DataFrame(
        {"benchmark": data.benchmarks, "difficulty": D, "low": benchmarks[0], "high": benchmarks[1]}
    )
    tables = (sort_highest(capabilities, "capability", "subject"), difficulties)
    ends = pl.col("low", "high").fill_nan(None)
    return tables[0].with_columns(ends), tables[1].with_columns(ends)


def _crossings(loss: Callable[[Floats], Floats], centre: Floats, limit: Floats) -> tuple[Floats, Floats]:
    """Where the loss, moving out from the centre, first reaches the limit; both sides, all at once, by bisection."""
    ends = []
    for side in (-1.0, 1.0):
        inner, outer = np.zeros_like(centre), np.full_like(centre, FIRST_STEP)
        while True:
            short = (loss(centre + side * outer) < limit) & (outer < FURTHEST)
            if not short.any():
                break
            inner, outer = np.where(short, outer, inner), np.where(short, outer * GROWTH, outer)
        for _ in range(BISECTIONS):
            middle = (inner + outer) / 2
            inside = loss(centre + side * middle) < limit
            inner, outer = np.where(inside, middle, inner), np.where(inside, outer, middle)
        ends.append(np.where(outer < FURTHEST, centre + side * outer, np.nan))
    return ends[0], ends[1]


def _best_slope(loss: Callable[[Floats], Floats], n: int) -> Floats:
    """Smallest loss over the slope of every benchmark: a grid, then golden sections around its best point."""
    grid = np.geomspace(*SLOPES, TRIAL_SLOPES)
    losses = np.stack([loss(np.full(n, a)) for a in grid])
    best = losses.argmin(axis=0)
    low, high = np.log(grid[np.maximum(best - 1, 0)]), np.log(grid[np.minimum(best + 1, grid.size - 1)])
    golden = (np.sqrt(5) - 1) / 2
    for _ in range(GOLDEN_SECTIONS):
        left, right = high - golden * (high - low), low + golden * (high - low)
        lower = loss(np.exp(left)) < loss(np.exp(right))
        low, high = np.where(lower, low, left), np.where(lower, right, high)
    return np.asarray(np.minimum(loss(np.exp((low + high) / 2)), losses.min(axis=0)))
