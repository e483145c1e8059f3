"""Weights of an ensemble from the errors its members made elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError

_TIE = 1e3
"""How firmly the weights are held to a sum of 1, against errors of about 1 logit."""


def learn_weights(errors: Floats, groups: Sequence[object]) -> tuple[float, ...]:
    """Return the weights of 0 or more, adding up to 1, with the least mean squared error on cells seen elsewhere.

    ``errors``: members × cells, prediction minus truth, in logits. ``groups``: the focal group of each cell; every
    group counts alike. Members' errors go together, since they start from the same rates: inverse squared errors,
    which overlook that, give a poor member too much. With covariance S of the errors this is the least of w'Sw (Bates
    and Granger, Operational Research Quarterly 20, 1969), held to 0 or more.
    """
    from scipy.optimize import nnls

    values = np.atleast_2d(np.asarray(errors, dtype=np.float64))
    if values.shape[1] != len(groups) or not values.size:
        raise MensuraError(f"errors: expected members × {len(groups)} cells as groups, got {values.shape}")
    if not np.isfinite(values).all():
        raise MensuraError("errors: every member needs a number for every cell; leave cells without one out")
    names, place = np.unique(np.array([repr(group) for group in groups]), return_inverse=True)
    share = 1 / (np.bincount(place)[place] * len(names))
    rows = np.vstack([(values * np.sqrt(share)).T, np.full((1, len(values)), _TIE)])
    found, _ = nnls(rows, np.append(np.zeros(values.shape[1]), _TIE))
    return tuple((found / found.sum()).tolist())
