"""Differential item functioning: items whose curve is another for one group than for another of equal ability.

From the expected counts of each group alone the item's curve is estimated again (Newton's steps on the group's
counts). The difference of two curves is tested by Wald's statistic; its covariance holds the errors of both, what
posteriors leave open, and where the groups lie. Every group is compared with the first, with false-discovery control.

Two rounds: in the second, each group has its own parameters of the items that differ in the first. So they no longer
pull the groups' abilities, and all items are judged again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, Mask
from mensura.responses.irt.fitting import Effort, Fitted, climb, over
from mensura.responses.irt.model import Parameters, Priors, chances, curve_derivatives, prior_terms
from mensura.responses.irt.namespace import Array, Namespace
from mensura.responses.irt.passes import NodeTables, PassSums, tally
from mensura.responses.irt.shards import Held, Shard, is_sparse, placed

SMALL, LARGE = 0.43, 0.64
"""Logits that part negligible (A), moderate (B) and large (C) differences: 1 and 1.5 on the delta scale of testing
services."""
RATE = 0.05
"""False discovery rate at which an item is flagged."""
_MOST_FREED = 0.5
"""At most this share of items is freed in the second round; where more differ there is no common scale to speak of."""
_STEPS = 25
_FLOOR = 1e-9
_SCHEMA = {
    **dict.fromkeys(("group", "reference", "item"), pl.String),
    **dict.fromkeys(("difference", "se", "gap", "p", "q"), pl.Float64),
    "class": pl.String,
    "flagged": pl.Boolean,
}


class _Curves(NamedTuple):
    """Items as one group sees them: parameters, and the covariance of slope and intercept (items × k × k)."""

    parameters: Parameters
    covariance: Floats


def empty_dif() -> pl.DataFrame:
    """Return the table of differences without rows."""
    return pl.DataFrame(schema=_SCHEMA)


def discovery_rates(p_values: Floats) -> Floats:
    """Return q-values (Benjamini and Hochberg): the least false discovery rate at which each test is a discovery."""
    order, count = np.argsort(p_values)[::-1], len(p_values)
    q = np.empty(count)
    q[order] = np.minimum.accumulate(p_values[order] * count / np.arange(count, 0, -1))
    return q


def compare_groups(
    space: Namespace, home: Held, fitted: Fitted, priors: Priors, groups: list[str], items: pl.Series
) -> pl.DataFrame:
    """Return the difference of every item between every group and the first.

    ``difference``: logits by which the item is easier (+) or harder (−) for the group than for the reference, at the
    group's mean ability. ``gap``: the same as a difference of rates. ``class`` A, B, C by size, none where the
    standard error is above ``LARGE``: the answers do not tell. ``flagged``: B or C, and found at a false discovery
    rate of 5%.
    """
    on_device = placed(space, home)
    tables = _gaps(space, on_device, fitted, priors, fitted)
    freed = np.any([table["flagged"].to_numpy() for table in tables], axis=0)
    if freed.any() and freed.mean() <= _MOST_FREED:
        p, count = fitted.parameters, on_device.items
        twice = np.concatenate([np.arange(count), *[np.flatnonzero(freed)] * (on_device.groups - 1)])
        split = placed(space, _split(home, freed))
        again = climb(over(space, split), p.of_items(twice), priors, Effort(tolerance=0.05, passes=60))
        first = again.parameters.of_items(slice(count))  # the items of the first group; those not freed are common
        tables = _gaps(space, on_device, replace(again, parameters=first), priors, again)
    named = [
        table.with_columns(items.alias("item"), group=pl.lit(group), reference=pl.lit(groups[0]))
        for table, group in zip(tables, groups[1:], strict=True)
    ]
    return pl.concat(named).select(pl.col(name).cast(kind) for name, kind in _SCHEMA.items())


def _gaps(space: Namespace, held: Held, fitted: Fitted, priors: Priors, link: Fitted) -> list[pl.DataFrame]:
    """Return the comparison of each group with the first; ``link``: the fit that says where the groups lie."""
    p, grid = fitted.parameters, fitted.grid
    tables = NodeTables(space, p, grid, by_node=True)
    curves = []
    for group in range(held.groups):
        first, *others = [
            tally(space, part, tables, held.groups, complete=held.complete)
            for part in held.parts
            if part.group == group
        ]
        curves.append(_group_curves(fitted, sum(others, start=first), group, priors))
    variances = dict(zip(p.free, link.information.group_variance(), strict=True))
    return [
        _compared(
            curves[group], curves[0], p, group, grid.nodes, np.array([variances["mean", group], variances["sd", group]])
        )
        for group in range(1, held.groups)
    ]


def _compared(
    focal: _Curves, reference: _Curves, p: Parameters, group: int, grid: Floats, of_group: Floats
) -> pl.DataFrame:
    """Compare two groups' curves where the focal group is; ``of_group``: variances of its mean and log sd."""
    from scipy.special import chdtrc

    mean, sd = float(p.mean[group]), float(p.sd[group])
    a, b = focal.parameters, reference.parameters
    covariance = focal.covariance + reference.covariance
    if p.model == "rasch":
        gap, toward = (a.intercept - b.intercept)[:, None], np.ones(1)
    else:
        gap, toward = np.stack([a.slope - b.slope, a.intercept - b.intercept], axis=1), np.array([mean, 1.0])
        covariance[:, 0, 0] += p.slope**2 * of_group[1]
    covariance[:, -1, -1] += p.slope**2 * of_group[0]
    difference, error = gap @ toward, np.sqrt(np.einsum("k,jkl,l->j", toward, covariance, toward))
    wald = np.einsum("jk,jk->j", gap, np.linalg.solve(covariance, gap[:, :, None])[:, :, 0])
    weight = np.exp(-0.5 * ((grid - mean) / sd) ** 2)
    rate_gap = (chances(a, grid) - chances(b, grid)) @ (weight / weight.sum())
    p_value: Floats = np.asarray(chdtrc(gap.shape[1], np.maximum(wald, 0.0)))
    q, size = discovery_rates(p_value), np.abs(difference)
    classes = np.where(size < SMALL, "A", np.where(size < LARGE, "B", "C")).astype(object)
    classes[~(error <= LARGE)] = None
    columns = {"difference": difference, "se": error, "gap": rate_gap, "p": p_value, "q": q}
    kinds = {"class": pl.Series(list(classes), dtype=pl.String), "flagged": (q < RATE) & (size >= SMALL)}
    return pl.DataFrame(columns | kinds)


