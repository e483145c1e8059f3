"""How far annotators agree: quadratic kappa, Krippendorff's alpha, exact and within one level, with intervals.

Intervals come from resampling items (percentile bootstrap), the same draws for every dimension. Two raters or more;
kappa, exact and within-one are means over the pairs of raters (Light's kappa), alpha is of all raters together.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import ClassVar, TypeAlias

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.core.results import Result
from mensura.demands.readings import ReadingGrid
from mensura.demands.rubrics import LEVELS

INTERVAL = 0.9
DRAWS = 1000
NEARLY_CONSTANT = 0.95
"""Share of one level from which on chance-corrected agreement hangs on a handful of items."""
_SHARES = ("exact", "within_one")
MEAN = "mean"
Statistic: TypeAlias = Callable[[Floats, Floats], Floats]
_VALUES = np.array(LEVELS, dtype=float)


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Result):
    """Agreement of raters, per dimension and per pair.

    Attributes
    ----------
    agreement
        dimension, statistic, value, low, high, n, note. ``n`` is the number of items that at least two raters judged. A
        statistic that is not defined, because every reading is the same level, is null, and its note says so. Dimension
        ``mean`` is the mean over all dimensions, for kappa and alpha over those that vary.
    pairs
        rater_a, rater_b, cells, exact, within_one, kappa, shift, over all dimensions.
    raters, items
        Names of the raters, and the number of items that two of them judged.

    """

    TABLES: ClassVar[tuple[str, ...]] = ("agreement", "pairs")

    agreement: pl.DataFrame
    pairs: pl.DataFrame
    raters: tuple[str, ...]
    items: int

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        return f"Agreement of {len(self.raters)} raters on {self.items} items ({INTERVAL:.0%} intervals over items)"

    @property
    def shown(self) -> pl.DataFrame:
        """One row per dimension, one column per statistic."""
        wide = self.agreement.pivot("statistic", index="dimension", values="value", maintain_order=True)
        notes = self.agreement.filter(pl.col("note") != "").group_by("dimension", maintain_order=True).first()
        return wide.join(notes.select("dimension", "note"), on="dimension", how="left", maintain_order="left")


def measure_agreement(readings: pl.DataFrame, *, draws: int = DRAWS, seed: int = 0) -> Agreement:
    """Measure the agreement of all raters in every dimension; each repeat of an annotator is a rater.

    Parameters
    ----------
    readings
        item, dimension, annotator, repeat, level, as :func:`read_demands` returns them.
    draws
        Resamples of the items behind the intervals.
    seed
        Seed of the resamples.

    Returns
    -------
    Agreement
        Kappa, alpha, exact and within-one agreement with 90% intervals.

    Raises
    ------
    MensuraError
        If fewer than two raters judged an item, or levels are fractions.

    Examples
    --------
    >>> import polars as pl
    >>> from mensura.demands import measure_agreement, read_demands
    >>> sheet = {"item": ["a", "b", "a", "b"], "annotator": ["x", "x", "y", "y"], "KNc": [1, 3, 1, 4]}
    >>> measure_agreement(read_demands(pl.DataFrame(sheet)), draws=10).shown["exact"].to_list()
    [0.5, 0.5]

    """
    grid = ReadingGrid.of(readings)
    if len(grid.raters) < 2:
        raise MensuraError(
            "agreement: readings of one rater only; at least two annotators, or repeats of one, are needed"
        )
    if np.any(grid.levels[np.isfinite(grid.levels)] % 1):
        raise MensuraError(
            "agreement: fractional levels; expected whole ones. Use the readings they were averaged from"
        )
    shared = np.isfinite(grid.levels).sum(axis=0) >= 2
    if not shared.any():
        raise MensuraError(
            f"agreement: no item was judged by two raters ({', '.join(grid.rater_names)}); use the same item names"
        )
    keep = shared.any(axis=1)
    weights = resample_counts(int(keep.sum()), draws, np.random.default_rng(seed))
    levels, counted = grid.levels[:, keep], shared[keep]
    table = _table(grid.dimensions, levels, counted.sum(axis=0), weights)
    return Agreement(table, _pair_table(grid, levels), grid.rater_names, int(keep.sum()))


def within(steps: int, levels: Floats, weights: Floats) -> Floats:
    """Return the share of items on which a pair is at most so many levels apart; one value per draw of ``weights``."""
    return _mean_of_pairs(
        levels, weights, lambda a, b, w: _ratio(w @ (np.abs(a - b) <= steps).astype(float), w.sum(axis=1))
    )


def quadratic_kappa(levels: Floats, weights: Floats) -> Floats:
    """Return Cohen's kappa with squared differences as weights, the mean over pairs.

    κ = 1 − Σ(a − b)² / (Σa² + Σb² − 2 ΣaΣb / n): observed over chance disagreement, chance by the raters' own margins.
    """

    def of_pair(a: Floats, b: Floats, w: Floats) -> Floats:
        total = w.sum(axis=1)
        chance = w @ a**2 + w @ b**2 - 2 * _ratio((w @ a) * (w @ b), total)
        return 1 - _ratio(w @ (a - b) ** 2, chance)

    return _mean_of_pairs(levels, weights, of_pair)


def alpha_ordinal(levels: Floats, weights: Floats) -> Floats:
    """Return Krippendorff's alpha for ordered levels: distances count the readings that lie between two levels."""
    coincidences = _coincidences(levels, weights)
    margin = coincidences.sum(axis=2)
    upto = np.cumsum(margin, axis=1) - margin / 2
    return _alpha(coincidences, (upto[:, :, None] - upto[:, None, :]) ** 2)


