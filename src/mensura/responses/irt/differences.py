"""Differential item functioning: items whose curve is another for one group than for another of equal ability.

Likelihood-ratio tests: a fit in which the group has its own parameters of an item is compared with the fit in which
it has not. All other items link the groups, except those that differ: these are freed, and all items are tested
again, until the same items differ (iterative purification). A third fit, with one slope for both groups, divides the
test into a uniform and a non-uniform part. Every group is compared with the first, with false-discovery control.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.responses.irt import categories as rated
from mensura.responses.irt.category_curves import CategoryItems
from mensura.responses.irt.fitting import Effort, Fitted, climb, place_at
from mensura.responses.irt.model import Parameters
from mensura.responses.irt.namespace import Namespace, namespace
from mensura.responses.irt.passes import Grid, NodeTables, PassSums, tally
from mensura.responses.irt.priors import Priors
from mensura.responses.irt.shards import Held, thinned

SMALL, LARGE = 0.43, 0.64
"""Logits that part negligible (A), moderate (B) and large (C) differences: 1 and 1.5 on the delta scale of testing
services."""
RATE = 0.05
"""False discovery rate at which an item is flagged."""
FEWEST = 5
"""Subjects of a group below which its items are not compared."""
_MOST_FREED, _ROUNDS = 0.5, 8
"""At most this share of items is freed; where more differ there is no common scale to speak of."""
_SEVERAL, _SURE = 3, 0.01
"""Flagged items from which all of them are freed. Fewer hardly move the link, and one that is flagged by chance moves
it as much: of these, only those at this lower rate are freed."""
_MOST_WORK = 4e8
"""Subjects × items² up to which all subjects are tested; of more, a sample is."""
Maps = Sequence[np.ndarray[Any, np.dtype[np.int64]]]
"""Of every group, the place of each item's parameters among all parameters."""
_STEPS, _ENOUGH = 8, 0.005
_SCHEMA = {
    **dict.fromkeys(("group", "reference", "item"), pl.String),
    **dict.fromkeys(("difference", "se", "gap", "x2", "p", "q", "p_uniform", "p_nonuniform"), pl.Float64),
    "class": pl.String,
    "flagged": pl.Boolean,
}


def empty_dif() -> pl.DataFrame:
    """Return the table of differences without rows."""
    return pl.DataFrame(schema=_SCHEMA)


def discovery_rates(p_values: Floats, tests: int | None = None) -> Floats:
    """Return q-values (Benjamini and Hochberg): the least false discovery rate at which each test is a discovery.

    ``tests``: how many there were, where only the smallest p-values are given.
    """
    order, count = np.argsort(p_values, kind="stable")[::-1], len(p_values)
    q = np.empty(count)
    q[order] = np.minimum.accumulate(p_values[order] * (tests or count) / np.arange(count, 0, -1))
    return np.minimum(q, 1.0)


@dataclass(frozen=True)
class RightAnswers:
    """Right and wrong answers, one shard or more per group."""

    space: Namespace
    held: Held
    priors: Priors

    @classmethod
    def some(cls, space: Namespace, held: Held, priors: Priors) -> RightAnswers:
        """Return the answers, of a sample of subjects where the tests of all would take long."""
        most = max(1000, int(_MOST_WORK / held.items**2))
        exact = namespace(double=True) if space.device == "numpy" else space
        return cls(exact, thinned(held, most) if held.subjects > most else held, priors)

    @property
    def sizes(self) -> list[int]:
        """Subjects of every group."""
        return [sum(len(part) for part in self.held.parts if part.group == one) for one in range(self.held.groups)]

    def _sums(self, maps: Maps, p: Parameters, grid: Grid, by_node: bool) -> PassSums:
        each = []
        for part in self.held.parts:
            own = maps[part.group]
            tables = NodeTables(self.space, p.of_items(own), grid, by_node=by_node)
            sums = tally(self.space, part, tables, self.held.groups, complete=self.held.complete)
            right, taken = np.zeros((len(p.slope), sums.right.shape[1])), np.zeros((len(p.slope), len(grid.nodes)))
            right[own], taken[own] = sums.right, sums.taken
            each.append(replace(sums, right=right, taken=taken))
        return reduce(add, each)

    def solve(self, p: Parameters, maps: Maps) -> Fitted:
        """Fit from ``p`` on."""
        return climb(partial(self._sums, maps), p, self.priors, Effort(tolerance=0.003, passes=60))

    def at(self, p: Parameters, maps: Maps) -> tuple[float, Floats]:
        """Return log posterior and gradient."""
        place = place_at(partial(self._sums, maps), self.priors, p)
        return place.height, place.slope()


