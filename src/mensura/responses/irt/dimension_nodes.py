"""Posteriors of several abilities at nodes of every subject, and the sums of one pass over the answers.

Answers are right or wrong, graded or partial credit. All three depend on z_k = a₁θ₁ + … + a_Dθ_D + d_k, one per step of
an item. Right or wrong has one step. The chance of category k of a graded item is σ(z_k) − σ(z_{k+1}) = σ(z_k)
σ(−z_{k+1}) (1 − exp(d_{k+1} − d_k)). The last factor does not depend on θ, so the answer counts as right at step k and
wrong at step k + 1. Steps of partial credit depend on one another: P(Y = k) is in proportion to exp(z₁ + … + z_k).

Given the abilities s that all parts of a test share, the answers to its parts are independent. So the likelihood of a
subject is ∫ φ(s) Π_g h_g(s) ds with h_g(s) = ∫ φ(t) Π_{j∈g} P_j(y_j | s, t) dt over the part's own ability t (Gibbons
and Hedeker 1992). With K nodes per ability that takes K² terms per item for any number of parts, not K to their
number. The posterior of (s, t_g) is W(s) V_g(t | s): W is the integrand at s over its sum, V_g that of h_g(s) over its
own. Where items share all abilities there is one part without an own ability, and h is its likelihood.

Every subject has Gauss–Hermite nodes of its own, under its posterior of the round before (Rabe-Hesketh, Skrondal and
Pickles 2005), so that a long test needs no more of them than a short one. On the way to the end of a fit, two abilities
have equally spaced nodes that all subjects share. Their curves are computed once, and a pass is products with answers.
"""

from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mensura.core.arrays import Floats
from mensura.responses.irt.dimension_items import DimensionItems, Part
from mensura.responses.irt.namespace import Array
from mensura.responses.irt.passes import LEAST_LOG_WEIGHT, REACH

DIMENSION_MODELS = ("2pl", "graded", "partial-credit")


class StepCurves(NamedTuple):
    """Steps at nodes (last axis): log likelihood (without that axis), its gradient by z, and the information.

    ``information`` has one column per pair of steps of an item, ``first`` and ``second``.
    """

    like: Floats
    off: Array
    information: Array
    first: NDArray[np.intp]
    second: NDArray[np.intp]


def step_answers(model: str, counts: Floats, p: DimensionItems) -> tuple[Floats, Floats]:
    """Return answers as right ones and trials of steps, from counts of categories (subjects × items × categories)."""
    item, step = p.rows
    if model == "graded":
        right = counts[:, item, step + 1]
        return right, right + counts[:, item, step]
    above = np.cumsum(counts[:, :, ::-1], axis=2)[:, :, ::-1]
    return above[:, item, step + 1], above[:, item, 0]


def curves_at(p: DimensionItems, rows: NDArray[np.intp], z: Array, y: Array, n: Array) -> StepCurves:
    """Return the steps ``rows`` at their z (subjects × nodes × nodes × steps), which is overwritten."""
    np.clip(z, -35.0, 35.0, out=z)
    like = _over_steps(z, y)
    if p.model == "partial-credit":
        return _adjacent(p, rows, z, y, n, like)
    np.exp(z, out=z)
    z += 1.0  # 1 / (1 − P)
    like -= _over_steps(np.log(z), n)
    np.reciprocal(z, out=z)
    y, n = y[:, None, None, :], n[:, None, None, :]
    each = np.arange(len(rows))
    return StepCurves(like, y - n * (1.0 - z), z * (1.0 - z) * n, each, each)


def _over_steps(values: Array, counts: Array) -> Floats:
    """Return the sums over steps of values at nodes times the counts of subjects."""
    flat = values.reshape(len(values), -1, values.shape[3]) @ counts[:, :, None]
    return np.asarray(flat.reshape(values.shape[:3]), dtype=np.float64)


