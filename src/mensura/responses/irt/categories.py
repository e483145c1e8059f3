"""Fitting items with several categories (:mod:`.category_items`) by marginal maximum likelihood.

The passes are those of right answers: counts of categories (subjects × items and categories) meet a table of log
chances by node. Steps and errors are those of :mod:`.information`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.responses.irt.acceleration import Anderson
from mensura.responses.irt.category_items import CategoryItems, category_curves, log_chances
from mensura.responses.irt.information import Information, fewer_columns, information_of_matrix
from mensura.responses.irt.model import GroupPrior, group_prior_terms
from mensura.responses.irt.namespace import Namespace
from mensura.responses.irt.quadrature import Grid, Posterior, posteriors

EXACT_UNKNOWNS = 200
"""Up to so many parameters of items errors are exact."""
_RIDGE = 1e-9
_LARGEST_SHARE = 0.98
_LONGEST_STEP, _SHORTER, _NEAR = 1.0, 3.0, 3.0
_TOLERANCE, _PASSES = 0.002, 200


@dataclass(frozen=True)
class CategoryCounts:
    """One group's answers: ``counts`` has a row per subject and a column per item and category (K for every item)."""

    counts: Any
    group: int
    weights: Floats | None = None
    """How many subjects of the population each subject stands for, in units of their mean; None: all alike."""

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
    """A fit: parameters, the inverse information (None: no errors), posteriors by group, evidence, passes."""

    items: CategoryItems
    grid: Grid
    information: Information
    evidence: float
    passes: int
    converged: bool


class _Sums(NamedTuple):
    """Sums of one pass: categories by node (items × categories × nodes), mass and spread of groups, evidence."""

    counts: Floats
    mass: Floats
    spread: Floats
    evidence: float


class _Terms(NamedTuple):
    """A number per parameter of items and of groups."""

    items: Floats
    groups: Floats


def shard_posteriors(space: Namespace, shard: CategoryCounts, p: CategoryItems, grid: Grid, table: Any) -> Posterior:  # noqa: ANN401
    """Return the posteriors of a group's subjects; ``table``: the log chances on the device."""
    prior = space.real(grid.log_prior(float(p.mean[shard.group]), float(p.sd[shard.group])))
    return posteriors(space, space.score(shard.counts, table) + prior[None, :], grid)


def _pass(space: Namespace, shards: Sequence[CategoryCounts], p: CategoryItems, grid: Grid) -> _Sums:
    table = space.real(log_chances(p, grid.nodes).reshape(-1, len(grid.nodes)))
    counts, evidence = np.zeros(table.shape), 0.0
    mass, spread = np.zeros((len(p.mean), len(grid.nodes))), np.zeros((len(p.mean), len(grid.nodes)))
    for shard in shards:
        found = shard_posteriors(space, shard, p, grid, table)
        given = np.ones(len(shard)) if shard.weights is None else shard.weights
        weights = space.get(found.weights) * given[:, None]
        on_device = found.weights if shard.weights is None else space.real(weights)
        counts += space.get(space.total(shard.counts, on_device))
        mass[shard.group] += weights.sum(axis=0)
        spread[shard.group] += weights.T @ space.get(found.variance)
        evidence += float(space.get(found.evidence) @ given)
    return _Sums(counts.reshape(len(p.sizes), p.most, -1), mass, spread, evidence)


def _prior_terms(p: CategoryItems, prior: CategoryPrior | None) -> tuple[float, _Terms, _Terms]:
    """Return log density, gradient and curvature of the priors."""
    density, groups, stiffness = group_prior_terms(p, prior.groups if prior else None)
    if prior is None:
        return 0.0, _Terms(np.zeros_like(p.values), groups), _Terms(np.zeros_like(p.values), stiffness)
    slopes = p.most - 1 if p.model == "nominal" else 1
    middle, width = np.zeros(p.values.shape[1]), np.full(p.values.shape[1], prior.step_sd)
    nominal = p.model == "nominal"
    middle[:slopes] = 0.0 if nominal else prior.slope
    width[:slopes] = prior.slope_sd * (3.0 if nominal else 1.0)
    off = (p.values - middle) / width * p.used
    of_items = np.broadcast_to(width**-2.0, off.shape) * p.used
    return density - 0.5 * float(np.sum(off**2)), _Terms(-off / width, groups), _Terms(of_items, stiffness)


def _gradient(p: CategoryItems, grid: Grid, sums: _Sums, by: Floats) -> tuple[Floats, Floats]:
    items = np.einsum("jkq,jknq->jn", sums.counts, by)
    groups = []
    for group in range(1, len(p.mean)):
        off, mass = (grid.nodes - p.mean[group]) / p.sd[group], sums.mass[group]
        groups += [mass @ off / p.sd[group], mass @ (off**2 - 1.0)]
    return items, np.array(groups)


