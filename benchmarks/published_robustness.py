"""The published checks of robustness: python -m benchmarks.published_robustness [SCORES] [--anchor NAME].

Another anchor, another shape of the link, benchmarks dropped, benchmarks that labs optimise for, and the bars of 5%
more squared error. SCORES is a table with model, benchmark, score and, for the last two checks of the frontier,
release_date and optimised; without it the embedded evidence is used.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import polars as pl
import scipy

from benchmarks import run
from benchmarks.stitch_validation import fold_numbers
from mensura.core.arrays import Floats, Ints, Mask, expit
from mensura.core.errors import MensuraError
from mensura.core.frames import sort_highest
from mensura.intake.own_scores import read_own_scores
from mensura.stitching import (
    ScoreLayout,
    ScoreSet,
    Solution,
    Stitch,
    encode,
    penalty_weight,
    published_anchor,
    read_any,
    solve_rosetta,
    stitch,
)
from mensura.trends.capabilities import FEWEST_SUBJECTS
from mensura.trends.lines import is_record

Link = Literal["sigmoid", "clipped line"]
FOLDS = 10
"""Folds of the cross-validation that compares the links."""
SYNTHETIC = "(synthetic)"
"""Name of the anchor that is no benchmark: everybody took it, and its scores have no error."""
MOST_EVALUATIONS = 400
"""Evaluations of the unpenalised fit, which has flat directions: it ends where the squared error stops falling."""
DROPPED = 0.3
"""Share of the benchmarks left out, as published."""
DRAWS = 100
"""Random choices of benchmarks."""
QUANTILES = (0.025, 0.5, 0.975)


def shift_to_anchor(solution: Solution, anchor: int) -> Solution:
    """Move C and D together so that the anchor benchmark has difficulty 0 in every replicate."""
    shift = solution.D[:, [anchor]]
    return replace(solution, C=solution.C - shift, D=solution.D - shift)


def anchor_change(data: ScoreSet, anchor: int) -> pl.DataFrame:
    """One fit per anchor: mean rank correlation of its capabilities and difficulties with all other fits'.

    Every anchor's slope is held at its value in the fit anchored on ``anchor``, so that the unit, and with it the
    weight of the penalty, stays. ``shift`` and ``largest`` are the mean and the largest absolute change of a capability
    against that fit, means aligned, in its unit. ``offset`` and ``unit`` are the absolute change that
    a user sees who gives this anchor difficulty 0 and slope 1: the mean capability minus that of the first fit, and the
    ratio of their spreads. The last anchor is synthetic: everybody took it, and its scores have no error.
    """
    first = solve_rosetta(data.layout, data.y, anchor=anchor)
    fits, plain = [], []
    for other, slope in enumerate(first.slope[0]):
        fits.append(solve_rosetta(data.layout, data.y, anchor=other, anchor_slope=float(slope), start=first))
        plain.append(shift_to_anchor(solve_rosetta(data.layout, data.y, anchor=other, start=first), other))
    synthetic = _with_synthetic_anchor(data, first)
    fits.append(replace(synthetic, D=synthetic.D[:, :-1]))
    plain.append(shift_to_anchor(synthetic, len(data.benchmarks)))
    columns: dict[str, Any] = {"anchor": [*data.benchmarks, SYNTHETIC]}
    arrived = [bool(f.converged[0] and p.converged[0]) for f, p in zip(fits, plain, strict=True)]
    for name, values in (("capability", [f.C[0] for f in fits]), ("difficulty", [f.D[0] for f in fits])):
        correlation = np.corrcoef([pl.Series(v).rank() for v in values])
        columns[name] = (correlation.sum(axis=1) - 1) / (len(fits) - 1)
    centred = [f.C[0] - f.C[0].mean() for f in (first, *fits)]
    moved = np.abs(np.stack(centred[1:]) - centred[0])
    start = shift_to_anchor(first, anchor).C[0]
    columns["offset"] = [float(p.C[0].mean() - start.mean()) for p in plain]
    columns["unit"] = [float(p.C[0].std() / start.std()) for p in plain]
    columns |= {"shift": moved.mean(axis=1), "largest": moved.max(axis=1), "converged": arrived}
    return pl.DataFrame(columns).sort("capability")


def _with_synthetic_anchor(data: ScoreSet, first: Solution) -> Solution:
    """Fit again with a benchmark of slope 1 that every subject took and whose scores have no error."""
    layout, everyone = data.layout, np.arange(data.layout.n_subjects)
    expected = expit(first.C[0] - first.D[0].mean())
    rows = np.concatenate([layout.rows, everyone])
    order = np.argsort(rows, kind="stable")
    cols = np.concatenate([layout.cols, np.full(everyone.size, layout.n_benchmarks)])
    wider = ScoreLayout.of(rows[order], cols[order])
    return solve_rosetta(wider, np.concatenate([data.y, expected])[order], anchor=layout.n_benchmarks)


def link_shape(data: ScoreSet, *, seed: int) -> pl.DataFrame:
    """Sigmoid against clipped line, both without penalty and bounds, cross-validated: link, r2, mse, unconverged."""
    fold = fold_numbers(data.y.size, FOLDS, seed)
    rows = []
    for link in get_args(Link):
        predicted, lost = np.empty(data.y.size), 0
        for k in range(FOLDS):
            expected, converged = _fit_link(data, fold != k, link)
            predicted[fold == k] = expected[fold == k]
            lost += not converged
        mse = float(np.mean((predicted - data.y) ** 2))
        rows.append((link, 1 - mse / float(np.var(data.y)), mse, lost))
    return pl.DataFrame(rows, schema=["link", "r2", "mse", "unconverged"], orient="row")


def _fit_link(data: ScoreSet, train: Mask, link: Link) -> tuple[Floats, bool]:
    """Fit on some cells without any penalty (the busiest benchmark anchors the scale) and predict all of them.

    Also says whether the fit arrived: its squared error no longer falls.
    """
    rows, cols = data.layout.rows, data.layout.cols
    m, b = len(data.subjects), len(data.benchmarks)
    anchor = published_anchor(data, None)

    def expected(p: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        distance, slope = p[rows] - p[m + cols], p[m + b + cols]
        eta = slope * distance
        if link == "sigmoid":
            s = expit(eta)
            return s, s * (1 - s), slope, distance
        return np.clip(eta, 0, 1), ((eta > 0) & (eta < 1)).astype(float), slope, distance

    def residual(p: Floats) -> Floats:
        return (expected(p)[0] - data.y)[train]

    def jacobian(p: Floats) -> scipy.sparse.csr_array:
        _, d, slope, distance = (x[train] for x in expected(p))
        i = np.arange(d.size)
        free = cols[train] != anchor
        values = np.concatenate((d * slope, -d * slope * free, d * distance * free))
        where = np.concatenate((rows[train], m + cols[train], m + b + cols[train]))
        return scipy.sparse.csr_array((values, (np.tile(i, 3), where)), shape=(d.size, m + 2 * b))

    start = _link_start(data, link, anchor)
    solution = scipy.optimize.least_squares(residual, start, jac=jacobian, method="trf", max_nfev=MOST_EVALUATIONS)
    return expected(solution.x)[0], solution.status > 0


def _link_start(data: ScoreSet, link: Link, anchor: int) -> Floats:
    """Start both links from the penalised sigmoid fit; a line through its middle has a quarter of its slope."""
    fit = solve_rosetta(data.layout, data.y, anchor=anchor)
    C, D, slope = fit.C[0], fit.D[0], fit.slope[0]
    if link == "clipped line":
        slope = slope / 4
        D = D - 0.5 / slope
        unit = slope[anchor]
        C, D, slope = C * unit, D * unit, slope / unit
    return np.concatenate((C - D[anchor], D - D[anchor], slope))


def drop_benchmarks(data: ScoreSet, anchor: int, seed: int) -> pl.DataFrame:
    """Quantiles of the slope when some benchmarks, never the anchor, are dropped at random."""
    rng = np.random.default_rng(seed)
    others = np.array([b for b in range(len(data.benchmarks)) if b != anchor])
    kept = np.ones((DRAWS, len(data.benchmarks)), dtype=bool)
    for row in kept:
        row[rng.choice(others, int(DROPPED * len(data.benchmarks)), replace=False)] = False
    slopes = np.quantile(_slopes(data, kept, anchor), QUANTILES)
    return pl.DataFrame({"quantile": QUANTILES, "slope_per_year": slopes})


def split_optimised(data: ScoreSet, optimised: Mask, seed: int) -> pl.DataFrame:
    """Slope on benchmarks labs optimise for and on the others, beside random splits of the same sizes.

    Slopes are in standard deviations of all subjects' capabilities per year; the last row is the share of random splits
    whose two sides are at least as far apart.
    """
    if optimised.all() or not optimised.any():
        raise MensuraError(
            "optimised: must be true for some benchmarks and false for others; drop the column otherwise"
        )
    rng = np.random.default_rng(seed)
    splits = np.stack([optimised, *(rng.permutation(optimised) for _ in range(DRAWS))])
    ours, others = (_slopes(data, side, None) for side in (splits, ~splits))
    gap = np.abs(ours - others)
    return pl.DataFrame(
        {
            "side": ["optimised for", "not optimised for", "random splits at least as far apart"],
            "benchmarks": [int(optimised.sum()), int((~optimised).sum()), None],
            "slope_per_year": [ours[0], others[0], float((gap[1:] >= gap[0]).mean())],
        }
    )


def _slopes(data: ScoreSet, kept: Mask, anchor: int | None) -> Floats:
    """Frontier slope of every set of kept benchmarks, on the anchor's scale or in standard deviations."""
    layout = data.layout
    weights = np.take(kept.astype(float), layout.cols, axis=1)
    scored = layout.over_subjects(weights) > 0
    penalty = np.array(
        [
            penalty_weight(int(s.sum()), int(k.sum()), anchored=anchor is not None)
            for s, k in zip(scored, kept, strict=True)
        ]
    )
    fits = solve_rosetta(layout, data.y, anchor=anchor, weights=weights, penalty=penalty)
    if not fits.converged.all():
        print(f"warning: {np.count_nonzero(~fits.converged)} of {len(kept)} fits to chosen benchmarks did not converge")
    if anchor is not None:
        fits = shift_to_anchor(fits, anchor)
    dated = np.flatnonzero(np.isfinite(data.years))
    order: Ints = dated[np.argsort(data.years[dated], kind="stable")]
    capability = np.where(scored, fits.C, np.nan)[:, order]
    slopes = frontier_slopes(data.years[order], capability)
    return np.asarray(slopes if anchor is not None else slopes / np.nanstd(capability, axis=1))


