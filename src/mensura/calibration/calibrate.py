"""``mensura.calibrate``: from world rates and demands to a base per dimension."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mensura.calibration.hierarchical import HierarchicalFit, fit_hierarchical
from mensura.calibration.inputs import published_groups, read_items
from mensura.calibration.items import (
    FEWEST_PER_LEVEL,
    LEVELS,
    TOP,
    RatedItems,
    empirical_levels,
    fit_means,
    judge,
    judge_means,
)
from mensura.calibration.result import BASE_COLUMNS, STAGE_COLUMNS, CalibrationResult
from mensura.calibration.skill import EVERY, LARGEST, compare_predictors, judge_rulers, largest_demand
from mensura.core.arguments import check_arguments
from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.demands.dimensions import annotated_dimensions
from mensura.intake.tables import as_frame

METHODS = ("hierarchical", "largest", "chosen", "means")
TAILS = (0.05, 0.95)
DRAWS = 1_000
FEWEST_ITEMS_AT_ALL = 3


@check_arguments
def calibrate(
    rates: Any,  # noqa: ANN401
    demands: Any,  # noqa: ANN401
    *,
    method: str = "hierarchical",
    groups: bool = False,
    level_error: float | None = None,
    readers: float = 1.0,
    codes: Iterable[str] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> CalibrationResult:
    """Find the base of every dimension from world ``rates`` and ``demands``, tables of any library or paths.

    ``rates``: item, rate and, where known, low, high, n, options, pool; ``demands``: long (item, dimension, level) or
    wide; see :func:`mensura.calibration.read_items` for both and for ``level_error``, ``readers`` and ``codes``.
    ``method``: ``hierarchical``, every demand at once with guessing, errors, pools and partial pooling; ``largest``,
    the same with the largest demand of each item alone; ``chosen``, whichever of these two orders the items of pools
    left out better; or ``means``, the published procedure. ``groups``: by the published groups, such as KN, instead of
    single dimensions. ``draws``: of the posterior, or bootstrap samples of the items.

    >>> import mensura
    >>> import polars as pl
    >>> items = [f"i{at}" for at in range(30)]
    >>> rates = pl.DataFrame({"item": items, "rate": [0.9 - 0.25 * (at % 4) for at in range(30)], "n": [200] * 30})
    >>> demands = pl.DataFrame({"item": items, "KNc": [at % 4 for at in range(30)]})
    >>> calibration = mensura.calibrate(rates, demands, method="means", draws=20)
    >>> calibration.shown["dimension"].to_list()
    ['KNc']
    """
    check_method(method)
    items = read_items(rates, demands, level_error=level_error, readers=readers, codes=codes)
    settings = {"level_error": level_error, "readers": readers, "groups": groups, "draws": draws, "seed": seed}
    inputs = {"rates": fingerprint(rates), "demands": fingerprint(demands)}
    made = calibrate_items(items, method=method, groups=groups, draws=draws, seed=seed)
    return replace(made, inputs=inputs, settings=settings)


def check_method(method: str) -> None:
    """Refuse a method that is not known."""
    if method not in METHODS:
        raise MensuraError(f"method: {method!r} is not known; choose one of {', '.join(METHODS)}")


def calibrate_items(
    items: RatedItems, *, method: str = "hierarchical", groups: bool = False, draws: int = DRAWS, seed: int = 0
) -> CalibrationResult:
    """Find the base of every dimension from items that are lined up already."""
    check_method(method)
    if draws < 1:
        raise MensuraError(f"draws: got {draws}; expected 1 or more")
    if items.size < FEWEST_ITEMS_AT_ALL:
        raise MensuraError(f"calibrate: {items.size} items with rate and levels; a line needs at least three")
    rng = np.random.default_rng(seed)
    if method == "chosen":
        method, items = _choose(items)
    if method == "largest":
        if groups:
            raise MensuraError("groups: the largest demand has one scale for all; leave --groups out")
        one = largest_demand(items)
        return replace(_by_model(one, one, draws, rng), method="largest", rulers=judge_rulers(items))
    shown = items.grouped(published_groups()) if groups else items
    made = _by_means(shown, draws, rng) if method == "means" else _by_model(items, shown, draws, rng)
    return replace(made, rulers=judge_rulers(shown))


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
    fit = fit_means(items, draws=draws, rng=rng)
    low, high = _interval(fit.slope_draws)
    rows = []
    for at, name in enumerate(items.dimensions):
        verdict = judge_means(fit.slope[at], int((fit.counts[at] > 0).sum()))
        line = (fit.slope[at], fit.intercept[at], 10.0 ** fit.slope[at], low[at], high[at], fit.r2[at])
        rows.append((name, *map(_known, line), int(fit.counts[at].sum()), verdict))
    y = empirical_levels(items.rate)
    bases = pl.DataFrame(rows, schema=BASE_COLUMNS, orient="row")
    return CalibrationResult(
        bases,
        bases,
        _stages(items, y, fit.slope, fit.intercept),
        _cover(items),
        pl.DataFrame(schema=_SPREADS),
        "means",
        items,
        y,
        fit.slope_draws,
        fit.intercept_draws,
        warnings=items.warnings,
    )


def _by_model(items: RatedItems, shown: RatedItems, draws: int, rng: np.random.Generator) -> CalibrationResult:
    fit = fit_hierarchical(items, draws=draws, rng=rng)
    weights = _member_weights(items, shown)
    alone = fit.slope_draws @ weights.T, fit.intercept_draws @ weights.T
    along = fit.together_draws @ weights.T, fit.together_intercept_draws @ weights.T
    free = max(items.size - fit.used, 1.0)
    together = _judged(shown, *along, free)
    y = TOP + fit.depth
    return CalibrationResult(
        _judged(shown, *alone, free),
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
    r2 = signal / (signal + free)
    rows = []
    for at, name in enumerate(items.dimensions):
        base = 10.0 ** centre[at]
        verdict = judge(base, low[at], high[at], *_variety(items.levels[:, at]))
        asked = int((items.levels[:, at] > 0).sum())
        rows.append((name, centre[at], start[at], base, low[at], high[at], r2[at], asked, verdict))
    return pl.DataFrame(rows, schema=BASE_COLUMNS, orient="row")


def _member_weights(items: RatedItems, shown: RatedItems) -> Floats:
    """Return groups × dimensions: a group's line is that of its members, weighted by the items each decides."""
    if shown is items:
        return np.eye(len(items.dimensions))
    decided = items.deciding.sum(axis=0) + 1.0  # so that a group whose members decide nothing is their plain mean
    groups = published_groups()
    weights = np.array([[decided[at] * (code in groups[name]) for at, code in enumerate(items.dimensions)]
                        for name in shown.dimensions])  # fmt: skip
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _interval(slopes: Floats) -> tuple[list[float | None], list[float | None]]:
    """Return the ends of the bases' intervals; none where no draw has a line."""
    ends: tuple[list[float | None], list[float | None]] = ([], [])
    for column in slopes.T:
        known = column[np.isfinite(column)]
        for side, tail in zip(ends, TAILS, strict=True):
            side.append(float(10.0 ** np.quantile(known, tail)) if known.size else None)
    return ends


