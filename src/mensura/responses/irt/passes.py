"""One pass: posteriors of abilities on a grid of nodes, and what all responses say there, as sums over subjects.

The log likelihood of a subject at a node θ is Σ y ln(P/(1−P)) + Σ n ln(1−P). For Rasch and 2PL ln(P/(1−P)) = aθ + d,
so the first sum needs two numbers per subject, Σ y a and Σ y d, and what comes back per item are two moments, Σ y
E[θ] and Σ y: the responses are met with two columns, not with one per node. Where every item was taken once the
second sum is the same for all. 3PL and missing responses meet one column per node.

A sum over equally spaced nodes is exact for a posterior whose standard deviation is not below three quarters of the
spacing (its error is 2 exp(−2π² sd²/h²), 3·10⁻⁵ there). Long tests give narrower ones. Their log likelihood is still
a smooth function of ability, whose values at ten nodes around the peak fix it between them (Lagrange's polynomial);
nodes of the subject's own are laid under the peak, and their weights are given back to the ten nodes by the same
polynomial. So every pass is the same two products with the responses, however long the test, and the expected counts
stay those of the grid.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mensura.core.arrays import Floats
from mensura.responses.irt.model import Parameters, item_blocks, log_chances, log_wrong_chances
from mensura.responses.irt.namespace import Array, Namespace
from mensura.responses.irt.shards import Shard, chunks

SPACING = 0.2
"""Distance of nodes, in standard deviations of the first group."""
REACH = 5.0
"""Standard deviations of every group that the grid covers to both sides."""
MOST_NODES = 401
NARROW = 0.75
"""A posterior narrower than this many spacings is taken between the nodes."""
STENCIL = 10
"""Nodes that fix a narrow posterior's log likelihood: within ±4.5 spacings, 6 standard deviations of the widest
such."""
_OWN_NODES = np.linspace(-5.0, 5.0, 11)
"""Where a narrow posterior's own nodes lie, in standard deviations around its peak."""
_HALF = (STENCIL - 1) / 2.0
"""Half the width of the stencil in spacings; polynomials run in units of it, from −1 to 1."""
_LAGRANGE = np.linalg.inv(np.vander(np.linspace(-1.0, 1.0, STENCIL), increasing=True))
"""Coefficients of the polynomial through the stencil from the values at its nodes."""
LEAST_LOG_WEIGHT = -60.0
"""Lower weights are nothing beside the largest; as denormal numbers they would make products 20 times as slow."""
_NEWTON_STEPS = 4
_LONGEST_STEP = 1.0 / _HALF
_FLATTEST = 1.0
"""Least curvature of a log posterior on the stencil: one that is flatter is not narrow."""


@dataclass(frozen=True)
class Grid:
    """Equally spaced nodes for abilities."""

    nodes: Floats

    @property
    def spacing(self) -> float:
        """Distance of two nodes."""
        return float(self.nodes[1] - self.nodes[0])

    @classmethod
    def over(cls, mean: Floats, sd: Floats) -> Grid:
        """Return the grid that covers groups; its ends lie on whole numbers, so that small moves leave it as it is."""
        low = float(np.floor(np.min(mean - REACH * sd)))
        high = float(np.ceil(np.max(mean + REACH * sd)))
        spacing = max(SPACING * min(1.0, float(np.min(sd))), (high - low) / (MOST_NODES - 1))
        return cls(np.linspace(low, high, round((high - low) / spacing) + 1))

    def log_prior(self, mean: float, sd: float, shape: Floats | None = None) -> Floats:
        """Return the log weights of the nodes under one group's distribution; they sum to one.

        It is normal, or exp of a polynomial of standardised abilities with the coefficients ``shape`` (of z, z², …).
        """
        z = (self.nodes - mean) / sd
        off = -0.5 * z**2 if shape is None else log_shape(shape, z)
        total: Floats = off - np.log(np.sum(np.exp(off)))
        return total


