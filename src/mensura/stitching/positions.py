"""Positions: where subjects and benchmarks stand, for the estimate or for many draws of it, and on which scale.

Both methods end in the same form, η = intercept_b + slope_b · C_m + residual loadings_b · profile_m. The unit and zero
of C are free: C → a + s·C leaves every η as it is when slopes and intercepts follow. A :class:`Scale` says how
they are fixed, and is applied to every draw by itself, because the unit is estimated too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, Ints
from mensura.core.errors import listed_names
from mensura.core.frames import sort_highest
from mensura.core.results import Result
from mensura.scale.ranking import WIDEST_SPREAD, rank_subjects
from mensura.stitching.checks import warn_unconverged
from mensura.stitching.layout import paired_products
from mensura.stitching.sweeps import with_constant

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
        sides = ((self.theta, about.theta), (self.phi, about.phi))
        return Positions(*(centre + factor * (draws - centre) for draws, centre in sides))

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

    ``benchmark`` gets difficulty 0 and slope 1; or the two ``subjects`` get ``values``; with neither, the subjects
    have this ``mean`` and standard deviation (``spread``); ``named`` says that these give two known models 0 and 1.
    """

    benchmark: int | None = None
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
            return positions.moved(positions.phi[:, self.benchmark, 0], positions.slope[:, self.benchmark])
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
    observed = centred[:, :basis]
    spread = observed.transpose(0, 2, 1) @ observed / observed.shape[1]
    total = np.trace(spread, axis1=1, axis2=2)[:, None, None]
    root = np.linalg.cholesky(spread + SLIGHT * total * np.eye(theta.shape[2]))
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


# Draws of a fit and what they say: intervals, ranks, probabilities. One shape for every kind of uncertainty.

LEVEL = 0.9
"""Nominal coverage of every interval of a stitched fit."""