def _adjacent(p: DimensionItems, rows: NDArray[np.intp], z: Array, y: Array, n: Array, like: Floats) -> StepCurves:
    item, step = (one[rows] for one in p.rows)
    of_step = [np.flatnonzero(step == one) for one in range(int(step.max()) + 1)]
    place = np.cumsum(step == 0) - 1  # of each row's item among those of the part
    for below, at in pairwise(of_step):
        z[..., at] += z[..., below[np.isin(item[below], item[at])]]
    chance = np.exp(z.astype(np.float64))  # 20 categories of at most exp(35) each stay finite
    total = np.ones((*z.shape[:3], len(of_step[0])))
    for at in of_step:
        total[..., place[at]] += chance[..., at]
    like -= _over_steps(np.log(total), n[:, of_step[0]])
    above = (chance / total[..., place]).astype(np.float32)
    for at, higher in zip(of_step[-2::-1], of_step[:0:-1], strict=True):  # chance of this category or a higher one
        above[..., at[np.isin(item[at], item[higher])]] += above[..., higher]
    pairs = [np.flatnonzero(item[higher:] == item[: len(item) - higher]) for higher in range(len(of_step))]
    first = np.concatenate(pairs)
    second = np.concatenate([at + higher for higher, at in enumerate(pairs)])
    n = n[:, None, None, :]
    information = n[..., first] * above[..., second] * (1.0 - above[..., first])
    return StepCurves(like, y[:, None, None, :] - n * above, information, first, second)


def gap_scores(p: DimensionItems, right: Floats) -> Floats:
    """Return the gradient of Σ ln(1 − exp(d_{k+1} − d_k)) over graded answers k (subjects × items × parameters).

    ``right``: answers of each category above the lowest (subjects × steps of items).
    """
    scores = np.zeros((len(right), *p.values.shape))
    rise = _of_gaps(p, right) / np.expm1(p.gaps)
    cut = p.slopes.shape[1]
    scores[:, :, cut : cut + rise.shape[2]] = rise
    scores[:, :, cut + 1 :][:, :, : rise.shape[2]] -= rise
    return scores


def _of_gaps(p: DimensionItems, right: Floats) -> Floats:
    """Return the answers whose chance has a gap, of every gap (subjects × items × steps − 1)."""
    counts = np.zeros((len(right), *p.steps.shape))
    counts[:, p.steps] = right
    return (counts[:, :, :-1] * p.steps[:, 1:])[:, :, : p.gaps.shape[1]]


def gap_terms(p: DimensionItems, right: Floats) -> tuple[float, Floats, Floats]:
    """Return log likelihood, gradient and information of the same sum; ``right``: of all subjects (steps of items)."""
    information = np.zeros((*p.values.shape, p.values.shape[1]))
    gaps, counts = p.gaps, _of_gaps(p, right[None])[0]
    bend = counts / (np.expm1(gaps) * -np.expm1(-gaps))
    for step in range(gaps.shape[1]):
        one = p.slopes.shape[1] + step
        information[:, one : one + 2, one : one + 2] += bend[:, step, None, None] * np.array([[1.0, -1.0], [-1.0, 1.0]])
    return float(np.sum(counts * np.log(-np.expm1(-gaps)))), gap_scores(p, right[None])[0], information


NODES = {1: 15, 2: 11, 3: 5, 4: 4}
"""Nodes per ability of every subject where items share all abilities, by their number."""
OWN_NODES, COARSE = 11, 7
"""Nodes per ability where parts have own ones; with 9, six items and 150 subjects still took twice the passes.
The second: most nodes while a fit is far from its end."""
_hermite = cache(np.polynomial.hermite_e.hermegauss)
_CHUNK_VALUES = 500_000
_WIDEST, _OF_SPACING, _NARROW, _LEAST_SD, _SHARED_ROWS = 0.5, 0.75, 0.1, 0.15, 500
"""Of nodes that all subjects share: widest spacing, least standard deviation of posteriors in units of it, share of
posteriors that may be narrower, least standard deviation, and how many subjects are taken at a time."""


class StepAnswers(NamedTuple):
    """Right answers (subjects × steps of items), how often asked (None: all once), and weights of subjects."""

    right: Array
    trials: Array | None = None
    weights: Floats | None = None

    def counts(self, rows: slice) -> tuple[Array, Array]:
        """Return right answers and trials of some subjects in single precision."""
        y = np.asarray(self.right[rows], dtype=np.float32)
        return y, np.ones_like(y) if self.trials is None else np.asarray(self.trials[rows], dtype=np.float32)

    @property
    def shares(self) -> Floats:
        """The weight of every subject."""
        return np.ones(len(self.right)) if self.weights is None else self.weights


class Places(NamedTuple):
    """Mean and covariance of every subject's abilities."""

    mean: Floats
    covariance: Floats


class DimensionSums(NamedTuple):
    """Sums of one pass: gradient and information of items, second moments of abilities, log likelihood."""

    gradient: Floats
    information: Floats
    moments: Floats
    evidence: float


class Block(NamedTuple):
    """One part at its nodes (subjects × shared × own): weights given the shared node, abilities and 1, its curves.

    ``rows``: its steps of items. ``columns``: which abilities, and the intercept last.
    """

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    given: Floats
    nodes: Array
    curves: StepCurves