def _group_curves(fitted: Fitted, sums: PassSums, group: int, priors: Priors) -> _Curves:
    """Estimate every item from the sums by node of one group; guessing stays that of all groups."""
    p, nodes = fitted.parameters, fitted.grid.nodes
    own = replace(p, model="2pl" if p.model == "3pl" else p.model)
    items, count = p, own.of_item
    taken = np.maximum(np.broadcast_to(sums.taken, (len(p.slope), len(nodes))), 0.0)
    for _ in range(_STEPS):
        rate, by_item, by_ability = curve_derivatives(items, nodes)
        by_item = by_item[:, :, :count]
        spread = np.maximum(rate * (1.0 - rate), _FLOOR)
        _, pull, stiffness = prior_terms(replace(items, model=own.model), priors)
        score = np.einsum("jq,jqk->jk", (sums.right - taken * rate) / spread, by_item) + pull
        blocks = np.einsum("jq,jqk,jql->jkl", taken / spread, by_item, by_item, optimize=True)
        blocks[:, np.arange(count), np.arange(count)] += stiffness + _FLOOR
        step = np.clip(np.linalg.solve(blocks, score[:, :, None])[:, :, 0], -0.5, 0.5)
        slope = items.slope if p.model == "rasch" else items.slope + step[:, 0]
        items = replace(items, slope=slope, intercept=items.intercept + step[:, -1])
        if float(np.max(np.abs(step))) < 1e-5:
            break
    u = by_item / spread[:, :, None]
    bent = np.gradient(u, nodes, axis=1)
    open_still = np.maximum(sums.spread[group], 0.0) * taken / np.maximum(sums.mass[group], _FLOOR)
    unseen = np.einsum("jq,jqk,jql->jkl", open_still * by_ability**2, u, u, optimize=True)
    unseen += np.einsum("jq,jqk,jql->jkl", open_still * spread, bent, bent, optimize=True)
    covariance = np.linalg.inv(blocks - _within(unseen, blocks))
    return _Curves(_freed(p, items, covariance @ blocks), covariance)


def _freed(common: Parameters, items: Parameters, factor: Floats) -> Parameters:
    """Return a group's curves freed from the pull of the common ones, towards which the posteriors were drawn."""
    gap = np.stack([items.slope - common.slope, items.intercept - common.intercept], axis=1)[:, -factor.shape[1] :]
    gap = np.einsum("jkl,jl->jk", factor, gap)
    slope = common.slope if common.model == "rasch" else common.slope + gap[:, 0]
    return replace(items, slope=slope, intercept=common.intercept + gap[:, -1])


def _within(unseen: Floats, blocks: Floats) -> Floats:
    """Return the missing information, no direction's more than nine tenths of the whole."""
    root = np.linalg.cholesky(blocks)
    half = np.linalg.solve(root, np.swapaxes(np.linalg.solve(root, unseen), 1, 2))
    values, vectors = np.linalg.eigh(half)
    kept = (vectors * np.minimum(values, 0.9)[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    bounded: Floats = root @ kept @ np.swapaxes(root, 1, 2)
    return bounded


def _split(held: Held, freed: Mask) -> Held:
    """Give every group its own column of the freed items: the first keeps the old one, others get new ones."""
    columns, count = np.flatnonzero(freed), int(freed.sum())
    width = held.items + count * (held.groups - 1)
    parts = []
    for part in held.parts:
        own = np.arange(held.items)
        if part.group:
            own[columns] = held.items + count * (part.group - 1) + np.arange(count)
        right, trials = (_renumbered(counts, own, width) for counts in (part.right, part.taken()))
        parts.append(Shard(right, trials, part.group))
    return Held(parts)


def _renumbered(counts: Array, places: np.ndarray[Any, Any], width: int) -> Array:
    """Return counts with every item at its new place."""
    if is_sparse(counts):
        return type(counts)((counts.data, places[counts.indices], counts.indptr), shape=(counts.shape[0], width))
    wide = np.zeros((len(counts), width), dtype=counts.dtype)
    wide[:, places] = counts
    return wide
