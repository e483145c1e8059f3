"""Differential item functioning between groups: every group against the first, with false-discovery control.

Two rounds: items that differ in the first are told apart in the second, where each group has its own, so that they no
longer pull the groups' abilities, and all items are judged anew.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, Mask
from mensura.responses.irt.differences import CurveGap, curve_gap, group_curves
from mensura.responses.irt.fitting import Effort, Fitted, climb, over
from mensura.responses.irt.model import Parameters, Priors
from mensura.responses.irt.namespace import Namespace
from mensura.responses.irt.passes import NodeTables, tally
from mensura.responses.irt.shards import Held, Shard, is_sparse, placed
from mensura.responses.multiple import discovery_rates

SMALL, LARGE = 0.43, 0.64
"""Logits that part negligible (A), moderate (B) and large (C) differences: 1 and 1.5 on the delta scale of testing
services."""
RATE = 0.05
"""False discovery rate at which an item is flagged."""
_MOST_FREED = 0.5
"""At most this share of items is freed in the second round; where more differ there is no common scale to speak of."""
_SCHEMA = {
    "group": pl.String,
    "reference": pl.String,
    "item": pl.String,
    "difference": pl.Float64,
    "se": pl.Float64,
    "gap": pl.Float64,
    "p": pl.Float64,
    "q": pl.Float64,
    "class": pl.String,
    "flagged": pl.Boolean,
}


def empty_dif() -> pl.DataFrame:
    """Return the table of differences without rows."""
    return pl.DataFrame(schema=_SCHEMA)


def compare_groups(
    space: Namespace, home: Held, fitted: Fitted, priors: Priors, groups: list[str], items: pl.Series
) -> pl.DataFrame:
    """Return the difference of every item between every group and the first.

    ``difference``: logits by which the item is easier (+) or harder (−) for the group than for the reference, at the
    group's mean ability. ``gap``: the same as a difference of rates. ``class`` A, B, C by size, none where the
    standard error is above ``LARGE``: the answers do not tell. ``flagged``: B or C, and found at a false discovery
    rate of 5%.
    """
    held = placed(space, home)
    first = _gaps(space, held, fitted, priors)
    freed = np.zeros(held.items, dtype=bool)
    for gap in first:
        freed |= _flagged(gap)[2]
    if freed.any() and freed.mean() <= _MOST_FREED:
        split = placed(space, _split(home, freed))
        p = fitted.parameters
        wide = _widened(p, freed, held.groups)
        again = climb(over(space, split), wide, priors, Effort(tolerance=0.05, passes=60))
        moved = again.parameters
        kept = replace(p, mean=moved.mean, sd=moved.sd)
        first = _gaps(space, held, _at(again, _folded(moved, kept, freed)), priors, link=again)
    rows: list[tuple[Any, ...]] = []
    for place, gap in enumerate(first, start=1):
        p_value, q, flagged = _flagged(gap)
        size = np.abs(gap.difference)
        classes = np.where(size < SMALL, "A", np.where(size < LARGE, "B", "C")).astype(object)
        classes[~(gap.error <= LARGE)] = None
        columns = (items, gap.difference, gap.error, gap.rate_gap, p_value, q, classes, flagged)
        for item, *values in zip(*columns, strict=True):
            numbers = [value.item() if hasattr(value, "item") else value for value in values]
            rows.append((groups[place], groups[0], item, *numbers))
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def _gaps(space: Namespace, held: Held, fitted: Fitted, priors: Priors, link: Fitted | None = None) -> list[CurveGap]:
    p, grid = fitted.parameters, fitted.grid
    tables = NodeTables(space, p, grid, by_node=True)
    curves = []
    for group in range(held.groups):
        parts = [
            tally(space, part, tables, held.groups, complete=held.complete)
            for part in held.parts
            if part.group == group
        ]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        curves.append(group_curves(fitted, total, group, priors))
    inverse = (link or fitted).information
    variances = dict(zip(p.free, inverse.group_variance(), strict=True))
    return [
        curve_gap(
            curves[group], curves[0], p, group, grid.nodes, np.array([variances["mean", group], variances["sd", group]])
        )
        for group in range(1, held.groups)
    ]


def _flagged(gap: CurveGap) -> tuple[Floats, Floats, Mask]:
    from scipy.special import chdtrc

    p_value: Floats = np.asarray(chdtrc(gap.degrees, np.maximum(gap.wald, 0.0)))
    q = discovery_rates(p_value)
    return p_value, q, (q < RATE) & (np.abs(gap.difference) >= SMALL)


def _split(held: Held, freed: Mask) -> Held:
    """Give every group its own column of the freed items: the first keeps the old one, others get new ones."""
    parts = []
    columns, count = np.flatnonzero(freed), int(freed.sum())
    for part in held.parts:
        if is_sparse(part.right):
            own = np.arange(held.items)
            if part.group:
                own[columns] = held.items + count * (part.group - 1) + np.arange(count)
            width = held.items + count * (held.groups - 1)
            parts.append(Shard(_renumbered(part.right, own, width), _renumbered(part.trials, own, width), part.group))
            continue
        right = part.right
        taken = np.ones(right.shape, dtype=np.uint8) if part.trials is None else part.trials
        wide = np.zeros((len(right), held.items + count * (held.groups - 1)), dtype=right.dtype)
        mask = np.zeros(wide.shape, dtype=np.uint8)
        wide[:, : held.items], mask[:, : held.items] = right, taken
        if part.group:
            target = held.items + count * (part.group - 1) + np.arange(count)
            wide[:, target], mask[:, target] = right[:, columns], taken[:, columns]
            wide[:, columns], mask[:, columns] = 0, 0
        parts.append(Shard(wide, mask, part.group))
    return Held(parts)


def _renumbered(counts: Any, places: np.ndarray[Any, Any], width: int) -> Any:  # noqa: ANN401
    """Return sparse counts with every item at its new place."""
    return type(counts)((counts.data, places[counts.indices], counts.indptr), shape=(counts.shape[0], width))


def _widened(p: Parameters, freed: Mask, groups: int) -> Parameters:
    def more(values: Floats) -> Floats:
        return np.concatenate([values, np.tile(values[freed], groups - 1)])

    return replace(p, slope=more(p.slope), intercept=more(p.intercept), guess=more(p.guess))


def _folded(moved: Parameters, kept: Parameters, freed: Mask) -> Parameters:
    """Return the items of the first group (those not freed are common) with the groups of the second round."""
    count = len(freed)
    return replace(kept, slope=moved.slope[:count], intercept=moved.intercept[:count], guess=moved.guess[:count])


def _at(again: Fitted, p: Parameters) -> Fitted:
    return Fitted(p, again.grid, again.sums, again.information, again.evidence, again.converged, again.history)
