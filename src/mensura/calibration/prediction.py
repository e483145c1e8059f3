"""Rates of a pool nobody has seen, from the demands of its items alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from mensura.calibration.guessing import shown_depth
from mensura.calibration.hierarchical import HierarchicalFit, fit_hierarchical
from mensura.calibration.rated_items import RatedItems
from mensura.core.arrays import Floats

FEWEST_POOLS = 3
LEFT_OUT_COLUMNS: Mapping[str, Any] = {
    "pool": pl.String,
    "n": pl.Int64,
    "error": pl.Float64,
    "error_mean": pl.Float64,
    "r": pl.Float64,
    "coverage": pl.Float64,
}


def predict_rates(fit: HierarchicalFit, items: RatedItems, rng: np.random.Generator) -> Floats:
    """Return draws × items rates of a new pool: its shift and slopes, each item's own departure, people asked."""
    draws = len(fit.coefficients)
    levels = items.levels - fit.demanded.centre
    slopes = fit.coefficients[:, 1:] + fit.pool_slope * rng.standard_normal(fit.coefficients[:, 1:].shape)
    start = fit.coefficients[:, :1] + fit.shift * rng.standard_normal((draws, 1))
    depth = start + slopes @ levels.T + fit.residual * rng.standard_normal((draws, items.size))
    shown, _ = shown_depth(np.maximum(depth, 0.0), items.floor)
    rate: Floats = 10.0**-shown
    known = np.isfinite(items.n)
    if known.any():
        n = np.where(known, items.n, 1.0).astype(np.int64)
        rate = np.where(known, rng.binomial(n, np.clip(rate, 0.0, 1.0)) / n, rate)
    return rate


def predict_left_out_pools(items: RatedItems, *, draws: int = 1_000, seed: int = 0) -> pl.DataFrame:
    """Predict each pool from the others: pool, n, error, error_mean, r, coverage.

    ``error``: mean absolute error of the rates, predicted from demands; ``error_mean``: when every item is given the
    other pools' mean rate. ``r``: correlation of predicted and true rates. ``coverage``: share of items whose rate lies
    in its 90% interval.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for at, name in enumerate(items.pools if len(items.pools) >= FEWEST_POOLS else ()):
        train, test = items.kept(items.pool != at), items.kept(items.pool == at)
        drawn = predict_rates(fit_hierarchical(train, draws=draws, rng=rng), test, rng)
        guess = np.median(drawn, axis=0)
        low, high = np.quantile(drawn, [0.05, 0.95], axis=0)
        base = float(np.mean([train.observed[train.pool == k].mean() for k in range(len(train.pools))]))
        varied = guess.std() > 0 and test.observed.std() > 0
        rows.append(
            (
                name,
                test.size,
                float(np.abs(guess - test.observed).mean()),
                float(np.abs(base - test.observed).mean()),
                float(np.corrcoef(guess, test.observed)[0, 1]) if varied else None,
                float(np.mean((low <= test.observed) & (test.observed <= high))),
            )
        )
    return pl.DataFrame(rows, schema=LEFT_OUT_COLUMNS, orient="row")