@dataclass(frozen=True)
class RatedAnswers:
    """Answers in categories, one part per group."""

    space: Namespace
    parts: Sequence[rated.CategoryCounts]
    prior: rated.CategoryPrior | None

    @property
    def sizes(self) -> list[int]:
        """Subjects of every group."""
        return [len(part) for part in self.parts]

    def _own(self, maps: Maps) -> list[rated.CategoryCounts]:
        return [replace(part, places=maps[part.group]) for part in self.parts]

    def solve(self, p: CategoryItems, maps: Maps) -> rated.CategoryFitted:
        """Fit from ``p`` on."""
        return rated.fit_categories_held(self.space, self._own(maps), p, self.prior, near=True)

    def at(self, p: CategoryItems, maps: Maps) -> tuple[float, Floats]:
        """Return log posterior and gradient."""
        return rated.height_and_gradient(self.space, self._own(maps), p, self.prior)


Comparable = RightAnswers | RatedAnswers
"""Answers that can be fitted with other parameters of some items in some groups."""


class _Layout(NamedTuple):
    """Which items are freed, as (item, group), and the fit with them; their parameters follow those of the first."""

    freed: tuple[tuple[int, int], ...]
    fit: Any
    maps: Maps


class _Test(NamedTuple):
    """The statistic, its p, the fit in which a group has its own parameters of an item, and the start without them."""

    x2: float
    p: float
    layout: _Layout
    together: Any


def compare_items(answers: Comparable, p: Any, groups: list[str], items: pl.Series) -> pl.DataFrame:
    """Return the difference of every item between every group and the first; ``p``: parameters of all together.

    ``difference``: logits by which the item is easier (+) or harder (−) for the group than for the reference, at the
    group's mean ability. ``gap``: the same as a difference of expected scores. ``x2``, ``p``: likelihood-ratio test;
    ``p_uniform``, ``p_nonuniform``: its two parts. ``class`` A, B, C by size, none where the standard error is above
    ``LARGE``: the answers do not tell. The size of a non-uniform difference is the largest within one standard
    deviation of the group's mean. ``flagged``: B or C, and found at a false discovery rate of 5%.
    """
    large = [group for group in range(1, len(groups)) if answers.sizes[group] >= FEWEST]
    if not large:
        return empty_dif()
    count = items.len()
    freed: tuple[tuple[int, int], ...] = ()
    returned: set[tuple[int, int]] = set()
    base = _laid(answers, p, (), count, len(groups))
    for _ in range(_ROUNDS):
        base = _laid(answers, base.fit.parameters, freed, count, len(groups), base)
        tests = {(item, group): _tested(answers, base, item, group, count) for group in large for item in range(count)}
        q = np.concatenate([discovery_rates(np.array([tests[i, g].p for i in range(count)])) for g in large])
        rates = {pair: rate for pair, rate in zip(tests, q, strict=True) if rate < RATE}
        rates = {pair: rates[pair] for pair in rates if _largest(tests[pair].layout, *pair) >= SMALL}
        least = RATE if len(rates) >= _SEVERAL else _SURE
        worst = [pair for pair, rate in rates.items() if rate < least and pair not in returned]
        again = tuple(sorted(worst, key=lambda pair: tests[pair].p)[: int(_MOST_FREED * count * len(large))])
        returned |= set(freed) - set(again)  # freed again and again, an item would leave the end to chance
        if set(again) == set(freed):
            break
        freed = again
    tables = []
    for group in large:
        rows = [_described(answers, tests[item, group], item, group) for item in range(count)]
        table = pl.DataFrame(rows, schema=list(_SCHEMA)[3:8] + list(_SCHEMA)[9:11], orient="row")
        largest = pl.Series([_largest(tests[item, group].layout, item, group) for item in range(count)])
        table = table.with_columns(q=discovery_rates(table["p"].to_numpy()), item=items, group=pl.lit(groups[group]))
        size, known = pl.col("difference").abs(), pl.col("se") <= LARGE
        size = pl.when(pl.col("p_nonuniform") < RATE).then(largest).otherwise(size)
        classes = pl.when(size < SMALL).then(pl.lit("A")).when(size < LARGE).then(pl.lit("B")).otherwise(pl.lit("C"))
        flagged = (pl.col("q") < RATE) & (size >= SMALL)
        named = pl.when(known).then(classes).alias("class")
        tables.append(table.with_columns(named, flagged=flagged, reference=pl.lit(groups[0])))
    return pl.concat(tables).select(pl.col(name).cast(kind) for name, kind in _SCHEMA.items())


def _laid(
    answers: Comparable,
    p: Any,
    freed: tuple[tuple[int, int], ...],
    count: int,
    groups: int,
    before: _Layout | None = None,
) -> _Layout:
    """Fit with some items freed, from parameters ``p`` of another layout on."""
    if before is not None and set(before.freed) == set(freed):
        return before
    maps = [np.arange(count) for _ in range(groups)]
    for place, (item, group) in enumerate(freed, start=count):
        maps[group][item] = place
    start = p if before is None else p.of_items(_source(freed, count, before))
    return _Layout(freed, answers.solve(start, maps), maps)


