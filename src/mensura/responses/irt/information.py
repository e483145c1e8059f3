"""The information in all responses about all parameters, and its inverse, at a cost that grows with the items alone.

By Louis' identity the information about the parameters is what it would be with abilities known, less the covariance
of the complete score over the posteriors of abilities. The first part, A, has one small block per item (and numbers
for groups). For the second, a score that runs with slope b(θ) through a posterior of variance v has covariance v b
bᵀ; summed over subjects node by node it is U V Uᵀ, with one column per node. So the information is A − U V Uᵀ, and
Woodbury's identity inverts it:

    (A − U V Uᵀ)⁻¹ = A⁻¹ + A⁻¹ U V^½ (1 − V^½ Uᵀ A⁻¹ U V^½)⁻¹ V^½ Uᵀ A⁻¹

It couples all items through the ability scale, which standard errors item by item forget (they come out a tenth too
small on long tests). The same inverse turns a gradient into Newton's step. Its error shrinks with the length of the
test.

The information of a test of few items is computed exactly, by the same identity, subject by subject. The part with
abilities known is the derivative of the gradient at fixed posteriors. The other part is a product of subjects ×
parameters matrices, one per polynomial of ability.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from mensura.core.arrays import Floats
from mensura.responses.irt import model as irt_model, priors as irt_priors
from mensura.responses.irt.namespace import NumpyArrays
from mensura.responses.irt.passes import Grid, NodeTables, PassSums, shard_posteriors, tally
from mensura.responses.irt.shards import Held, Shard, chunks, dense

_RIDGE = 1e-9
_LARGEST_SHARE = 0.9999
"""Largest share of a direction's information that may be missing; beyond, the scale is not held by the responses."""
_LARGEST_IN_STEPS = 0.98
"""The same for steps: where nearly all is missing, as of the spread of a few alike subjects, the rest is uncertain."""
_OWN_SHARES = (1.0, 0.5, 0.25, 0.0)
_LEAST_MISSING = 1e-9
"""Directions that miss a smaller share of their information are left out."""
_SMALL = 1e-4
"""Step of the differences that the part with abilities known is taken from."""
_FLOOR = 1e-9
_NO_MORE, _LEAST_LENGTH, _MOST, _ROWS, _NO_WEIGHT = 1e-6, 1e-3, 30, 500, 1e-9
"""Share of a variance that another polynomial must add, least length of one in units of ability, how many there are at
most, how many subjects are taken at a time, and the weight of a node that is left out."""


@dataclass(frozen=True)
class Information:
    """The inverse information, in factors.

    ``item_inverse``: items × k × k, inverse blocks of A; ``group_inverse``: numbers of the free parameters of groups;
    ``item_columns`` (items × k × columns) and ``group_columns`` (free × columns): A⁻¹ U V^½ R with R Rᵀ the inverse
    in the middle.
    """

    item_inverse: Floats
    group_inverse: Floats
    item_columns: Floats
    group_columns: Floats

    def step(self, slope: Floats) -> Floats:
        """Return the inverse information times a gradient in the order of :meth:`Parameters.flat`."""
        columns = np.concatenate([*self.item_columns, self.group_columns])  # there may be none
        return np.asarray(Information.plain_step(self, slope) + columns @ (columns.T @ slope))

    def plain_step(self, slope: Floats) -> Floats:
        """Return the step of the EM algorithm: as if abilities were known."""
        cut = len(slope) - len(self.group_inverse)
        items = np.einsum("jkl,jl->jk", self.item_inverse, slope[:cut].reshape(len(self.item_inverse), -1))
        return np.append(items, self.group_inverse * slope[cut:])

    def item_covariance(self) -> Floats:
        """Return the covariance of each item's parameters, items × k × k."""
        return self.item_inverse + self.item_columns @ np.swapaxes(self.item_columns, 1, 2)

    def group_variance(self) -> Floats:
        """Return the variance of each free parameter of groups (means, log standard deviations)."""
        variance: Floats = self.group_inverse + np.sum(self.group_columns**2, axis=1)
        return variance

    def errors(self) -> Floats:
        """Return the standard errors of all parameters in the order of :meth:`Parameters.flat`."""
        items = np.sqrt(np.diagonal(self.item_covariance(), axis1=1, axis2=2))
        return np.concatenate([items.ravel(), np.sqrt(self.group_variance())])

    def item_group_covariance(self, place: int) -> Floats:
        """Return the covariance of every item's parameters with one free parameter of groups, items × k."""
        covariance: Floats = self.item_columns @ self.group_columns[place]
        return covariance