def frontier_slopes(years: Floats, draws: Floats) -> Floats:
    """Slope per year of the records of each draw (draws, subjects), NaN if it has one record only."""
    slopes = np.full(len(draws), np.nan)
    for i, values in enumerate(draws):
        finite = np.isfinite(values)
        t, c = years[finite], values[finite]
        records = is_record(t, c)
        t, c = t[records], c[records]
        if np.unique(t).size > 1:
            slopes[i] = np.polyfit(t - t.mean(), c, 1)[0]
    return slopes


def optimised_benchmarks(frame: pl.DataFrame, data: ScoreSet) -> Mask:
    by_benchmark = frame.group_by("benchmark").agg(pl.col("optimised").cast(pl.Boolean).any())
    flags = dict(by_benchmark.iter_rows())
    return np.array([bool(flags[name]) for name in data.benchmarks])


# The published sensitivity bars: how far one parameter can move before its own squared error rises by 5%.
#
# They are a measure of curvature, not an interval: a bootstrap is about six times wider. Here for comparison.

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
    """Return the published bars: subject, capability, low, high; benchmark, difficulty, low, high."""
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


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("scores", type=Path, nargs="?", help="table of scores; without it the embedded evidence")
    arguments.add_argument("--anchor", help="benchmark that sets the scale of slopes")
    given = arguments.parse_args()
    frame, _ = read_any(None if given.scores is None else read_own_scores(given.scores))
    data = encode(frame, "max")
    anchor = published_anchor(data, given.anchor)
    fit = stitch(frame, method="rosetta", anchor_benchmark=data.benchmarks[anchor])
    tables = {"anchor_change": anchor_change(data, anchor), "link_shape": link_shape(data, seed=0)}
    tables |= dict(zip(("capability_bars", "difficulty_bars"), sens5(fit), strict=True))
    if np.isfinite(data.years).sum() >= FEWEST_SUBJECTS:
        tables["benchmark_inclusion"] = drop_benchmarks(data, anchor, 0)
        if "optimised" in frame.columns:
            tables["optimised_benchmarks"] = split_optimised(data, optimised_benchmarks(frame, data), 0)
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_hide_dataframe_shape=True):
        for name, table in tables.items():
            print(name, table, sep="\n")


if __name__ == "__main__":
    run(main)
