"""Several abilities at once: P = σ(a₁θ₁ + … + a_Dθ_D + d), by marginal maximum likelihood.

``free`` says which items depend on which abilities. Abilities are normal with variance 1; their correlations are
estimated or 0. Every subject has Gauss–Hermite nodes of its own, under its posterior of the round before (Rabe-Hesketh,
Skrondal and Pickles 2005), so that a long test needs no more of them than a short one. As in :mod:`.fitting`, each
pass gives the exact gradient (Fisher's identity), the step is the EM algorithm's, and Anderson's method lengthens it.
Where abilities do not correlate, the last steps are Newton's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from mensura.core.arrays import Floats, Mask
from mensura.core.errors import MensuraError
from mensura.responses.irt.acceleration import Anderson

MOST = 4
"""Abilities at once; nodes grow by a power of them."""
NODES = {1: 15, 2: 7, 3: 5, 4: 4}
"""Nodes per ability of every subject."""
SLOPE_SD, INTERCEPT_SD = 2.0, 3.0
"""Standard deviations of the weak normal priors of slopes and intercepts, about 0."""
_PASSES, _SAME, _NEAR = 300, 5e-3, 3.0
_SHARP, _NEWTON = 0.1, 20
"""Length of an EM step, in standard errors, after which Newton's steps are tried, and how many of them."""
_LONGEST, _NOISE, _LEAST_EIGENVALUE = 0.5, 1e-7, 1e-3
_CHUNK_VALUES = 500_000
_MOST_EXACT = 3e11
"""Multiplications up to which the information is exact; beyond, it is that of products of scores."""


@dataclass(frozen=True)
class DimensionItems:
    """``slopes`` (items × abilities), ``intercepts``, ``correlation`` of abilities; ``free``: which slopes exist."""

    slopes: Floats
    intercepts: Floats
    correlation: Floats
    free: Mask
    correlated: bool

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of abilities whose correlation is estimated."""
        return list(combinations(range(self.slopes.shape[1]), 2)) if self.correlated else []

    @property
    def estimated(self) -> Mask:
        """Which of slopes and intercepts (items × abilities + 1) are estimated."""
        return np.column_stack([self.free, np.ones(len(self.free), dtype=bool)])

    def flat(self) -> Floats:
        """Return slopes and intercepts item by item, then Fisher's z of the correlations."""
        items = np.column_stack([self.slopes, self.intercepts]).ravel()
        return np.append(items, [np.arctanh(self.correlation[pair]) for pair in self.pairs])

    def at(self, flat: Floats) -> DimensionItems | None:
        """Return the items at other values of :meth:`flat`; None where no abilities can correlate like that."""
        count = self.slopes.shape[1] + 1
        items = flat[: len(self.slopes) * count].reshape(-1, count) * self.estimated
        correlation = np.eye(count - 1)
        for (one, other), value in zip(self.pairs, flat[len(self.slopes) * count :], strict=True):
            correlation[one, other] = correlation[other, one] = np.tanh(value)
        possible = float(np.linalg.eigvalsh(correlation)[0]) > _LEAST_EIGENVALUE
        return (
            replace(self, slopes=items[:, :-1], intercepts=items[:, -1], correlation=correlation) if possible else None
        )

    def moved(self, step: Floats) -> DimensionItems:
        """Return the items after a step of slopes and intercepts."""
        return replace(self, slopes=self.slopes + step[:, :-1], intercepts=self.intercepts + step[:, -1])


class Places(NamedTuple):
    """Mean and covariance of every subject's abilities."""

    mean: Floats
    covariance: Floats


class DimensionFitted(NamedTuple):
    """A fit; ``covariance``: of estimated slopes and intercepts, item by item, then of correlations."""

    items: DimensionItems
    places: Places
    evidence: float
    covariance: Floats | None
    passes: int
    converged: bool


class DimensionSums(NamedTuple):
    """Sums of one pass: gradient and information of items, second moments of abilities, log likelihood."""

    gradient: Floats
    information: Floats
    moments: Floats
    evidence: float


