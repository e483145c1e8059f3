"""Does the published result hang on its choices? Anchor, benchmarks, optimised benchmarks, shape of the link."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import polars as pl
from scipy.optimize import least_squares
from scipy.sparse import csr_array
from scipy.stats import rankdata

from mensura.stitching.checks import position
from mensura.stitching.fit import read_any
from mensura.stitching.heldout import fold_numbers
from mensura.stitching.layout import Floats, Mask
from mensura.stitching.rosetta import penalty_weight, shift_to_anchor, solve_rosetta
from mensura.stitching.scores import ScoreSet, encode

DROPPED = 0.3
DRAWS = 100


def robustness_tables(
    scores: Any = None,  # noqa: ANN401
    *,
    anchor_benchmark: str | None = None,
    seed: int = 0,
) -> dict[str, pl.DataFrame]:
    """Run all checks of the published method on one data set; a check its columns cannot serve is left out.

    Tables ``anchor_change``, ``benchmark_inclusion`` (needs release dates), ``link_shape``, ``optimised_benchmarks``
    (needs release dates and a column ``optimised``: whether labs optimise for the benchmark). The scale of slopes is
    that of ``anchor_benchmark`` (default: the one with most scores).
    """
    frame, _ = read_any(scores)
    data = encode(frame, "max")
    anchor = int(np.argmax(np.bincount(data.layout.cols)))
    if anchor_benchmark is not None:
        anchor = position(data.benchmarks, anchor_benchmark, "anchor_benchmark")
    tables = {"anchor_change": anchor_change(data, anchor), "link_shape": link_shape(data, seed=seed)}
    if np.isfinite(data.years).sum() >= 3:
        tables["benchmark_inclusion"] = benchmark_inclusion(data, anchor, seed=seed)
        if "optimised" in frame.columns:
            tables["optimised_benchmarks"] = optimised_benchmarks(data, _optimised(frame, data), seed=seed)
    return tables


def anchor_change(data: ScoreSet, anchor: int) -> pl.DataFrame:
    """One fit per anchor: mean rank correlation of its capabilities and difficulties with all other fits'.

    Every anchor's slope is held at its value in the fit anchored on ``anchor``, so that the unit, and with it the
    weight of the penalty, stays. Columns anchor, capability, difficulty.
    """
    first = solve_rosetta(data.layout, data.y, anchor=anchor)
    fits = [
        solve_rosetta(data.layout, data.y, anchor=other, anchor_slope=float(slope), start=first)
        for other, slope in enumerate(first.slope[0])
    ]
    columns: dict[str, Any] = {"anchor": data.benchmarks}
    for name, values in (("capability", [f.C[0] for f in fits]), ("difficulty", [f.D[0] for f in fits])):
        correlation = np.corrcoef([rankdata(v) for v in values])
        columns[name] = (correlation.sum(axis=1) - 1) / (len(fits) - 1)
    return pl.DataFrame(columns).sort("capability")


def benchmark_inclusion(data: ScoreSet, anchor: int, *, seed: int = 0) -> pl.DataFrame:
    """Frontier slope per year when 30% of the benchmarks, never the anchor, are dropped at random: quantile, slope."""
    rng = np.random.default_rng(seed)
    others = np.array([b for b in range(len(data.benchmarks)) if b != anchor])
    n_drop = int(DROPPED * len(data.benchmarks))
    kept = np.ones((DRAWS, len(data.benchmarks)), dtype=bool)
    for row in kept:
        row[rng.choice(others, n_drop, replace=False)] = False
    slopes = _frontier_slopes(data, kept, anchor)
    levels = (0.025, 0.5, 0.975)
    return pl.DataFrame({"quantile": levels, "slope_per_year": np.quantile(slopes, levels)})


def optimised_benchmarks(data: ScoreSet, optimised: Mask, *, seed: int = 0) -> pl.DataFrame:
    """Frontier slope on benchmarks labs optimise for against the others, beside random splits of the same sizes.

    Slopes are in standard deviations of all subjects' capabilities per year. Columns side, benchmarks, slope_per_year;
    the last row is the share of random splits with a difference at least as large.
    """
    rng = np.random.default_rng(seed)
    splits = np.stack([optimised, *(rng.permutation(optimised) for _ in range(DRAWS))])
    slopes = np.stack([_frontier_slopes(data, side, None) for side in (splits, ~splits)])
    gap = np.abs(slopes[0] - slopes[1])
    return pl.DataFrame(
        {
            "side": ["optimised for", "not optimised for", "random splits at least as far apart"],
            "benchmarks": [int(optimised.sum()), int((~optimised).sum()), None],
            "slope_per_year": [slopes[0, 0], slopes[1, 0], float((gap[1:] >= gap[0]).mean())],
        }
    )


def frontier_slope(years: Floats, capability: Floats) -> float:
    """Least-squares slope per year through the subjects that were best at their release."""
    order = np.lexsort((-capability, years))
    t, c = years[order], capability[order]
    best = c > np.concatenate(([-np.inf], np.maximum.accumulate(c)[:-1]))
    return float(np.polyfit(t[best], c[best], 1)[0]) if best.sum() > 1 else float("nan")


def _frontier_slopes(data: ScoreSet, kept: Mask, anchor: int | None) -> Floats:
    """Frontier slope of every set of kept benchmarks; on the anchor's scale, or in standard deviations without one."""
    layout = data.layout
    weights = np.take(kept.astype(float), layout.cols, axis=1)
    seen = layout.over_subjects(weights) > 0
    penalty = np.array(
        [
            penalty_weight(int(s.sum()), int(k.sum()), anchored=anchor is not None)
            for s, k in zip(seen, kept, strict=True)
        ]
    )
    fits = solve_rosetta(layout, data.y, anchor=anchor, weights=weights, penalty=penalty)
    if anchor is not None:
        fits = shift_to_anchor(fits, anchor)
    slopes = []
    for C, here in zip(fits.C, seen, strict=True):
        use = here & np.isfinite(data.years)
        unit = 1.0 if anchor is not None else C[use].std()
        slopes.append(frontier_slope(data.years[use], C[use]) / unit)
    return np.array(slopes)


