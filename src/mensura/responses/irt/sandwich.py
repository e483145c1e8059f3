"""Errors that do not trust the model: from scores summed over clusters, and from replicate weights.

With H the information and sᵢ the weighted score of cluster i, the covariance of the parameters is H⁻¹ (Σ sᵢ sᵢᵀ) H⁻¹
(Huber 1967; Liang and Zeger 1986). With replicate weights it is the spread of the parameters that they give, times the
factor of the design. Both are sums of squares of columns, which is the form that :class:`Information` has.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.responses.irt.fitting import Effort, Fitted, climb, over
from mensura.responses.irt.information import Information
from mensura.responses.irt.louis import group_scores
from mensura.responses.irt.model import Parameters, Priors, curves
from mensura.responses.irt.namespace import Namespace
from mensura.responses.irt.passes import NodeTables, shard_posteriors
from mensura.responses.irt.quadrature import Grid
from mensura.responses.irt.shards import Shard, ShardSource, Weighed, chunks, dense

REPLICATIONS = ("fay", "brr", "jackknife1", "jackknife2")
"""Designs of replicate weights: Fay's half samples (PISA), half samples, one group left out, one of a pair left out."""
FAY = 0.5
"""By how much Fay's method lowers the weights of the half that is left out."""


def replicate_factor(replication: str, count: int) -> float:
    """Return what squared deviations of replicates are multiplied with before they are added."""
    factors = {
        "fay": 1.0 / (count * (1.0 - FAY) ** 2),
        "brr": 1.0 / count,
        "jackknife1": (count - 1.0) / count,
        "jackknife2": 1.0,
    }
    if replication not in factors:
        raise MensuraError(f"replication: got {replication!r}; expected one of {', '.join(REPLICATIONS)}")
    return factors[replication]


def replicate_information(
    space: Namespace, source: ShardSource, fitted: Fitted, priors: Priors, weights: Floats, replication: str
) -> Information:
    """Return the covariance from refits with replicate ``weights`` (subjects × replicates)."""
    here, rows = fitted.parameters.flat(), []
    for column in weights.T:
        again = climb(over(space, Weighed(source, column)), fitted.parameters, priors, Effort(0.005))
        rows.append(again.parameters.flat() - here)
    scaled = np.sqrt(replicate_factor(replication, len(rows))) * np.array(rows)
    return information_of_rows(scaled, fitted.information)


def cluster_count(clusters: np.ndarray[Any, np.dtype[np.int64]]) -> int:
    """Return how many clusters there are; refuse one alone."""
    count = int(clusters.max()) + 1
    if count < 2:
        raise MensuraError("cluster: one cluster has no spread; expected at least two. Choose another column")
    return count


def cluster_information(
    space: Namespace, source: ShardSource, fitted: Fitted, clusters: np.ndarray[Any, np.dtype[np.int64]]
) -> Information:
    """Return the covariance from scores summed over clusters, which are numbered from 0 in the order of subjects."""
    scores = np.zeros((cluster_count(clusters), len(fitted.parameters.flat())))
    start = 0
    for shard in source.shards():
        for chunk in chunks(space, shard):
            of_chunk = clusters[start : start + len(chunk)]
            np.add.at(scores, of_chunk, subject_scores(space, chunk, fitted.parameters, fitted.grid))
            start += len(chunk)
    return robust_information(fitted.information, scores)


def robust_information(model: Information, scores: Floats) -> Information:
    """Return H⁻¹ (Σ s sᵀ) H⁻¹ from the inverse information of the model and the scores of clusters (one per row)."""
    count = len(scores)
    scores = np.sqrt(count / (count - 1.0)) * (scores - scores.mean(axis=0))
    if count > scores.shape[1]:
        values, vectors = np.linalg.eigh(scores.T @ scores)
        scores = (vectors * np.sqrt(np.maximum(values, 0.0))).T
    return information_of_rows(_solved(model, scores), model)


def subject_scores(space: Namespace, shard: Shard, p: Parameters, grid: Grid) -> Floats:
    """Return the weighted gradient of every subject's log likelihood (subjects × parameters)."""
    found = shard_posteriors(space, shard, NodeTables(space, p, grid))
    weights = space.get(found.weights)
    at = curves(p, grid.nodes)
    u = np.broadcast_to(at.u, (len(p.slope), *at.u.shape[1:]))
    table = np.moveaxis(u, 1, 0).reshape(len(grid.nodes), -1)
    expected = np.moveaxis(at.rate[:, :, None] * u, 1, 0).reshape(len(grid.nodes), -1)
    right = np.repeat(dense(shard.right).astype(np.float64), p.of_item, axis=1)
    taken = 1.0 if shard.trials is None else np.repeat(dense(shard.trials).astype(np.float64), p.of_item, axis=1)
    items = right * (weights @ table) - taken * (weights @ expected)
    scores = np.concatenate([items, weights @ group_scores(p, grid, shard.group).T], axis=1)
    return scores if shard.weights is None else scores * dense(shard.weights)[:, None]


def _solved(inverse: Information, scores: Floats) -> Floats:
    """Return the inverse information times each row of scores."""
    shape = inverse.item_columns.shape[:2]
    cut = shape[0] * shape[1]
    items, groups = scores[:, :cut].reshape(len(scores), *shape), scores[:, cut:]
    along = np.tensordot(items, inverse.item_columns, axes=([1, 2], [0, 1])) + groups @ inverse.group_columns
    own = np.einsum("jkl,cjl->cjk", inverse.item_inverse, items)
    own += np.tensordot(along, inverse.item_columns, axes=([1], [2]))
    of_groups = groups * inverse.group_inverse + along @ inverse.group_columns.T
    return np.concatenate([own.reshape(len(scores), cut), of_groups], axis=1)


def information_of_rows(rows: Floats, like: Information) -> Information:
    """Return the information whose inverse is the sum of squares of rows, in the shape of another."""
    items, count = like.item_columns.shape[:2]
    columns = rows.T
    return Information(
        np.zeros((items, count, count)),
        np.zeros(len(like.group_inverse)),
        columns[: items * count].reshape(items, count, -1),
        columns[items * count :],
    )