def _known(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)


def _variety(levels: Floats) -> tuple[int, int]:
    """Return how many whole levels have items enough, and how many items lie apart from the commonest level."""
    counts = np.bincount(np.floor(levels + 0.5).astype(np.int64))
    return int((counts >= FEWEST_PER_LEVEL).sum()), int(counts.sum() - counts.max())


def _stages(items: RatedItems, y: Floats, slope: Floats, intercept: Floats) -> pl.DataFrame:
    """Return the tables behind the three stages: level means, the line through them, the aligned levels."""
    nearest = np.floor(items.levels + 0.5)
    rows: list[tuple[object, ...]] = []
    for at, name in enumerate(items.dimensions):
        for level in LEVELS:
            here = items.deciding[:, at] & (nearest[:, at] == level)
            if here.any():
                line = _known(slope[at] * level + intercept[at])
                rows.append((name, int(level), int(here.sum()), float(y[here].mean()), line, line))
    return pl.DataFrame(rows, schema=STAGE_COLUMNS, orient="row")


def _cover(items: RatedItems) -> pl.DataFrame:
    """Return dimension, name, lowest, highest, levels: where items enough make levels count."""
    known = annotated_dimensions()
    titles = {code: one.name for code, one in known.items()} | {one.group: one.group_name for one in known.values()}
    rows: list[tuple[object, ...]] = []
    for at, name in enumerate(items.dimensions):
        counts = np.bincount(np.floor(items.levels[:, at] + 0.5).astype(np.int64))
        there = np.flatnonzero(counts >= FEWEST_PER_LEVEL)
        ends = (None, None) if not there.size else (float(there[0]), float(there[-1]))
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


def fingerprint(table: Any) -> str:  # noqa: ANN401
    """Return the SHA-256 of a file's bytes, or of a table written as CSV."""
    if isinstance(table, str | Path):
        return hashlib.sha256(Path(table).read_bytes()).hexdigest()
    return hashlib.sha256(as_frame(table).write_csv().encode()).hexdigest()


_SPREADS: Mapping[str, Any] = {"spread": pl.String, "sd": pl.Float64, "meaning": pl.String}
_COVER: Mapping[str, Any] = {
    "dimension": pl.String,
    "name": pl.String,
    "lowest": pl.Float64,
    "highest": pl.Float64,
    "levels": pl.Int64,
}
