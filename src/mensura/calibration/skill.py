"""Skill: how well demands order the items of a pool by people's success, learned on the other pools alone.

It is the rank correlation of the predicted with the true order within each pool left out, averaged over items, or with
every pool alike. The plainest law is the measure for all: an item is as hard as the *largest* of its demands. A
dimension that orders items no better than that is no ruler, however narrow the interval of its base.

Rates of a pool nobody has seen, from the demands of its items alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from mensura.calibration.depths import shown_depth
from mensura.calibration.hierarchical import HierarchicalFit, fit_hierarchical
from mensura.calibration.items import RatedItems
from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError

FEWEST_POOLS = 3


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


LARGEST, EVERY, CONSTANT = "largest demand", "every demand", "constant"
FEWEST_IN_POOL = 8
"""Items of a pool that make a rank correlation count."""
SKILL_COLUMNS: Mapping[str, Any] = {
    "predictor": pl.String,
    "pools": pl.Int64,
    "n": pl.Int64,
    "by_items": pl.Float64,
    "by_pools": pl.Float64,
}
RULER_COLUMNS: Mapping[str, Any] = {
    "dimension": pl.String,
    "pools": pl.Int64,
    "skill": pl.Float64,
    "largest": pl.Float64,
    "ruler": pl.Boolean,
}


def largest_demand(items: RatedItems) -> RatedItems:
    """Return the same items with one demand each, the largest of theirs: the law that the hardest demand decides."""
    if not items.dimensions:
        raise MensuraError("largest demand: the items have no dimensions; give demands with at least one")
    return replace(
        items,
        dimensions=("largest",),
        levels=items.levels.max(axis=1, keepdims=True),
        deciding=items.levels.max(axis=1, keepdims=True) > 0,
        level_error=np.array([items.level_error.mean()]),
        level_doubt=np.array([items.level_doubt.mean()]),
    )


def compare_predictors(
    items: RatedItems, told: Mapping[str, Floats] | None = None, *, draws: int = 200, seed: int = 0
) -> pl.DataFrame:
    """Return predictor, pools, n, by_items, by_pools: how well each orders the items of pools left out.

    ``items``: with the rates of the people who took them. ``told``: further predictors by name, one predicted rate per
    item, NaN where there is none; they are compared as they are.
    """
    rows = {
        EVERY: predict_pools(items, draws=draws, seed=seed),
        LARGEST: -items.levels.max(axis=1),
        CONSTANT: np.zeros(items.size),
        **(told or {}),
    }
    found = [(name, *skill_of(items, guess)) for name, guess in rows.items()]
    return pl.DataFrame(found, schema=SKILL_COLUMNS, orient="row")


def judge_rulers(items: RatedItems) -> pl.DataFrame:
    """Return dimension, pools, skill, largest, ruler: the order of items by each dimension and by the largest demand.

    Both on the pools where the dimension varies, pools counting alike. The other pools give a dimension's direction.
    Without three such pools nothing can be said, and ``ruler`` is null.
    """
    rows: list[tuple[object, ...]] = []
    for at, name in enumerate(items.dimensions):
        level = items.levels[:, at]
        usable = [
            k for k in range(len(items.pools)) if _varied(level[items.pool == k], items.observed[items.pool == k])
        ]
        if len(usable) < FEWEST_POOLS:
            rows.append((name, len(usable), None, None, None))
            continue
        own = np.array([-_rank_correlation(level[items.pool == k], items.observed[items.pool == k]) for k in usable])
        others = (own.sum() - own) / (len(own) - 1)
        skill = float(np.mean(np.sign(others) * own))
        top = items.levels.max(axis=1)
        largest = [-_rank_correlation(top[items.pool == k], items.observed[items.pool == k]) for k in usable]
        rows.append((name, len(usable), skill, float(np.mean(largest)), skill > float(np.mean(largest))))
    return pl.DataFrame(rows, schema=RULER_COLUMNS, orient="row")


def predict_pools(items: RatedItems, *, draws: int = 200, seed: int = 0) -> Floats:
    """Return the rate of every item, predicted from all its demands with what the other pools teach."""
    if len(items.pools) < FEWEST_POOLS:
        raise MensuraError(
            f"pools: got {len(items.pools)}; expected {FEWEST_POOLS} or more, to leave one out at a time"
        )
    rng = np.random.default_rng(seed)
    guess = np.empty(items.size)
    for k in range(len(items.pools)):
        here = items.pool == k
        fit = fit_hierarchical(items.kept(~here), draws=draws, rng=rng)
        guess[here] = np.median(
            predict_rates(fit, replace(items.kept(here), n=np.full(here.sum(), np.nan)), rng), axis=0
        )
    return guess


def skill_of(items: RatedItems, guess: Floats) -> tuple[int, int, float | None, float | None]:
    """Return pools, items, and the mean rank correlation within pools, by items and by pools; 0 where all are alike."""
    found = []
    for k in range(len(items.pools)):
        here = (items.pool == k) & np.isfinite(guess)
        if here.sum() >= FEWEST_IN_POOL and np.ptp(items.observed[here]) > 0:
            found.append((int(here.sum()), _rank_correlation(guess[here], items.observed[here])))
    if not found:
        return 0, 0, None, None
    sizes, values = (np.array(part) for part in zip(*found, strict=True))
    return len(found), int(sizes.sum()), float(np.average(values, weights=sizes)), float(values.mean())


def _varied(level: Floats, rate: Floats) -> bool:
    return bool(level.size >= FEWEST_IN_POOL and np.ptp(level) > 0 and np.ptp(rate) > 0)


def _rank_correlation(one: Floats, other: Floats) -> float:
    """Return Spearman's rank correlation, 0 where one side does not vary."""
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return 0.0
    from scipy.stats import spearmanr

    return float(spearmanr(one, other).statistic)