class Layout(NamedTuple):
    """Shared nodes (subjects × nodes × abilities) with log weights; of each part its nodes and their log weights."""

    theta: Floats
    weights: Floats
    parts: list[tuple[Floats, Floats | float]]


class Chunk(NamedTuple):
    """Some subjects: weights of shared nodes, expected abilities and their variances there, evidence, and the parts."""

    rows: slice
    weights: Floats
    means: Floats
    spreads: Floats
    evidence: Floats
    blocks: list[Block]


def node_count(p: DimensionItems) -> tuple[int, int]:
    """Return how many shared nodes there are, and how many own ones at each."""
    shared, each = len(p.structure.shared), len(_rule(p)[0])
    return each**shared, 1 if shared == p.slopes.shape[1] else each


def _rule(p: DimensionItems) -> tuple[Floats, Floats]:
    """Return Gauss–Hermite nodes of an ability, and log weights over the standard normal density."""
    shared = len(p.structure.shared)
    nodes = NODES[shared] if shared == p.slopes.shape[1] else OWN_NODES
    at, weight = _hermite(nodes if p.fine else min(nodes, COARSE))
    return at, np.log(weight / weight.sum()) + 0.5 * at**2


def product_rule(p: DimensionItems) -> tuple[Floats, Floats]:
    """Return the nodes of shared abilities (nodes × abilities), and their log weights."""
    shared = len(p.structure.shared)
    at, logs = _rule(p)
    grids = np.meshgrid(*[at] * shared, indexing="ij")
    weights = np.meshgrid(*[logs] * shared, indexing="ij")
    return np.stack([grid.ravel() for grid in grids], axis=1), np.sum([one.ravel() for one in weights], axis=0)


