"""Levels of items as places in short lists of values, so that curves are computed once per value, not once per item.

A model of all demands of an item at once, fitted to one subject's outcomes.

Non-compensatory: an item is solved if every demand is met, Π_d expit(s (θ_d − x_d)) over the demands above 0; θ_d is
the level at which a demand is met half of the time, s how sharply. Over it lies the floor of guessing, P = c + (1 − c)
q. The benchmark ``profile_models`` compares it with a compensatory model.

Priors are weak and stated: abilities scatter with sd 1 level around a mean of their own, which is N(2.5, 2²);
ln s ~ N(0, 0.5²). Fisher scoring finds the mode; intervals are from the normal
approximation there. Shares (of people, or of tries) scatter less around the model than single answers do: with φ the
scatter found, Σ (y − P)²/(P (1 − P)) over the degrees of freedom, a share weighs 1/φ answers, and at least one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mensura.core.arrays import Floats, Ints, Mask, expit


@dataclass(frozen=True, eq=False)
class LevelGrid:
    """Levels of items, each a place in the list of distinct ones.

    ``values``: the distinct levels; ``place``: items × dimensions, in a table dimensions × values laid out flat.
    """

    values: Floats
    place: Ints

    @classmethod
    def of(cls, levels: Floats) -> LevelGrid:
        """Arrange levels, items × dimensions."""
        values, place = np.unique(levels, return_inverse=True)
        return cls(values, place.reshape(levels.shape) + len(values) * np.arange(levels.shape[1]))

    @property
    def levels(self) -> Floats:
        """The levels themselves, items × dimensions."""
        return self.looked_up(np.tile(self.values, (self.place.shape[1], 1)))

    def rows(self, at: Ints) -> LevelGrid:
        """Return some of the items."""
        return LevelGrid(self.values, self.place[at])

    def looked_up(self, table: Floats) -> Floats:
        """Return items × dimensions of a table dimensions × values."""
        return np.take(table.ravel(), self.place)

    def summed(self, table: Floats) -> Floats:
        """Return Σ_d table[d, level of item i in d] of each item."""
        return np.asarray(self.looked_up(table).sum(axis=1))

    def gathered(self, by: Floats) -> Floats:
        """Return dimensions × values: the sum of ``by`` over the items of each level; the transpose of ``summed``."""
        shape = self.place.shape[1], len(self.values)
        each = np.repeat(by, shape[0])
        sums: Floats = np.bincount(self.place.ravel(), weights=each, minlength=shape[0] * shape[1]).astype(np.float64)
        return sums.reshape(shape)


MEAN_ABILITY, MEAN_SPREAD, OWN_SPREAD = 2.5, 2.0, 1.0
SHARPNESS_SPREAD = 0.5
LEAST_SCATTER = 0.02
"""A share weighs at most 50 answers, however little it scatters: the model is not exact."""
_STEPS, _HALVINGS, _WEIGHINGS = 60, 12, 3
_SETTLED = 1e-2  # log posterior that a step still promises: it is taken, and what remains is of its square
_LEAST = 1e-9
_SHARPEST = 6.0


class NonCompensatory:
    """Every demand must be met; parameters: an ability per dimension, then ln s."""

    def __init__(self, dimensions: int) -> None:
        prior = np.full((dimensions, dimensions), MEAN_SPREAD**2) + OWN_SPREAD**2 * np.eye(dimensions)
        self.mean = np.append(np.full(dimensions, MEAN_ABILITY), 0.0)
        self.precision = np.zeros((dimensions + 1, dimensions + 1))
        self.precision[:-1, :-1] = np.linalg.inv(prior)
        self.precision[-1, -1] = SHARPNESS_SPREAD**-2

    def solving(self, parameters: Floats, grid: LevelGrid) -> Floats:
        """Return Π_d expit(s (θ_d − x_d)) over demands above 0."""
        _, beyond, asked = self._beyond(parameters, grid)
        return np.asarray(np.exp(grid.summed(np.where(asked, -np.logaddexp(0.0, -beyond), 0.0))))

    def pulled(self, parameters: Floats, grid: LevelGrid, solved: Floats, by: Floats) -> Floats:
        """Return the sum: what pulls is added up per level of each dimension, and curves are read once per level."""
        del solved
        sharp, beyond, asked = self._beyond(parameters, grid)
        missed = np.where(asked, expit(-beyond), 0.0) * grid.gathered(by)
        return np.append(sharp * missed.sum(axis=1), (missed * beyond).sum())

    def slopes(self, parameters: Floats, grid: LevelGrid, solved: Floats) -> Floats:
        """Return s expit(−s (θ_d − x_d)) and, for ln s, Σ_d of the same times θ_d − x_d."""
        del solved
        sharp, beyond, asked = self._beyond(parameters, grid)
        missed = np.where(asked, expit(-beyond), 0.0)
        slopes = np.empty((len(grid.place), len(parameters)))
        slopes[:, :-1] = grid.looked_up(sharp * missed)
        slopes[:, -1] = grid.summed(missed * beyond)
        return slopes

    def _beyond(self, parameters: Floats, grid: LevelGrid) -> tuple[float, Floats, Mask]:
        """Return s, the table s (θ_d − value) of dimensions × values, and which values are demands at all."""
        sharp = float(np.exp(min(parameters[-1], _SHARPEST)))
        return sharp, sharp * (parameters[:-1, None] - grid.values), grid.values > 0


@dataclass(frozen=True, eq=False)
class JointFit:
    """Parameters at the mode, and their covariance."""

    parameters: Floats
    covariance: Floats
    converged: bool


def fit_joint(
    model: NonCompensatory, grid: LevelGrid, solved: Floats, floor: Floats, start: Floats | None = None
) -> JointFit:
    """Find the mode of a model's posterior for one subject; shares are weighed by how little they scatter."""
    subject = OneSubject(grid, solved, floor)
    fit = _climb(model, subject, model.mean if start is None else start)
    for _ in range(0 if subject.whole else _WEIGHINGS):
        weight = 1.0 / _scatter(model, fit, grid, solved, floor)
        fit = _climb(model, replace(subject, weight=weight), fit.parameters)
    return fit


