"""``mensura.calibrate``: from world rates and demands to a base per dimension.

The published procedure (``method="means"``): a line through the mean empirical level of each annotated level. Per
dimension: keep the items whose highest demand it is (ties count for each), take the unweighted mean of their empirical
levels −log10(p/√10) at each annotated level 1 to 5, and fit a least-squares line through these at most five means. Its
slope m gives the base 10^m; m is never rounded before. Fractional levels (means of several readings, groups) count for
the nearest whole level, halves upwards. Guessing, errors and other demands are left as they are.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mensura.calibration.hierarchical import HierarchicalFit, fit_hierarchical
from mensura.calibration.items import LEVELS, TOP, RatedItems, empirical_levels, published_groups, read_items
from mensura.calibration.result import BASE_COLUMNS, STAGE_COLUMNS, CalibrationResult
from mensura.calibration.skill import (
    EVERY,
    FEWEST_PER_LEVEL,
    LARGEST,
    compare_predictors,
    judge,
    judge_means,
    judge_rulers,
    largest_demand,
)
from mensura.core.arguments import check_arguments
from mensura.core.arrays import Floats, Ints
from mensura.core.errors import MensuraError, check_choice
from mensura.demands.rubrics import annotated_dimensions
from mensura.intake.tables import as_frame

METHODS = ("hierarchical", "largest", "chosen", "means")
TAILS = (0.05, 0.95)
DRAWS = 1_000
FEWEST_ITEMS_AT_ALL = 3
MOST_BLOCKS = 2_000
"""Items are resampled one by one up to this many; more are dealt at random into so many blocks, which are resampled.

