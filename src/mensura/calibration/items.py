"""Which demand decides an item: the dominance filter, for single dimensions and for groups of them.

Empirical levels: what a world success rate is on the common base-10 ruler, and rates that have no level.

The empirical level of a rate p is −log10(p / √10) = ½ − log10 p. A rate of 1 is level ½ as it stands. A rate of 0 has
no level, so one is read as the smallest rate that could still have hidden there: ½ / (n + 1) where n is known, else
half the high end of its interval, else half the smallest rate above 0 in the table.

What a calibration is made of: items with a world rate and levels, one entry each.

The published procedure (``method="means"``): a line through the mean empirical level of each annotated level.

Per dimension: keep the items whose highest demand it is (ties count for each), take the unweighted mean of their
empirical levels −log10(p/√10) at each annotated level 1 to 5, and fit a least-squares line through these at most five
means. Its slope m gives the base 10^m; m is never rounded before. Fractional levels (means of several readings, groups)
count for the nearest whole level, halves upwards. Guessing, errors and other demands are left as they are.

What may be said of a base: one of the published classes, or that the items do not identify it, and why.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mensura.core.arrays import Floats, Ints, Mask, just_below
from mensura.core.errors import MensuraError
from mensura.scale import scaling_of


def dominant(levels: Floats) -> Mask:
    """Return items × dimensions: whether a demand is the item's highest; ties count for each.

    An item that demands nothing at all is dominated by nothing.
    """
    top = levels.max(axis=1, keepdims=True)
    return np.asarray((levels >= top) & (top > 0))


def group_levels(levels: Floats, dimensions: Sequence[str], groups: Mapping[str, Sequence[str]]) -> tuple[Floats, Mask]:
    """Return the level of every item in every group, and whether the group dominates it.

    A group dominates an item if any of its members does. Its level is the harmonic mean k / Σ 1/level over the k
    members that the item asks for at all: a member at 0 says nothing of how hard the others are, and with the zeros in,
    the mean of nearly every item would be 0. An item that asks for no member is at 0.
    """
    place = {code: at for at, code in enumerate(dimensions)}
    decides = dominant(levels)
    columns, masks = [], []
    for members in groups.values():
        at = [place[code] for code in members]
        asked = levels[:, at] > 0
        count = asked.sum(axis=1)
        inverse = (asked / np.where(asked, levels[:, at], 1.0)).sum(axis=1)
        columns.append(np.where(count > 0, count / np.where(count > 0, inverse, 1.0), 0.0))
        masks.append(decides[:, at].any(axis=1))
    return np.column_stack(columns), np.column_stack(masks)


TOP = 0.5
"""The empirical level of a rate of 1, at which everybody succeeds."""


def empirical_levels(rates: Floats) -> Floats:
    """Return −log10(p / √10) of rates above 0."""
    levels: Floats = TOP - np.log10(rates)
    return levels


def lift_zeros(rates: Floats, n: Floats, high: Floats) -> Floats:
    """Return the rates with 0 read by the rule of this file; ``n`` and ``high`` are NaN where unknown."""
    zero = rates == 0
    if not zero.any():
        return rates
    if zero.all() and not np.isfinite(np.where(high > 0, high, n)).all():
        raise MensuraError("rates: every rate is 0; a base needs items that somebody solves")
    least = rates[~zero].min() / 2 if not zero.all() else np.nan
    by_interval = np.where(high > 0, high / 2, least)
    lifted: Floats = np.where(zero, np.where(n > 0, 0.5 / (n + 1), by_interval), rates)
    return lifted


@dataclass(frozen=True, eq=False)
class RatedItems:
    """Items with their world rates and demands, one entry per item; NaN where a figure is unknown.

    ``observed``: share of the population that succeeds, as given; ``rate``: the same with zeros lifted. ``se``: its
    standard error, 0 where nothing says how sure it is. ``n``: people counted, where that is what says so.
    ``floor``: the rate of guessing, one over the number of options, 0 where open or unknown. ``pool``: place in
    ``pools``. ``levels``: items × dimensions, the mean of the readings; ``readings``: how many there were.
    ``level_error``: per dimension, the standard deviation of one reading's error, in levels; ``level_doubt``: how
    uncertain that is, as a share of it.
    ``deciding``: items × dimensions, whether this demand is the item's highest.
    """

    items: tuple[str, ...]
    dimensions: tuple[str, ...]
    pools: tuple[str, ...]
    pool: Ints
    observed: Floats
    rate: Floats
    se: Floats
    n: Floats
    floor: Floats
    levels: Floats
    readings: Ints
    level_error: Floats
    level_doubt: Floats
    deciding: np.ndarray
    warnings: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How many items."""
        return len(self.items)

    def kept(self, rows: np.ndarray) -> RatedItems:
        """Return some of the items, by place or mask; pools that are left without items go."""
        at = np.flatnonzero(rows) if rows.dtype == bool else rows
        here = np.unique(self.pool[at])
        return replace(
            self,
            items=tuple(self.items[k] for k in at),
            pools=tuple(self.pools[k] for k in here),
            pool=np.searchsorted(here, self.pool[at]),
            observed=self.observed[at],
            rate=self.rate[at],
            se=self.se[at],
            n=self.n[at],
            floor=self.floor[at],
            levels=self.levels[at],
            readings=self.readings[at],
            deciding=self.deciding[at],
        )

    def grouped(self, groups: Mapping[str, Iterable[str]]) -> RatedItems:
        """Return the same items on groups of dimensions; an error of a group is the mean of its members' errors."""
        known = {name: [code for code in members if code in self.dimensions] for name, members in groups.items()}
        known = {name: members for name, members in known.items() if members}
        levels, deciding = group_levels(self.levels, self.dimensions, known)
        places = [[self.dimensions.index(code) for code in members] for members in known.values()]
        error = np.array([self.level_error[at].mean() for at in places])
        return replace(self, dimensions=tuple(known), levels=levels, deciding=deciding, level_error=error)


