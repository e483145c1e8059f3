"""ShardAbilities of subjects, with an error that holds what is unsure about the items too.

An ability is the posterior mean. Its variance is the posterior's, v, and, since items are estimated, v² bᵀ C b
beside: C is the covariance of the parameters and b how the slope of the subject's log posterior changes with them. b
and C are those of :mod:`.information`; a subject who took part of the items has that part of b.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mensura.core.arrays import Floats
from mensura.responses.irt.fitting import Fitted
from mensura.responses.irt.information import Information, group_slopes
from mensura.responses.irt.model import Parameters, curves, item_blocks
from mensura.responses.irt.namespace import Namespace
from mensura.responses.irt.passes import NodeTables, shard_posteriors
from mensura.responses.irt.quadrature import Grid
from mensura.responses.irt.shards import Shard, chunks


class ShardAbilities(NamedTuple):
    """Of every subject of a shard: the ability, its standard error, and the posterior's standard deviation alone."""

    mean: Floats
    error: Floats
    spread: Floats


def abilities(space: Namespace, shard: Shard, fitted: Fitted) -> ShardAbilities:
    """Return the abilities of a shard's subjects."""
    tables = NodeTables(space, fitted.parameters, fitted.grid)
    means, variances = [], []
    for chunk in chunks(space, shard):
        found = shard_posteriors(space, chunk, tables)
        means.append(space.get(found.mean))
        variances.append(space.get(found.variance))
    mean, variance = np.concatenate(means), np.concatenate(variances)
    extra = item_error(fitted.parameters, fitted.grid, fitted.information, shard.group, mean, variance)
    return ShardAbilities(mean, np.sqrt(variance + extra), np.sqrt(variance))


def item_error(p: Parameters, grid: Grid, inverse: Information, group: int, mean: Floats, variance: Floats) -> Floats:
    """Return the variance that errors of the parameters add to abilities."""
    count = len(grid.nodes)
    lone, held, across = np.zeros(count), np.zeros(count), np.zeros((count, inverse.item_columns.shape[2]))
    for rows in item_blocks(len(p.slope), count):
        at = curves(p.of_items(rows), grid.nodes)
        slopes = at.u * at.by_ability[:, :, None]
        lone += np.sum((slopes @ inverse.item_inverse[rows]) * slopes, axis=(0, 2))
        across += np.tensordot(slopes, inverse.item_columns[rows], axes=([0, 2], [0, 1]))
        held += np.sum(at.by_ability**2 / at.spread, axis=0)
    prior = -group_slopes(p, grid)[:, group]
    of_prior = np.sum(inverse.group_inverse[:, None] * prior**2, axis=0)
    across_prior = prior.T @ inverse.group_columns
    part = np.clip((1.0 / variance - p.sd[group] ** -2.0) / np.interp(mean, grid.nodes, held), 0.0, 1.0)
    at = np.clip(np.round((mean - grid.nodes[0]) / grid.spacing).astype(int), 0, len(grid.nodes) - 1)
    crossed = np.sum((part[:, None] * across[at] + across_prior[at]) ** 2, axis=1) if across.shape[1] else 0.0
    extra: Floats = variance**2 * (
        part * np.interp(mean, grid.nodes, lone) + np.interp(mean, grid.nodes, of_prior) + crossed
    )
    return extra