def _information(p: CategoryItems, grid: Grid, sums: _Sums, stiffness: _Terms) -> Information:
    """Return the inverse information: that with abilities known, less what posteriors leave open, node by node."""
    log_p, by, slope = category_curves(p, grid.nodes)
    chance = np.exp(log_p) * (np.arange(p.most) < p.sizes[:, None])[:, :, None]
    taken = np.maximum(sums.counts.sum(axis=1), 0.0)
    weighted = np.swapaxes(by, 2, 3) * chance[:, :, :, None]
    known = np.einsum("jq,jkqn,jkmq->jnm", taken, weighted, by, optimize=True)
    unused = ~p.used
    known[:, np.arange(known.shape[1]), np.arange(known.shape[1])] += stiffness.items + _RIDGE + unused
    inverse = np.linalg.inv(known)
    here = np.maximum(sums.mass.sum(axis=0), _RIDGE)
    share = taken / here
    crossed = share[:, None, :] * np.einsum("jkqn,jkq->jnq", weighted, slope)
    held = np.maximum(np.sum(share * np.einsum("jkq,jkq->jq", chance, slope**2), axis=0), _RIDGE)
    columns, of_groups, group_known = [], [], []
    for group in range(len(p.mean)):
        most = np.maximum(sums.mass[group], 0.0) / (held + p.sd[group] ** -2.0)
        root = np.sqrt(np.clip(sums.spread[group], 0.0, most))
        columns.append(crossed * root)
        along = np.zeros((2 * len(p.mean) - 2, len(grid.nodes)))
        if group:
            off, count = (grid.nodes - p.mean[group]) / p.sd[group], sums.mass[group].sum()
            along[2 * group - 2], along[2 * group - 1] = p.sd[group] ** -2.0, 2.0 * off / p.sd[group]
            group_known += [count / p.sd[group] ** 2, 2.0 * count]
        of_groups.append(-along * root)
    U, Z = fewer_columns(np.concatenate(columns, axis=2), np.concatenate(of_groups, axis=1))
    group_inverse = 1.0 / np.maximum(np.array(group_known) + stiffness.groups, _RIDGE)
    solved, group_solved = inverse @ U, group_inverse[:, None] * Z
    missing = np.tensordot(U, solved, axes=([0, 1], [0, 1])) + Z.T @ group_solved
    values, vectors = np.linalg.eigh((missing + missing.T) / 2.0)
    factor = vectors / np.sqrt(1.0 - np.clip(values, 0.0, _LARGEST_SHARE))
    return Information(inverse, group_inverse, solved @ factor, group_solved @ factor)


def fit_categories_held(
    space: Namespace, shards: Sequence[CategoryCounts], start: CategoryItems, prior: CategoryPrior | None
) -> CategoryFitted:
    """Take Newton's steps until no parameter would move by a small part of its standard error."""
    here, best, shrink, memory = start, None, 1.0, Anderson()
    left, passes = np.inf, 0
    cut = start.values.size
    while passes < _PASSES:
        passes += 1
        grid = Grid.over(here.mean, here.sd)
        sums = _pass(space, shards, here, grid)
        density, pull, stiffness = _prior_terms(here, prior)
        height = sums.evidence + density
        if best is not None and not height >= best[0] - 1e-7 * abs(best[0]):
            shrink /= _SHORTER
            memory.forget()
            here = _away(best[1], best[2], shrink)
            continue
        inverse = _information(here, grid, sums, stiffness)
        items, groups = _gradient(here, grid, sums, category_curves(here, grid.nodes)[1])
        step = np.concatenate(
            [part.ravel() for part in inverse.step((items + pull.items) * here.used, groups + pull.groups)]
        )
        errors = inverse.errors()
        left = float(np.max(np.abs(step[:cut] * here.used.ravel()) / errors[:cut]))
        best = (height, here, step, sums, grid)
        if left < _TOLERANCE:
            break
        if left < _NEAR:
            step = memory.improved(here.flat(), step, errors)
        shrink = min(1.0, _SHORTER * shrink)
        here = _away(here, step, shrink)
    if best is None:
        raise MensuraError("the likelihood has no value where the fit begins; check that several subjects answered")
    _, found, _, sums, grid = best
    stiffness = _prior_terms(found, prior)[2]
    exact = int(found.used.sum()) <= EXACT_UNKNOWNS
    errors_of = (
        _exact(space, shards, found, grid, sums, stiffness) if exact else _information(found, grid, sums, stiffness)
    )
    return CategoryFitted(found, grid, errors_of, sums.evidence, passes, left < _TOLERANCE)