def gradient(p: irt_model.Parameters, grid: Grid, sums: PassSums, priors: irt_priors.Priors) -> Floats:
    """Return the gradient of the log posterior in the order of :meth:`Parameters.flat`."""
    _, items, _ = irt_priors.prior_terms(p, priors)
    for rows in irt_model.item_blocks(len(p.slope), len(grid.nodes)):
        at = irt_model.curves(p.of_items(rows), grid.nodes)
        expected = _rows(sums.taken, rows) * at.rate
        if p.model == "3pl":
            items[rows] += np.einsum("jq,jqk->jk", sums.right[rows] - expected, at.u)
        else:
            items[rows] += sums.right[rows, 2 - p.of_item :] - expected @ at.u[0]
    if p.fixed is not None:
        items[p.fixed] = 0.0
    return np.append(items, group_terms(p, grid, sums.mass)[0] + irt_priors.group_prior_terms(p, priors.groups)[1])


def _rows(taken: Floats, rows: slice) -> Floats:
    """Return the expected answers to some items: the same row where all items were taken by all."""
    return taken if len(taken) == 1 else taken[rows]


def information(
    p: irt_model.Parameters, grid: Grid, sums: PassSums, priors: irt_priors.Priors, *, whole: bool = False
) -> Information:
    """Return the inverse information at the parameters.

    Without ``whole`` no direction's information can vanish (A − U V Uᵀ is a Schur complement), which is what steps
    need. With it, it is what errors need: the pull of the prior is in the slopes, and an answer's own part in the
    posterior it is weighed with, v P(1−P) u′u′ᵀ, is taken off the item's block. On tests of a few items that can
    leave nothing of a direction; then less of it is taken.
    """
    columns = _Columns(p, grid, sums, steps=not whole)
    of_groups = group_terms(p, grid, sums.mass)[1] + irt_priors.group_prior_terms(p, priors.groups)[2]
    group_inverse = 1.0 / np.maximum(of_groups, _RIDGE)
    group_solved = group_inverse[:, None] * columns.groups
    stiffness = irt_priors.prior_terms(p, priors)[2] + _RIDGE
    inverse, solved = np.empty((*stiffness.shape, p.of_item)), np.empty((*stiffness.shape, columns.count))
    for share in _OWN_SHARES if whole else (0.0,):
        missing = columns.groups.T @ group_solved
        for rows in irt_model.item_blocks(len(p.slope), len(grid.nodes)):
            blocks, U = columns.parts(rows, share)
            blocks[:, np.arange(p.of_item), np.arange(p.of_item)] += stiffness[rows]
            inverse[rows] = np.linalg.inv(blocks)
            solved[rows] = inverse[rows] @ U
            missing += U.reshape(-1, columns.count).T @ solved[rows].reshape(-1, columns.count)
        values, vectors = np.linalg.eigh((missing + missing.T) / 2.0)
        if values[-1] < _LARGEST_SHARE and np.all(np.diagonal(inverse, axis1=1, axis2=2) > 0.0):
            break
    missed = values > _LEAST_MISSING  # few subjects leave most directions without anything missing
    largest = _LARGEST_SHARE if whole else _LARGEST_IN_STEPS
    factor = vectors[:, missed] / np.sqrt(1.0 - np.clip(values[missed], 0.0, largest))
    return Information(inverse, group_inverse, solved @ factor, group_solved @ factor)


