"""Pool what several runs and models said of an item into one logit and one stated spread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, logit

NEAREST = 0.005
"""Estimates nearer to 0 or 1 count as this near: nobody tells 0.999 from 0.9999 by judgement."""
Z90 = 1.6448536269514722
"""Half of a 90% interval in standard deviations."""
NARROWEST = 0.05
"""Least stated spread in logits: an interval without width is a slip, not knowledge."""


@dataclass(frozen=True, eq=False)
class PooledEstimates:
    """One entry per item: mean logit, stated spread (SD in logits), number of runs and of models."""

    items: tuple[str, ...]
    logit: Floats
    spread: Floats
    runs: Floats
    models: Floats

    def share_of_error(self, between_runs: float, between_models: float) -> Floats:
        """Return the variance of the mean's error as a share of one run's, by the correlations of errors.

        ``between_runs``: correlation of two runs of one model; ``between_models``: of two models.
        """
        per_model = self.runs / self.models
        one_model = between_runs + (1 - between_runs) / per_model
        between = min(between_models, between_runs)
        shared: Floats = np.where(self.models > 1, between + (one_model - between) / self.models, one_model)
        return shared


def pool_estimates(table: pl.DataFrame, usual_spread: float) -> PooledEstimates:
    """Pool a table of item, rate, low, high, model, run: models count alike, and runs within a model.

    ``usual_spread``: the stated SD where an estimate has no interval. Models that disagree widen the spread.
    """
    rows = table.with_columns(
        _logit("rate").alias("at"),
        ((_logit("high") - _logit("low")) / (2 * Z90)).clip(NARROWEST).fill_null(usual_spread).alias("spread"),
    )
    by_model = rows.group_by("item", "model", maintain_order=True).agg(
        pl.col("at").mean(), (pl.col("spread") ** 2).mean(), runs=pl.len(), within=pl.col("at").var().fill_null(0.0)
    )
    pooled = by_model.group_by("item", maintain_order=True).agg(
        pl.col("at").mean(),
        (pl.col("spread").mean() + pl.col("at").var().fill_null(0.0) + pl.col("within").mean()).sqrt().alias("spread"),
        pl.col("runs").sum(),
        models=pl.len(),
    )
    numbers = (pooled[name].cast(pl.Float64).to_numpy() for name in ("at", "spread", "runs", "models"))
    return PooledEstimates(tuple(pooled["item"].to_list()), *numbers)


def _logit(name: str) -> pl.Expr:
    rate = pl.col(name).cast(pl.Float64).clip(NEAREST, 1 - NEAREST)
    return (rate / (1 - rate)).log()


def logit_rate(rate: Floats, n: Floats) -> tuple[Floats, Floats]:
    """Return a counted rate as a logit and its sampling variance; half an answer is added to each side.

    ``n``: number of people; infinite where the rate is exact. So 9 of 9 is a finite logit with a wide error.
    """
    finite = np.where(np.isfinite(n), n, 1e9)
    smooth = np.clip((rate * finite + 0.5) / (finite + 1), 1e-4, 1 - 1e-4)
    return logit(smooth), 1.0 / (finite * smooth * (1 - smooth))
