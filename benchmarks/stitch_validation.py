"""Held-out error: which method, how many dimensions and how much pooling predict scores that were not seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from mensura.core.arrays import Ints
from mensura.core.errors import MensuraError
from mensura.stitching import read_any, stitch

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
) -> pl.DataFrame:
    """Cross-validate every setting on the same cells and splits; each seed of ``splits`` makes one random split.

    Columns: setting, rmse, mae, coverage (of nominal 90% intervals), unconverged (fits), change (of rmse against the
    first setting). Only cells that every setting predicts count; rosetta cannot if a subject or benchmark has no other
    score, and a fit that did not converge predicts nothing.
    """
    frame = merge_cells(read_any(scores)[0])
    parts = []
    for name, options in settings.items():
        for seed in splits:
            fold = fold_numbers(frame.height, folds, seed)
            for k in range(folds):
                test = pl.Series(fold == k)
                asked = frame.filter(test).select("subject", "benchmark", "score", split=pl.lit(seed), fold=pl.lit(k))
                parts.append(_predicted(frame.filter(~test), asked, name, options))
    cells = pl.concat(parts)
    error, one_fit = pl.col("predicted") - pl.col("score"), ("setting", "split", "fold")
    lost = (
        cells.unique(one_fit, maintain_order=True)
        .group_by("setting")
        .agg(unconverged=pl.col("lost").sum().cast(pl.Int64))
    )
    kept = _in_common(cells)
    if kept.is_empty():
        raise MensuraError(
            f"scores: no score is predicted by every setting; {lost['unconverged'].sum()} fits did not converge. Add "
            "scores, or leave out what has few"
        )
    by_split = kept.group_by("setting", "split", maintain_order=True).agg(rmse=(error**2).mean().sqrt())
    table = by_split.group_by("setting", maintain_order=True).agg(pl.col("rmse").mean())
    more = kept.group_by("setting").agg(
        mae=error.abs().mean(), coverage=pl.col("score").is_between("low", "high").mean()
    )
    table = table.join(more, on="setting", maintain_order="left").join(lost, on="setting", maintain_order="left")
    return table.with_columns(change=pl.col("rmse") / pl.col("rmse").first() - 1)


def merge_cells(frame: pl.DataFrame) -> pl.DataFrame:
    """Return one row per subject and benchmark: the mean score, and the first of what else is said."""
    others = (pl.col(name).first() for name in frame.columns if name not in ("subject", "benchmark", "score"))
    return frame.group_by("subject", "benchmark", maintain_order=True).agg(pl.col("score").mean(), *others)


def fold_numbers(n: int, folds: int, seed: int) -> Ints:
    """Assign ``n`` cells to folds of nearly equal size at random."""
    return np.random.default_rng(seed).permutation(np.arange(n) % folds)


def _predicted(known: pl.DataFrame, asked: pl.DataFrame, name: str, options: Mapping[str, object]) -> pl.DataFrame:
    """Fit a setting to known scores and add its predictions to others: setting, predicted, low, high, lost.

    ``lost`` says that the fit did not converge; its predictions are null.
    """
    fit = stitch(known, parts="keep", **options)  # type: ignore[arg-type]
    lost = not fit.convergence.converged
    given = dict.fromkeys(("predicted", "low", "high"), pl.lit(None, pl.Float64))
    if not lost:
        guesses = fit.predict(asked)
        given = {"predicted": guesses["score"], "low": guesses["low"], "high": guesses["high"]}  # type: ignore[dict-item]
    return asked.with_columns(setting=pl.lit(name), lost=pl.lit(lost), **given)


def _in_common(cells: pl.DataFrame) -> pl.DataFrame:
    """Keep the cells that every setting predicts."""
    numbered = cells.with_columns(cell=pl.int_range(pl.len()).over("setting"))
    return numbered.filter(pl.col("predicted").is_not_null().all().over("cell"))


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
) -> pl.DataFrame:
    """Predict later models' scores from models before each origin and ``given`` scores of the later ones.

    Origins are five days a quarter apart unless given, the last one half a year before the last release. Columns:
    setting, scores, rmse, mae, bias (predicted minus measured), coverage (of nominal 90% intervals), widening (factor
    on the half-widths that would have covered 90%), beyond (bias where more than the benchmark's past maximum was
    predicted), surpassed (bias where more was scored: chosen by the outcome, so low for any honest prediction), change.
    """
    frame, _ = read_any(scores)
    if "released" not in frame.columns or frame["released"].null_count() == frame.height:
        raise MensuraError("scores: no column 'released'; predicting forward in time needs release dates")
    dated = merge_cells(frame).with_columns(_as_date(frame.schema["released"])).drop_nulls("released")
    parts = []
    for vintage in vintages(dated, origins, given, seed):
        for name, options in settings.items():
            parts.append(
                _predicted(vintage.known, vintage.later.select("subject", "benchmark", "score", "past"), name, options)
            )
    if not parts:
        raise MensuraError(
            f"origins: no origin has {FEWEST_MODELS} models before it and later ones to predict; choose other origins"
        )
    cells = _in_common(pl.concat(parts))
    error = pl.col("predicted") - pl.col("score")
    side = pl.when(error < 0).then(pl.col("high") - pl.col("predicted")).otherwise(pl.col("predicted") - pl.col("low"))
    table = cells.group_by("setting", maintain_order=True).agg(
        scores=pl.len(),
        rmse=(error**2).mean().sqrt(),
        mae=error.abs().mean(),
        bias=error.mean(),
        coverage=pl.col("score").is_between("low", "high").mean(),
        widening=(error.abs() / side.clip(1e-6)).quantile(0.9),
        beyond=error.filter(pl.col("predicted") > pl.col("past")).mean(),
        surpassed=error.filter(pl.col("score") > pl.col("past")).mean(),
    )
    return table.with_columns(change=pl.col("rmse") / pl.col("rmse").first() - 1)


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
        shown = later.filter(pl.col("turn") <= given).drop("turn", "past")
        yield Vintage(origin, pl.concat([before, shown]), later.filter(pl.col("turn") > given).drop("turn"))


def _quarters(released: pl.Series) -> list[date]:
    """Return origins a quarter apart, the last one half a year before the last release."""
    last = pl.Series([released.max()], dtype=pl.Date)
    return [last.dt.offset_by(f"-{6 + 3 * i}mo")[0] for i in reversed(range(ORIGINS))]


def _as_date(dtype: pl.DataType) -> pl.Expr:
    day = pl.col("released")
    return day.str.to_date("%Y-%m-%d", strict=False) if dtype == pl.String else day.cast(pl.Date)
