"""Forward in time: models known before a date, a few scores of each later one, and how well the rest is predicted.

Held-out cells chosen at random have neighbours on both sides of their date; a new model has none after it. This is
the error that a forecast lives with, and by which dimensions and widening are chosen (rolling origins).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from mensura.core.errors import MensuraError
from mensura.stitching.fit import read_any, stitch
from mensura.stitching.heldout import merge_cells, predict_converged

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
