"""Several abilities at once: P = σ(a₁θ₁ + … + a_Dθ_D + d), by marginal maximum likelihood.

Items with several categories have one such curve per step (:mod:`.dimension_curves`). Abilities are normal with
variance 1; their correlations are estimated or 0. As in :mod:`.fitting`, each pass gives the exact gradient (Fisher's
identity), the step is the EM algorithm's, and Anderson's method lengthens it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.responses.irt.acceleration import Anderson
from mensura.responses.irt.dimension_errors import covariance_of
from mensura.responses.irt.dimension_items import DimensionItems, prior_gradient, stiffness
from mensura.responses.irt.dimension_nodes import DimensionSums, Places, pass_over

MOST = 4
"""Abilities that are integrated together; nodes grow by a power of them."""
_PASSES, _SAME, _NEAR = 300, 5e-3, 3.0
_LONGEST, _NOISE = 0.5, 1e-7


class DimensionFitted(NamedTuple):
    """A fit; ``covariance``: of estimated slopes and intercepts, item by item, then of correlations."""

    items: DimensionItems
    places: Places
    evidence: float
    covariance: Floats | None
    passes: int
    converged: bool


def fit_dimensions_held(
    right: Any,  # noqa: ANN401
    trials: Any,  # noqa: ANN401
    begin: DimensionItems,
    most: int = _PASSES,
) -> DimensionFitted:
    """Fit answers (subjects × items, or × steps of items); ``trials``: how often asked, None where all were once.

    ``most``: passes after which it stops; one more finds the likelihood.
    """
    count, dimensions = len(right), begin.slopes.shape[1]
    if len(begin.structure.shared) > MOST:
        raise MensuraError(
            f"dimensions: got {dimensions}; expected at most {MOST}. Merge some, or use --bifactor with one per item"
        )
    places = Places(np.zeros((count, dimensions)), np.tile(np.eye(dimensions), (count, 1, 1)))
    here, memory, passes, left, best = begin, Anderson(), 0, np.inf, -np.inf
    while passes < most and left > _SAME:
        passes += 1
        sums, places = pass_over(right, trials, here, places)
        if sums.evidence < best - _NOISE * abs(best):
            memory.forget()
        best = max(best, sums.evidence)
        step = here.within_order(np.clip(_step(here, sums), -_LONGEST, _LONGEST))
        plain = here.moved(step).rescaled(sums.moments / count)
        errors = np.append(_plain_errors(here, sums), np.full(len(here.pairs), count**-0.5))
        point = here.flat()
        step = plain.flat() - point
        left = float(np.max(np.abs(step) / errors))
        longer = memory.improved(point, step, errors) if left < _NEAR else step
        here = here.at(point + longer) or plain
    sums, places = pass_over(right, trials, here, places)
    covariance = covariance_of(right, trials, here, places)
    return DimensionFitted(here, places, sums.evidence, covariance, passes, left <= _SAME)


def _gradient(p: DimensionItems, sums: DimensionSums) -> Floats:
    """Return the gradient of the posterior (items × abilities + steps)."""
    return np.asarray(sums.gradient * p.estimated + prior_gradient(p), dtype=np.float64)


def _step(p: DimensionItems, sums: DimensionSums) -> Floats:
    """Return the EM algorithm's step of slopes and intercepts; those that are not there stay 0."""
    used = p.estimated
    slope = _gradient(p, sums)
    known = sums.information * (used[:, :, None] & used[:, None, :])
    known[:, np.arange(used.shape[1]), np.arange(used.shape[1])] += stiffness(p) + ~used
    return np.asarray(np.linalg.solve(known, slope[:, :, None])[:, :, 0], dtype=np.float64)


def _plain_errors(p: DimensionItems, sums: DimensionSums) -> Floats:
    diagonal = np.diagonal(sums.information, axis1=1, axis2=2) + stiffness(p)
    errors: Floats = 1.0 / np.sqrt(diagonal).ravel()
    return errors
