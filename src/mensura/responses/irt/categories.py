"""Items with several categories: the fit by marginal maximum likelihood.

The passes are those of right answers: counts of categories (subjects × items and categories) meet a table of log
chances by node. Steps and errors are those of :mod:`.information`, curves those of :mod:`.category_curves`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy

from mensura.core.arrays import Floats, Ints
from mensura.responses.irt import information as louis
from mensura.responses.irt.category_curves import CategoryItems, Curves, category_curves
from mensura.responses.irt.fitting import ClimbPlace, Effort, ascend
from mensura.responses.irt.information import Information
from mensura.responses.irt.namespace import Array, Namespace
from mensura.responses.irt.passes import Grid, Posterior, posteriors
from mensura.responses.irt.priors import GroupPrior, group_prior_terms
from mensura.responses.irt.shards import dense
from mensura.responses.irt.ties import along_ties, tied_information

EXACT_UNKNOWNS = 200
"""Up to so many parameters of items errors are exact."""
_RIDGE = 1e-9
_LARGEST_SHARE = 0.98
_EFFORT = Effort(tolerance=0.002)


@dataclass(frozen=True)
class CategoryCounts:
    """One group's answers: ``counts`` has a row per subject and a column per item and category (K for every item)."""

    counts: Array
    group: int
    weights: Floats | None = None
    """How many subjects of the population each subject stands for, in units of their mean; None: all alike."""
    places: Array = None
    """Which items of the parameters the columns belong to; None: all, in their order."""

    @property
    def given(self) -> Floats:
        """The weights of subjects, as a column."""
        return (np.ones(len(self)) if self.weights is None else self.weights)[:, None]

    def __len__(self) -> int:
        return int(self.counts.shape[0])


class CategoryPrior(NamedTuple):
    """Weak normal priors: slopes about ``slope``, d about 0. Slopes of ``nominal`` are about 0, three times as wide.

    ``groups`` hold a group beside the first whose subjects answer all items alike.
    """

    slope: float = 1.0
    slope_sd: float = 1.0
    step_sd: float = 5.0
    groups: GroupPrior | None = GroupPrior(5.0, 1.5)


class CategoryFitted(NamedTuple):
    """A fit: parameters, their inverse information, and how it ended.

    ``counts``: expected answers of items × categories × nodes.
    """

    parameters: CategoryItems
    grid: Grid
    information: Information
    evidence: float
    passes: int
    converged: bool
    posterior: float
    counts: Floats


class _Sums(NamedTuple):
    """Sums of one pass: categories by node (items × categories × nodes), mass and spread of groups, evidence."""

    counts: Floats
    mass: Floats
    spread: Floats
    evidence: float


def shard_posteriors(space: Namespace, shard: CategoryCounts, p: CategoryItems, grid: Grid, table: Array) -> Posterior:
    """Return the posteriors of a group's subjects; ``table``: the log chances on the device."""
    prior = space.real(grid.log_prior(float(p.mean[shard.group]), float(p.sd[shard.group])))
    joint = space.score(shard.counts, table)
    joint += prior[None, :]
    return posteriors(space, joint, grid)


def _pass(
    space: Namespace, shards: Sequence[CategoryCounts], p: CategoryItems, grid: Grid, log_chances: Floats
) -> _Sums:
    counts, evidence = np.zeros((len(p.sizes), p.most, len(grid.nodes))), 0.0
    mass, spread = np.zeros((2, len(p.mean), len(grid.nodes)))
    for shard in shards:
        own = slice(None) if shard.places is None else shard.places
        table = space.real(log_chances[own].reshape(-1, len(grid.nodes)))
        posterior = shard_posteriors(space, shard, p, grid, table)
        weights = posterior.weights if shard.weights is None else posterior.weights * space.real(shard.given)
        total = space.get(space.total(shard.counts, weights)).reshape(-1, p.most, len(grid.nodes))
        counts[own] += total
        mass[shard.group] += space.get(weights).sum(axis=0)
        spread[shard.group] += space.get(weights.T @ space.xp.asarray(posterior.variance, dtype=weights.dtype))
        evidence += float(space.get(posterior.evidence) @ shard.given[:, 0])
    return _Sums(counts, mass, spread, evidence)