def _away(p: CategoryItems, step: Floats, share: float) -> CategoryItems:
    longest = max(1.0, float(np.max(np.abs(step))) / _LONGEST_STEP)
    moved, cut = share * step / longest, p.values.size
    return p.moved(moved[:cut].reshape(p.values.shape), moved[cut:])


def _exact(
    space: Namespace, shards: Sequence[CategoryCounts], p: CategoryItems, grid: Grid, sums: _Sums, stiffness: _Terms
) -> Information:
    """Return the inverse information by Louis' identity, subject by subject."""
    cut, small, groups = p.values.size, 1e-4, 2 * len(p.mean) - 2
    whole = np.zeros((cut + groups, cut + groups))
    rows, still = np.arange(cut).reshape(p.values.shape), np.zeros(groups)
    for place in range(p.values.shape[1]):
        step = np.zeros_like(p.values)
        step[:, place] = small
        ends = [
            _gradient(q, grid, sums, category_curves(q, grid.nodes)[1])
            for q in (p.moved(-step, still), p.moved(step, still))
        ]
        whole[rows, rows[:, place][:, None]] = (ends[0][0] - ends[1][0]) / (2.0 * small)
    for place in range(groups):
        step, move = np.zeros_like(p.values), small * np.eye(groups)[place]
        ends = [
            _gradient(p.moved(step, sign * move), grid, sums, category_curves(p, grid.nodes)[1]) for sign in (-1.0, 1.0)
        ]
        whole[cut:, cut + place] = (ends[0][1] - ends[1][1]) / (2.0 * small)
    by = np.swapaxes(category_curves(p, grid.nodes)[1], 1, 2)  # items × parameters × categories × nodes
    table = space.real(log_chances(p, grid.nodes).reshape(-1, len(grid.nodes)))
    for shard in shards:
        weights = space.get(shard_posteriors(space, shard, p, grid, table).weights)
        whole -= _complete_scores(p, shard, weights, by, grid)[0]
    whole = (whole + whole.T) / 2.0
    whole[np.diag_indices_from(whole)] += np.concatenate([(stiffness.items + ~p.used).ravel(), stiffness.groups])
    return information_of_matrix(whole, len(p.values), p.values.shape[1], groups)


def subject_scores(space: Namespace, shards: Sequence[CategoryCounts], fitted: CategoryFitted) -> Floats:
    """Return the weighted gradient of every subject's log likelihood (subjects × parameters of items and groups)."""
    p, grid = fitted.items, fitted.grid
    by = np.swapaxes(category_curves(p, grid.nodes)[1], 1, 2)
    table = space.real(log_chances(p, grid.nodes).reshape(-1, len(grid.nodes)))
    rows = []
    for shard in shards:
        weights = space.get(shard_posteriors(space, shard, p, grid, table).weights)
        mean = _complete_scores(p, shard, weights, by, grid)[1]
        rows.append(mean if shard.weights is None else mean * shard.weights[:, None])
    return np.concatenate(rows)


def _complete_scores(
    p: CategoryItems, shard: CategoryCounts, weights: Floats, by: Floats, grid: Grid
) -> tuple[Floats, Floats]:
    """Return the weighted sum over subjects of the covariance of their complete scores, and the mean of each one's."""
    given = np.ones(len(shard)) if shard.weights is None else shard.weights
    counts = shard.counts.plain if hasattr(shard.counts, "plain") else shard.counts
    items, params, most, _ = by.shape
    cut, groups = items * params, 2 * len(p.mean) - 2
    mean, square = np.zeros((len(shard), cut + groups)), np.zeros((cut + groups, cut + groups))
    pick = np.zeros((items * most, cut))
    place = np.arange(items * most).reshape(items, most)
    for node in np.flatnonzero(weights.max(axis=0) > _RIDGE):
        for param in range(params):
            pick[place, (np.arange(items) * params + param)[:, None]] = by[:, param, :, node]
        scores = np.zeros((len(shard), cut + groups))
        scores[:, :cut] = counts @ pick
        if shard.group:
            off = (grid.nodes[node] - p.mean[shard.group]) / p.sd[shard.group]
            scores[:, cut + 2 * shard.group - 2] = off / p.sd[shard.group]
            scores[:, cut + 2 * shard.group - 1] = off**2 - 1.0
        weighted = weights[:, node][:, None] * scores
        square += (weighted * given[:, None]).T @ scores
        mean += weighted
    return square - (mean * given[:, None]).T @ mean, mean