def link_shape(data: ScoreSet, *, folds: int = 10, seed: int = 0) -> pl.DataFrame:
    """Sigmoid against clipped line, both without penalty and bounds, cross-validated: link, r2, mse."""
    fold = fold_numbers(data.y.size, folds, seed)
    rows = []
    for link in ("sigmoid", "clipped line"):
        predicted = np.empty(data.y.size)
        for k in range(folds):
            predicted[fold == k] = _fit_link(data, fold != k, link)[fold == k]
        mse = float(np.mean((predicted - data.y) ** 2))
        rows.append((link, 1 - mse / float(np.var(data.y)), mse))
    return pl.DataFrame(rows, schema=["link", "r2", "mse"], orient="row")


def _fit_link(data: ScoreSet, train: Mask, link: Literal["sigmoid", "clipped line"]) -> Floats:
    """Fit on some cells without any penalty (the busiest benchmark anchors the scale) and predict all of them."""
    rows, cols = data.layout.rows, data.layout.cols
    m, b = len(data.subjects), len(data.benchmarks)
    anchor = int(np.argmax(np.bincount(cols)))

    def expected(p: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        distance, slope = p[rows] - p[m + cols], p[m + b + cols]
        eta = slope * distance
        if link == "sigmoid":
            s = 1 / (1 + np.exp(-np.clip(eta, -40, 40)))
            return s, s * (1 - s), slope, distance
        return np.clip(eta, 0, 1), ((eta > 0) & (eta < 1)).astype(float), slope, distance

    def residual(p: Floats) -> Floats:
        return (expected(p)[0] - data.y)[train]

    def jacobian(p: Floats) -> csr_array:
        _, d, slope, distance = (x[train] for x in expected(p))
        i = np.arange(d.size)
        free = cols[train] != anchor
        values = np.concatenate((d * slope, -d * slope * free, d * distance * free))
        where = np.concatenate((rows[train], m + cols[train], m + b + cols[train]))
        return csr_array((values, (np.tile(i, 3), where)), shape=(d.size, m + 2 * b))

    start = _link_start(data, link, anchor)
    found = least_squares(residual, start, jac=jacobian, method="trf", max_nfev=100)
    return expected(found.x)[0]


def _link_start(data: ScoreSet, link: str, anchor: int) -> Floats:
    """Start both links from the penalised sigmoid fit; a line through its middle has a quarter of its slope."""
    fit = solve_rosetta(data.layout, data.y, anchor=anchor)
    C, D, slope = fit.C[0], fit.D[0], fit.slope[0]
    if link == "clipped line":
        slope = slope / 4
        D = D - 0.5 / slope
        unit = slope[anchor]
        C, D, slope = C * unit, D * unit, slope / unit
    return np.concatenate((C - D[anchor], D - D[anchor], slope))


def _optimised(frame: pl.DataFrame, data: ScoreSet) -> Mask:
    by_benchmark = frame.group_by("benchmark").agg(pl.col("optimised").cast(pl.Boolean).any())
    flags = dict(by_benchmark.iter_rows())
    return np.array([bool(flags[name]) for name in data.benchmarks])