def _place(
    space: Namespace, shards: Sequence[CategoryCounts], prior: CategoryPrior | None, p: CategoryItems
) -> ClimbPlace:
    """Return what a climb sees at ``p``."""
    grid = Grid.over(p.mean, p.sd)
    curves, (density, pull, stiffness) = category_curves(p, grid.nodes), _prior_terms(p, prior)
    sums = _pass(space, shards, p, grid, curves[0])
    inverse = partial(_information, p, grid, sums, stiffness, curves)
    height = sums.evidence + density
    return ClimbPlace(height, p, grid, sums, lambda: _gradient(p, grid, sums, curves[1]) + pull, inverse)


def height_and_gradient(
    space: Namespace, shards: Sequence[CategoryCounts], p: CategoryItems, prior: CategoryPrior | None
) -> tuple[float, Floats]:
    """Return the log posterior and its gradient in the order of :meth:`CategoryItems.flat`."""
    place = _place(space, shards, prior, p)
    return place.height, place.slope()


def _prior_terms(p: CategoryItems, prior: CategoryPrior | None) -> tuple[float, Floats, Floats]:
    """Return log density, gradient and curvature of the priors, in the order of :meth:`CategoryItems.flat`."""
    density, groups, stiffness = group_prior_terms(p, prior.groups if prior else None)
    off, precision = np.zeros_like(p.values), np.zeros_like(p.values)
    if prior is not None:
        nominal = p.model == "nominal"
        slopes = p.most - 1 if nominal else 1
        middle, width = np.zeros(p.values.shape[1]), np.full(p.values.shape[1], prior.step_sd)
        middle[:slopes] = 0.0 if nominal else prior.slope
        width[:slopes] = prior.slope_sd * (3.0 if nominal else 1.0)
        if p.ties is not None:  # a parameter of several items has one prior
            width[0] *= len(p.values) ** 0.5
        off, precision = (p.values - middle) / width * p.used, width**-2.0 * p.used
        density, off = density - 0.5 * float(np.sum(off**2)), off / width
    return density, np.append(-off, groups), np.append(precision, stiffness)


def _gradient(p: CategoryItems, grid: Grid, sums: _Sums, by: Floats) -> Floats:
    items = np.einsum("jkq,jknq->jn", sums.counts, by) * p.used
    return np.append(items, louis.group_terms(p, grid, sums.mass)[0])


def _information(p: CategoryItems, grid: Grid, sums: _Sums, stiffness: Floats, curves: Curves) -> Information:
    """Return the inverse information: that with abilities known, less what posteriors leave open, node by node."""
    log_p, by, slope = curves
    chance = np.exp(log_p) * p.here[:, :, None]
    taken = np.maximum(sums.counts.sum(axis=1), 0.0)
    weighted = np.swapaxes(by, 2, 3) * chance[:, :, :, None]
    flat = by.swapaxes(1, 2).reshape(*p.values.shape, -1)
    blocks = flat @ (weighted * taken[:, None, :, None]).reshape(len(flat), -1, flat.shape[1])
    each, cut = np.arange(blocks.shape[1]), p.values.size
    blocks[:, each, each] += stiffness[:cut].reshape(p.values.shape) + _RIDGE + ~p.used
    inverse = np.linalg.inv(blocks)
    share = taken / np.maximum(sums.mass.sum(axis=0), _RIDGE)
    crossed = share[:, None, :] * np.einsum("jkqn,jkq->jnq", weighted, slope)
    of_ability = np.maximum(np.sum(share * np.einsum("jkq,jkq->jq", chance, slope**2), axis=0), _RIDGE)
    roots = np.sqrt(np.clip(sums.spread, 0.0, np.maximum(sums.mass, 0.0) / (of_ability + p.sd[:, None] ** -2.0)))
    of_groups = (-louis.group_slopes(p, grid) * roots).reshape(len(p.free), roots.size)
    U, Z = louis.fewer_columns(np.concatenate([crossed * root for root in roots], axis=2), of_groups)
    group_inverse = 1.0 / np.maximum(louis.group_terms(p, grid, sums.mass)[1] + stiffness[cut:], _RIDGE)
    solved, group_solved = inverse @ U, group_inverse[:, None] * Z
    missing = np.tensordot(U, solved, axes=([0, 1], [0, 1])) + Z.T @ group_solved
    values, vectors = np.linalg.eigh((missing + missing.T) / 2.0)
    factor = vectors / np.sqrt(1.0 - np.clip(values, 0.0, _LARGEST_SHARE))
    whole = Information(inverse, group_inverse, solved @ factor, group_solved @ factor)
    return whole if p.ties is None else tied_information(whole, p.ties)