class _Columns:
    """The blocks of A and the columns U V^½, of some items at a time, and those of groups.

    The score of an item is (y − P) u(θ); along θ it runs with −P′u + (y − P)u′. A posterior's peak lies where
    likelihood and prior balance, so answers there are those of an ability further out by κ = (θ − μ)/(σ² I(θ)), and y
    − P is P′κ: the slope is −P′(u − κu′). Steps do without κ.
    """

    def __init__(self, p: irt_model.Parameters, grid: Grid, sums: PassSums, *, steps: bool) -> None:
        self._p, self._grid, self._sums = p, grid, sums
        self._here = np.maximum(sums.mass.sum(axis=0), _RIDGE)
        of_ability = np.zeros(len(grid.nodes))
        for rows in irt_model.item_blocks(len(p.slope), len(grid.nodes)):
            at = irt_model.curves(p.of_items(rows), grid.nodes)
            of_ability += np.sum(self._taken(rows) / self._here * at.by_ability**2 / at.spread, axis=0)
        of_ability = np.maximum(of_ability, _RIDGE)
        largest = np.maximum(sums.mass, 0.0) / (of_ability + p.sd[:, None] ** -2.0)
        self._roots = np.sqrt(np.clip(sums.spread, 0.0, largest))
        pulls = (grid.nodes - p.mean[:, None]) / (p.sd[:, None] ** 2 * of_ability)
        self._pulls = np.zeros_like(pulls) if steps else np.clip(pulls, -1.0, 1.0)
        self._live = self._roots > 0.0  # few subjects leave most nodes empty
        self.groups = (-group_slopes(p, grid) * self._roots)[:, self._live]
        self._few: Floats | None = None
        if self._live.sum() > len(p.slope) * p.of_item + len(p.free):
            self._few, self.groups = fewer_columns(self.parts(slice(None), 0.0)[1], self.groups)
        self.count = self.groups.shape[1]

    def _taken(self, rows: slice) -> Floats:
        return np.maximum(_rows(self._sums.taken, rows), 0.0)

    def parts(self, rows: slice, own_share: float) -> tuple[Floats, Floats]:
        """Return blocks (items × k × k, without priors) and columns (items × k × columns) of some items."""
        at, taken = irt_model.curves(self._p.of_items(rows), self._grid.nodes), self._taken(rows)
        share = taken / self._here  # of the subjects at a node, those who took the item
        blocks = at.squares(taken * at.spread)
        if own_share:
            blocks -= at.squares(own_share * self._sums.spread.sum(axis=0) * share * at.spread, bent=True)
        if self._few is not None:
            return blocks, self._few[rows]
        steep = share * at.by_ability
        columns = [
            (steep[:, live] * root[live])[:, None, :]
            * np.swapaxes(at.u[:, live] - pull[live][None, :, None] * at.bent[:, live], 1, 2)
            for root, pull, live in zip(self._roots, self._pulls, self._live, strict=True)
        ]
        return blocks, np.concatenate(columns, axis=2) if len(columns) > 1 else columns[0]


def fewer_columns(items: Floats, groups: Floats) -> tuple[Floats, Floats]:
    """Return at most one column per unknown with the same products: a short test may have more nodes than that."""
    whole = np.concatenate([items.reshape(-1, items.shape[2]), groups])
    if whole.shape[1] <= len(whole):
        return items, groups
    lower = np.asarray(np.linalg.qr(whole.T, mode="r"), dtype=np.float64).T
    cut = len(whole) - len(groups)
    return lower[:cut].reshape(*items.shape[:2], -1), lower[cut:]


def root_of_inverse(curvature: Floats) -> Floats:
    """Return columns whose sum of squares is the inverse of a matrix."""
    values, vectors = np.linalg.eigh((curvature + curvature.T) / 2.0)
    return np.asarray(vectors / np.sqrt(np.maximum(values, values[-1] * _RIDGE)))