def alpha_interval(levels: Floats, weights: Floats) -> Floats:
    """Return Krippendorff's alpha for levels with equal steps: squared differences as distances."""
    return _alpha(_coincidences(levels, weights), ((_VALUES[:, None] - _VALUES) ** 2)[None])


STATISTICS: dict[str, Statistic] = {
    "exact": partial(within, 0),
    "within_one": partial(within, 1),
    "kappa": quadratic_kappa,
    "alpha_ordinal": alpha_ordinal,
    "alpha_interval": alpha_interval,
}


def _mean_of_pairs(levels: Floats, weights: Floats, of_pair: Callable[[Floats, Floats, Floats], Floats]) -> Floats:
    """Average a statistic over the pairs of raters for which it is defined; NaN where it is for none."""
    values = []
    for a, b in combinations(levels, 2):
        both = np.isfinite(a) & np.isfinite(b)
        values.append(of_pair(a[both], b[both], weights[:, both]) if both.any() else np.full(len(weights), np.nan))
    return _mean_where_defined(np.array(values))


def _mean_where_defined(values: Floats) -> Floats:
    counted = np.isfinite(values)
    return _ratio(np.where(counted, values, 0.0).sum(axis=0), counted.sum(axis=0).astype(float))


def _ratio(above: Floats, below: Floats) -> Floats:
    """Divide; NaN where the denominator is zero (up to rounding), for then the statistic is not defined."""
    defined = np.abs(below) > 1e-9
    return np.where(defined, above / np.where(defined, below, 1.0), np.nan)


def _coincidences(levels: Floats, weights: Floats) -> Floats:
    """Return draws × levels × levels: pairs of readings within items, each item's divided by its readings less one."""
    shown = (levels[:, :, None] == _VALUES).sum(axis=0).astype(float)
    readings = shown.sum(axis=1)
    counted = readings >= 2
    pairs = shown[:, :, None] * shown[:, None, :] - shown[:, :, None] * np.eye(_VALUES.size)
    pairs = pairs[counted] / (readings[counted] - 1)[:, None, None]
    summed: Floats = weights[:, counted] @ pairs.reshape(len(pairs), -1)
    return summed.reshape(-1, _VALUES.size, _VALUES.size)


def _alpha(coincidences: Floats, distance: Floats) -> Floats:
    """Return 1 − (n − 1) Σ o d / Σ n n′ d over pairs of levels; NaN when all readings are one level."""
    margin = coincidences.sum(axis=2)
    total = margin.sum(axis=1)
    chance = (margin[:, :, None] * margin[:, None, :] * distance).sum(axis=(1, 2))
    return 1 - _ratio((total - 1) * (coincidences * distance).sum(axis=(1, 2)), chance)


