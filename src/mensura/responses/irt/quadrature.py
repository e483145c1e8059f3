"""Posteriors of abilities on a grid of nodes, and between its nodes where a posterior is narrower than their spacing.

A sum over equally spaced nodes is exact for a posterior whose standard deviation is not below three quarters of the
spacing (its error is 2 exp(−2π² sd²/h²), 3·10⁻⁵ there). Long tests give narrower ones. Their log likelihood is still
a smooth function of ability, whose values at ten nodes around the peak fix it between them (Lagrange's polynomial);
nodes of the subject's own are laid under the peak, and their weights are given back to the ten nodes by the same
polynomial. So every pass is the same two products with the responses, however long the test, and the expected counts
stay those of the grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mensura.core.arrays import Floats
from mensura.responses.irt.namespace import Array, Namespace

SPACING = 0.2
"""Distance of nodes, in standard deviations of the first group."""
REACH = 5.0
"""Standard deviations of every group that the grid covers to both sides."""
MOST_NODES = 401
NARROW = 0.75
"""A posterior narrower than this many spacings is taken between the nodes."""
STENCIL = 10
"""Nodes that fix a narrow posterior's log likelihood: within ±4.5 spacings, 6 standard deviations of the widest
such."""
_OWN_NODES = np.linspace(-5.0, 5.0, 11)
"""Where a narrow posterior's own nodes lie, in standard deviations around its peak."""
_HALF = (STENCIL - 1) / 2.0
"""Half the width of the stencil in spacings; polynomials run in units of it, from −1 to 1."""
_LAGRANGE = np.linalg.inv(np.vander(np.linspace(-1.0, 1.0, STENCIL), increasing=True))
"""Coefficients of the polynomial through the stencil from the values at its nodes."""
_NEWTON_STEPS = 4
_LONGEST_STEP = 1.0 / _HALF
_FLATTEST = 1.0
"""Least curvature of a log posterior on the stencil: one that is flatter is not narrow."""


@dataclass(frozen=True)
class Grid:
    """Equally spaced nodes for abilities."""

    nodes: Floats

    @property
    def spacing(self) -> float:
        """Distance of two nodes."""
        return float(self.nodes[1] - self.nodes[0])

    @classmethod
    def over(cls, mean: Floats, sd: Floats) -> Grid:
        """Return the grid that covers groups; its ends lie on whole numbers, so that small moves leave it as it is."""
        low = float(np.floor(np.min(mean - REACH * sd)))
        high = float(np.ceil(np.max(mean + REACH * sd)))
        spacing = max(SPACING * min(1.0, float(np.min(sd))), (high - low) / (MOST_NODES - 1))
        return cls(np.linspace(low, high, round((high - low) / spacing) + 1))

    def log_prior(self, mean: float, sd: float, shape: Floats | None = None) -> Floats:
        """Return the log weights of the nodes under one group's distribution; they sum to one.

        It is normal, or exp of a polynomial of standardised abilities with the coefficients ``shape`` (of z, z², …).
        """
        z = (self.nodes - mean) / sd
        off = -0.5 * z**2 if shape is None else log_shape(shape, z)
        total: Floats = off - np.log(np.sum(np.exp(off)))
        return total


def log_shape(shape: Floats, z: Floats) -> Floats:
    """Return the log density, up to a constant; beyond the reach of nodes it falls like a normal one."""
    within = np.clip(z, -REACH, REACH)
    value: Floats = np.polynomial.polynomial.polyval(within, np.concatenate([[0.0], shape]))
    return value - 0.5 * (z**2 - within**2)


class Posterior(NamedTuple):
    """Of every subject: weights of the nodes, log marginal likelihood, mean and variance."""

    weights: Array
    evidence: Array
    mean: Array
    variance: Array