A mean's bootstrap variance is the same either way, and 100,000 items cost no more than 2,000.
"""


@check_arguments
def calibrate(
    rates: Any,
    demands: Any,
    *,
    method: str = "hierarchical",
    groups: bool = False,
    level_error: float | None = None,
    readers: float | None = None,
    codes: Iterable[str] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    columns: str | None = None,
) -> CalibrationResult:
    """Find the base of every dimension: the factor by which world success falls per demand level.

    Parameters
    ----------
    rates
        World success rates, a table of any library or a path: item, rate and, where known, low, high, n, options, pool.
    demands
        Demand levels, long (item, dimension, level) or wide (a column per dimension).
    method
        ``hierarchical``: every demand at once with guessing, errors, pools and partial pooling. ``largest``: the same
        with the largest demand of each item alone. ``chosen``: whichever of these two orders the items of pools left
        out better. ``means``: the published procedure.
    groups
        Whether bases are those of the published groups, such as KN, instead of single dimensions.
    level_error
        Error of one reading in levels, in place of the one found; of every method but ``means``.
    readers
        Share of people who can read the items and so guess, 1 by default; of every method but ``means``.
    codes
        Dimensions to look for in ``demands``; Mensura's own when not given.
    draws
        Draws of the posterior, or bootstrap samples of the items.
    seed
        Seed of the draws.
    columns
        Fields and their columns where names alone do not say it, such as ``rate=p_correct,item=qid``.

    Returns
    -------
    CalibrationResult
        Bases with intervals and verdicts, the stages behind them, and lines for ``mensura scale``.

    Raises
    ------
    MensuraError
        If a table is not understood, items are too few, or the method does not use an argument.

    Examples
    --------
    >>> import mensura
    >>> import polars as pl
    >>> items = [f"i{at}" for at in range(30)]
    >>> rates = pl.DataFrame({"item": items, "rate": [0.9 - 0.25 * (at % 4) for at in range(30)], "n": [200] * 30})
    >>> demands = pl.DataFrame({"item": items, "KNc": [at % 4 for at in range(30)]})
    >>> calibration = mensura.calibrate(rates, demands, method="means", draws=20)
    >>> calibration.shown["dimension"].to_list()
    ['KNc']

    """
    check_choice("method", method, METHODS)
    for name, value in (("level_error", level_error), ("readers", readers)):
        if method == "means" and value is not None:
            raise MensuraError(
                f"{name}: the method means does not use it; leave it out, or choose hierarchical, largest or chosen"
            )
    share = 1.0 if readers is None else readers
    items = read_items(rates, demands, level_error=level_error, readers=share, codes=codes, columns=columns)
    settings = {"level_error": level_error, "readers": share, "groups": groups, "draws": draws, "seed": seed}
    inputs = {"rates": fingerprint(rates), "demands": fingerprint(demands)}
    result = calibrate_items(items, method=method, groups=groups, draws=draws, seed=seed)
    return replace(result, inputs=inputs, settings=settings)


def calibrate_items(
    items: RatedItems, *, method: str = "hierarchical", groups: bool = False, draws: int = DRAWS, seed: int = 0
) -> CalibrationResult:
    """Find the base of every dimension from items that are lined up already."""
    check_choice("method", method, METHODS)
    if draws < 1:
        raise MensuraError(f"draws: got {draws}; expected 1 or more")
    if items.size < FEWEST_ITEMS_AT_ALL:
        raise MensuraError(f"calibrate: {items.size} items with rate and levels; a line needs at least three")
    rng = np.random.default_rng(seed)
    if method == "chosen":
        method, items = _choose(items)
    if method == "largest":
        if groups:
            raise MensuraError("groups: the method largest has one scale for all; leave --groups out")
        one = largest_demand(items)
        return replace(_by_model(one, one, draws, rng), method="largest", rulers=judge_rulers(items))
    shown = items.grouped(published_groups()) if groups else items
    result = _by_means(shown, draws, rng) if method == "means" else _by_model(items, shown, draws, rng)
    return replace(result, rulers=judge_rulers(shown))


def _choose(items: RatedItems) -> tuple[str, RatedItems]:
    """Return the method that orders the items of pools left out better, and the items with a note of the reason."""
    skill = dict(compare_predictors(items).select("predictor", "by_pools").iter_rows())
    method = "hierarchical" if skill[EVERY] > skill[LARGEST] else "largest"
    note = (
        f"method {method}: rank correlation with people's success in pools left out is {skill[EVERY]:.2f} by every "
        f"demand and {skill[LARGEST]:.2f} by the largest demand"
    )
    return method, replace(items, warnings=(*items.warnings, note))


def _by_means(items: RatedItems, draws: int, rng: np.random.Generator) -> CalibrationResult:
    """Draw the published line of every dimension, and again on ``draws`` bootstrap samples of the items."""
    nearest = np.floor(items.levels + 0.5)
    y = empirical_levels(items.rate)
    blocks, shares = _blocks(items.size, rng)
    count = len(shares)
    sums = np.zeros((count, 2, len(items.dimensions), LEVELS.size))
    for at in range(len(items.dimensions)):
        rows = np.flatnonzero(items.deciding[:, at] & (nearest[:, at] >= 1))
        cell = blocks[rows] * LEVELS.size + nearest[rows, at].astype(np.int64) - 1
        sums[:, 0, at] = np.bincount(cell, minlength=count * LEVELS.size).reshape(count, -1)
        sums[:, 1, at] = np.bincount(cell, weights=y[rows], minlength=count * LEVELS.size).reshape(count, -1)
    whole = sums.sum(axis=0)
    slope, intercept, r2 = (part[0] for part in _lines(whole[None]))
    picks = rng.multinomial(count, shares, size=draws).astype(np.float64)
    drawn = (picks @ sums.reshape(count, -1)).reshape(draws, *whole.shape)
    slopes, intercepts, _ = _lines(drawn)
    drawn_once = np.isfinite(slopes).any(axis=0)
    ends = np.nanquantile(np.where(drawn_once, slopes, 0.0), TAILS, axis=0)
    low, high = np.where(drawn_once, 10.0**ends, np.nan)
    counts = whole[0].sum(axis=1).astype(np.int64)
    verdicts = [judge_means(slope[at], int((whole[0, at] > 0).sum())) for at in range(len(slope))]
    columns = (items.dimensions, slope, intercept, 10.0**slope, low, high, r2, counts, verdicts)
    bases = pl.DataFrame(dict(zip(BASE_COLUMNS, columns, strict=True)), schema=BASE_COLUMNS).fill_nan(None)
    stages, cover = _stages(items, y, slope, intercept), _cover(items)
    nothing = pl.DataFrame(schema=_SPREADS)
    return CalibrationResult(
        bases, bases, stages, cover, nothing, "means", items, y, slopes, intercepts, warnings=items.warnings
    )


def _blocks(size: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Return each item's block and each block's chance of being picked."""
    count, blocks = min(size, MOST_BLOCKS), np.arange(size) % MOST_BLOCKS
    return blocks if size == count else rng.permutation(blocks), np.full(count, 1.0 / count)


