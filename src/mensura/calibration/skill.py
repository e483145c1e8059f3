"""Skill: how well demands order the items of a pool by people's success, learned on the other pools alone.

It is the rank correlation of the predicted with the true order within each pool left out, averaged over items, or with
every pool alike. The plainest law is the measure for all: an item is as hard as the *largest* of its demands. A
dimension that orders items no better than that is no ruler, however narrow the interval of its base.

Rates of a pool nobody has seen, from the demands of its items alone. And the verdict on a base: one of the
published classes, or that the items do not identify it, and why.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from mensura.calibration.depths import shown_depth
from mensura.calibration.hierarchical import HierarchicalFit, fit_hierarchical
from mensura.calibration.items import RatedItems, published_groups
from mensura.calibration.result import RULER_COLUMNS
from mensura.core.arrays import Floats, just_below, rank_correlation
from mensura.core.errors import MensuraError
from mensura.scale import Calibration, scaling_of

FEWEST_POOLS = 3
FEWEST_LEVELS, FEWEST_PER_LEVEL = 3, 3
"""Levels a line needs, and items that make a level count: through two points any line fits."""
FEWEST_ITEMS = 20
"""Items that must differ from the commonest level of a dimension."""
WIDEST = 1.0
"""Widest interval of log10 base: beyond a factor of ten between its ends a base says nothing of use."""
NEGATIVE = "negative slope"
UNKNOWN = "not identified"


def predict_rates(fit: HierarchicalFit, items: RatedItems, rng: np.random.Generator) -> Floats:
    """Return draws × items rates of a new pool: its shift and slopes, each item's own departure, people asked."""
    draws = len(fit.coefficients)
    levels = items.levels - fit.demanded.centre
    slopes = fit.coefficients[:, 1:] + fit.pool_slope * rng.standard_normal(fit.coefficients[:, 1:].shape)
    start = fit.coefficients[:, :1] + fit.shift * rng.standard_normal((draws, 1))
    depth = start + slopes @ levels.T + fit.residual * rng.standard_normal((draws, items.size))
    shown, _ = shown_depth(np.maximum(depth, 0.0), items.floor)
    rate: Floats = 10.0**-shown
    counted = np.isfinite(items.n)
    if counted.any():
        n = np.where(counted, items.n, 1.0).astype(np.int64)
        rate = np.where(counted, rng.binomial(n, np.clip(rate, 0.0, 1.0)) / n, rate)
    return rate


LARGEST, EVERY, CONSTANT = "largest demand", "every demand", "constant"
FEWEST_IN_POOL = 8
"""Items of a pool that make a rank correlation count."""
SKILL_COLUMNS: Mapping[str, Any] = {
    "predictor": pl.String,
    **dict.fromkeys(("pools", "n"), pl.Int64),
    **dict.fromkeys(("by_items", "by_pools"), pl.Float64),
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
    items: RatedItems, predictors: Mapping[str, Floats] | None = None, *, draws: int = 200, seed: int = 0
) -> pl.DataFrame:
    """Return predictor, pools, n, by_items, by_pools: how well each orders the items of pools left out.

    ``items``: with the rates of the people who took them. ``predictors``: further ones by name, one predicted rate per
    item, NaN where there is none; they are compared as they are.
    """
    rows = {
        EVERY: predict_pools(items, draws=draws, seed=seed),
        LARGEST: -items.levels.max(axis=1),
        CONSTANT: np.zeros(items.size),
        **(predictors or {}),
    }
    table = [(name, *skill_of(items, guess)) for name, guess in rows.items()]
    return pl.DataFrame(table, schema=SKILL_COLUMNS, orient="row")