LEVELS = np.arange(1.0, 6.0)
MOST_BLOCKS = 2_000
"""Items are resampled one by one up to this many; more are dealt at random into so many blocks, which are resampled.

A mean's bootstrap variance is the same either way, and 100,000 items cost no more than 2,000.
"""


@dataclass(frozen=True, eq=False)
class MeansFit:
    """Lines through level means, one entry per dimension; NaN where fewer than two levels have items.

    ``means``, ``counts``: dimensions × levels 1 to 5. ``slope_draws``, ``intercept_draws``: draws × dimensions.
    """

    slope: Floats
    intercept: Floats
    r2: Floats
    means: Floats
    counts: Ints
    slope_draws: Floats
    intercept_draws: Floats


def fit_means(items: RatedItems, *, draws: int, rng: np.random.Generator) -> MeansFit:
    """Fit every dimension, and again on ``draws`` bootstrap samples of the items."""
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
    slope, intercept, r2, means = _lines(whole[None])
    picks = rng.multinomial(count, shares, size=draws).astype(np.float64)
    drawn = (picks @ sums.reshape(count, -1)).reshape(draws, *whole.shape)
    slopes, intercepts, _, _ = _lines(drawn)
    return MeansFit(slope[0], intercept[0], r2[0], means[0], whole[0].astype(np.int64), slopes, intercepts)


def _blocks(size: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Return each item's block and each block's chance of being picked."""
    if size <= MOST_BLOCKS:
        return np.arange(size), np.full(size, 1.0 / size)
    blocks = rng.permutation(np.arange(size) % MOST_BLOCKS)
    return blocks, np.full(MOST_BLOCKS, 1.0 / MOST_BLOCKS)


def _lines(sums: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return slope, intercept, R² and level means from draws × (count, sum) × dimensions × levels."""
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
    return slope, intercept, r2, means


FEWEST_LEVELS, FEWEST_PER_LEVEL = 3, 3
"""Levels a line needs, and items that make a level count: through two points any line fits."""
FEWEST_ITEMS = 20
"""Items that must differ from the commonest level of a dimension."""
WIDEST = 1.0
"""Widest interval of log10 base: beyond a factor of ten between its ends a base says nothing of use."""
NEGATIVE = "negative slope"
UNKNOWN = "not identified"


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