def _lines(sums: Floats) -> tuple[Floats, Floats, Floats]:
    """Return slope, intercept and R² from draws × (count, sum) × dimensions × levels."""
    counts, totals = sums[:, 0], sums[:, 1]
    there = counts > 0
    means = np.where(there, totals / np.where(there, counts, 1), np.nan)
    k = there.sum(axis=-1, keepdims=True)
    few = k[..., 0] < 2
    x = np.where(there, LEVELS, 0.0)
    y = np.where(there, means, 0.0)
    safe = np.maximum(k, 1)
    dx = np.where(there, x - x.sum(axis=-1, keepdims=True) / safe, 0.0)
    dy = np.where(there, y - y.sum(axis=-1, keepdims=True) / safe, 0.0)
    spread = (dx**2).sum(axis=-1)
    slope = np.where(few, np.nan, (dx * dy).sum(axis=-1) / np.where(few, 1.0, spread))
    intercept = (y.sum(axis=-1) - slope * x.sum(axis=-1)) / safe[..., 0]
    total = (dy**2).sum(axis=-1)
    left = ((dy - slope[..., None] * dx) ** 2).sum(axis=-1)
    flat = few | (total <= 1e-24)  # a line through equal means explains nothing because there is nothing to explain
    r2 = np.where(flat, np.nan, 1.0 - left / np.where(flat, 1.0, total))
    return slope, intercept, r2


def _by_model(items: RatedItems, shown: RatedItems, draws: int, rng: np.random.Generator) -> CalibrationResult:
    fit = fit_hierarchical(items, draws=draws, rng=rng)
    weights = _member_weights(items, shown)
    fixed = fit.slope_draws @ weights.T, fit.intercept_draws @ weights.T
    along = fit.together_draws @ weights.T, fit.together_intercept_draws @ weights.T
    free = max(items.size - fit.used, 1.0)
    together = _judged(shown, *along, free)
    y = TOP + fit.depth
    return CalibrationResult(
        _judged(shown, *fixed, free),
        together,
        _stages(shown, y, together["slope"].to_numpy(), together["intercept"].to_numpy()),
        _cover(shown),
        _spreads(fit, items),
        "hierarchical",
        shown,
        y,
        *along,
        warnings=items.warnings,
    )


def _judged(items: RatedItems, slopes: Floats, intercepts: Floats, free: float) -> pl.DataFrame:
    """Return bases with intervals and verdicts from draws; r2: the share a dimension explains of what others leave."""
    low, high = np.quantile(10.0**slopes, TAILS, axis=0)
    centre, start = slopes.mean(axis=0), intercepts.mean(axis=0)
    signal = (centre / np.maximum(slopes.std(axis=0), 1e-9)) ** 2
    base, asked = 10.0**centre, (items.levels > 0).sum(axis=0)
    verdicts = [
        judge(base[at], low[at], high[at], *_variety(items.levels[:, at])) for at in range(len(items.dimensions))
    ]
    columns = (items.dimensions, centre, start, base, low, high, signal / (signal + free), asked, verdicts)
    return pl.DataFrame(dict(zip(BASE_COLUMNS, columns, strict=True)), schema=BASE_COLUMNS)


