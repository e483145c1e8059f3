"""Several abilities at once: P = σ(a₁θ₁ + … + a_Dθ_D + d), by marginal maximum likelihood.

Items with several categories have one such curve per step (:mod:`.dimension_nodes`). Abilities are normal with
variance 1; their correlations are estimated or 0. As in :mod:`.fitting`, each pass gives the exact gradient (Fisher's
identity), the step is the EM algorithm's, and Anderson's method lengthens it.

The covariance of all estimates comes from Louis' identity. Given the shared abilities, the scores of different parts
are independent. So the covariance of the complete score over the posterior is the covariance of the scores' means at
the shared nodes, plus the mean covariance within each part.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mensura.core.arrays import Floats, Ints
from mensura.core.errors import MensuraError
from mensura.responses.irt import dimension_nodes as nodes
from mensura.responses.irt.dimension_items import DimensionItems, prior_curvature, prior_gradient, stiffness
from mensura.responses.irt.dimension_nodes import StepAnswers
from mensura.responses.irt.fitting import Anderson

_FLATTEST = 1e-9


def covariance_of(answers: StepAnswers, p: DimensionItems, places: nodes.Places) -> Floats | None:
    """Return the covariance of all estimates.

    None where any turn of the abilities fits as well, or the answers do not hold all estimates apart.
    """
    if p.explored:
        return None
    values, vectors = np.linalg.eigh(observed_information(answers, p, places)[0])
    if values[0] <= _FLATTEST * values[-1]:
        return None
    return np.asarray((vectors / values) @ vectors.T, dtype=np.float64)


def observed_information(answers: StepAnswers, p: DimensionItems, places: nodes.Places) -> tuple[Floats, Floats]:
    """Return the information of all estimates and of the priors, and the weighted scores of subjects."""
    used = p.estimated
    cut = int(used.sum())
    size = cut + len(p.pairs)
    shares = answers.shares[:, None]
    missing, means = np.zeros((size, size)), []
    for chunk in nodes.chunks(answers, p, places):
        given, own = np.zeros((*chunk.weights.shape, size)), shares[chunk.rows]
        given[:, :, :cut] = node_scores(p, chunk, own, missing)
        given[:, :, cut:] = _correlation_scores(p, chunk.means)
        means.append((chunk.weights[:, None, :] @ given)[:, 0])
        rooted = (given * np.sqrt(own * chunk.weights)[:, :, None]).reshape(-1, size)
        missing += rooted.T @ rooted
    scores = np.concatenate(means)
    known = _known(p, nodes.pass_over(answers, p, places)[0].information, float(shares.sum()))
    information = known - (missing - (shares * scores).T @ scores)
    scores[:, :cut] += nodes.gap_scores(p, np.asarray(answers.right))[:, used]
    information[:cut, :cut] += prior_curvature(p)
    return (information + information.T) / 2.0, shares * scores


def node_scores(p: DimensionItems, chunk: nodes.Chunk, shares: Floats, missing: Floats | None = None) -> Floats:
    """Return the mean scores of slopes and intercepts at the shared nodes (subjects × nodes × estimates).

    ``missing``: gets the mean covariance of the scores of each part added, times the weights ``shares`` of subjects.
    """
    used = p.estimated
    order = np.cumsum(used).reshape(used.shape) - 1
    given = np.zeros((*chunk.weights.shape, int(used.sum())))
    for block in chunk.blocks:
        where = p.rows[0][block.rows][:, None], nodes.parameter_columns(p, block)
        kept = np.flatnonzero(used[where])
        at, which = np.unique(order[where].ravel()[kept], return_inverse=True)
        given[:, :, at] = _within(chunk, block, kept, at, which, shares, missing)
    return given


def _within(
    chunk: nodes.Chunk, block: nodes.Block, kept: Ints, at: Ints, which: Ints, shares: Floats, missing: Floats | None
) -> Floats:
    """Return a part's mean scores at the shared nodes; add their mean covariance there to ``missing``.

    ``which``: the parameter, a place in ``at``, of each score that is ``kept``; the steps of an item share its slopes.
    """
    scores = (block.curves.off[..., :, None] * block.nodes[..., None, :]).reshape(*block.given.shape, -1)[..., kept]
    if len(at) < len(kept):
        scores = scores @ (which[:, None] == np.arange(len(at))).astype(np.float32)
    if scores.shape[2] == 1:
        return np.asarray(scores[:, :, 0], dtype=np.float64)
    mean = (block.given.astype(np.float32)[:, :, None, :] @ scores)[:, :, 0]
    if missing is not None:
        scores -= mean[:, :, None, :]
        scores *= np.sqrt((shares * chunk.weights)[:, :, None] * block.given).astype(np.float32)[..., None]
        rooted = scores.reshape(-1, len(at))
        missing[np.ix_(at, at)] += rooted.T @ rooted
    return np.asarray(mean, dtype=np.float64)


def _known(p: DimensionItems, information: Floats, subjects: float) -> Floats:
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
_LONGEST, _NOISE, _REFINED = 0.5, 1e-7, 0.002
"""The last: standard errors that a step has left when the many nodes of results take over."""
_PATIENCE = 14
"""Passes after which the EM algorithm's steps give way to Newton's, whose information takes as long as a few passes."""


class DimensionFitted(NamedTuple):
    """A fit; ``covariance``: of estimated slopes and intercepts, item by item, then of correlations."""

    items: DimensionItems
    places: nodes.Places
    evidence: float
    covariance: Floats | None
    passes: int
    converged: bool


def fit_dimensions_held(answers: StepAnswers, begin: DimensionItems, most: int = _PASSES) -> DimensionFitted:
    """Fit answers; ``most``: passes after which it stops; one more finds the likelihood."""
    count, dimensions = len(answers.right), begin.slopes.shape[1]
    total = float(answers.shares.sum())
    if len(begin.structure.shared) > MOST:
        advice = "Merge some, or use --bifactor with one per item"
        raise MensuraError(f"dimensions: got {dimensions}; expected at most {MOST}. {advice}")
    places = nodes.Places(np.zeros((count, dimensions)), np.tile(np.eye(dimensions), (count, 1, 1)))
    here, memory, left, before = replace(begin, fine=False), Anderson(), np.inf, -np.inf
    newton: Floats | None = None
    for passes in range(1, most + 2):
        if not here.fine and (left < _REFINED or passes > min(_PATIENCE, most)):
            here, before = replace(here, fine=True), -np.inf
        sums, places = nodes.pass_over(answers, here, places)
        height = sums.evidence + 0.5 * float(np.sum(here.values * prior_gradient(here)))
        if height < before - _NOISE * abs(before):
            memory.forget()
            newton = None
        elif passes % _PATIENCE == 0:
            memory.forget()
            newton = covariance_of(answers, here, places)
        before = height
        step = here.within_order(np.clip(_step(here, sums), -_LONGEST, _LONGEST))
        plain = here.moved(step).rescaled(sums.moments / total)
        if newton is not None:
            plain = _after_newton(here, sums, newton, total) or plain
        precision = np.diagonal(sums.information, axis1=1, axis2=2) + stiffness(here)
        units = np.append(1.0 / np.sqrt(np.maximum(precision, _FLATTEST)), np.full(len(here.pairs), total**-0.5))
        point = here.flat()
        step = plain.flat() - point
        left = float(np.max(np.abs(step) / units))
        longer = memory.improved(point, step, units) if left < _NEAR else step
        left = max(left, float(np.max(np.abs(longer) / units)))  # a plain step is short along any flat direction
        if passes > most or (here.fine and left <= _SAME):
            break
        here = here.at(point + longer) or plain
    return DimensionFitted(here, places, sums.evidence, covariance_of(answers, here, places), passes, left <= _SAME)


def _after_newton(p: DimensionItems, sums: nodes.DimensionSums, inverse: Floats, total: float) -> DimensionItems | None:
    """Return the items after Newton's step; None where it leads nowhere."""
    used, of_pairs = p.estimated, np.linalg.inv(p.correlation)
    off = of_pairs @ sums.moments @ of_pairs - total * of_pairs
    step = inverse @ np.append((sums.gradient + prior_gradient(p))[used], [off[pair] for pair in p.pairs])
    cut, moved = int(used.sum()), np.zeros(used.shape)
    moved[used] = np.clip(step[:cut], -_LONGEST, _LONGEST)
    rise = [by / (1.0 - p.correlation[pair] ** 2) for by, pair in zip(step[cut:], p.pairs, strict=True)]
    return p.at(p.flat() + np.append(p.within_order(moved).ravel(), rise))


def _step(p: DimensionItems, sums: nodes.DimensionSums) -> Floats:
    """Return the EM algorithm's step of slopes and intercepts; those that are not there stay 0."""
    used = p.estimated
    slope = sums.gradient * used + prior_gradient(p)
    blocks = sums.information * (used[:, :, None] & used[:, None, :])
    blocks[:, np.arange(used.shape[1]), np.arange(used.shape[1])] += stiffness(p) + ~used
    return np.asarray(np.linalg.solve(blocks, slope[:, :, None])[:, :, 0], dtype=np.float64)