def fit_dimensions_held(
    right: Any,  # noqa: ANN401
    trials: Any,  # noqa: ANN401
    begin: DimensionItems,
    most: int = _PASSES,
) -> DimensionFitted:
    """Fit answers (subjects × items); ``trials``: how often each was asked, None where all were once.

    ``most``: passes after which it stops; one more finds the likelihood.
    """
    count, dimensions = len(right), begin.slopes.shape[1]
    if not 1 <= dimensions <= MOST:
        raise MensuraError(f"dimensions: got {dimensions}; expected 1 to {MOST}")
    places = Places(np.zeros((count, dimensions)), np.tile(np.eye(dimensions), (count, 1, 1)))
    here, memory, passes, left, best = begin, Anderson(), 0, np.inf, -np.inf
    sharpened = begin.correlated or bool(begin.free.all())
    while passes < most and left > _SAME:
        if left < _SHARP and not sharpened:
            sharpened = True
            here, places, more, left = _sharpen(right, trials, here, places)
            passes += more
            continue
        passes += 1
        sums, places = _pass(right, trials, here, places)
        if sums.evidence < best - _NOISE * abs(best):
            memory.forget()
        best = max(best, sums.evidence)
        plain = _rescaled(here.moved(np.clip(_step(here, sums), -_LONGEST, _LONGEST)), sums.moments / count)
        errors = np.append(_plain_errors(here, sums), np.full(len(here.pairs), count**-0.5))
        point = here.flat()
        step = plain.flat() - point
        left = float(np.max(np.abs(step) / errors))
        longer = memory.improved(point, step, errors) if left < _NEAR else step
        here = here.at(point + longer) or plain
    sums, places = _pass(right, trials, here, places)
    return DimensionFitted(here, places, sums.evidence, _covariance(right, trials, here, places), passes, left <= _SAME)


def _sharpen(right: Any, trials: Any, p: DimensionItems, places: Places) -> tuple[DimensionItems, Places, int, float]:  # noqa: ANN401
    """Take Newton's steps with the full information as long as they rise; return passes and the step left, too.

    In bifactor models general and own slopes trade off, and the EM algorithm creeps along that ridge.
    """
    used, share, left = p.estimated.ravel(), 1.0, np.inf
    sums, places = _pass(right, trials, p, places)
    for tried in range(1, _NEWTON):
        known = _covariance(right, trials, p, places)
        if known is None:
            break
        step = np.zeros(used.size)
        step[used] = known @ _gradient(p, sums).ravel()[used]
        left = float(np.max(np.abs(step[used]) / np.sqrt(np.diag(known))))
        if left <= _SAME:
            return p, places, tried, left
        step *= share / max(1.0, float(np.max(np.abs(step))) / _LONGEST)
        moved = p.moved(step.reshape(p.estimated.shape))
        further, there = _pass(right, trials, moved, places)
        if further.evidence + _log_prior(moved) < sums.evidence + _log_prior(p):
            share /= 4.0
            continue
        p, places, sums, share = moved, there, further, min(1.0, 2.0 * share)
    return p, places, _NEWTON, np.inf


def _nodes(dimensions: int) -> tuple[Floats, Floats]:
    """Return the nodes of a standard normal product rule (nodes × abilities), and the logarithms of their weights."""
    at, weight = np.polynomial.hermite_e.hermegauss(NODES[dimensions])
    grids = np.meshgrid(*[at] * dimensions, indexing="ij")
    logs = np.meshgrid(*[np.log(weight / weight.sum())] * dimensions, indexing="ij")
    return np.stack([grid.ravel() for grid in grids], axis=1), np.sum([one.ravel() for one in logs], axis=0)


class _Chunk(NamedTuple):
    """Some subjects at their nodes: weights (subjects × nodes), nodes with a column of ones, y − nP and nP(1−P)."""

    rows: slice
    weights: Floats
    nodes: Any
    off: Any
    spread: Any
    evidence: Floats