def _member_weights(items: RatedItems, shown: RatedItems) -> Floats:
    """Return groups × dimensions: a group's line is that of its members, weighted by the items each decides."""
    if shown is items:
        return np.eye(len(items.dimensions))
    decided = items.deciding.sum(axis=0) + 1.0  # so that a group whose members decide nothing is their plain mean
    groups = published_groups()
    weights = np.array([[decided[at] * (code in groups[name]) for at, code in enumerate(items.dimensions)]
                        for name in shown.dimensions])  # fmt: skip
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _counted(levels: Floats) -> Ints:
    """Return the number of items at each whole level."""
    return np.bincount(np.floor(levels + 0.5).astype(np.int64))


def _variety(levels: Floats) -> tuple[int, int]:
    """Return how many whole levels have items enough, and how many items lie apart from the commonest level."""
    counts = _counted(levels)
    return int((counts >= FEWEST_PER_LEVEL).sum()), int(counts.sum() - counts.max())


def _stages(items: RatedItems, y: Floats, slope: Floats, intercept: Floats) -> pl.DataFrame:
    """Return the tables behind the three stages: level means, the line through them, the aligned levels."""
    nearest = np.floor(items.levels + 0.5)
    rows: list[tuple[object, ...]] = []
    for at, name in enumerate(items.dimensions):
        for level in LEVELS:
            here = items.deciding[:, at] & (nearest[:, at] == level)
            if here.any():
                line = slope[at] * level + intercept[at]
                rows.append((name, int(level), int(here.sum()), float(y[here].mean()), line, line))
    return pl.DataFrame(rows, schema=STAGE_COLUMNS, orient="row").fill_nan(None)


def _cover(items: RatedItems) -> pl.DataFrame:
    """Return dimension, name, lowest, highest, levels: where items enough make levels count."""
    every = annotated_dimensions()
    titles = {code: one.name for code, one in every.items()} | {one.group: one.group_name for one in every.values()}
    rows: list[tuple[object, ...]] = []
    for at, name in enumerate(items.dimensions):
        there = np.flatnonzero(_counted(items.levels[:, at]) >= FEWEST_PER_LEVEL)
        ends = (float(there[0]), float(there[-1])) if there.size else (None, None)
        rows.append((name, titles.get(name, name), *ends, int(there.size)))
    return pl.DataFrame(rows, schema=_COVER, orient="row")


def _spreads(fit: HierarchicalFit, items: RatedItems) -> pl.DataFrame:
    rows = [
        ("residual", fit.residual, "empirical levels that an item lies off what its demands say"),
        ("pool shift", fit.shift, "empirical levels by which pools differ"),
        ("pool slope", fit.pool_slope, "by which a slope differs between pools"),
        ("dimension slope", fit.dimension_spread, "by which slopes of dimensions differ around their mean"),
        ("level error", float(items.level_error.mean()), "levels by which one reading of a demand errs, mean"),
    ]
    return pl.DataFrame(rows, schema=_SPREADS, orient="row")


def fingerprint(table: Any) -> str:
    """Return the SHA-256 of a file's bytes, or of a table written as CSV."""
    if isinstance(table, str | Path):
        return hashlib.sha256(Path(table).read_bytes()).hexdigest()
    return hashlib.sha256(as_frame(table).write_csv().encode()).hexdigest()


_SPREADS: Mapping[str, Any] = {"spread": pl.String, "sd": pl.Float64, "meaning": pl.String}
_COVER: Mapping[str, Any] = {
    **dict.fromkeys(("dimension", "name"), pl.String),
    **dict.fromkeys(("lowest", "highest"), pl.Float64),
    "levels": pl.Int64,
}
