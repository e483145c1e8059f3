"""The information in all responses about all parameters, and its inverse, at a cost that grows with the items alone.

By Louis' identity the information about the parameters is what it would be with abilities known, less the covariance of the complete
score over the posteriors of abilities. The first part, A, has one small block per item (and numbers for groups). For the second, a score
that runs with slope b(θ) through a posterior of variance v has covariance v b bᵀ; summed over subjects node by node it is U V Uᵀ, with one
column per node. So the information is A − U V Uᵀ, and Woodbury's identity inverts it:

    (A − U V Uᵀ)⁻¹ = A⁻¹ + A⁻¹ U V^½ (1 − V^½ Uᵀ A⁻¹ U V^½)⁻¹ V^½ Uᵀ A⁻¹

It couples all items through the ability scale, which standard errors item by item forget (they come out a tenth too small on long tests).
The same inverse turns a gradient into Newton's step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mensura.arrays import Floats
from mensura.responses.irt.model import Parameters, Priors, curve_derivatives, prior_terms
from mensura.responses.irt.quadrature import Grid
from mensura.responses.irt.tally import Tally

_RIDGE = 1e-9
_LARGEST_SHARE = 0.9999
"""Largest share of a direction's information that may be missing; beyond, the scale is not held by the responses."""


@dataclass(frozen=True)
class Information:
    """The inverse information, in factors.

    ``item_inverse``: items × k × k, inverse blocks of A; ``group_inverse``: numbers of the free parameters of groups;
    ``item_columns`` (items × k × columns) and ``group_columns`` (free × columns): A⁻¹ U V^½ R with R Rᵀ the inverse in the middle.
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
        return self.item_columns @ self.group_columns[place]


def gradient(p: Parameters, grid: Grid, sums: Tally, priors: Priors) -> tuple[Floats, Floats]:
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


def information(p: Parameters, grid: Grid, sums: Tally, priors: Priors) -> Information:
    """Return the inverse information at the parameters."""
    rate, by_item, by_ability = curve_derivatives(p, grid.nodes)
    _, _, curvature = prior_terms(p, priors)
    spread = np.maximum(rate * (1.0 - rate), _RIDGE)
    blocks = np.einsum("jq,jqk,jql->jkl", np.maximum(sums.taken, 0.0) / spread, by_item, by_item, optimize=True)
    ahead = np.arange(blocks.shape[1])
    blocks[:, ahead, ahead] += curvature + _RIDGE
    inverse = np.linalg.inv(blocks)
    total = np.maximum(sums.mass.sum(axis=0), _RIDGE)
    share = np.clip(sums.taken / total, 0.0, None)  # of the subjects at a node, those who took the item
    slopes = np.swapaxes(by_item * (share * by_ability / spread)[:, :, None], 1, 2)
    root = np.sqrt(np.maximum(sums.spread, 0.0))
    U = np.concatenate([slopes * root[group] for group in range(len(root))], axis=2)
    _, group_blocks, group_slopes = _group_terms(p, grid, sums)
    Z = -group_slopes * root.reshape(-1)
    group_inverse = 1.0 / np.maximum(group_blocks, _RIDGE)
    solved, group_solved = inverse @ U, group_inverse[:, None] * Z
    missing = np.tensordot(U, solved, axes=([0, 1], [0, 1])) + Z.T @ group_solved
    factor = _root_inverse(missing)
    return Information(inverse, group_inverse, solved @ factor, group_solved @ factor)


def _root_inverse(missing: Floats) -> Floats:
    """Return R with R Rᵀ = (1 − M)⁻¹ from the missing shares M."""
    values, vectors = np.linalg.eigh((missing + missing.T) / 2.0)
    root: Floats = vectors / np.sqrt(1.0 - np.clip(values, 0.0, _LARGEST_SHARE))
    return root


def _group_terms(p: Parameters, grid: Grid, sums: Tally) -> tuple[Floats, Floats, Floats]:
    """Return gradient, information and slopes along θ (free × groups·nodes) of the free parameters of groups."""
    count, nodes = len(p.free), len(grid.nodes)
    slope, block, along = np.zeros(count), np.zeros(count), np.zeros((count, len(p.mean), nodes))
    for place, (name, group) in enumerate(p.free):
        mass, off = sums.mass[group], (grid.nodes - p.mean[group]) / p.sd[group]
        if name == "mean":
            slope[place], block[place] = mass @ off / p.sd[group], mass.sum() / p.sd[group] ** 2
            along[place, group] = 1.0 / p.sd[group] ** 2
        else:
            slope[place], block[place] = mass @ (off**2 - 1.0), 2.0 * mass.sum()
            along[place, group] = 2.0 * off / p.sd[group]
    return slope, block, along.reshape(count, len(p.mean) * nodes)