@dataclass(frozen=True, eq=False)
class OneSubject:
    """What one subject did: levels, outcomes, floors, and the answers that each outcome weighs."""

    grid: LevelGrid
    solved: Floats
    floor: Floats
    weight: float = 1.0

    @cached_property
    def whole(self) -> bool:
        """Whether every outcome is 0 or 1, none a share."""
        return bool(np.all((self.solved == 0.0) | (self.solved == 1.0)))

    def fitting(self, rate: Floats) -> float:
        """Return the log likelihood at these rates: Σ y ln p + (1 − y) ln(1 − p)."""
        if self.whole:
            return float(np.log(np.where(self.solved > 0.0, rate, 1.0 - rate)).sum())
        return float((self.solved * np.log(rate) + (1.0 - self.solved) * np.log1p(-rate)).sum())


def _scatter(model: NonCompensatory, fit: JointFit, grid: LevelGrid, solved: Floats, floor: Floats) -> float:
    """Return φ, the scatter of shares as a part of that of single answers."""
    rate = chance(model, fit.parameters, grid, floor)
    used = len(fit.parameters) - np.trace(model.precision @ fit.covariance)
    free = max(len(solved) - used, len(solved) / 2.0)
    return float(np.clip(((solved - rate) ** 2 / (rate * (1.0 - rate))).sum() / free, LEAST_SCATTER, 1.0))


def _climb(model: NonCompensatory, subject: OneSubject, start: Floats) -> JointFit:
    """Climb to the mode by Fisher scoring with step halving."""
    now, here = start, evaluate(model, start, subject)
    for _ in range(_STEPS):
        information = information_at(model, now, subject, here)
        step = np.linalg.solve(information, here.score)
        if 0.5 * here.score @ step < _SETTLED:
            return JointFit(now + step, _inverse(information), True)
        for _ in range(_HALVINGS):
            ahead = evaluate(model, now + step, subject)
            if ahead.height >= here.height:
                break
            step = step / 2.0
        else:
            break
        now, here = now + step, ahead
    return JointFit(now, _inverse(information_at(model, now, subject, here)), False)


def _inverse(matrix: Floats) -> Floats:
    return np.asarray(np.linalg.inv(matrix), dtype=np.float64)


def chance(model: NonCompensatory, parameters: Floats, grid: LevelGrid, floor: Floats) -> Floats:
    """Return the chance that the subject solves each item, guessing included."""
    return np.clip(floor + (1.0 - floor) * model.solving(parameters, grid), _LEAST, 1.0 - _LEAST)


class Height(NamedTuple):
    """The posterior at some parameters: its log and gradient; q, (1 − c) q and the variance of each answer."""

    height: float
    score: Floats
    solving: Floats
    above: Floats
    spread: Floats


def evaluate(model: NonCompensatory, parameters: Floats, subject: OneSubject) -> Height:
    """Return the log posterior and its gradient."""
    solving = model.solving(parameters, subject.grid)
    above = (1.0 - subject.floor) * solving
    rate = np.clip(subject.floor + above, _LEAST, 1.0 - _LEAST)
    off = parameters - model.mean
    pull = model.precision @ off
    height = float(subject.weight * subject.fitting(rate) - 0.5 * off @ pull)
    spread = rate * (1.0 - rate) / subject.weight
    by = (subject.solved - rate) / spread * above
    return Height(height, model.pulled(parameters, subject.grid, solving, by) - pull, solving, above, spread)


def information_at(model: NonCompensatory, parameters: Floats, subject: OneSubject, here: Height) -> Floats:
    """Return the expected information, that of the prior included."""
    slopes = model.slopes(parameters, subject.grid, here.solving)
    slopes *= (here.above / np.sqrt(here.spread))[:, None]
    return np.asarray(slopes.T @ slopes + model.precision)