def chunks(
    answers: StepAnswers,
    p: DimensionItems,
    places: Places,
    middle: Floats | None = None,
    covariance: Floats | None = None,
) -> Iterator[Chunk]:
    """Yield the posteriors of all subjects, some at a time; ``middle`` and ``covariance``: of their own priors."""
    middle = np.zeros_like(places.mean) if middle is None else middle
    covariance = p.correlation if covariance is None else covariance
    size = max(1, _CHUNK_VALUES // (len(p.rows[0]) * int(np.prod(node_count(p)))))
    for start in range(0, len(answers.right), size):
        rows = slice(start, start + size)
        y, n = answers.counts(rows)
        layout = lay_out(p, Places(places.mean[rows], places.covariance[rows]))
        blocks = [
            _block(part, nodes, y, n, p) for part, (nodes, _) in zip(p.structure.parts, layout.parts, strict=True)
        ]
        likes = [block.curves.like for block in blocks]
        weights, means, spreads, evidence, given = weigh(p, layout, likes, middle[rows], covariance)
        blocks = [block._replace(given=one) for block, one in zip(blocks, given, strict=True)]
        yield Chunk(rows, weights, means, spreads, evidence, blocks)


def lay_out(p: DimensionItems, places: Places) -> Layout:
    """Lay nodes under the normal posteriors of the round before."""
    shared, parts = p.structure
    standard, weights = product_rule(p)
    root = np.asarray(np.linalg.cholesky(places.covariance[:, shared][:, :, shared]), dtype=np.float64)
    theta = places.mean[:, None, shared] + standard @ np.swapaxes(root, 1, 2)
    stretch = np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
    own = [_own_nodes(part, shared, theta, root, places, _rule(p)) for part in parts]
    return Layout(theta, weights + stretch[:, None], own)


def weigh(
    p: DimensionItems, layout: Layout, likes: list[Floats], middle: Floats, covariance: Floats
) -> tuple[Floats, Floats, Floats, Floats, list[Floats]]:
    """Weigh nodes by the log likelihoods of the parts and normal priors about ``middle`` (subjects × abilities).

    Returns weights of the shared nodes, expected abilities there, their variances, the log likelihood of each subject,
    and the weights of each part's own nodes given the shared ones.
    """
    shared, parts = p.structure
    joint = layout.weights + log_density(layout.theta - middle[:, None, shared], covariance[np.ix_(shared, shared)])
    means, spreads = np.zeros((*joint.shape, len(covariance))), np.zeros((*joint.shape, len(covariance)))
    means[:, :, shared] = layout.theta
    every = []
    for part, (nodes, log_weight), like in zip(parts, layout.parts, likes, strict=True):
        prior: Floats | float = 0.0
        if part.own is not None:
            variance = covariance[part.own, part.own]
            prior = -0.5 * ((nodes[..., -2] - middle[:, part.own, None, None]) ** 2 / variance + np.log(variance))
        given, height = normalised(like + log_weight + prior)
        if part.own is not None:
            at = nodes[..., -2]
            means[:, :, part.own] = np.sum(given * at, axis=2)
            spreads[:, :, part.own] = np.sum(given * (at - means[:, :, part.own, None]) ** 2, axis=2)
        joint += height
        every.append(given)
    weights, evidence = normalised(joint)
    return weights, means, spreads, evidence, every


def log_density(theta: Floats, covariance: Floats) -> Floats:
    """Return the log density of normal abilities at nodes (subjects × nodes × abilities), but for (2π)^(−D/2)."""
    inverse = np.linalg.inv(np.linalg.cholesky(covariance))
    squares = np.sum((theta @ inverse.T) ** 2, axis=2)
    return np.asarray(np.log(np.diag(inverse)).sum() - 0.5 * squares, dtype=np.float64)


def normalised(joint: Floats) -> tuple[Floats, Floats]:
    """Return weights that sum to 1 over the last axis, and the logarithm of their sum before."""
    top = joint.max(axis=-1)
    weights = np.exp(np.maximum(joint - top[..., None], LEAST_LOG_WEIGHT))
    total = weights.sum(axis=-1)
    return weights / total[..., None], top + np.log(total)


def _own_nodes(
    part: Part, shared: list[int], theta: Floats, root: Floats, places: Places, rule: tuple[Floats, Floats]
) -> tuple[Floats, Floats | float]:
    """Return a part's nodes (subjects × shared × own × abilities and 1), and the log weights of the own ones.

    They lie around the mean of the own ability given the shared ones, under the normal posterior of the round before.
    """
    if part.own is None:
        return np.concatenate([theta, np.ones((*theta.shape[:2], 1))], axis=2)[:, :, None, :], 0.0
    standard, log_weight = rule
    across = np.linalg.solve(root, places.covariance[:, shared, part.own][:, :, None])[:, :, 0]
    slope = np.linalg.solve(np.swapaxes(root, 1, 2), across[:, :, None])[:, :, 0]
    variance = places.covariance[:, part.own, part.own] - np.sum(across**2, axis=1)
    sd = np.sqrt(np.maximum(variance, 1e-6))
    centre = places.mean[:, None, part.own] + np.einsum("cqd,cd->cq", theta - places.mean[:, None, shared], slope)
    own = centre[:, :, None] + sd[:, None, None] * standard
    wide = np.broadcast_to(theta[:, :, None, :], (*own.shape, len(shared)))
    nodes = np.concatenate([wide, own[..., None], np.ones((*own.shape, 1))], axis=3)
    return nodes, log_weight + np.log(sd)[:, None, None]


def _block(part: Part, nodes: Floats, y: Array, n: Array, p: DimensionItems) -> Block:
    """Return a part at its nodes, without their weights."""
    own = [] if part.own is None else [part.own]
    columns = np.array([*p.structure.shared, *own, p.slopes.shape[1]])
    rows = np.flatnonzero(np.isin(p.rows[0], part.items))
    single = nodes.astype(np.float32)
    z = single @ p.row_values[np.ix_(rows, columns)].T.astype(np.float32)
    return Block(rows, columns, np.empty(0), single, curves_at(p, rows, z, y[:, rows], n[:, rows]))


def pass_over(answers: StepAnswers, p: DimensionItems, places: Places) -> tuple[DimensionSums, Places]:
    """Return the sums of one pass, and the places that the next one lays its nodes under."""
    if not p.fine and (shared := _pass_over_shared(answers, p, places)):
        return shared
    dimensions, shares = p.slopes.shape[1], answers.shares
    height, gradient, information = gap_terms(p, shares @ np.asarray(answers.right, dtype=np.float64))
    moments, evidence = np.zeros((dimensions, dimensions)), height
    mean, covariance = np.empty_like(places.mean), np.empty_like(places.covariance)
    for chunk in chunks(answers, p, places):
        of_nodes = chunk.weights * shares[chunk.rows, None]
        for block in chunk.blocks:
            _add_block(p, block, of_nodes, gradient, information)
        own, products = node_moments(chunk.weights, chunk.means, chunk.spreads)
        mean[chunk.rows] = own
        covariance[chunk.rows] = products - own[:, :, None] * own[:, None, :] + 1e-6 * np.eye(dimensions)
        moments += np.tensordot(shares[chunk.rows], products, axes=1)
        evidence += float(shares[chunk.rows] @ chunk.evidence)
    return DimensionSums(gradient, information, moments, evidence), Places(mean, covariance)


def _add_block(p: DimensionItems, block: Block, of_nodes: Floats, gradient: Floats, information: Floats) -> None:
    """Add what a part says of items; ``of_nodes``: weights of subjects at the shared nodes."""
    count, item, columns = len(block.columns), p.rows[0][block.rows], parameter_columns(p, block)
    _, off, spread, first, second = block.curves
    flat = block.nodes.reshape(-1, count)
    weights = (of_nodes[:, :, None] * block.given).astype(np.float32).reshape(-1, 1)
    slope = off.reshape(-1, len(item)).T @ (flat * weights)
    np.add.at(gradient, (item[:, None], columns), slope)
    squares = (flat[:, :, None] * flat[:, None, :]).reshape(len(flat), -1) * weights
    blocks = (spread.reshape(len(flat), -1).T @ squares).reshape(-1, count, count)
    one, other = columns[first][:, :, None], columns[second][:, None, :]
    both = item[first][:, None, None]
    np.add.at(information, (both, one, other), blocks)
    different = first != second
    np.add.at(information, (both[different], other[different], one[different]), blocks[different])


def _pass_over_shared(answers: StepAnswers, p: DimensionItems, places: Places) -> tuple[DimensionSums, Places] | None:
    """Return the same with equally spaced nodes that all subjects share, so that a pass is products with the answers.

    None where that takes too many nodes, for more than two abilities or narrow posteriors.
    """
    narrow = float(np.quantile(np.linalg.eigvalsh(places.covariance)[:, 0], _NARROW)) ** 0.5
    if len(p.structure.shared) != 2 or p.model == "partial-credit" or narrow < _LEAST_SD:
        return None
    line = np.linspace(-REACH, REACH, round(2.0 * REACH / min(_WIDEST, narrow / _OF_SPACING)) + 1)
    theta = np.stack(np.meshgrid(line, line), axis=2).reshape(-1, 2)
    nodes, squares = np.insert(theta, 2, 1.0, axis=1), (theta[:, :, None] * theta[:, None, :]).reshape(-1, 4)
    logs = log_density(theta[None], p.correlation)[0]
    tables = p.row_values @ nodes.T, np.column_stack([theta, squares]), logs - normalised(logs)[1]
    z, powers, prior = (one.astype(np.float32) for one in tables)
    shares, wrong, moments, counts = answers.shares, -np.logaddexp(0.0, z), [], np.zeros((2, *z.T.shape))
    evidence, gradient, information = gap_terms(p, shares @ np.asarray(answers.right, dtype=np.float64))
    for start in range(0, len(shares), _SHARED_ROWS):
        rows = slice(start, start + _SHARED_ROWS)
        y, n = both = answers.counts(rows)
        weights, height = normalised(y @ z + n @ wrong + prior)
        moments.append(weights @ powers)
        evidence += float(shares[rows] @ height)
        counts += (weights * shares[rows, None].astype(np.float32)).T @ np.stack(both)
    y, n = counts.astype(np.float32)
    block, ones = _block(p.structure.parts[0], nodes[:, None, None], y, n, p), np.ones(len(theta))
    _add_block(p, block._replace(given=ones[:, None, None]), ones[:, None], gradient, information)
    mean, second = np.split(np.concatenate(moments).astype(np.float64), [2], axis=1)
    second = second.reshape(-1, 2, 2)
    covariance = second - mean[:, :, None] * mean[:, None, :] + _LEAST_SD**2 / 4.0 * np.eye(2)
    return DimensionSums(gradient, information, np.tensordot(shares, second, 1), evidence), Places(mean, covariance)


def node_moments(weights: Floats, means: Floats, spreads: Floats) -> tuple[Floats, Floats]:
    """Return expected abilities and their products, from expectations and variances at weighted nodes."""
    weighted: Floats = means * weights[:, :, None]
    second: Floats = np.swapaxes(weighted, 1, 2) @ means
    second[:, range(means.shape[2]), range(means.shape[2])] += np.sum(spreads * weights[:, :, None], axis=1)
    return weighted.sum(axis=1), second


def parameter_columns(p: DimensionItems, block: Block) -> NDArray[np.intp]:
    """Return the places of a block's slopes and intercepts among the parameters of items (rows × columns)."""
    columns = np.tile(block.columns, (len(block.rows), 1))
    columns[:, -1] += p.rows[1][block.rows]
    return columns