def log_shape(shape: Floats, z: Floats) -> Floats:
    """Return the log density, up to a constant; beyond the reach of nodes it falls like a normal one."""
    within = np.clip(z, -REACH, REACH)
    value: Floats = np.polynomial.polynomial.polyval(within, np.concatenate([[0.0], shape]))
    return value - 0.5 * (z**2 - within**2)


class Posterior(NamedTuple):
    """Of every subject: weights of the nodes, log marginal likelihood, mean and variance."""

    weights: Array
    evidence: Array
    mean: Array
    variance: Array


def posteriors(space: Namespace, joint: Array, grid: Grid) -> Posterior:
    """Return the posteriors of log likelihood plus log prior at the nodes (subjects × nodes)."""
    xp = space.xp
    nodes = space.real(grid.nodes)
    top = xp.amax(joint, axis=1)
    weights = joint - top[:, None]
    xp.clip(weights, LEAST_LOG_WEIGHT, None, out=weights)
    xp.exp(weights, out=weights)
    total = xp.matmul(weights, xp.ones_like(nodes))
    weights /= total[:, None]
    mean = xp.matmul(weights, nodes)
    squares = (nodes[None, :] - mean[:, None]) ** 2
    squares *= weights
    variance = xp.matmul(squares, xp.ones_like(nodes))
    evidence = space.double(top) + space.double(xp.log(total))
    narrow = variance < (NARROW * grid.spacing) ** 2
    if not bool(xp.any(narrow)):
        return Posterior(weights, evidence, mean, variance)
    rows = xp.where(narrow)[0]
    mean, variance = space.double(mean), space.double(variance)
    own = _between_nodes(space, space.double(joint[rows]), grid)
    weights[rows] = xp.asarray(own.weights, dtype=weights.dtype)
    evidence[rows], mean[rows], variance[rows] = own.evidence, own.mean, own.variance
    return Posterior(weights, evidence, mean, variance)


def _between_nodes(space: Namespace, joint: Array, grid: Grid) -> Posterior:
    """Return posteriors from nodes of their own, laid on the polynomial through the ten nodes around each peak."""
    xp = space.xp
    lagrange = space.put(_LAGRANGE)
    start = xp.clip(xp.argmax(joint, axis=1) - STENCIL // 2, 0, len(grid.nodes) - STENCIL)
    places = start[:, None] + space.put(np.arange(STENCIL))[None, :]
    subjects = space.put(np.arange(joint.shape[0]))[:, None]
    around = joint[subjects, places]
    top = xp.amax(around, axis=1)
    powers = xp.matmul(around - top[:, None], lagrange.T)
    peak, width = _peak(xp, powers, around)
    at = xp.clip(peak[:, None] + width[:, None] * space.put(_OWN_NODES)[None, :], -1.0, 1.0)
    heights = _polynomial(xp, powers, at)
    most = xp.amax(heights, axis=1)
    mass = xp.exp(heights - most[:, None])
    total = xp.sum(mass, axis=1)
    mass = mass / total[:, None]
    mean = xp.sum(mass * at, axis=1)
    variance = xp.sum(mass * (at - mean[:, None]) ** 2, axis=1)
    weights = xp.zeros_like(joint)
    weights[subjects, places] = xp.matmul(_moments(xp, mass, at), lagrange)
    unit = _HALF * grid.spacing
    # of one node's spacing, which the log prior stands for
    share = width * float(_OWN_NODES[1] - _OWN_NODES[0]) * _HALF
    evidence = top + most + xp.log(total) + xp.log(share)
    centre = space.put(grid.nodes)[start] + unit
    return Posterior(weights, evidence, centre + mean * unit, variance * unit**2)


def _peak(xp: Array, powers: Array, around: Array) -> tuple[Array, Array]:
    """Return where each polynomial is highest and how wide it is there, by Newton's steps from the highest node."""
    at = (xp.asarray(xp.argmax(around, axis=1), dtype=around.dtype) - _HALF) / _HALF
    for _ in range(_NEWTON_STEPS):
        slope, bend = _slopes(xp, powers, at)
        at = xp.clip(at - xp.clip(slope / bend, -_LONGEST_STEP, _LONGEST_STEP), -1.0, 1.0)
    return at, xp.sqrt(-1.0 / bend)


def _slopes(xp: Array, powers: Array, at: Array) -> tuple[Array, Array]:
    """Return the first and second derivative of each polynomial at its own place (Horner's scheme)."""
    slope, bend = xp.zeros_like(at), xp.zeros_like(at)
    for order in reversed(range(1, STENCIL)):
        bend = bend * at + slope
        slope = slope * at + order * powers[:, order]
    return slope, xp.clip(bend, None, -_FLATTEST)


def _moments(xp: Array, mass: Array, at: Array) -> Array:
    """Return Σ mass · placeᵏ of every subject for the powers k below the stencil's size."""
    moments = []
    for _ in range(STENCIL):
        moments.append(xp.sum(mass, axis=1))
        mass = mass * at
    return xp.stack(moments, axis=1)


def _polynomial(xp: Array, powers: Array, at: Array) -> Array:
    """Return each polynomial at its own places (subjects × places)."""
    value = xp.zeros_like(at)
    for order in reversed(range(STENCIL)):
        value = value * at + powers[:, order][:, None]
    return value


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
        return PassSums(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))


