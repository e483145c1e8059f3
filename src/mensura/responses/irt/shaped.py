"""Abilities that are not normal: their density is estimated with the items.

Its logarithm is a polynomial of standardised abilities (Holland and Thayer 1987; Xu and von Davier 2008). Given the
expected number of subjects at the nodes, the best polynomial has the same moments as they have. Items and polynomials
are fitted in turn until the density stays. Mean and standard deviation stay parameters of the groups.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mensura.core.arrays import Floats
from mensura.responses.irt.fitting import Effort, Fitted, climb, fit_held, over
from mensura.responses.irt.model import Parameters, Priors
from mensura.responses.irt.namespace import Namespace
from mensura.responses.irt.passes import REACH, log_shape
from mensura.responses.irt.shards import Held

DEGREE = 4
"""Of the polynomial: mean, spread, skewness and tails; a fourth power also makes two humps."""
_NODES = np.linspace(-REACH, REACH, 101)
_RIDGE = 1e-3
_SAME = 1e-3
"""Change of a density, in its largest value, below which it stays."""
_ROUNDS = 40


def fit_shaped(
    space: Namespace, held: Held, begin: Parameters, priors: Priors | None = None, effort: Effort | None = None
) -> Fitted:
    """Fit items and the shape of every group's abilities to responses in memory."""
    priors, effort = priors or Priors(), effort or Effort()
    fitted = climb(over(space, held), begin, priors, replace(effort, tolerance=0.1))
    before = np.zeros((held.groups, len(_NODES)))
    for _ in range(_ROUNDS):
        shapes = np.array([_shape_of(fitted, group) for group in range(held.groups)])
        densities = np.array([_density(shape) for shape in shapes])
        change = float(np.max(np.abs(densities - before)))
        before = densities
        begin = replace(fitted.parameters, shapes=shapes)
        if change < _SAME:
            break
        fitted = climb(over(space, held), begin, priors, replace(effort, tolerance=0.1))
    return fit_held(space, held, begin, priors, effort)


def _shape_of(fitted: Fitted, group: int) -> Floats:
    """Return the polynomial with the moments of a group's expected abilities, standardised."""
    mass = np.maximum(fitted.sums.mass[group], 0.0)
    share = mass / mass.sum()
    mean = share @ fitted.grid.nodes
    z = (fitted.grid.nodes - mean) / np.sqrt(share @ (fitted.grid.nodes - mean) ** 2)
    return fit_shape(np.array([share @ z**power for power in range(1, DEGREE + 1)]), float(mass.sum()))


def fit_shape(moments: Floats, subjects: float) -> Floats:
    """Return the coefficients of z, z², … with these moments, by Newton's steps from the normal density.

    A prior as strong as one thousandth of a subject per moment keeps coefficients finite where tails are empty.
    """
    powers = np.vander(_NODES, len(moments) + 1, increasing=True)[:, 1:]
    size = np.sqrt(np.mean(powers**2 * _density(_normal(len(moments)))[:, None], axis=0)) + 1.0
    shape = _normal(len(moments))
    middle, ridge = shape.copy(), _RIDGE * size**2

    def target(one: Floats) -> float:
        return _height(one, moments) - 0.5 * float(ridge @ (one - middle) ** 2) / max(subjects, 1.0)

    for _ in range(100):
        share = _density(shape)
        expected = share @ powers
        curvature = (powers * share[:, None]).T @ powers - np.outer(expected, expected)
        curvature[np.diag_indices_from(curvature)] += ridge / max(subjects, 1.0)
        step = np.linalg.solve(curvature, moments - expected - ridge * (shape - middle) / max(subjects, 1.0))
        length = 1.0
        while target(shape + length * step) < target(shape) and length > 1e-6:
            length /= 2.0
        shape = shape + length * step
        if float(np.max(np.abs(length * step * size))) < 1e-7:
            break
    return shape


def _normal(degree: int) -> Floats:
    shape = np.zeros(degree)
    shape[1] = -0.5
    return shape


def _height(shape: Floats, moments: Floats) -> float:
    """Return the mean log density of abilities with these moments."""
    log_density = log_shape(shape, _NODES)
    most = float(log_density.max())
    return float(shape @ moments) - most - float(np.log(np.sum(np.exp(log_density - most))))


def _density(shape: Floats) -> Floats:
    """Return the share of every node."""
    value = log_shape(shape, _NODES)
    value = np.exp(value - value.max())
    share: Floats = value / value.sum()
    return share


def skewness(p: Parameters, group: int) -> float:
    """Return the skewness of a group's abilities."""
    shape = p.shape_of(group)
    if shape is None:
        return 0.0
    share = _density(shape)
    mean = share @ _NODES
    off = _NODES - mean
    return float(share @ off**3 / (share @ off**2) ** 1.5)
