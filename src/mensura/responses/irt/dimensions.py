"""Several abilities at once: P = σ(a₁θ₁ + … + a_Dθ_D + d), by marginal maximum likelihood.

Items with several categories have one such curve per step (:mod:`.dimension_nodes`). Abilities are normal with
variance 1; their correlations are estimated or 0. As in :mod:`.fitting`, each pass gives the exact gradient (Fisher's
identity), the step is the EM algorithm's, and Anderson's method lengthens it.

The covariance of all estimates comes from Louis' identity. Given the shared abilities, the scores of different parts
are independent. So the covariance of the complete score over the posterior is the covariance of the scores' means at
the shared nodes, plus the mean covariance within each part.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.responses.irt import dimension_nodes as nodes
from mensura.responses.irt.dimension_items import DimensionItems, prior_curvature, prior_gradient, stiffness
from mensura.responses.irt.fitting import Anderson
from mensura.responses.irt.namespace import Array

_FLATTEST = 1e-9
_MOST_EXACT = 3e11
"""Multiplications up to which the information is exact; beyond, it is that of products of scores."""


def covariance_of(right: Array, trials: Array, p: DimensionItems, places: nodes.Places) -> Floats | None:
    """Return the covariance of all estimates; from products of scores where the exact one would take long.

    None where any turn of the abilities fits as well, or the answers do not hold all estimates apart.
    """
    if p.explored:
        return None
    values, vectors = np.linalg.eigh(observed_information(right, trials, p, places)[0])
    if values[0] <= _FLATTEST * values[-1]:
        return None
    return np.asarray((vectors / values) @ vectors.T, dtype=np.float64)


def observed_information(right: Array, trials: Array, p: DimensionItems, places: nodes.Places) -> tuple[Floats, Floats]:
    """Return the information of all estimates and of the priors, and the scores of subjects (subjects × estimates)."""
    used = p.estimated
    cut = int(used.sum())
    size = cut + len(p.pairs)
    exact = _multiplications(len(right), p, size) <= _MOST_EXACT
    missing, means = np.zeros((size, size)), []
    for chunk in nodes.chunks(right, trials, p, places):
        given = np.zeros((*chunk.weights.shape, size))
        given[:, :, :cut] = node_scores(p, chunk, missing if exact else None)
        given[:, :, cut:] = _correlation_scores(p, chunk.means)
        means.append(np.einsum("cq,cqp->cp", chunk.weights, given))
        if exact:
            rooted = (given * np.sqrt(chunk.weights)[:, :, None]).reshape(-1, size)
            missing += rooted.T @ rooted
    scores = np.concatenate(means)
    if exact:
        known = _known(p, nodes.pass_over(right, trials, p, places)[0].information, len(right))
        information = known - (missing - scores.T @ scores)
    scores[:, :cut] += nodes.gap_scores(p, np.asarray(right))[:, used]
    if not exact:
        information = scores.T @ scores
    information[:cut, :cut] += prior_curvature(p)
    return (information + information.T) / 2.0, scores


def node_scores(p: DimensionItems, chunk: nodes.Chunk, missing: Floats | None = None) -> Floats:
    """Return the mean scores of slopes and intercepts at the shared nodes (subjects × nodes × estimates).

    ``missing``: gets the mean covariance of the scores of each part added.
    """
    used = p.estimated
    order = np.cumsum(used).reshape(used.shape) - 1
    given = np.zeros((*chunk.weights.shape, int(used.sum())))
    for block in chunk.blocks:
        where = p.rows[0][block.rows][:, None], nodes.parameter_columns(p, block)
        kept = np.flatnonzero(used[where])
        at, which = np.unique(order[where].ravel()[kept], return_inverse=True)
        given[:, :, at] = _within(chunk, block, kept, at, which, missing)
    return given


def _multiplications(subjects: int, p: DimensionItems, size: int) -> float:
    shared, own = nodes.node_count(p)
    of_parts = sum(float(np.sum(p.estimated[part.items])) ** 2 for part in p.structure.parts)
    return subjects * shared * (float(size) ** 2 + (own * of_parts if own > 1 else 0.0))


def _within(
    chunk: nodes.Chunk,
    block: nodes.Block,
    kept: NDArray[np.intp],
    at: NDArray[np.intp],
    which: NDArray[np.intp],
    missing: Floats | None,
) -> Floats:
    """Return a part's mean scores at the shared nodes; add their mean covariance there to ``missing``.

    ``which``: the parameter, a place in ``at``, of each score that is ``kept``; the steps of an item share its slopes.
    """
    scores = (block.curves.off[..., :, None] * block.nodes[..., None, :]).reshape(*block.given.shape, -1)[..., kept]
    if len(at) < len(kept):
        scores = scores @ (which[:, None] == np.arange(len(at))).astype(np.float32)
    if scores.shape[2] == 1:
        return np.asarray(scores[:, :, 0], dtype=np.float64)
    mean = np.einsum("cqk,cqkp->cqp", block.given.astype(np.float32), scores)
    if missing is not None:
        scores -= mean[:, :, None, :]
        scores *= np.sqrt(chunk.weights[:, :, None] * block.given).astype(np.float32)[..., None]
        rooted = scores.reshape(-1, len(at))
        missing[np.ix_(at, at)] += rooted.T @ rooted
    return np.asarray(mean, dtype=np.float64)


def _known(p: DimensionItems, information: Floats, subjects: int) -> Floats:
    """Return the information with abilities known: one block per item, and one of correlations."""
    used = p.estimated
    cut = int(used.sum())
    whole = np.zeros((cut + len(p.pairs), cut + len(p.pairs)))
    ends = np.cumsum(used.sum(axis=1))
    for block, kept, end in zip(information, used, ends, strict=True):
        rows = slice(end - int(kept.sum()), end)
        whole[rows, rows] = block[np.ix_(kept, kept)]
    whole[cut:, cut:] = subjects * _correlation_information(p)
    return whole


def _correlation_scores(p: DimensionItems, theta: Floats) -> Floats:
    """Return the scores of correlations at nodes: entries of R⁻¹θθᵀR⁻¹ − R⁻¹."""
    inverse = np.linalg.inv(p.correlation)
    turned = theta @ inverse
    columns = [turned[:, :, one] * turned[:, :, other] - inverse[one, other] for one, other in p.pairs]
    return np.stack(columns, axis=2) if columns else np.zeros((*theta.shape[:2], 0))


def _correlation_information(p: DimensionItems) -> Floats:
    """Return the information of one subject with known abilities about the correlations: ½ tr R⁻¹ ∂R R⁻¹ ∂R."""
    inverse, size = np.linalg.inv(p.correlation), len(p.pairs)
    turns = []
    for one, other in p.pairs:
        unit = np.zeros_like(inverse)
        unit[one, other] = unit[other, one] = 1.0
        turns.append(inverse @ unit)
    traces = [0.5 * float(np.trace(first @ second)) for first in turns for second in turns]
    return np.array(traces).reshape(size, size)


MOST = 4
"""Abilities that are integrated together; nodes grow by a power of them."""
_PASSES, _SAME, _NEAR = 300, 1e-3, 3.0
_LONGEST, _NOISE = 0.5, 1e-7


class DimensionFitted(NamedTuple):
    """A fit; ``covariance``: of estimated slopes and intercepts, item by item, then of correlations."""

    items: DimensionItems
    places: nodes.Places
    evidence: float
    covariance: Floats | None
    passes: int
    converged: bool


def fit_dimensions_held(right: Array, trials: Array, begin: DimensionItems, most: int = _PASSES) -> DimensionFitted:
    """Fit answers (subjects × items, or × steps of items); ``trials``: how often asked, None where all were once.

    ``most``: passes after which it stops; one more finds the likelihood.
    """
    count, dimensions = len(right), begin.slopes.shape[1]
    if len(begin.structure.shared) > MOST:
        advice = "Merge some, or use --bifactor with one per item"
        raise MensuraError(f"dimensions: got {dimensions}; expected at most {MOST}. {advice}")
    places = nodes.Places(np.zeros((count, dimensions)), np.tile(np.eye(dimensions), (count, 1, 1)))
    here, memory, passes, left, best = begin, Anderson(), 0, np.inf, -np.inf
    while passes < most and left > _SAME:
        passes += 1
        sums, places = nodes.pass_over(right, trials, here, places)
        if sums.evidence < best - _NOISE * abs(best):
            memory.forget()
        best = max(best, sums.evidence)
        step = here.within_order(np.clip(_step(here, sums), -_LONGEST, _LONGEST))
        plain = here.moved(step).rescaled(sums.moments / count)
        precision = np.diagonal(sums.information, axis1=1, axis2=2) + stiffness(here)
        errors = np.append(1.0 / np.sqrt(np.maximum(precision, _FLATTEST)), np.full(len(here.pairs), count**-0.5))
        point = here.flat()
        step = plain.flat() - point
        left = float(np.max(np.abs(step) / errors))
        longer = memory.improved(point, step, errors) if left < _NEAR else step
        left = max(left, float(np.max(np.abs(longer) / errors)))  # a plain step is short along any flat direction
        here = here.at(point + longer) or plain
    sums, places = nodes.pass_over(right, trials, here, places)
    covariance = covariance_of(right, trials, here, places)
    return DimensionFitted(here, places, sums.evidence, covariance, passes, left <= _SAME)


def _step(p: DimensionItems, sums: nodes.DimensionSums) -> Floats:
    """Return the EM algorithm's step of slopes and intercepts; those that are not there stay 0."""
    used = p.estimated
    slope = sums.gradient * used + prior_gradient(p)
    blocks = sums.information * (used[:, :, None] & used[:, None, :])
    blocks[:, np.arange(used.shape[1]), np.arange(used.shape[1])] += stiffness(p) + ~used
    return np.asarray(np.linalg.solve(blocks, slope[:, :, None])[:, :, 0], dtype=np.float64)
