"""Positions: where subjects and benchmarks stand, for the estimate or for many draws of it, and on which scale.

Both methods end in the same form, η = intercept_b + slope_b · C_m + residual loadings_b · profile_m. The unit and zero
of C are free: C → a + s·C leaves every η as it is when slopes and intercepts follow. A :class:`Scale` says how
they are fixed, and is applied to every draw by itself, because the unit is estimated too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mensura.core.arrays import Floats, Ints
from mensura.stitching.layout import paired_products
from mensura.stitching.posterior import with_constant

SMALLEST_SPREAD = 1e-12
"""Subjects that all stand in one place keep a finite unit."""
SLIGHT = 1e-9
"""Share of the variance added to every axis, so that a dimension that has shrunk away can still be turned."""


@dataclass(frozen=True, eq=False, repr=False)
class Positions:
    """``theta`` (draws, subjects, K), capability first; ``phi`` (draws, benchmarks, 1 + K), intercept, slope, rest."""

    theta: Floats
    phi: Floats

    @property
    def capability(self) -> Floats:
        """C (draws, subjects)."""
        return self.theta[:, :, 0]

    @property
    def slope(self) -> Floats:
        """α (draws, benchmarks)."""
        return self.phi[:, :, 1]

    @property
    def difficulty(self) -> Floats:
        """D = −intercept/α (draws, benchmarks): the capability that reaches half the way from chance to ceiling."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(-self.phi[:, :, 0] / self.phi[:, :, 1])

    def eta(self, rows: Ints, cols: Ints) -> Floats:
        """η (draws, pairs) of pairs of subject and benchmark."""
        if len(self.theta) == 1:
            return paired_products(with_constant(self.theta[0]), self.phi[0], rows, cols)[None]
        phi = self.phi[:, cols]
        return np.asarray(phi[:, :, 0] + np.einsum("rpk,rpk->rp", phi[:, :, 1:], self.theta[:, rows]))

    def stretched(self, about: Positions, factor: float) -> Positions:
        """Return the draws with their distance from an estimate (one draw) multiplied."""
        theta, phi = (
            centre + factor * (draws - centre) for draws, centre in ((self.theta, about.theta), (self.phi, about.phi))
        )
        return Positions(theta, phi)

    def moved(self, shift: Floats, unit: Floats) -> Positions:
        """Return the same positions with C replaced by shift + unit · C (one pair of numbers per draw)."""
        theta, phi = self.theta.copy(), self.phi.copy()
        theta[:, :, 0] = shift[:, None] + unit[:, None] * theta[:, :, 0]
        phi[:, :, 1] /= unit[:, None]
        phi[:, :, 0] -= shift[:, None] * phi[:, :, 1]
        return Positions(theta, phi)


@dataclass(frozen=True)
class Scale:
    """How zero and unit of C are fixed: by one benchmark, by two subjects, or by the mean and spread of the subjects.

    ``benchmark`` gets ``difficulty`` and ``slope``; or the two ``subjects`` get ``values``; with neither, the subjects
    have this ``mean`` and standard deviation (``spread``); ``named`` says that these give two known models 0 and 1.
    """

    benchmark: int | None = None
    difficulty: float = 0.0
    slope: float = 1.0
    subjects: tuple[int, int] | None = None
    values: tuple[float, float] = (0.0, 1.0)
    mean: float = 0.0
    spread: float = 1.0
    named: bool = False

    def apply(self, positions: Positions, basis: int | None = None) -> Positions:
        """Put every draw on this scale; only the first ``basis`` subjects (default all) define it."""
        C = positions.capability[:, :basis]
        if self.subjects is not None:
            first, second = C[:, self.subjects[0]], C[:, self.subjects[1]]
            unit = (self.values[1] - self.values[0]) / (second - first)
            return positions.moved(self.values[0] - unit * first, unit)
        if self.benchmark is not None:
            zero = positions.phi[:, self.benchmark, 0] / self.slope
            return positions.moved(zero + self.difficulty, positions.slope[:, self.benchmark] / self.slope)
        unit = self.spread / np.maximum(C.std(axis=1), SMALLEST_SPREAD)
        return positions.moved(self.mean - unit * C.mean(axis=1), unit)


def principal(positions: Positions, basis: int | None = None, shares: Floats | None = None) -> Positions:
    """Turn the latent axes so that capability explains most, and the residual axes the rest, uncorrelated with it.

    The axes are the principal components of the completed matrix η (subjects × benchmarks, centred by benchmark): the
    model does not change, only its coordinates. Capability points where the slopes are positive on average. Only the
    first ``basis`` subjects (default all) define the axes; ``shares`` (benchmarks,) say how much each benchmark counts.
    """
    theta, phi = positions.theta, positions.phi
    if theta.shape[2] == 1:
        sign = np.where(phi[:, :, 1].mean(axis=1) < 0, -1.0, 1.0)
        return positions.moved(np.zeros(len(sign)), sign)
    mean = theta[:, :basis].mean(axis=1, keepdims=True)
    centred, loadings = theta - mean, phi[:, :, 1:]
    known = centred[:, :basis]
    spread = known.transpose(0, 2, 1) @ known / known.shape[1]
    root = np.linalg.cholesky(
        spread + SLIGHT * np.trace(spread, axis1=1, axis2=2)[:, None, None] * np.eye(theta.shape[2])
    )
    weighted = loadings @ root
    counted = weighted if shares is None else weighted * shares[:, None]
    axes = np.linalg.eigh(weighted.transpose(0, 2, 1) @ counted)[1][:, :, ::-1]
    new_loadings = weighted @ axes
    sign = np.where(new_loadings.mean(axis=1) < 0, -1.0, 1.0)[:, None]
    new_theta = centred @ np.linalg.solve(root.transpose(0, 2, 1), axes)
    intercept = phi[:, :, :1] + loadings @ mean.transpose(0, 2, 1)
    return Positions(new_theta * sign, np.concatenate((intercept, new_loadings * sign), axis=2))


def joined(parts: list[Positions]) -> Positions:
    """Stack the draws of several positions."""
    return Positions(np.concatenate([p.theta for p in parts]), np.concatenate([p.phi for p in parts]))