def fit_categories_held(
    space: Namespace,
    shards: Sequence[CategoryCounts],
    start: CategoryItems,
    prior: CategoryPrior | None,
    *,
    near: bool = False,
) -> CategoryFitted:
    """Take Newton's steps until no parameter would move by a small part of its standard error.

    ``near``: whether the start is near the maximum, and errors may be approximate.
    """
    climbed, converged, history = ascend(partial(_place, space, shards, prior), start, _EFFORT)
    height, p, grid, sums, _, inverse = climbed
    few = not near and p.used.sum() <= EXACT_UNKNOWNS
    errors_of = _exact(space, shards, p, grid, sums, _prior_terms(p, prior)[2]) if few else inverse()
    return CategoryFitted(p, grid, errors_of, sums.evidence, len(history), converged, height, sums.counts)


def _exact(
    space: Namespace, shards: Sequence[CategoryCounts], p: CategoryItems, grid: Grid, sums: _Sums, stiffness: Floats
) -> Information:
    """Return the inverse information by Louis' identity, subject by subject."""
    whole = louis.known_information(
        p, p.values.shape, lambda q: _gradient(q, grid, sums, category_curves(q, grid.nodes)[1])
    )
    order = _item_by_item(p)
    for shard, (weights, scores_of) in zip(shards, _posterior_scores(space, shards, p, grid), strict=True):
        whole -= louis.score_moments(weights, grid.nodes, shard.given, scores_of)[np.ix_(order, order)]
    whole[np.diag_indices_from(whole)] += stiffness + np.append(~p.used, np.zeros(len(p.free)))
    if p.ties is not None:
        flat = p.ties.reshape(p.values.size, -1)
        turned: Floats = scipy.linalg.block_diag(flat, np.eye(len(p.free)))
        return along_ties(turned.T @ whole @ turned, p.ties, len(p.free))
    return louis.information_of_columns(louis.root_of_inverse(whole), len(p.values), len(p.free))


def subject_scores(space: Namespace, shards: Sequence[CategoryCounts], fitted: CategoryFitted) -> Floats:
    """Return the weighted gradient of every subject's log likelihood (subjects × parameters of items and groups)."""
    each = _posterior_scores(space, shards, fitted.parameters, fitted.grid)
    scores = [
        scores_of(slice(None))(weights) * shard.given for shard, (weights, scores_of) in zip(shards, each, strict=True)
    ]
    return np.concatenate(scores)[:, _item_by_item(fitted.parameters)]


def _item_by_item(p: CategoryItems) -> Ints:
    """Return the places of parameters item by item, groups last, where they lie parameter by parameter."""
    size, count = p.values.size, len(p.free)
    return np.append(np.arange(size).reshape(-1, len(p.values)).T, np.arange(size, size + count))


def _posterior_scores(
    space: Namespace, shards: Sequence[CategoryCounts], p: CategoryItems, grid: Grid
) -> Iterator[tuple[Array, louis.ScoresOf]]:
    """Yield the posteriors of subjects, and what sums their complete scores parameter by parameter, shard by shard."""
    curves, by, _ = category_curves(p, grid.nodes)
    table = space.real(curves.reshape(-1, len(grid.nodes)))
    by = np.array(by.transpose(1, 2, 3, 0), np.float32, order="C")
    pairs = np.argwhere(by.any(axis=(2, 3))).tolist()
    for shard in shards:
        weights = space.get(shard_posteriors(space, shard, p, grid, table).weights).astype(np.float32)
        kinds = dense(shard.counts).reshape(len(shard), -1, p.most).transpose(2, 0, 1).astype(np.float32, order="C")
        of_groups = louis.group_scores(p, grid, shard.group).T.astype(np.float32)

        def scores_of(
            rows: Any, live: slice = slice(None), kinds: Array = kinds, of_groups: Array = of_groups
        ) -> Callable[[Floats], Floats]:
            return partial(_sum_scores, pairs, by[:, :, live], kinds[:, rows], of_groups[live])

        yield weights, scores_of


def _sum_scores(pairs: list[list[int]], by: Array, kinds: Array, of_groups: Array, table: Floats) -> Floats:
    """Return scores, summed over nodes with the weights ``table`` (subjects × parameters of items and groups)."""
    items = np.zeros((by.shape[1], len(table), by.shape[3]), dtype=table.dtype)
    for kind, parameter in pairs:
        sums = table @ by[kind, parameter]
        sums *= kinds[kind]
        items[parameter] += sums
    return np.concatenate([*items, table @ of_groups], axis=1)