def _table(dimensions: tuple[str, ...], levels: Floats, counts: np.ndarray, weights: Floats) -> pl.DataFrame:
    rows: list[tuple[object, ...]] = []
    for name, statistic in STATISTICS.items():
        drawn = np.array([statistic(levels[:, :, at], weights) for at in range(len(dimensions))])
        notes = [_note(levels[:, :, at], name, drawn[at, 0]) for at in range(len(dimensions))]
        for at, dimension in enumerate(dimensions):
            rows.append((dimension, name, *value_and_interval(drawn[at]), int(counts[at]), notes[at]))
        telling = drawn[[not note for note in notes]]
        mean = _mean_where_defined(telling) if telling.size else np.full(len(weights), np.nan)
        note = "" if len(telling) == len(dimensions) else f"mean over {len(telling)} of {len(dimensions)} dimensions"
        rows.append((MEAN, name, *value_and_interval(mean), int(counts.max()), note))
    figures = dict.fromkeys(("value", "low", "high"), pl.Float64)
    columns = {"dimension": pl.String, "statistic": pl.String, **figures, "n": pl.Int64, "note": pl.String}
    order = {dimension: at for at, dimension in enumerate((*dimensions, MEAN))}
    table = pl.DataFrame(rows, schema=columns, orient="row")
    return table.sort(pl.col("dimension").replace_strict(order), maintain_order=True)


def _note(levels: Floats, statistic: str, value: float) -> str:
    """Say why a figure is missing, or says little: shares of agreement need no variety, kappa and alpha do."""
    given = levels[np.isfinite(levels)]
    if not given.size:
        return "not defined: no readings"
    common, count = np.unique(given, return_counts=True)
    level, share = int(common[count.argmax()]), count.max() / given.size
    if not np.isfinite(value):
        return f"not defined: every reading is level {level}" if share == 1 else "not defined: no pair shares an item"
    if share > NEARLY_CONSTANT and statistic not in _SHARES:
        return f"nearly constant ({share:.1%} of the readings are level {level}): kappa and alpha say little"
    return ""


def _pair_table(grid: ReadingGrid, levels: Floats) -> pl.DataFrame:
    """Return for every pair of raters, over all dimensions: cells, exact, within_one, kappa (mean), shift (b − a)."""
    rows: list[tuple[object, ...]] = []
    for (at, first), (other, second) in combinations(enumerate(grid.rater_names), 2):
        both = levels[[at, other]]
        shared = np.isfinite(both).all(axis=0)
        if not shared.any():
            rows.append((first, second, 0, None, None, None, None))
            continue
        gap = (both[1] - both[0])[shared]
        once = np.ones((1, both.shape[1]))
        kappas = np.array([quadratic_kappa(both[:, :, place], once)[0] for place in range(both.shape[2])])
        kappa = float(np.nanmean(kappas)) if np.isfinite(kappas).any() else None
        shares = float(np.mean(gap == 0)), float(np.mean(np.abs(gap) <= 1))
        rows.append((first, second, gap.size, *shares, kappa, float(gap.mean())))
    columns = {"rater_a": pl.String, "rater_b": pl.String, "cells": pl.Int64}
    figures = dict.fromkeys(("exact", "within_one", "kappa", "shift"), pl.Float64)
    return pl.DataFrame(rows, schema={**columns, **figures}, orient="row")


def resample_counts(items: int, draws: int, rng: np.random.Generator) -> Floats:
    """Return how often each item counts: row 0 once each, then ``draws`` resamples with replacement."""
    return np.vstack([np.ones(items), rng.multinomial(items, np.full(items, 1 / items), size=draws)]).astype(float)


def value_and_interval(drawn: Floats) -> tuple[float | None, float | None, float | None]:
    """Return value, low, high from row 0 and the resamples; None where undefined, or where most resamples are."""
    if not np.isfinite(drawn[0]):
        return None, None, None
    resampled = drawn[1:][np.isfinite(drawn[1:])]
    if not resampled.size or 2 * resampled.size < drawn.size - 1:
        return float(drawn[0]), None, None
    low, high = np.quantile(resampled, [(1 - INTERVAL) / 2, (1 + INTERVAL) / 2])
    return float(drawn[0]), float(low), float(high)