@dataclass(frozen=True, eq=False, repr=False)
class PositionDraws(Result):
    """Positions drawn ``kind``-wise (Laplace, bootstrap, …), every draw on the scale by itself.

    Tables: ``capabilities`` (subject, capability, low, high), ``benchmarks`` (benchmark, difficulty, low, high, slope,
    slope_low, slope_high), ``ranks`` (rank, subject, rank_low, rank_high, p_first). ``level`` is the nominal coverage.
    A draw that says nothing about a subject or benchmark holds NaN there. ``unconverged`` counts the draws whose refit
    or placing did not arrive.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("capabilities", "benchmarks", "ranks")

    kind: str
    subjects: tuple[str, ...]
    names: tuple[str, ...]
    estimate: Positions
    positions: Positions
    unconverged: int = 0
    level: ClassVar[float] = LEVEL

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        return f"{len(self.positions.theta)} draws ({self.kind}), {self.level:.0%} intervals"

    @property
    def warnings(self) -> tuple[str, ...]:
        """How many draws did not arrive."""
        return warn_unconverged(self.unconverged, len(self.positions.theta), f"draws ({self.kind})")

    @cached_property
    def capabilities(self) -> pl.DataFrame:
        """Capability of every subject with its interval, highest first."""
        low, high = self._interval(self.positions.capability, self.estimate.capability[0])
        table = {"subject": self.subjects, "capability": self.estimate.capability[0], "low": low, "high": high}
        return sort_highest(pl.DataFrame(table), "capability", "subject")

    @property
    def benchmarks(self) -> pl.DataFrame:
        """Difficulty and slope of every benchmark with their intervals."""
        table, ends = {"benchmark": pl.Series(self.names)}, (("difficulty", ""), ("slope", "slope_"))
        for name, prefix in ends:
            estimate: Floats = getattr(self.estimate, name)[0]
            low, high = self._interval(getattr(self.positions, name), estimate)
            table |= {name: pl.Series(estimate), f"{prefix}low": pl.Series(low), f"{prefix}high": pl.Series(high)}
        return pl.DataFrame(table)

    @property
    def ranks(self) -> pl.DataFrame:
        """Rank of every subject whose interval is narrow enough, best first; then the others, without a rank.

        An error of zero and unit, such as an anchor's, moves all subjects together and changes no order. So the width
        is the smaller of two: as drawn, and with the same mean and spread of the subjects in every draw.
        Columns: rank, subject, rank_low, rank_high, p_first (chance of being first among all ranked), capability.
        """
        estimate, drawn = self.estimate.capability[0], self.positions.capability
        centre, spread = np.nanmean(drawn, axis=1, keepdims=True), np.nanstd(drawn, axis=1, keepdims=True)
        own = np.nanstd(estimate)
        low, high = self._interval(drawn, estimate)
        aligned = np.subtract(*central_interval((drawn - centre) / np.maximum(spread, SMALLEST_SPREAD))[::-1])
        narrow = np.fmin(high - low, own * aligned) <= WIDEST_SPREAD * own
        filled = np.where(np.isnan(drawn), estimate, drawn)
        ranked = rank_subjects(self.subjects, estimate, filled, narrow)
        every = self.capabilities.select("subject", "capability")
        joined = ranked.join(every, on="subject", how="right", maintain_order="right")
        return joined.select(*ranked.columns, "capability").sort("rank", nulls_last=True, maintain_order=True)

    def _interval(self, values: Floats, estimate: Floats) -> tuple[Floats, Floats]:
        """Quantiles of the draws, wide enough to hold the estimate: where scores are mostly noise it can lie outside.

        Every draw has a unit of its own, and an estimate drawn towards the mean has too large a one then.
        """
        low, high = central_interval(values)
        return np.fmin(low, estimate), np.fmax(high, estimate)


def central_interval(values: Floats) -> tuple[Floats, Floats]:
    """Return the quantiles between which ``LEVEL`` of the draws (draws, …) lie; NaN says nothing and is left out."""
    tail = (1 - LEVEL) / 2
    ends = [tail, 1 - tail]
    with np.errstate(invalid="ignore"):
        bounds = np.quantile(values, ends, axis=0)
        gaps = np.isnan(bounds[0])
        if gaps.any():
            bounds[:, gaps] = np.nanquantile(values[:, gaps], ends, axis=0)
    return bounds[0], bounds[1]


# What a fit cannot tell apart: subjects whose scores are mostly noise, benchmarks that do not depend on capability.

LEAST_SHARE = 0.7
"""Least share of the spread that must be difference and not error, else it is said: the customary least reliability.

Every draw is put on the scale by itself, so that the share of pure noise is one half (up to 0.64 in simulations)."""
FAR = 10.0
"""A difficulty that lies further outside the subjects than so many times their whole range is named."""


def estimate_warnings(names: tuple[str, ...], estimate: Positions, drawn: Positions) -> tuple[str, ...]:
    """Say where differences between subjects are mostly error, and which benchmarks hardly depend on capability."""
    C, warnings = estimate.capability[0], []
    low, high = central_interval(drawn.capability)
    error = float(np.nanmean(np.nanvar(drawn.capability, axis=0)))
    share = float(C.var()) / max(float(C.var()) + error, np.finfo(float).tiny)
    outside = int(np.count_nonzero((low > C) | (high < C)))
    if share < LEAST_SHARE or outside:
        warnings.append(
            f"these scores hardly tell subjects apart: {share:.0%} of the spread is difference (noise alone: 50%); "
            f"{outside} of {C.size} estimates left the interval of their own draws, which was widened"
        )
    reach = FAR * float(np.ptp(C))
    away = np.maximum(C.min() - estimate.difficulty[0], estimate.difficulty[0] - C.max())
    flat = [names[i] for i in np.flatnonzero(~(away <= reach))]
    if flat:
        warnings.append(
            f"scores on {listed_names(flat)} hardly depend on capability: its difficulty lies beyond everyone"
        )
    return tuple(warnings)