class NodeTables:
    """What a pass multiplies the responses with, on the device."""

    def __init__(self, space: Namespace, parameters: Parameters, grid: Grid, *, by_node: bool = False) -> None:
        self._space, self._parameters = space, parameters
        self.linear = parameters.model != "3pl"
        self.by_node = by_node or not self.linear
        self.grid = grid
        self.nodes = space.real(grid.nodes)
        shapes = map(parameters.shape_of, range(len(parameters.mean)))
        groups = zip(parameters.mean.tolist(), parameters.sd.tolist(), shapes, strict=True)
        self.priors = [space.put(grid.log_prior(*group)) for group in groups]

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
    joint += space.xp.asarray(table - top, dtype=joint.dtype)[None, :]
    posterior = posteriors(space, joint, tables.grid)
    return posterior._replace(evidence=posterior.evidence + top + level)


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
        posterior = shard_posteriors(space, chunk, tables)
        means = xp.asarray(posterior.mean, dtype=posterior.weights.dtype)
        columns = posterior.weights if tables.by_node else xp.stack([means, xp.ones_like(means)], axis=1)
        if chunk.weights is not None:
            plain = isinstance(chunk.weights, np.ndarray)
            given = (space.real(chunk.weights) if plain else chunk.weights)[:, None]
            posterior = posterior._replace(
                weights=posterior.weights * given, evidence=posterior.evidence * space.double(given[:, 0])
            )
            columns = columns * given
        here = xp.sum(space.double(posterior.weights), axis=0)
        spread = xp.matmul(posterior.weights.T, xp.asarray(posterior.variance, dtype=posterior.weights.dtype))
        right = space.total(chunk.right, columns)
        if complete:
            taken = here[None, :]
        elif chunk.trials is None:
            taken = xp.broadcast_to(here[None, :], (chunk.right.shape[1], nodes))
        else:
            taken = space.total(chunk.trials, posterior.weights)
        sums = (right, taken, here, space.double(spread), xp.sum(posterior.evidence))
        total = sums if total is None else tuple(a + b for a, b in zip(total, sums, strict=True))
    assert total is not None  # every shard has subjects
    mass, spreads = np.zeros((groups, nodes)), np.zeros((groups, nodes))
    mass[shard.group], spreads[shard.group] = space.get(total[2]), space.get(total[3])
    return PassSums(space.get(total[0]), space.get(total[1]), mass, spreads, float(total[4]), len(shard))
