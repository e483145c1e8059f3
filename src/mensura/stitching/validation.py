"""Held-out error: which method, how many dimensions and how much pooling predict scores that were not seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

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


# Forward in time: models known before a date, a few scores of each later one, and how well the rest is predicted.
#
# Held-out cells chosen at random have neighbours on both sides of their date; a new model has none after it. This is
# the error that a forecast lives with, and by which dimensions and widening are chosen (rolling origins).

FORWARD: Mapping[str, Mapping[str, object]] = {
    "rosetta (as published)": {"method": "rosetta"},
    "pooled (default)": {},
    "pooled, 1 dimension": {"dimensions": 1},
    "pooled, 2 dimensions": {"dimensions": 2},
}
"""The comparison behind the default's dimensions."""
GIVEN = 3
"""Scores of every new model that are given."""
WINDOW = "6mo"
"""Models released within this time after an origin are new."""
FEWEST_KNOWN = 3
"""Scores before the origin that a benchmark needs to be predicted."""
FEWEST_MODELS = 20
"""Models before an origin."""
ORIGINS = 5


class Vintage(NamedTuple):
    """What was known at ``origin`` with the given scores of later models, and the scores to predict (with ``past``)."""

    origin: date
    known: pl.DataFrame
    later: pl.DataFrame


def forward_errors(
    scores: Any = None,  # noqa: ANN401
    settings: Mapping[str, Mapping[str, object]] = FORWARD,
    *,
    origins: Sequence[date] | None = None,
    given: int = GIVEN,
    seed: int = 0,
    advance: Callable[[], object] | None = None,
) -> pl.DataFrame:
    """Predict later models' scores from models before each origin and ``given`` scores of the later ones.

    Columns setting, scores, rmse, mae, bias (predicted minus measured), coverage (of nominal 90% intervals), widening
    (factor on the intervals' half-widths that would have covered 90%), beyond (bias where more than the benchmark's
    past maximum was predicted), surpassed (bias where more than the past maximum was scored: chosen by the outcome, so
    low for any honest prediction), change (rmse against the first setting). Default origins: five, a quarter apart, the
    last one half a year before the last release.
    """
    frame, _ = read_any(scores)
    if "released" not in frame.columns or frame["released"].null_count() == frame.height:
        raise MensuraError("scores: no column 'released'; predicting forward in time needs release dates")
    dated = merge_cells(frame).with_columns(_as_date(frame.schema["released"])).drop_nulls("released")
    found = []
    for vintage in vintages(dated, origins, given, seed):
        for name, options in settings.items():
            fit = stitch(vintage.known, parts="keep", **options)  # type: ignore[arg-type]
            predicted = predict_converged(fit, vintage.later).rename({"score": "predicted"})
            later = vintage.later.select("score", "past").with_columns(setting=pl.lit(name))
            found.append(pl.concat([later, predicted], how="horizontal"))
            if advance:
                advance()
    if not found:
        raise MensuraError(
            f"origins: no origin has {FEWEST_MODELS} models before it and later ones to predict; choose other origins"
        )
    return _summed(pl.concat(found))


def vintages(frame: pl.DataFrame, origins: Sequence[date] | None, given: int, seed: int) -> Iterator[Vintage]:
    """Yield what was known at every origin; ``given`` scores of each later model are drawn at random."""
    rng = np.random.default_rng(seed)
    for origin in _quarters(frame["released"]) if origins is None else origins:
        end = pl.Series([origin]).dt.offset_by(WINDOW)[0]
        before = frame.filter(pl.col("released") < origin).filter(pl.len().over("benchmark") >= FEWEST_KNOWN)
        past = before.group_by("benchmark").agg(pl.col("score").max().alias("past"))
        later = (
            frame.filter(pl.col("released").is_between(origin, end, closed="left"))
            .join(past, on="benchmark", maintain_order="left")
            .filter(pl.len().over("subject") > given)
        )
        if before["subject"].n_unique() < FEWEST_MODELS or later.height == 0:
            continue
        order = pl.Series(rng.random(later.height))
        later = later.with_columns(order.alias("turn")).with_columns(pl.col("turn").rank().over("subject"))
        told = later.filter(pl.col("turn") <= given).drop("turn", "past")
        yield Vintage(origin, pl.concat([before, told]), later.filter(pl.col("turn") > given).drop("turn"))


def _summed(cells: pl.DataFrame) -> pl.DataFrame:
    """Errors per setting over the cells that every setting predicts."""
    n = cells["setting"].n_unique()
    cells = cells.with_columns(cell=pl.int_range(pl.len()).over("setting"))
    cells = cells.filter((pl.col("predicted").is_not_null().sum().over("cell")) == n)
    error = pl.col("predicted") - pl.col("score")
    inside = pl.col("score").is_between("low", "high")
    side = pl.when(error < 0).then(pl.col("high") - pl.col("predicted")).otherwise(pl.col("predicted") - pl.col("low"))
    table = cells.group_by("setting", maintain_order=True).agg(
        pl.len().alias("scores"),
        (error**2).mean().sqrt().alias("rmse"),
        error.abs().mean().alias("mae"),
        error.mean().alias("bias"),
        inside.mean().alias("coverage"),
        (error.abs() / side.clip(1e-6)).quantile(0.9).alias("widening"),
        error.filter(pl.col("predicted") > pl.col("past")).mean().alias("beyond"),
        error.filter(pl.col("score") > pl.col("past")).mean().alias("surpassed"),
    )
    return table.with_columns(change=pl.col("rmse") / pl.col("rmse").first() - 1)


def _quarters(released: pl.Series) -> list[date]:
    """Return origins a quarter apart, the last one half a year before the last release."""
    last = pl.Series([released.max()], dtype=pl.Date)
    return [last.dt.offset_by(f"-{6 + 3 * i}mo")[0] for i in reversed(range(ORIGINS))]


def _as_date(dtype: pl.DataType) -> pl.Expr:
    day = pl.col("released")
    return day.str.to_date("%Y-%m-%d", strict=False) if dtype == pl.String else day.cast(pl.Date)