def _chunks(right: Any, trials: Any, p: DimensionItems, places: Places) -> Iterator[_Chunk]:  # noqa: ANN401
    dimensions, items = p.slopes.shape[1], len(p.slopes)
    standard, log_weight = _nodes(dimensions)
    inverse, log_det = np.linalg.inv(p.correlation), float(np.linalg.slogdet(p.correlation)[1])
    size = max(1, _CHUNK_VALUES // (items * len(standard)))
    for start in range(0, len(right), size):
        rows = slice(start, start + size)
        root = np.linalg.cholesky(places.covariance[rows])
        theta = places.mean[rows, None, :] + np.einsum("qe,cde->cqd", standard, root)
        extended = np.concatenate([theta, np.ones((*theta.shape[:2], 1))], axis=2).astype(np.float32)
        y = np.asarray(right[rows], dtype=np.float32)
        n = np.ones_like(y) if trials is None else np.asarray(trials[rows], dtype=np.float32)
        fall = np.clip(extended @ np.column_stack([p.slopes, p.intercepts]).T.astype(np.float32), -35.0, 35.0)
        joint = np.einsum("cqj,cj->cq", fall, y)  # logits
        np.exp(fall, out=fall)
        fall += 1.0  # 1 / (1 − P)
        joint = joint - np.einsum("cqj,cj->cq", np.log(fall), n).astype(np.float64)
        np.reciprocal(fall, out=fall)
        prior = -0.5 * (np.einsum("cqd,de,cqe->cq", theta, inverse, theta) + log_det)
        stretch = np.log(np.abs(np.diagonal(root, axis1=1, axis2=2))).sum(axis=1)
        joint += prior + log_weight + 0.5 * np.sum(standard**2, axis=1) + stretch[:, None]
        top = joint.max(axis=1)
        weights = np.exp(joint - top[:, None])
        total = weights.sum(axis=1)
        spread = fall * (1.0 - fall) * n[:, None, :]
        off = y[:, None, :] - n[:, None, :] * (1.0 - fall)
        yield _Chunk(rows, weights / total[:, None], extended, off, spread, top + np.log(total))


def _pass(right: Any, trials: Any, p: DimensionItems, places: Places) -> tuple[DimensionSums, Places]:  # noqa: ANN401
    items, dimensions = p.slopes.shape
    gradient, information = np.zeros((items, dimensions + 1)), np.zeros((items, (dimensions + 1) ** 2))
    moments, evidence = np.zeros((dimensions, dimensions)), 0.0
    mean, covariance = np.empty_like(places.mean), np.empty_like(places.covariance)
    for chunk in _chunks(right, trials, p, places):
        flat = chunk.nodes.reshape(-1, dimensions + 1)
        weights = chunk.weights.astype(np.float32).reshape(-1, 1)
        gradient += chunk.off.reshape(-1, items).T @ (flat * weights)
        products = (flat[:, :, None] * flat[:, None, :]).reshape(len(flat), -1) * weights
        information += chunk.spread.reshape(-1, items).T @ products
        theta = chunk.nodes[:, :, :-1]
        mean[chunk.rows] = np.einsum("cq,cqd->cd", chunk.weights, theta)
        second = np.einsum("cq,cqd,cqe->cde", chunk.weights, theta, theta)
        own = second - mean[chunk.rows][:, :, None] * mean[chunk.rows][:, None, :]
        covariance[chunk.rows] = own + 1e-6 * np.eye(dimensions)
        moments += second.sum(axis=0)
        evidence += float(chunk.evidence.sum())
    sums = DimensionSums(gradient, information.reshape(items, dimensions + 1, dimensions + 1), moments, evidence)
    return sums, Places(mean, covariance)


def _stiffness(p: DimensionItems) -> Floats:
    """Return the curvature of the priors (items × abilities + 1)."""
    width = np.full(p.slopes.shape[1] + 1, SLOPE_SD)
    width[-1] = INTERCEPT_SD
    return np.broadcast_to(width**-2.0, (len(p.slopes), len(width)))


def _log_prior(p: DimensionItems) -> float:
    return -0.5 * float(np.sum(_stiffness(p) * np.column_stack([p.slopes, p.intercepts]) ** 2))


def _gradient(p: DimensionItems, sums: DimensionSums) -> Floats:
    """Return the gradient of the posterior (items × abilities + 1)."""
    pull = _stiffness(p) * np.column_stack([p.slopes, p.intercepts])
    return np.asarray((sums.gradient - pull) * p.estimated, dtype=np.float64)


def _step(p: DimensionItems, sums: DimensionSums) -> Floats:
    """Return the EM algorithm's step of slopes and intercepts; those that are not there stay 0."""
    stiffness, used = _stiffness(p), p.estimated
    slope = _gradient(p, sums)
    known = sums.information * (used[:, :, None] & used[:, None, :])
    known[:, np.arange(used.shape[1]), np.arange(used.shape[1])] += stiffness + ~used
    return np.asarray(np.linalg.solve(known, slope[:, :, None])[:, :, 0], dtype=np.float64)


def _plain_errors(p: DimensionItems, sums: DimensionSums) -> Floats:
    diagonal = np.diagonal(sums.information, axis1=1, axis2=2) + _stiffness(p)
    errors: Floats = 1.0 / np.sqrt(diagonal).ravel()
    return errors


def _rescaled(p: DimensionItems, moments: Floats) -> DimensionItems:
    """Return the same model with abilities of variance 1, and the correlations that expected abilities have."""
    if not p.correlated:
        return p
    sd = np.sqrt(np.diag(moments))
    return replace(p, slopes=p.slopes * sd, correlation=moments / np.outer(sd, sd))


def _covariance(right: Any, trials: Any, p: DimensionItems, places: Places) -> Floats | None:  # noqa: ANN401
    """Return the covariance of all estimates by Louis' identity, or from products of scores where that takes long."""
    used = p.estimated.ravel()
    size, dimensions = int(used.sum()) + len(p.pairs), p.slopes.shape[1]
    if p.free.all() and dimensions > 1:  # any turn of the abilities fits as well
        return None
    exact = len(right) * NODES[dimensions] ** dimensions * float(size) ** 2 <= _MOST_EXACT
    known, squares, means = np.zeros((used.size, used.size)), np.zeros((size, size)), np.zeros((size, size))
    for chunk in _chunks(right, trials, p, places):
        scores = np.concatenate(
            [
                (chunk.off[:, :, :, None] * chunk.nodes[:, :, None, :]).reshape(*chunk.weights.shape, -1)[:, :, used],
                _correlation_scores(p, chunk.nodes[:, :, :-1]),
            ],
            axis=2,
        )
        mean = np.einsum("cq,cqp->cp", chunk.weights, scores)
        means += mean.T @ mean
        if exact:
            rooted = (scores * np.sqrt(chunk.weights)[:, :, None]).reshape(-1, size)
            squares += rooted.T @ rooted
    if exact:
        sums = _pass(right, trials, p, places)[0]
        for place, block in enumerate(sums.information):
            rows = slice(place * (dimensions + 1), (place + 1) * (dimensions + 1))
            known[rows, rows] = block
        whole = np.zeros((size, size))
        cut = int(used.sum())
        whole[:cut, :cut] = known[used][:, used]
        whole[cut:, cut:] = len(right) * _correlation_information(p)
        information = whole - (squares - means)
    else:
        information = means
    cut = int(used.sum())
    information[np.arange(cut), np.arange(cut)] += _stiffness(p).ravel()[used]
    values, vectors = np.linalg.eigh((information + information.T) / 2.0)
    if values[0] <= 1e-9 * values[-1]:
        return None
    return np.asarray((vectors / values) @ vectors.T, dtype=np.float64)


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
    found = [0.5 * float(np.trace(first @ second)) for first in turns for second in turns]
    return np.array(found).reshape(size, size)
