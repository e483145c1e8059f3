"""Items that depend on several abilities, their weak priors, and which abilities can be integrated one by one.

Rotations of slopes are varimax (abilities stay uncorrelated) and oblimin (they may correlate; here quartimin). Both
have the least loss (Bernaards and Jennrich 2005) from several starts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from mensura.core.arrays import Floats, Mask
from mensura.core.errors import check_choice

SLOPE_SD, INTERCEPT_SD = 2.0, 3.0
"""Standard deviations of the weak normal priors of slopes and intercepts, about 0."""
LIKE_SD, MEAN_SD = 0.8, 1.0
"""Where own abilities trade off with the shared one: standard deviation of an ability's slopes about their mean, and of
that mean about 0.

Without the first, two own abilities and 24 items fix some combinations of slopes so weakly that the posterior is not
normal. A prior of every slope about 0 in place of the second counts once per item and makes general slopes too low.
"""
_LEAST_EIGENVALUE = 1e-3
_MOST_OF_A_GAP = 0.7
_FAR_APART = 100.0
"""The gap to a step that an item lacks: it changes no chance."""
ROTATIONS = ("varimax", "oblimin", "none")
_STARTS = 8


class Part(NamedTuple):
    """Items that depend on the shared abilities and on one more, ``own``; None: on no more."""

    items: NDArray[np.intp]
    own: int | None


class Structure(NamedTuple):
    """Abilities that several parts share, and the parts; given the shared ones, own abilities are independent."""

    shared: list[int]
    parts: list[Part]


@dataclass(frozen=True)
class DimensionItems:
    """``slopes`` (items × abilities), ``intercepts``, ``correlation`` of abilities; ``free``: which slopes exist.

    Items with several categories have intercepts d₁, d₂, … (items × steps), and ``sizes`` categories each. ``fine``:
    whether abilities are integrated with as many nodes as results need; the way to them needs fewer.
    """

    slopes: Floats
    intercepts: Floats
    correlation: Floats
    free: Mask
    correlated: bool
    model: str = "2pl"
    sizes: NDArray[np.int64] | None = None
    weak_priors: bool = True
    fine: bool = True

    @property
    def steps(self) -> Mask:
        """Which intercepts (items × steps) exist."""
        if self.sizes is None:
            return np.ones((len(self.slopes), 1), dtype=bool)
        return np.asarray(np.arange(1, self.sizes.max()) < self.sizes[:, None])

    @property
    def rows(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The item and the step of every intercept, item by item: answers have one column for each."""
        item, step = np.nonzero(self.steps)
        return item, step

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of abilities whose correlation is estimated."""
        return list(combinations(range(self.slopes.shape[1]), 2)) if self.correlated else []

    @property
    def estimated(self) -> Mask:
        """Which of slopes and intercepts (items × abilities + steps) are estimated."""
        return np.column_stack([self.free, self.steps])

    @property
    def values(self) -> Floats:
        """Slopes and intercepts (items × abilities + steps)."""
        return np.column_stack([self.slopes, self.intercepts])

    @property
    def row_values(self) -> Floats:
        """Slopes and the intercept of every step of every item (rows × abilities + 1)."""
        item, step = self.rows
        return np.column_stack([self.slopes[item], self.intercepts.reshape(len(self.slopes), -1)[item, step]])

    @property
    def explored(self) -> bool:
        """Whether every item depends on every one of several abilities, so that any turn of them fits as well."""
        return self.slopes.shape[1] > 1 and bool(self.free.all())

    @property
    def structure(self) -> Structure:
        """The first ability shared and the others own, where each item has at most one of these; else all shared."""
        own = range(1, self.slopes.shape[1])
        others = np.sum(self.free[:, 1:], axis=1)
        if self.correlated or self.explored or not own or int(np.max(others)) > 1:
            return Structure([0, *own], [Part(np.arange(len(self.free)), None)])
        parts = [Part(np.flatnonzero(self.free[:, one]), one) for one in own]
        unshared = np.flatnonzero(others == 0)
        return Structure([0], [*parts, Part(unshared, None)] if len(unshared) else parts)

    @property
    def estimates(self) -> Floats:
        """Estimated slopes and intercepts, item by item, then correlations."""
        return np.append(self.values[self.estimated], [self.correlation[pair] for pair in self.pairs])

    def flat(self) -> Floats:
        """Return slopes and intercepts item by item, then Fisher's z of the correlations."""
        return np.append(self.values.ravel(), [np.arctanh(self.correlation[pair]) for pair in self.pairs])

    def at(self, flat: Floats) -> DimensionItems | None:
        """Return the items at other values of :meth:`flat`; None where no abilities can correlate like that."""
        cut = self.estimated.size
        items = flat[:cut].reshape(self.estimated.shape) * self.estimated
        correlation = np.eye(self.slopes.shape[1])
        for (one, other), value in zip(self.pairs, flat[cut:], strict=True):
            correlation[one, other] = correlation[other, one] = np.tanh(value)
        there = replace(self, correlation=correlation).moved(items - self.values)
        possible = float(np.linalg.eigvalsh(correlation)[0]) > _LEAST_EIGENVALUE and bool(np.all(there.gaps > 0.0))
        return there if possible else None

    def moved(self, step: Floats) -> DimensionItems:
        """Return the items after a step of slopes and intercepts."""
        cut = self.slopes.shape[1]
        moved = self.intercepts + step[:, cut:].reshape(self.intercepts.shape)
        return replace(self, slopes=self.slopes + step[:, :cut], intercepts=moved)

    @property
    def gaps(self) -> Floats:
        """Distances d₁ − d₂, d₂ − d₃, … (items × steps − 1) of graded items, which must be positive."""
        if self.model != "graded":
            return np.zeros((len(self.slopes), 0))
        distances = -np.diff(self.intercepts.reshape(len(self.slopes), -1), axis=1)
        return np.where(self.steps[:, 1:], distances, _FAR_APART)

    def within_order(self, step: Floats) -> Floats:
        """Return a step of slopes and intercepts, shorter for an item where it would take most of a gap."""
        closer = np.maximum(self.gaps - self.moved(step).gaps, 1e-12)
        shares = np.min(_MOST_OF_A_GAP * self.gaps / closer, axis=1, initial=1.0)
        return np.asarray(step * shares[:, None], dtype=np.float64)

    def rescaled(self, moments: Floats) -> DimensionItems:
        """Return the same model with abilities of variance 1, and the correlations that expected abilities have."""
        if not self.correlated:
            return self
        sd = np.sqrt(np.diag(moments))
        return replace(self, slopes=self.slopes * sd, correlation=moments / np.outer(sd, sd))