def _source(freed: tuple[tuple[int, int], ...], count: int, before: _Layout) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the place of each parameter among those of another layout."""
    own = [before.maps[group][item] if (item, group) in before.freed else item for item, group in freed]
    return np.array([*range(count), *own], dtype=np.int64)


def _tested(answers: Comparable, base: _Layout, item: int, group: int, count: int) -> _Test:
    """Test one item of one group."""
    from scipy.special import chdtrc

    pair, groups = (item, group), len(base.maps)
    rest = tuple(one for one in base.freed if one != pair)
    other = rest if pair in base.freed else (*base.freed, pair)
    alternative = _laid(answers, base.fit.parameters, other, count, groups, base)
    free, bound = (base, alternative) if pair in base.freed else (alternative, base)
    degrees = free.fit.parameters.unknowns(item)
    x2 = max(0.0, 2.0 * (free.fit.posterior - bound.fit.posterior))
    together = bound.fit.parameters.of_items(_source(free.freed, count, bound))
    return _Test(x2, float(chdtrc(degrees, x2)), free, together)


def _largest(layout: _Layout, item: int, group: int) -> float:
    """Return the largest difference of an item in logits within one standard deviation of the group's mean."""
    p, width = layout.fit.parameters, layout.fit.information.item_columns.shape[1]
    own, shared = (p.flat()[at * width : (at + 1) * width] for at in (int(layout.maps[group][item]), item))
    ends = p.mean[group] + np.array([-1.0, 1.0]) * p.sd[group]
    return max(abs(float(p.logit_weights(item, float(end)) @ (own - shared))) for end in ends)


def _described(answers: Comparable, test: _Test, item: int, group: int) -> tuple[Any, ...]:
    """Return difference, its error, gap, statistic, p, and p of the uniform and the non-uniform part."""
    from scipy.special import chdtrc

    x2, p_value, layout, together = test
    p, information = layout.fit.parameters, layout.fit.information
    place, mean, sd = int(layout.maps[group][item]), float(p.mean[group]), float(p.sd[group])
    values, width = p.flat(), information.item_columns.shape[1]
    own, shared = (slice(at * width, (at + 1) * width) for at in (place, item))
    toward, slopes = p.logit_weights(item, mean), p.slopes_of(item)
    apart, along = values[own] - values[shared], np.zeros(len(values))
    along[own], along[shared] = toward, -toward
    of_mean = len(values) - len(p.free) + p.free.index(("mean", group))
    along[of_mean] = (p.logit_weights(item, 1.0) - p.logit_weights(item, 0.0)) @ apart
    variance = float(along @ information.step(along))
    nodes = mean + sd * np.linspace(-4.0, 4.0, 81)
    weight = np.exp(-0.5 * ((nodes - mean) / sd) ** 2)
    score = p.of_items(np.array([place, item])).expected_scores(nodes)
    gap = float((score[0] - score[1]) @ weight / weight.sum())
    uniform, other = p_value, None
    if slopes:
        straight = _with_one_slope(answers, layout, together, item, place, slopes)
        bent = min(x2, 2.0 * (layout.fit.posterior - straight))
        uniform = float(chdtrc(p.unknowns(item) - len(slopes), max(0.0, x2 - bent)))
        other = float(chdtrc(len(slopes), max(0.0, bent)))
    return float(toward @ apart), float(np.sqrt(max(variance, 0.0))), gap, x2, p_value, uniform, other


def _with_one_slope(answers: Comparable, layout: _Layout, p: Any, item: int, place: int, slopes: list[int]) -> float:
    """Return the log posterior of the best fit in which both groups have the same slopes of an item.

    Newton's steps that leave the slopes alike, from the fit ``p`` in which the whole item is the same.
    """
    information = layout.fit.information
    width, flat = information.item_columns.shape[1], np.zeros((len(slopes), len(p.flat())))
    for row, slope in zip(flat, slopes, strict=True):
        row[place * width + slope], row[item * width + slope] = 1.0, -1.0
    columns = np.array([information.step(one) for one in flat])
    inner = np.linalg.inv(columns @ flat.T)
    best, here, step = -np.inf, p, np.zeros(flat.shape[1])
    for _ in range(_STEPS):
        step = np.clip(step, -1.0, 1.0)
        tried = here.moved(step)
        height, slope_of_height = answers.at(tried, layout.maps)
        if height < best:
            step = step / 3.0
            continue
        gain, best, here = height - best, height, tried
        if gain < _ENOUGH:
            break
        newton = information.step(slope_of_height)
        step = newton - (inner @ (flat @ newton)) @ columns
    return float(best)
