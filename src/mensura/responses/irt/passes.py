"""One pass: what all responses say at given parameters, as sums over subjects.

The log likelihood of a subject at a node θ is Σ y ln(P/(1−P)) + Σ n ln(1−P). For Rasch and 2PL ln(P/(1−P)) = aθ + d,
so the first sum needs two numbers per subject, Σ y a and Σ y d, and what comes back per item are two moments, Σ y
E[θ] and Σ y: the responses are met with two columns, not with one per node. Where every item was taken once the
second sum is the same for all. 3PL and missing responses meet one column per node.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mensura.core.arrays import Floats
from mensura.responses.irt.model import Parameters, item_blocks, log_chances, log_wrong_chances
from mensura.responses.irt.namespace import Array, Namespace
from mensura.responses.irt.quadrature import Grid, Posterior, posteriors
from mensura.responses.irt.shards import Shard, chunks


@dataclass(frozen=True)
class PassSums:
    """Sums over subjects.

    ``right``: expected right answers, items × (Σ y E[θ], Σ y), or items × nodes where ``by_node``. ``taken``:
    expected answers, items × nodes; one row where all items were taken by all. ``mass``, ``spread``: subjects at each
    node, and the posterior variances of them, groups × nodes. ``evidence``: log marginal likelihood.
    """

    right: Floats
    taken: Floats
    mass: Floats
    spread: Floats
    evidence: float
    subjects: int

    def __add__(self, other: PassSums) -> PassSums:
        return PassSums(
            self.right + other.right,
            self.taken + other.taken,
            self.mass + other.mass,
            self.spread + other.spread,
            self.evidence + other.evidence,
            self.subjects + other.subjects,
        )


class NodeTables:
    """What a pass multiplies the responses with, on the device."""

    def __init__(self, space: Namespace, parameters: Parameters, grid: Grid, *, by_node: bool = False) -> None:
        self._space, self._parameters = space, parameters
        self.linear = parameters.model != "3pl"
        self.by_node = by_node or not self.linear
        self.grid = grid
        self.nodes = space.real(grid.nodes)
        pairs = enumerate(zip(parameters.mean, parameters.sd, strict=True))
        self.priors = [
            space.put(grid.log_prior(float(mean), float(sd), parameters.shape_of(group))) for group, (mean, sd) in pairs
        ]

    @cached_property
    def odds(self) -> Array:
        """Ln P/(1−P): slope and intercept where it is linear in θ, else its value at every node."""
        p = self._parameters
        if self.linear:
            return self._space.real(np.stack([p.slope, p.intercept], axis=1))
        log_right, log_wrong = log_chances(p, self.grid.nodes)
        return self._space.real(log_right - log_wrong)

    @cached_property
    def wrong(self) -> Array:
        """Ln (1−P) of every item at every node."""
        return self._space.real(np.concatenate(list(self._log_wrong())))

    @cached_property
    def all_wrong(self) -> Array:
        """The sum of ln (1−P) over all items, at every node."""
        return self._space.put(np.sum([block.sum(axis=0) for block in self._log_wrong()], axis=0))

    def _log_wrong(self) -> Iterator[Floats]:
        p, nodes = self._parameters, self.grid.nodes
        return (log_wrong_chances(p.of_items(rows), nodes) for rows in item_blocks(len(p.slope), len(nodes)))


def shard_posteriors(space: Namespace, shard: Shard, tables: NodeTables) -> Posterior:
    """Return the posteriors of a shard's subjects.

    What is the same at all nodes of a subject, or for all subjects at a node, is large beside what tells nodes apart;
    it is added in double precision, or taken off the table before, so that single precision is left to the rest.
    """
    joint, table, level = shard_likelihoods(space, shard, tables)
    table = tables.priors[shard.group] + table
    top = space.xp.amax(table)
    found = posteriors(space, joint + space.xp.asarray(table - top, dtype=joint.dtype)[None, :], tables.grid)
    return found._replace(evidence=found.evidence + top + level)


def shard_likelihoods(space: Namespace, shard: Shard, tables: NodeTables) -> tuple[Array, Array, Array]:
    """Return the log likelihoods of a shard's subjects in three parts that add up to them.

    They are a part by subject and node, one by node, and one by subject.
    """
    scored = space.score(shard.right, tables.odds)
    joint = scored[:, :1] * tables.nodes[None, :] if tables.linear else scored
    level = space.double(scored[:, 1]) if tables.linear else 0.0
    if shard.trials is None:
        return joint, tables.all_wrong, level
    return joint + space.score(shard.trials, tables.wrong), 0.0, level


def tally(space: Namespace, shard: Shard, tables: NodeTables, groups: int, *, complete: bool) -> PassSums:
    """Return the sums of one shard, chunk by chunk."""
    xp = space.xp
    nodes, total = len(tables.grid.nodes), None
    for chunk in chunks(space, shard):
        found = shard_posteriors(space, chunk, tables)
        means = xp.asarray(found.mean, dtype=found.weights.dtype)
        columns = found.weights if tables.by_node else xp.stack([means, xp.ones_like(means)], axis=1)
        if chunk.weights is not None:
            plain = isinstance(chunk.weights, np.ndarray)
            given = (space.real(chunk.weights) if plain else chunk.weights)[:, None]
            found = found._replace(weights=found.weights * given, evidence=found.evidence * space.double(given[:, 0]))
            columns = columns * given
        here = xp.sum(space.double(found.weights), axis=0)
        spread = xp.matmul(found.weights.T, xp.asarray(found.variance, dtype=found.weights.dtype))
        right = space.total(chunk.right, columns)
        if complete:
            taken = here[None, :]
        elif chunk.trials is None:
            taken = xp.broadcast_to(here[None, :], (chunk.right.shape[1], nodes))
        else:
            taken = space.total(chunk.trials, found.weights)
        sums = (right, taken, here, space.double(spread), xp.sum(found.evidence))
        total = sums if total is None else tuple(a + b for a, b in zip(total, sums, strict=True))
    if total is None:
        return _empty(shard, tables, groups, complete=complete)
    mass, spreads = np.zeros((groups, nodes)), np.zeros((groups, nodes))
    mass[shard.group], spreads[shard.group] = space.get(total[2]), space.get(total[3])
    return PassSums(space.get(total[0]), space.get(total[1]), mass, spreads, float(total[4]), len(shard))


def _empty(shard: Shard, tables: NodeTables, groups: int, *, complete: bool) -> PassSums:
    items, nodes = int(shard.right.shape[1]), len(tables.grid.nodes)
    flat = np.zeros((groups, nodes))
    right = np.zeros((items, nodes if tables.by_node else 2))
    return PassSums(right, np.zeros((1 if complete else items, nodes)), flat, flat, 0.0, 0)
