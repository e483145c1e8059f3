"""The information of a test of few items, exactly: Louis' identity, subject by subject.

Observed information = information with abilities known − Σ over subjects of the covariance of the complete score over
the posterior of the ability. The first part is the derivative of the gradient at fixed posteriors; it has one block
per item and one for groups. The second is a product of subjects × parameters matrices, one per node.
"""

from __future__ import annotations

import numpy as np

from mensura.core.arrays import Floats
from mensura.responses.irt.information import Information, gradient, information_of
from mensura.responses.irt.model import Parameters, Priors, curve_derivatives, group_prior_terms, prior_terms
from mensura.responses.irt.namespace import NumpyArrays
from mensura.responses.irt.passes import NodeTables, PassSums, shard_posteriors, tally
from mensura.responses.irt.quadrature import Grid
from mensura.responses.irt.shards import Held, Shard, chunks

_SMALL = 1e-4
"""Step of the differences that the known part is taken from."""
_FLOOR = 1e-9


def exact_information(held: Held, p: Parameters, grid: Grid, priors: Priors, scale: float = 1.0) -> Information:
    """Return the inverse information of responses in NumPy arrays; ``scale``: subjects that each of them stands for."""
    space = NumpyArrays(np.float64)
    tables = NodeTables(space, p, grid)
    known = np.zeros((_size(p), _size(p)))
    missing = np.zeros_like(known)
    for shard in held.parts:
        known += _known(p, grid, tally(space, shard, tables, held.groups, complete=held.complete))
        for chunk in chunks(space, shard):
            missing += _missing(p, grid, chunk, shard_posteriors(space, chunk, tables).weights)
    curvature = scale * (known - missing)
    stiffness = np.concatenate([prior_terms(p, priors)[2].ravel(), group_prior_terms(p, priors.groups)[2]])
    curvature[np.diag_indices_from(curvature)] += stiffness
    return information_of(curvature, p)


def _size(p: Parameters) -> int:
    return len(p.slope) * p.of_item + len(p.free)


def _known(p: Parameters, grid: Grid, sums: PassSums) -> Floats:
    """Return the information with abilities known: blocks of items, and one of groups."""
    items, count = len(p.slope), p.of_item
    cut, none = items * count, Priors(None, None, None, None)
    whole = np.zeros((_size(p), _size(p)))
    rows = np.arange(cut).reshape(items, count)
    for place in range(count):
        step = np.zeros((items, count))
        step[:, place] = _SMALL
        still = np.zeros(len(p.free))
        below, above = (gradient(p.moved(sign * step, still), grid, sums, none)[0] for sign in (-1.0, 1.0))
        whole[rows, rows[:, place][:, None]] = (below - above) / (2.0 * _SMALL)
    for place in range(len(p.free)):
        step = _SMALL * np.eye(len(p.free))[place]
        still = np.zeros((items, count))
        below, above = (gradient(p.moved(still, sign * step), grid, sums, none)[1] for sign in (-1.0, 1.0))
        whole[cut:, cut + place] = (below - above) / (2.0 * _SMALL)
    return (whole + whole.T) / 2.0


def _missing(p: Parameters, grid: Grid, shard: Shard, weights: Floats) -> Floats:
    """Return the sum over subjects of the covariance of their complete scores."""
    rate, by_item, _ = curve_derivatives(p, grid.nodes)
    u = by_item / np.maximum(rate * (1.0 - rate), _FLOOR)[:, :, None]
    right = np.repeat(np.asarray(shard.right, dtype=np.float64), p.of_item, axis=1)
    taken = 1.0 if shard.trials is None else np.repeat(np.asarray(shard.trials, dtype=np.float64), p.of_item, axis=1)
    given = 1.0 if shard.weights is None else np.asarray(shard.weights, dtype=np.float64)[:, None]
    of_groups = group_scores(p, grid, shard.group)
    scores = np.empty((len(right), _size(p)))
    mean, square = np.zeros_like(scores), np.zeros((_size(p), _size(p)))
    cut = right.shape[1]
    for node in np.flatnonzero(weights.max(axis=0) > _FLOOR):
        weight = weights[:, node][:, None]
        scores[:, :cut] = right * u[:, node].ravel() - taken * (rate[:, node, None] * u[:, node]).ravel()
        scores[:, cut:] = of_groups[:, node]
        weighted = weight * scores
        square += (given * weighted).T @ scores
        mean += weighted
    covariance: Floats = square - (given * mean).T @ mean
    return covariance


def group_scores(p: Parameters, grid: Grid, group: int) -> Floats:
    """Return the scores of groups' free parameters of a subject of a group at every node: free × nodes."""
    scores = np.zeros((len(p.free), len(grid.nodes)))
    off = (grid.nodes - p.mean[group]) / p.sd[group]
    for place, (name, of) in enumerate(p.free):
        if of == group:
            scores[place] = off / p.sd[group] if name == "mean" else off**2 - 1.0
    return scores