def stiffness(p: DimensionItems) -> Floats:
    """Return the curvature of the priors in each slope and intercept (items × abilities + steps)."""
    curvature = np.full(p.values.shape[1], INTERCEPT_SD**-2.0 if p.weak_priors else 0.0)
    curvature[: p.slopes.shape[1]] = _slope_prior(p)[0]
    return np.broadcast_to(curvature, p.values.shape)


def prior_curvature(p: DimensionItems) -> Floats:
    """Return the curvature of the priors in all estimated slopes and intercepts, item by item."""
    used = p.estimated
    column = np.nonzero(used)[1]
    shared = np.append(_slope_prior(p)[1], np.zeros(p.steps.shape[1]))
    curvature: Floats = np.diag(stiffness(p)[used]) - (column[:, None] == column) * shared[column]
    return curvature


def prior_gradient(p: DimensionItems) -> Floats:
    """Return the gradient of the log density of the priors (items × abilities + steps)."""
    towards_mean = np.append(np.sum(p.slopes, axis=0) * _slope_prior(p)[1], np.zeros(p.steps.shape[1]))
    gradient: Floats = (towards_mean - stiffness(p) * p.values) * p.estimated
    return gradient


def _slope_prior(p: DimensionItems) -> tuple[float, Floats]:
    """Return the curvature k in each slope, and the part s of it that all slopes of an ability share (abilities).

    The prior of the n slopes of an ability has the precision k I − s 11ᵀ. Where own abilities trade off with the
    shared one, its covariance is LIKE_SD² I + MEAN_SD² 11ᵀ: slopes are alike, and their mean is free within MEAN_SD.
    """
    if not p.weak_priors:
        return 0.0, np.zeros(p.slopes.shape[1])
    if len(p.structure.shared) == p.slopes.shape[1]:
        return SLOPE_SD**-2.0, np.zeros(p.slopes.shape[1])
    each = LIKE_SD**-2.0
    return each, each**2 / (MEAN_SD**-2.0 + each * np.sum(p.free, axis=0))


def rotate(slopes: Floats, rotation: str = "varimax", seed: int = 0) -> tuple[Floats, Floats]:
    """Return the rotated slopes and the correlations of the abilities they belong to.

    Abilities are ordered by the variance that they explain, and each has mostly positive slopes.
    """
    check_choice("rotation", rotation, ROTATIONS)
    dimensions = slopes.shape[1]
    if rotation == "none" or dimensions == 1:
        return _ordered(slopes, np.eye(dimensions))

    def turn(flat: Floats) -> Floats:
        """Return a turn: orthogonal, or with columns of length 1."""
        square = flat.reshape(dimensions, dimensions)
        return np.asarray(np.linalg.qr(square)[0] if rotation == "varimax" else square / np.linalg.norm(square, axis=0))

    def loss(flat: Floats) -> float:
        """Return the products of squared slopes of different abilities, of varimax about their means."""
        squares = (slopes @ np.linalg.inv(turn(flat)).T) ** 2
        others = squares - (np.mean(squares, axis=0) if rotation == "varimax" else 0.0)
        return float(np.sum(squares * (others @ (1.0 - np.eye(dimensions)))))

    rng = np.random.default_rng(seed)
    starts = [np.eye(dimensions), *rng.normal(size=(_STARTS, dimensions, dimensions))]
    best = min((scipy.optimize.minimize(loss, start.ravel()) for start in starts), key=lambda one: float(one.fun))
    chosen = turn(best.x)
    return _ordered(slopes @ np.linalg.inv(chosen).T, chosen.T @ chosen)


def _ordered(slopes: Floats, correlation: Floats) -> tuple[Floats, Floats]:
    order = np.argsort(-np.sum(slopes**2, axis=0), kind="stable")
    signs = np.where(slopes[:, order].sum(axis=0) < 0.0, -1.0, 1.0)
    return slopes[:, order] * signs, correlation[np.ix_(order, order)] * np.outer(signs, signs)
