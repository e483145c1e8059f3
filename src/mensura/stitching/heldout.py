"""Held-out error: which method, how many dimensions and how much pooling predict scores that were not seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, Ints
from mensura.core.errors import MensuraError
from mensura.stitching.fit import read_any, stitch
from mensura.stitching.result import Stitch

SETTINGS: Mapping[str, Mapping[str, object]] = {
    "rosetta (as published)": {"method": "rosetta"},
    "pooled (default)": {},
    "pooled, 1 dimension": {"dimensions": 1},
    "pooled, 2 dimensions": {"dimensions": 2},
    "pooled, 3 dimensions": {"dimensions": 3},
    "pooled, 5 dimensions": {"dimensions": 5},
    "pooled, prior without dates and tests taken": {"informed": False},
    "pooled, pooling × 1/2": {"pooling": 0.5},
    "pooled, pooling × 2": {"pooling": 2.0},
}
"""The comparison behind the defaults, and their sensitivity."""


def held_out_errors(
    scores: Any = None,  # noqa: ANN401
    settings: Mapping[str, Mapping[str, object]] = SETTINGS,
    *,
    splits: Sequence[int] = (0,),
    folds: int = 10,
    advance: Callable[[], object] | None = None,
) -> pl.DataFrame:
    """Cross-validate every setting on the same cells and splits (one split per seed).

    Columns setting, rmse, mae, coverage (of nominal 90% intervals), unconverged (fits that did not arrive), change
    (rmse against the first setting). Only cells that every setting predicts count (rosetta cannot when a subject or
    benchmark has no other score).
    """
    frame, _ = read_any(scores)
    merged = merge_cells(frame)
    found = {
        name: [_errors(merged, options, seed, folds, advance) for seed in splits] for name, options in settings.items()
    }
    common = [np.all([np.isfinite(runs[i][0][0]) for runs in found.values()], axis=0) for i in range(len(splits))]
    if not any(use.any() for use in common):
        lost = sum(lost for runs in found.values() for _, lost in runs)
        raise MensuraError(
            f"scores: no score is predicted by every setting; {lost} fits did not converge. Add scores, or leave out "
            "what has few"
        )
    rows = []
    for name, runs in found.items():
        kept = [run[:, use] for (run, _), use in zip(runs, common, strict=True)]
        rmse = float(np.mean([np.sqrt(np.mean(error**2)) for error, _ in kept]))
        error, inside = np.concatenate(kept, axis=1)
        rows.append((name, rmse, float(np.abs(error).mean()), float(inside.mean()), sum(lost for _, lost in runs)))
    table = pl.DataFrame(rows, schema=["setting", "rmse", "mae", "coverage", "unconverged"], orient="row")
    return table.with_columns(change=pl.col("rmse") / pl.col("rmse").first() - 1)


def merge_cells(frame: pl.DataFrame) -> pl.DataFrame:
    """Return one row per subject and benchmark: the mean score, and the first of what else is said."""
    others = (pl.col(name).first() for name in frame.columns if name not in ("subject", "benchmark", "score"))
    return frame.group_by("subject", "benchmark", maintain_order=True).agg(pl.col("score").mean(), *others)


def predict_converged(fit: Stitch, pairs: pl.DataFrame) -> pl.DataFrame:
    """Predict pairs: score, low, high; all null where the fit did not converge, which gives no numbers."""
    if fit.convergence.converged:
        return fit.predict(pairs).select("score", "low", "high")
    return pairs.select(pl.lit(None, pl.Float64).alias(name) for name in ("score", "low", "high"))


def fold_numbers(n: int, folds: int, seed: int) -> Ints:
    """Assign ``n`` cells to folds of nearly equal size at random."""
    return np.random.default_rng(seed).permutation(np.arange(n) % folds)


def _errors(
    frame: pl.DataFrame, options: Mapping[str, object], seed: int, folds: int, advance: Callable[[], object] | None
) -> tuple[Floats, int]:
    """Prediction error and interval hit (2, cells), each predicted by a fit that has not seen it; fits not arrived."""
    fold = fold_numbers(frame.height, folds, seed)
    error, inside = np.full(frame.height, np.nan), np.full(frame.height, np.nan)
    lost = 0
    for k in range(folds):
        test = pl.Series(fold == k)
        fit = stitch(frame.filter(~test), parts="keep", **options)  # type: ignore[arg-type]
        truth = frame.filter(test)["score"]
        predicted = predict_converged(fit, frame.filter(test))
        lost += not fit.convergence.converged
        error[fold == k] = (predicted["score"] - truth).cast(pl.Float64).fill_null(np.nan).to_numpy()
        hit = (predicted["low"] <= truth) & (truth <= predicted["high"])
        inside[fold == k] = hit.cast(pl.Float64).fill_null(np.nan).to_numpy()
        if advance:
            advance()
    return np.stack((error, inside)), lost
