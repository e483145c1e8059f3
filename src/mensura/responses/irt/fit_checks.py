"""Does the model fit: item by item, and in one dimension.

Item fit compares, at each node, the share of right answers expected from the posteriors with the model's curve.
``misfit`` is the root mean square of the difference over the subjects who took the item (the RMSD of large surveys:
below 0.05 small, above 0.1 poor). Its test adds a bend to the curve, a term in (θ − θ̄)² that the model lacks, and
asks whether its score is further from zero than chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mensura.core.arrays import Floats, Mask
from mensura.responses.irt.fitting import Fitted
from mensura.responses.irt.model import ItemCurves, Parameters, chances, curves, item_blocks
from mensura.responses.irt.namespace import Namespace
from mensura.responses.irt.passes import NodeTables, PassSums, shard_posteriors
from mensura.responses.irt.quadrature import Grid
from mensura.responses.irt.shards import Shard

_LEAST_HELD = 0.3
"""Share of a bend's information that is counted on a short test, whose posteriors leave most of it open."""
_NULL_DRAWS = 20
_FLOOR = 1e-9


def item_misfit(fitted: Fitted, sums: PassSums) -> tuple[Floats, Floats]:
    """Return every item's misfit and the z of its bend, from sums by node."""
    p, nodes = fitted.parameters, fitted.grid.nodes
    misfit, z = np.empty(len(p.slope)), np.empty(len(p.slope))
    for rows in item_blocks(len(p.slope), len(nodes)):
        at = curves(p.of_items(rows), nodes)
        taken = np.maximum(sums.taken if len(sums.taken) == 1 else sums.taken[rows], 0.0)
        off = sums.right[rows] - taken * at.rate
        share = taken / np.maximum(taken.sum(axis=1, keepdims=True), _FLOOR)
        gap = np.clip(off / np.maximum(taken, _FLOOR), -1.0, 1.0)
        misfit[rows] = np.sqrt(np.sum(share * gap**2, axis=1))
        z[rows] = _bend(p.slope[rows], nodes, sums, at, taken, off)
    return misfit, z


def _bend(slope: Floats, nodes: Floats, sums: PassSums, at: ItemCurves, taken: Floats, off: Floats) -> Floats:
    """Return the score of a bend in standard errors; what the item's own parameters could take up is taken off.

    Like an item's score (y − P) u, that of a bend is (y − P) w(θ), with w = (θ − θ̄)² P′ / (a P(1−P)) at first.
    """
    weight = taken * at.spread
    middle = np.sum(taken * nodes, axis=1, keepdims=True) / np.maximum(taken.sum(axis=1, keepdims=True), _FLOOR)
    steepness = at.by_ability / at.spread / np.where(np.abs(slope[:, None]) > 1e-6, slope[:, None], 1e-6)
    bend = steepness * (nodes - middle) ** 2
    u = np.broadcast_to(at.u, (*bend.shape, at.u.shape[2]))
    cross = ((weight * bend)[:, None, :] @ u)[:, 0]
    blocks = at.squares(weight) + _FLOOR * np.eye(u.shape[2])
    bend = bend - (u @ np.linalg.solve(blocks, cross[:, :, None]))[:, :, 0]
    score = np.sum(off * bend, axis=1)
    subjects = np.maximum(sums.mass.sum(axis=0), _FLOOR)
    moving = (at.by_ability * bend) ** 2 + at.spread * np.gradient(bend, nodes, axis=1) ** 2
    unseen = np.sum(sums.spread, axis=0) * (taken / subjects) * moving
    known = np.sum(weight * bend**2, axis=1)
    held = np.maximum(known - np.sum(unseen, axis=1), _LEAST_HELD * known)
    z: Floats = score / np.sqrt(np.maximum(held, _FLOOR))
    return z


@dataclass(frozen=True)
class Dimensionality:
    """The largest factor in the residuals, as a share of their variance; what chance gives (95th percentile)."""

    share: float
    by_chance: float
    items: int
    subjects: int
    ability: Floats

    @property
    def said(self) -> str:
        """The finding in words."""
        factor = f"the largest factor beyond ability explains {self.share:.1%} of the residual variance"
        chance = f"chance alone up to {self.by_chance:.1%} ({self.subjects:,} subjects, {self.items:,} items)"
        if self.share <= self.by_chance:
            return f"One dimension suffices: {factor}, {chance}."
        verdict = "a little" if self.share < 2.0 * self.by_chance else "clearly"
        return (
            f"More than one dimension ({verdict}): {factor}, {chance}; abilities are averages over what items ask for."
        )


def dimensionality(
    space: Namespace, shard: Shard, p: Parameters, grid: Grid, rng: np.random.Generator
) -> Dimensionality:
    """Compare the residuals of a shard with those of responses drawn from the model itself."""
    right = np.asarray(shard.right, dtype=np.float64)
    trials = np.ones(right.shape) if shard.trials is None else np.asarray(shard.trials, dtype=np.float64)
    taken = trials > 0
    ability = _ability(space, shard, p, grid)
    found = _largest_factor(right, trials, taken, p, ability)
    rate = _rates(p, ability)
    null = []
    for _ in range(_NULL_DRAWS):
        drawn = rng.binomial(trials.astype(int), rate).astype(np.float64)
        again = Shard(space.put(drawn.astype(np.float32)), shard.trials, shard.group)
        null.append(_largest_factor(drawn, trials, taken, p, _ability(space, again, p, grid)))
    return Dimensionality(found, float(np.quantile(null, 0.95)), right.shape[1], right.shape[0], ability)


def _ability(space: Namespace, shard: Shard, p: Parameters, grid: Grid) -> Floats:
    on = Shard(
        space.put(np.asarray(shard.right)), None if shard.trials is None else space.put(shard.trials), shard.group
    )
    return space.get(shard_posteriors(space, on, NodeTables(space, p, grid)).mean)


def _rates(p: Parameters, ability: Floats) -> Floats:
    return np.clip(chances(p, ability).T, 1e-6, 1.0 - 1e-6)


def _largest_factor(right: Floats, trials: Floats, taken: Mask, p: Parameters, ability: Floats) -> float:
    """Return the largest eigenvalue of the correlations of residuals, as a share of their sum."""
    rate = _rates(p, ability)
    residual = np.where(taken, (right - trials * rate) / np.sqrt(np.maximum(trials, 1.0) * rate * (1.0 - rate)), 0.0)
    residual = np.clip(residual, -5.0, 5.0)  # one surprise among many sure answers is no factor
    together = taken.astype(np.float64).T @ taken
    scale = np.sqrt(np.maximum(np.sum(residual**2, axis=0), _FLOOR))
    pairs = np.where(
        together > 0, np.sqrt(np.outer(taken.sum(axis=0), taken.sum(axis=0))) / np.maximum(together, 1.0), 0.0
    )
    correlations = (residual / scale).T @ (residual / scale) * pairs
    return float(np.linalg.eigvalsh(correlations)[-1] / len(correlations))
