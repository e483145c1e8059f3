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
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mensura.core.arrays import Floats
from mensura.responses.irt.model import Parameters, Priors, curve_derivatives, prior_terms
from mensura.responses.irt.passes import PassSums
from mensura.responses.irt.quadrature import Grid

_RIDGE = 1e-9
_LARGEST_SHARE = 0.9999
"""Largest share of a direction's information that may be missing; beyond, the scale is not held by the responses."""
_OWN_SHARES = (1.0, 0.5, 0.25, 0.0)


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

    def step(self, items: Floats, groups: Floats) -> tuple[Floats, Floats]:
        """Return the inverse information times a gradient."""
        along = np.einsum("jkc,jk->c", self.item_columns, items) + self.group_columns.T @ groups
        return (
            np.einsum("jkl,jl->jk", self.item_inverse, items) + self.item_columns @ along,
            self.group_inverse * groups + self.group_columns @ along,
        )

    def plain_step(self, items: Floats, groups: Floats) -> tuple[Floats, Floats]:
        """Return the step of the EM algorithm: as if abilities were known."""
        return np.einsum("jkl,jl->jk", self.item_inverse, items), self.group_inverse * groups

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


def gradient(p: Parameters, grid: Grid, sums: PassSums, priors: Priors) -> tuple[Floats, Floats]:
    """Return the gradient of the log posterior by items' own and groups' free parameters."""
    rate, by_item, _ = curve_derivatives(p, grid.nodes)
    _, from_prior, _ = prior_terms(p, priors)
    expected = sums.taken * rate
    if p.model == "3pl":
        score = (sums.right - expected) / np.maximum(rate * (1.0 - rate), _RIDGE)
        items = np.einsum("jq,jqk->jk", score, by_item)
    else:
        both = np.stack([sums.right[:, 0] - expected @ grid.nodes, sums.right[:, 1] - expected.sum(axis=1)], axis=1)
        items = both[:, 1:] if p.model == "rasch" else both
    return items + from_prior, _group_terms(p, grid, sums)[0]


def information(p: Parameters, grid: Grid, sums: PassSums, priors: Priors, *, whole: bool = False) -> Information:
    """Return the inverse information at the parameters.

    Without ``whole`` no direction's information can vanish (A − U V Uᵀ is a Schur complement), which is what steps
    need. With it, it is what errors need: the pull of the prior is in the slopes, and an answer's own part in the
    posterior it is weighed with, v P(1−P) u′u′ᵀ, is taken off the item's block. On tests of a few items that can
    leave nothing of a direction; then less of it is taken.
    """
    for share in _OWN_SHARES if whole else (None,):
        blocks, U, Z, group_blocks = _parts(p, grid, sums, priors, share)
        inverse = np.asarray(np.linalg.inv(blocks), dtype=np.float64)
        group_inverse = 1.0 / np.maximum(group_blocks, _RIDGE)
        solved, group_solved = inverse @ U, group_inverse[:, None] * Z
        missing = np.tensordot(U, solved, axes=([0, 1], [0, 1])) + Z.T @ group_solved
        values, vectors = np.linalg.eigh((missing + missing.T) / 2.0)
        if values[-1] < _LARGEST_SHARE and np.all(np.diagonal(inverse, axis1=1, axis2=2) > 0.0):
            break
    factor = vectors / np.sqrt(1.0 - np.clip(values, 0.0, _LARGEST_SHARE))
    return Information(inverse, group_inverse, solved @ factor, group_solved @ factor)


def _parts(
    p: Parameters, grid: Grid, sums: PassSums, priors: Priors, own_share: float | None
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the blocks of A, and U V^½ of items and of groups.

    The score of an item is (y − P) u(θ); along θ it runs with −P′u + (y − P)u′. A posterior's peak lies where
    likelihood and prior balance, so answers there are those of an ability further out by κ = (θ − μ)/(σ² I(θ)), and y
    − P is P′κ: the slope is −P′(u − κu′).
    """
    rate, by_item, by_ability = curve_derivatives(p, grid.nodes)
    spread = np.maximum(rate * (1.0 - rate), _RIDGE)
    taken = np.maximum(sums.taken, 0.0)
    share = taken / np.maximum(sums.mass.sum(axis=0), _RIDGE)  # of the subjects at a node, those who took the item
    u = by_item / spread[:, :, None]
    bent = np.gradient(u, grid.spacing, axis=1)
    blocks = np.einsum("jq,jqk,jql->jkl", taken * spread, u, u, optimize=True)
    if own_share:
        open_still = own_share * sums.spread.sum(axis=0) * share * spread
        blocks -= np.einsum("jq,jqk,jql->jkl", open_still, bent, bent, optimize=True)
    ahead = np.arange(blocks.shape[1])
    blocks[:, ahead, ahead] += prior_terms(p, priors)[2] + _RIDGE
    held = np.maximum(np.sum(share * by_ability**2 / spread, axis=0), _RIDGE)
    columns, group_columns = [], []
    along = group_slopes(p, grid)
    for group in range(len(p.mean)):
        pull = (grid.nodes - p.mean[group]) / (p.sd[group] ** 2 * held) * (own_share is not None)
        known = np.maximum(sums.mass[group], 0.0) / (held + p.sd[group] ** -2.0)
        root = np.sqrt(np.clip(sums.spread[group], 0.0, known))
        slopes = (share * by_ability * root)[:, :, None] * (u - np.clip(pull, -1.0, 1.0)[None, :, None] * bent)
        columns.append(np.swapaxes(slopes, 1, 2))
        group_columns.append(-along[:, group] * root)
    blocks_of_groups = _group_terms(p, grid, sums)[1]
    return blocks, np.concatenate(columns, axis=2), np.concatenate(group_columns, axis=1), blocks_of_groups


def information_of(curvature: Floats, p: Parameters) -> Information:
    """Return the inverse of an information matrix that is known in full, in the order of :meth:`Parameters.flat`."""
    items, count = len(p.slope), p.of_item
    values, vectors = np.linalg.eigh((curvature + curvature.T) / 2.0)
    root = vectors / np.sqrt(np.maximum(values, values[-1] * _RIDGE))
    cut = items * count
    nothing = np.zeros((items, count, count))
    return Information(nothing, np.zeros(len(p.free)), root[:cut].reshape(items, count, -1), root[cut:])


def group_slopes(p: Parameters, grid: Grid) -> Floats:
    """Return how the scores of groups' free parameters run along θ: free × groups × nodes."""
    along = np.zeros((len(p.free), len(p.mean), len(grid.nodes)))
    for place, (name, group) in enumerate(p.free):
        off = (grid.nodes - p.mean[group]) / p.sd[group]
        along[place, group] = p.sd[group] ** -2.0 if name == "mean" else 2.0 * off / p.sd[group]
    return along


def _group_terms(p: Parameters, grid: Grid, sums: PassSums) -> tuple[Floats, Floats]:
    """Return gradient and information of the free parameters of groups."""
    slope, block = np.zeros(len(p.free)), np.zeros(len(p.free))
    for place, (name, group) in enumerate(p.free):
        mass, off = sums.mass[group], (grid.nodes - p.mean[group]) / p.sd[group]
        if name == "mean":
            slope[place], block[place] = mass @ off / p.sd[group], mass.sum() / p.sd[group] ** 2
        else:
            slope[place], block[place] = mass @ (off**2 - 1.0), 2.0 * mass.sum()
    return slope, block
