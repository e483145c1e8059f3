"""Likelihoods of several abilities at nodes of every subject, for a regression that holds the items.

The items have errors, and so has the unit of the abilities that they fix. The scores of a regression therefore get the
part C A⁻¹ s added (Murphy and Topel 1985): s are the scores of the items, A their information, and C the change of the
regression's gradient with the items. C is a covariance over posteriors, by Louis' identity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mensura.core.arrays import Floats
from mensura.responses.irt.dimension_errors import node_scores
from mensura.responses.irt.dimension_items import DimensionItems
from mensura.responses.irt.dimension_nodes import Places, chunks, log_density, normalised, product_rule
from mensura.responses.irt.latent import LatentRegression, value_scores
from mensura.responses.irt.namespace import Namespace

_CHUNK_VALUES = 1_000_000


@dataclass(frozen=True)
class PlacedLikelihoods:
    """Answers, items, and log likelihoods with the weights of nodes (subjects × nodes) under ``places``.

    No item may have an own ability (bifactor): nodes are those of all abilities together.
    """

    right: Any
    trials: Any
    items: DimensionItems
    places: Places
    values: Floats

    @classmethod
    def of(cls, right: Any, trials: Any, items: DimensionItems, places: Places) -> PlacedLikelihoods:  # noqa: ANN401
        """Return those of answers (subjects × steps of items) with nodes under the abilities ``places``."""
        parts = [
            chunk.joint - log_density(chunk.means, items.correlation) for chunk in chunks(right, trials, items, places)
        ]
        return cls(right, trials, items, places, np.concatenate(parts))

    def around(self, mean: Floats, covariance: Floats) -> PlacedLikelihoods:
        """Return the same with nodes under other posteriors."""
        return PlacedLikelihoods.of(self.right, self.trials, self.items, Places(mean, covariance))

    def posterior(self, space: Namespace, middle: Floats, root: Floats) -> tuple[Floats, Floats]:
        """Return mean and covariance of every subject's abilities under its own normal prior."""
        del space
        standard, spread = product_rule(self.items)[0], root @ root.T
        mean, covariance = np.empty_like(self.places.mean), np.empty_like(self.places.covariance)
        size = max(1, _CHUNK_VALUES // standard.size)
        for start in range(0, len(mean), size):
            rows = slice(start, start + size)
            own = np.linalg.cholesky(self.places.covariance[rows])
            theta = self.places.mean[rows, None] + np.einsum("qe,cde->cqd", standard, own)
            prior = log_density(theta - middle[rows, None], spread)
            weights = normalised(self.values[rows] + prior)[0]
            mean[rows] = np.einsum("cq,cqd->cd", weights, theta)
            theta -= mean[rows, None]
            covariance[rows] = np.swapaxes(theta * weights[:, :, None], 1, 2) @ theta
        return mean, covariance

    def item_changes(self, x: Floats, weights: Floats, found: LatentRegression) -> Floats:
        """Return how the gradient of a regression changes with slopes and intercepts (values × estimates)."""
        changes = np.zeros((len(found.values), int(self.items.estimated.sum())))
        for chunk in chunks(self.right, self.trials, self.items, self.places):
            off = chunk.means - (x[chunk.rows] @ found.coefficients)[:, None]
            posterior = normalised(self.values[chunk.rows] + log_density(off, found.covariance))[0]
            flat = off.reshape(-1, off.shape[2])
            wide = np.repeat(x[chunk.rows], off.shape[1], axis=0)
            of_values = value_scores(wide, flat, flat[:, :, None] * flat[:, None, :], found.root)
            of_values = of_values.reshape(*off.shape[:2], -1)
            of_values -= np.einsum("cq,cqv->cv", posterior, of_values)[:, None]
            of_values *= (posterior * weights[chunk.rows, None])[:, :, None]
            changes += np.tensordot(of_values, node_scores(self.items, chunk), axes=([0, 1], [0, 1]))
        return changes