def posteriors(space: Namespace, joint: Array, grid: Grid) -> Posterior:
    """Return the posteriors of log likelihood plus log prior at the nodes (subjects × nodes)."""
    xp = space.xp
    nodes = space.real(grid.nodes)
    top = xp.amax(joint, axis=1)
    weights = xp.exp(joint - top[:, None])
    total = xp.sum(weights, axis=1)
    weights = weights / total[:, None]
    mean = xp.matmul(weights, nodes)
    centred = nodes[None, :] - mean[:, None]
    variance = xp.sum(weights * centred * centred, axis=1)
    evidence = space.double(top) + space.double(xp.log(total))
    narrow = variance < (NARROW * grid.spacing) ** 2
    if not bool(xp.any(narrow)):
        return Posterior(weights, evidence, mean, variance)
    rows = xp.where(narrow)[0]
    mean, variance = space.double(mean), space.double(variance)
    own = _between_nodes(space, space.double(joint[rows]), grid)
    weights[rows] = xp.asarray(own.weights, dtype=weights.dtype)
    evidence[rows], mean[rows], variance[rows] = own.evidence, own.mean, own.variance
    return Posterior(weights, evidence, mean, variance)


def _between_nodes(space: Namespace, joint: Array, grid: Grid) -> Posterior:
    """Return posteriors from nodes of their own, laid on the polynomial through the ten nodes around each peak."""
    xp = space.xp
    lagrange = space.put(_LAGRANGE)
    start = xp.clip(xp.argmax(joint, axis=1) - STENCIL // 2, 0, len(grid.nodes) - STENCIL)
    places = start[:, None] + space.put(np.arange(STENCIL))[None, :]
    subjects = space.put(np.arange(joint.shape[0]))[:, None]
    around = joint[subjects, places]
    top = xp.amax(around, axis=1)
    powers = xp.matmul(around - top[:, None], lagrange.T)
    peak, width = _peak(xp, powers, around)
    at = xp.clip(peak[:, None] + width[:, None] * space.put(_OWN_NODES)[None, :], -1.0, 1.0)
    heights = _polynomial(xp, powers, at)
    most = xp.amax(heights, axis=1)
    mass = xp.exp(heights - most[:, None])
    total = xp.sum(mass, axis=1)
    mass = mass / total[:, None]
    mean = xp.sum(mass * at, axis=1)
    variance = xp.sum(mass * (at - mean[:, None]) ** 2, axis=1)
    weights = xp.zeros_like(joint)
    weights[subjects, places] = xp.matmul(_moments(xp, mass, at), lagrange)
    unit = _HALF * grid.spacing
    share = (
        width * float(_OWN_NODES[1] - _OWN_NODES[0]) * _HALF
    )  # of one node's spacing, which the log prior stands for
    evidence = top + most + xp.log(total) + xp.log(share)
    centre = space.put(grid.nodes)[start] + unit
    return Posterior(weights, evidence, centre + mean * unit, variance * unit**2)


def _peak(xp: Array, powers: Array, around: Array) -> tuple[Array, Array]:
    """Return where each polynomial is highest and how wide it is there, by Newton's steps from the highest node."""
    at = (xp.asarray(xp.argmax(around, axis=1), dtype=around.dtype) - _HALF) / _HALF
    for _ in range(_NEWTON_STEPS):
        slope, bend = _slopes(xp, powers, at)
        at = xp.clip(at - xp.clip(slope / bend, -_LONGEST_STEP, _LONGEST_STEP), -1.0, 1.0)
    return at, xp.sqrt(-1.0 / bend)


def _slopes(xp: Array, powers: Array, at: Array) -> tuple[Array, Array]:
    """Return the first and second derivative of each polynomial at its own place (Horner's scheme)."""
    slope, bend = xp.zeros_like(at), xp.zeros_like(at)
    for order in reversed(range(1, STENCIL)):
        bend = bend * at + slope
        slope = slope * at + order * powers[:, order]
    return slope, xp.clip(bend, None, -_FLATTEST)


def _moments(xp: Array, mass: Array, at: Array) -> Array:
    """Return Σ mass · placeᵏ of every subject for the powers k below the stencil's size."""
    found = []
    for _ in range(STENCIL):
        found.append(xp.sum(mass, axis=1))
        mass = mass * at
    return xp.stack(found, axis=1)


def _polynomial(xp: Array, powers: Array, at: Array) -> Array:
    """Return each polynomial at its own places (subjects × places)."""
    value = xp.zeros_like(at)
    for order in reversed(range(STENCIL)):
        value = value * at + powers[:, order][:, None]
    return value