def information_of_columns(columns: Floats, items: int, groups: int) -> Information:
    """Return the information whose inverse is the sum of squares of columns (parameters × columns)."""
    cut = len(columns) - groups
    own = columns[:cut].reshape(items, cut // items, -1)
    return Information(np.zeros((*own.shape[:2], own.shape[1])), np.zeros(groups), own, columns[cut:])


def group_slopes(p: irt_model.Items, grid: Grid) -> Floats:
    """Return how the scores of groups' free parameters run along θ: free × groups × nodes."""
    along = np.zeros((len(p.free), len(p.mean), len(grid.nodes)))
    for place, (name, group) in enumerate(p.free):
        off = (grid.nodes - p.mean[group]) / p.sd[group]
        along[place, group] = p.sd[group] ** -2.0 if name == "mean" else 2.0 * off / p.sd[group]
    return along


def group_terms(p: irt_model.Items, grid: Grid, masses: Floats) -> tuple[Floats, Floats]:
    """Return gradient and information of the free parameters of groups; ``masses``: their subjects at the nodes."""
    slope, block = np.zeros(len(p.free)), np.zeros(len(p.free))
    for place, (name, group) in enumerate(p.free):
        mass, off = masses[group], (grid.nodes - p.mean[group]) / p.sd[group]
        if name == "mean":
            slope[place], block[place] = mass @ off / p.sd[group], mass.sum() / p.sd[group] ** 2
        else:
            slope[place], block[place] = mass @ (off**2 - 1.0), 2.0 * mass.sum()
    return slope, block


def exact_information(
    held: Held, p: irt_model.Parameters, grid: Grid, priors: irt_priors.Priors, scale: float = 1.0
) -> Information:
    """Return the inverse information of responses in NumPy arrays; ``scale``: subjects that each of them stands for."""
    space, no_priors = NumpyArrays(np.float64), irt_priors.Priors(None, None, None, None)
    tables = NodeTables(space, p, grid)
    shape = (len(p.slope), p.of_item)
    curvature = np.zeros((len(p.flat()), len(p.flat())))
    for shard in held.parts:
        sums = tally(space, shard, tables, held.groups, complete=held.complete)
        curvature += known_information(p, shape, partial(gradient, grid=grid, sums=sums, priors=no_priors))
        for chunk in chunks(space, shard):
            given = np.ones(len(chunk)) if chunk.weights is None else chunk.weights
            weights, scores_of = shard_posteriors(space, chunk, tables).weights, score_means(p, grid, chunk)
            curvature -= score_moments(weights, grid.nodes, given[:, None], scores_of)
    curvature *= scale
    of_groups = irt_priors.group_prior_terms(p, priors.groups)[2]
    curvature[np.diag_indices_from(curvature)] += np.append(irt_priors.prior_terms(p, priors)[2], of_groups)
    return information_of_columns(root_of_inverse(curvature), len(p.slope), len(p.free))


def known_information(p: Any, shape: tuple[int, int], slopes: Callable[[Any], Floats]) -> Floats:
    """Return the information with abilities known: blocks of items, and one of groups.

    ``shape``: items and parameters of each. ``slopes``: the gradient at parameters like ``p``, with the posteriors as
    they are.
    """
    cut, size = shape[0] * shape[1], len(p.flat())
    whole = np.zeros((size, size))
    rows, groups = np.arange(cut).reshape(shape), np.arange(cut, size)
    moves: list[tuple[Any, Any]] = [*((one[:, None], rows) for one in rows.T), *((one, groups) for one in groups)]
    for moved, changed in moves:
        step = np.zeros(size)
        step[moved] = _SMALL
        below, above = (slopes(p.moved(sign * step)) for sign in (-1.0, 1.0))
        whole[changed, moved] = (below - above)[changed] / (2.0 * _SMALL)
    return (whole + whole.T) / 2.0


ScoresOf = Callable[..., Callable[[Floats], Floats]]
"""Of some subjects and nodes: what sums scores over nodes with weights (subjects × parameters)."""


def score_moments(weights: Floats, nodes: Floats, given: Floats, scores_of: ScoresOf) -> Floats:
    """Return the sum over subjects of the covariance of their complete scores.

    A score is a sum of polynomials that are orthonormal under the subject's posterior, and its covariance the sum of
    squares of its shares of them. Posteriors are nearly normal and scores smooth, so that few polynomials suffice.

    ``weights``: posteriors (subjects × nodes). ``given``: weights of subjects, as a column.
    """
    square, (nodes, roots) = np.zeros(()), (one.astype(weights.dtype) for one in (nodes, np.sqrt(given)))
    order = np.argsort(weights @ nodes)
    for start in range(0, len(weights), _ROWS):
        rows, own = order[start : start + _ROWS], np.zeros(())  # alike, so that few nodes have weight
        places = np.flatnonzero(np.abs(weights[rows]).max(axis=0) > _NO_WEIGHT)
        live = slice(places[0], places[-1] + 1)
        sum_scores = scores_of(rows, live)
        for table in _polynomials(weights[rows, live], nodes[live]):
            shares = sum_scores(roots[rows] * table)
            more = shares.T @ shares
            own = own + more
            if np.mean(np.diag(more) / np.maximum(np.diag(own), _FLOOR)) < _NO_MORE:
                break
        square = square + own
    return square


def _polynomials(weights: Floats, nodes: Floats) -> Iterator[Floats]:
    """Yield weights times the polynomials that are orthonormal under them, but for the constant (Stieltjes)."""
    before, here, length = np.zeros_like(weights), np.ones_like(weights), np.zeros((len(weights), 1), weights.dtype)
    weighted = weights
    for _ in range(_MOST):
        middle = np.einsum("iq,iq,q->i", weighted, here, nodes)[:, None]
        before *= length
        before, here = here, (nodes - middle) * here - before
        length = np.sqrt(np.maximum(np.einsum("iq,iq,iq->i", weights, here, here), 0.0))[:, None]
        here *= (length > _LEAST_LENGTH) / np.maximum(length, _LEAST_LENGTH)
        weighted = weights * here
        yield weighted


def score_means(p: irt_model.Parameters, grid: Grid, shard: Shard) -> ScoresOf:
    """Return what sums the scores of a shard's subjects."""
    rate, by_item, _ = irt_model.curve_derivatives(p, grid.nodes)
    u = np.swapaxes(by_item / np.maximum(rate * (1.0 - rate), _FLOOR)[:, :, None], 0, 1)
    of_right, of_taken = (one.reshape(len(u), -1) for one in (u, u * rate.T[:, :, None]))
    right = np.repeat(dense(shard.right).astype(np.float64), p.of_item, axis=1)
    taken = None if shard.trials is None else np.repeat(dense(shard.trials).astype(np.float64), p.of_item, axis=1)
    of_groups = group_scores(p, grid, shard.group).T

    def scores_of(rows: Any, live: slice = slice(None)) -> Callable[[Floats], Floats]:
        own, asked = right[rows], 1.0 if taken is None else taken[rows]

        def sum_scores(table: Floats) -> Floats:
            items = own * (table @ of_right[live]) - asked * (table @ of_taken[live])
            return np.concatenate([items, table @ of_groups[live]], axis=1)

        return sum_scores

    return scores_of


def group_scores(p: irt_model.Items, grid: Grid, group: int) -> Floats:
    """Return the scores of groups' free parameters of a subject of a group at every node: free × nodes."""
    scores = np.zeros((len(p.free), len(grid.nodes)))
    off = (grid.nodes - p.mean[group]) / p.sd[group]
    for place, (name, of) in enumerate(p.free):
        if of == group:
            scores[place] = off / p.sd[group] if name == "mean" else off**2 - 1.0
    return scores