def judge_rulers(items: RatedItems) -> pl.DataFrame:
    """Return dimension, pools, skill, largest, ruler: the order of items by each dimension and by the largest demand.

    Both on the pools where the dimension varies, pools counting alike. The other pools give a dimension's direction.
    Without three such pools ``ruler`` is null.
    """
    top = items.levels.max(axis=1)
    members = [np.flatnonzero(items.pool == k) for k in range(len(items.pools))]
    rows: list[tuple[object, ...]] = []
    for at, name in enumerate(items.dimensions):
        level = items.levels[:, at]
        usable = [here for here in members if _varied(level[here], items.observed[here])]
        if len(usable) < FEWEST_POOLS:
            rows.append((name, len(usable), None, None, None))
            continue
        own, of_largest = (
            np.array([-_rank_correlation(by[here], items.observed[here]) for here in usable]) for by in (level, top)
        )
        others = (own.sum() - own) / (len(own) - 1)
        skill, largest = float(np.mean(np.sign(others) * own)), float(np.mean(of_largest))
        rows.append((name, len(usable), skill, largest, skill > largest))
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
        asked = replace(items.kept(here), n=np.full(here.sum(), np.nan))
        guess[here] = np.median(predict_rates(fit, asked, rng), axis=0)
    return guess


def predict_by_lines(items: RatedItems, lines: Calibration) -> Floats:
    """Return the rate of every item by calibrated lines: that of its rarest demand; NaN where no line applies.

    A line of a group, such as KN, reads the level of the group, as the published procedure does.
    """
    rate = np.full(items.size, np.nan)
    grouped = items.grouped(published_groups())
    for line in lines:
        source = items if line.code in items.dimensions else grouped
        if line.code not in source.dimensions:
            continue
        level = source.levels[:, source.dimensions.index(line.code)]
        asked = level > 0
        rate[asked] = np.fmin(rate[asked], line.rate(np.maximum(level[asked], line.lowest_level)))
    return rate


def skill_of(items: RatedItems, guess: Floats) -> tuple[int, int, float | None, float | None]:
    """Return pools, items, and the mean rank correlation within pools, by items and by pools; 0 where all are alike."""
    pools = []
    for k in range(len(items.pools)):
        here = (items.pool == k) & np.isfinite(guess)
        if here.sum() >= FEWEST_IN_POOL and np.ptp(items.observed[here]) > 0:
            pools.append((int(here.sum()), _rank_correlation(guess[here], items.observed[here])))
    if not pools:
        return 0, 0, None, None
    sizes, values = (np.array(part) for part in zip(*pools, strict=True))
    return len(pools), int(sizes.sum()), float(np.average(values, weights=sizes)), float(values.mean())


def _varied(level: Floats, rate: Floats) -> bool:
    return bool(level.size >= FEWEST_IN_POOL and np.ptp(level) > 0 and np.ptp(rate) > 0)


def _rank_correlation(one: Floats, other: Floats) -> float:
    """Return Spearman's rank correlation, 0 where one side does not vary."""
    return float(np.nan_to_num(rank_correlation(one, other)))


def judge_means(slope: float, levels: int) -> str:
    """Return the verdict of the published procedure, which asks for nothing but a rising line."""
    if levels < 2 or math.isnan(slope):
        return f"{UNKNOWN}: one level only" if levels == 1 else f"{UNKNOWN}: no items"
    return NEGATIVE if slope < just_below(0.0) else scaling_of(10.0**slope)


def judge(base: float, low: float, high: float, levels: int, varied: int) -> str:
    """Return the verdict of a base with its interval; ``varied``: items apart from the commonest level."""
    if levels < FEWEST_LEVELS:
        return f"{UNKNOWN}: {levels} level{'s' if levels != 1 else ''} with {FEWEST_PER_LEVEL} items or more"
    if varied < FEWEST_ITEMS:
        return f"{UNKNOWN}: {varied} items apart from the commonest level"
    if high < 1.0:
        return NEGATIVE
    if low <= 1.0:
        return f"{UNKNOWN}: interval spans 1"
    if math.log10(high / low) > WIDEST:
        return f"{UNKNOWN}: interval wider than a factor of ten"
    return scaling_of(base)
