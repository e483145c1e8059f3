"""Abilities of subjects: the posterior mean (EAP) and mode (MAP), the maximum of the likelihood, plain or weighted.

The weighted likelihood (Warm 1989) is the likelihood times the root of the information: no prior draws it to the mean,
and it is finite where all answers are right. It is the estimate for statements about rarity.

The variance of an estimate is v and, since items are estimated, v² bᵀ C b: C is the covariance of the parameters and b
how the slope of the subject's log posterior changes with them. b and C are those of :mod:`.information`; a subject who
took part of the items has that part of b.
"""

from typing import NamedTuple

import numpy as np

from mensura.core.arrays import Floats
from mensura.responses.irt import model as irt_model
from mensura.responses.irt.fitting import Fitted
from mensura.responses.irt.information import Information, group_slopes
from mensura.responses.irt.namespace import Namespace
from mensura.responses.irt.passes import Grid, NodeTables, shard_likelihoods, shard_posteriors
from mensura.responses.irt.shards import Shard, chunks

METHODS = ("eap", "map", "wle", "ml")
FARTHEST = 6.0
"""Abilities by likelihood alone stay within so many standard deviations of the first group."""
FINE = Grid(np.linspace(-FARTHEST, FARTHEST, 241))
_FLOOR = 1e-9


def estimate(method: str, values: Floats, information: Floats, grid: Grid, prior: Floats) -> tuple[Floats, Floats]:
    """Return the abilities with the highest likelihood, weighted likelihood or posterior, and their variances.

    ``values``: log likelihoods (subjects × nodes). ``information``: of the answers, alike or one row alone.
    ``prior``: log density of abilities at the nodes, and its curvature in the last place.
    """
    height = values + (0.5 * np.log(np.maximum(information, _FLOOR)) if method == "wle" else 0.0)
    height = height + prior[:-1] if method == "map" else height
    rows, top = np.arange(len(height)), np.clip(np.argmax(height, axis=1), 1, len(grid.nodes) - 2)
    below, here, above = (height[rows, top + step] for step in (-1, 0, 1))
    bend = np.minimum(below + above - 2.0 * here, -_FLOOR)
    ability = grid.nodes[top] + grid.spacing * np.clip(0.5 * (below - above) / bend, -1.0, 1.0)
    whole = np.broadcast_to(information, values.shape)
    share = np.clip((ability - grid.nodes[0]) / grid.spacing - top, -1.0, 1.0)
    step = np.where(share < 0.0, -1, 1)
    of_ability = whole[rows, top] * (1.0 - np.abs(share)) + whole[rows, top + step] * np.abs(share)
    return ability, 1.0 / np.maximum(of_ability + (prior[-1] if method == "map" else 0.0), FARTHEST**-2.0)


def normal_prior(grid: Grid, mean: float, sd: float) -> Floats:
    """Return the log density of normal abilities at the nodes and, last, its curvature."""
    return np.append(-0.5 * ((grid.nodes - mean) / sd) ** 2, sd**-2.0)


class ShardAbilities(NamedTuple):
    """Of every subject of a shard: ability, its standard error, the weighted likelihood's estimate and its error."""

    mean: Floats
    error: Floats
    weighted: Floats
    weighted_error: Floats


def abilities(space: Namespace, shard: Shard, fitted: Fitted, method: str = "eap") -> ShardAbilities:
    """Return the abilities of a shard's subjects, in logits."""
    p, unit = fitted.parameters, fitted.parameters.unit
    fine = Grid(FINE.nodes * unit)
    tables, fine_tables = NodeTables(space, p, fitted.grid), NodeTables(space, p, fine)
    of_items = p.information(fine.nodes)
    prior = normal_prior(fine, float(p.mean[shard.group]), float(p.sd[shard.group]))
    parts: list[list[Floats]] = []
    for chunk in chunks(space, shard):
        joint, table, _ = shard_likelihoods(space, chunk, fine_tables)
        values = space.get(joint) + (0.0 if isinstance(table, float) else space.get(table)[None, :])
        complete = chunk.trials is None
        of_all = of_items.sum(axis=0)[None] if complete else space.get(space.score(chunk.trials, space.real(of_items)))
        weighted = estimate("wle", values, of_all, fine, prior)
        if method == "eap":
            posterior = shard_posteriors(space, chunk, tables)
            chosen = space.get(posterior.mean), space.get(posterior.variance)
        else:
            chosen = weighted if method == "wle" else estimate(method, values, of_all, fine, prior)
        parts.append([*chosen, *weighted])
    mean, variance, weighted_mean, weighted_variance = (np.concatenate(one) for one in zip(*parts, strict=True))
    how = p, fitted.grid, fitted.information, shard.group
    error = np.sqrt(variance + item_error(*how, mean, variance))
    return ShardAbilities(
        mean, error, weighted_mean, np.sqrt(weighted_variance + item_error(*how, weighted_mean, weighted_variance))
    )


def item_error(
    p: irt_model.Parameters, grid: Grid, inverse: Information, group: int, mean: Floats, variance: Floats
) -> Floats:
    """Return the variance that errors of the parameters add to abilities."""
    count = len(grid.nodes)
    lone, of_ability, across = np.zeros(count), np.zeros(count), np.zeros((count, inverse.item_columns.shape[2]))
    for rows in irt_model.item_blocks(len(p.slope), count):
        at = irt_model.curves(p.of_items(rows), grid.nodes)
        slopes = at.u * at.by_ability[:, :, None]
        lone += np.sum((slopes @ inverse.item_inverse[rows]) * slopes, axis=(0, 2))
        across += np.tensordot(slopes, inverse.item_columns[rows], axes=([0, 2], [0, 1]))
        of_ability += np.sum(at.by_ability**2 / at.spread, axis=0)
    prior = -group_slopes(p, grid)[:, group]
    of_prior = np.sum(inverse.group_inverse[:, None] * prior**2, axis=0)
    across_prior = prior.T @ inverse.group_columns
    part = np.clip((1.0 / variance - p.sd[group] ** -2.0) / np.interp(mean, grid.nodes, of_ability), 0.0, 1.0)
    place = np.clip((mean - grid.nodes[0]) / grid.spacing, 0.0, count - 1.001)
    below = place.astype(int)
    near = (place - below)[:, None]  # between nodes, lest a last bit choose another one
    of_items, of_groups = (one[below] * (1.0 - near) + one[below + 1] * near for one in (across, across_prior))
    crossed = np.sum((part[:, None] * of_items + of_groups) ** 2, axis=1) if across.shape[1] else 0.0
    extra: Floats = variance**2 * (
        part * np.interp(mean, grid.nodes, lone) + np.interp(mean, grid.nodes, of_prior) + crossed
    )
    return extra
