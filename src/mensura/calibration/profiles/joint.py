"""Two models of all demands of an item at once, fitted to one subject's outcomes.

Non-compensatory: an item is solved if every demand is met, Π_d expit(s (θ_d − x_d)) over the demands above 0; θ_d is
the level at which a demand is met half of the time, s how sharply. Compensatory: expit(β0 − Σ_d w_d x_d), strength
in one dimension making up for another. Over either lies the floor of guessing, P = c + (1 − c) q.

Priors are weak and stated: abilities scatter with sd 1 level around a mean of their own, which is N(2.5, 2²);
ln s ~ N(0, 0.5²); weights ~ N(0.3, 0.5²), β0 ~ N(2, 3²). Fisher scoring finds the mode; intervals are from the normal
approximation there. Shares (of people, or of tries) scatter less around the model than single answers do: with φ the
scatter found, Σ (y − P)²/(P (1 − P)) over the degrees of freedom, a share weighs 1/φ answers, and at least one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import scipy

from mensura.arrays import Floats, Ints, expit

MEAN_ABILITY, MEAN_SPREAD, OWN_SPREAD = 2.5, 2.0, 1.0
SHARPNESS_SPREAD = 0.5
WEIGHT, WEIGHT_SPREAD, START, START_SPREAD = 0.3, 0.5, 2.0, 3.0
LEAST_SCATTER = 0.02
"""A share weighs at most 50 answers, however little it scatters: the model is not exact."""
MANY, FEW = 6_000, 2_000
"""With more items than MANY the climb begins on about FEW of them, where steps are cheap."""
_STEPS, _HALVINGS, _WEIGHINGS = 60, 12, 3
_SETTLED, _ROUGHLY = (
    1e-2,
    1.0,
)  # log posterior that a step still promises: it is taken, and what remains is of its square
_LEAST = 1e-9
_SHARPEST = 6.0


class SolvingModel(Protocol):
    """A model of solving: a prior, and the chance with its derivatives of the logarithm."""

    mean: Floats
    precision: Floats

    def start(self) -> Floats:
        """Return parameters to begin with."""

    def solving(self, parameters: Floats, grid: LevelGrid) -> tuple[Floats, Floats]:
        """Return q of each item and ∂ ln q / ∂ parameters, items × parameters."""


@dataclass(frozen=True, eq=False)
class LevelGrid:
    """Levels of items as places in a short list of values, so that curves are computed once per value.

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

    @cached_property
    def picks(self) -> scipy.sparse.csr_matrix:
        """Items × places of the flat table, 1 where an item has that level: sums over dimensions are products."""
        items, dimensions = self.place.shape
        ends = np.arange(0, items * dimensions + 1, dimensions)
        shape = (items, len(self.values) * dimensions)
        return scipy.sparse.csr_matrix((np.ones(items * dimensions), self.place.ravel(), ends), shape=shape)

    def looked_up(self, table: Floats) -> Floats:
        """Return items × dimensions of a table dimensions × values."""
        return np.take(table.ravel(), self.place)


class NonCompensatory:
    """Every demand must be met; parameters: an ability per dimension, then ln s."""

    def __init__(self, dimensions: int) -> None:
        prior = np.full((dimensions, dimensions), MEAN_SPREAD**2) + OWN_SPREAD**2 * np.eye(dimensions)
        self.mean = np.append(np.full(dimensions, MEAN_ABILITY), 0.0)
        self.precision = np.zeros((dimensions + 1, dimensions + 1))
        self.precision[:-1, :-1] = np.linalg.inv(prior)
        self.precision[-1, -1] = SHARPNESS_SPREAD**-2

    def start(self) -> Floats:
        """Begin at the prior."""
        return self.mean.copy()

    def solving(self, parameters: Floats, grid: LevelGrid) -> tuple[Floats, Floats]:
        """Return Π_d expit(s (θ_d − x_d)) over demands above 0 and the derivatives of its logarithm."""
        sharp = np.exp(min(parameters[-1], _SHARPEST))
        beyond = sharp * (parameters[:-1, None] - grid.values)
        asked = grid.values > 0
        missed = np.where(asked, expit(-beyond), 0.0)
        logs = np.where(asked, -np.logaddexp(0.0, -beyond), 0.0)
        summed = grid.picks @ np.column_stack([logs.ravel(), (missed * beyond).ravel()])
        slopes = np.empty((len(summed), len(parameters)))
        slopes[:, :-1] = grid.looked_up(sharp * missed)
        slopes[:, -1] = summed[:, 1]
        return np.exp(summed[:, 0]), slopes


class Compensatory:
    """A weighted sum of demands decides; parameters: a weight per dimension, then the start."""

    def __init__(self, dimensions: int) -> None:
        self.mean = np.append(np.full(dimensions, WEIGHT), START)
        self.precision = np.diag(np.append(np.full(dimensions, WEIGHT_SPREAD**-2), START_SPREAD**-2))

    def start(self) -> Floats:
        """Begin at the prior."""
        return self.mean.copy()

    def solving(self, parameters: Floats, grid: LevelGrid) -> tuple[Floats, Floats]:
        """Return expit(β0 − Σ_d w_d x_d) and the derivatives of its logarithm."""
        levels = grid.levels
        solved = expit(parameters[-1] - levels @ parameters[:-1])
        design = np.column_stack([-levels, np.ones(len(levels))])
        return solved, (1.0 - solved)[:, None] * design


MODELS: dict[str, Callable[[int], SolvingModel]] = {"non-compensatory": NonCompensatory, "compensatory": Compensatory}


@dataclass(frozen=True, eq=False)
class JointFit:
    """Parameters at the mode, and their covariance."""

    parameters: Floats
    covariance: Floats
    converged: bool


def fit_joint(
    model: SolvingModel, grid: LevelGrid, solved: Floats, floor: Floats, start: Floats | None = None
) -> JointFit:
    """Find the mode of a model's posterior for one subject; shares are weighed by how little they scatter."""
    begin = model.start() if start is None else start
    if len(solved) > MANY:
        few = np.arange(0, len(solved), len(solved) // FEW)
        begin = _climb(model, grid.rows(few), solved[few], floor[few], 1.0, begin, _ROUGHLY).parameters
    fit = _climb(model, grid, solved, floor, 1.0, begin)
    if np.all((solved == 0.0) | (solved == 1.0)):
        return fit
    for _ in range(_WEIGHINGS):
        weight = 1.0 / _scatter(model, fit, grid, solved, floor)
        fit = _climb(model, grid, solved, floor, weight, fit.parameters)
    return fit


def _scatter(model: SolvingModel, fit: JointFit, grid: LevelGrid, solved: Floats, floor: Floats) -> float:
    """Return φ, the scatter of shares as a part of that of single answers."""
    rate = chance(model, fit.parameters, grid, floor)
    used = len(fit.parameters) - np.trace(model.precision @ fit.covariance)
    free = max(len(solved) - used, len(solved) / 2.0)
    return float(np.clip(((solved - rate) ** 2 / (rate * (1.0 - rate))).sum() / free, LEAST_SCATTER, 1.0))


def _climb(
    model: SolvingModel,
    grid: LevelGrid,
    solved: Floats,
    floor: Floats,
    weight: float,
    start: Floats,
    settled: float = _SETTLED,
) -> JointFit:
    """Climb to the mode by Fisher scoring with step halving."""
    now = start.copy()
    height, score, information = _evaluate(model, now, grid, solved, floor, weight)
    for _ in range(_STEPS):
        step = np.linalg.solve(information, score)
        if 0.5 * score @ step < settled:
            return JointFit(now + step, _inverse(information), True)
        for _ in range(_HALVINGS):
            ahead = _evaluate(model, now + step, grid, solved, floor, weight)
            if ahead[0] >= height:
                break
            step = step / 2.0
        else:
            return JointFit(now, _inverse(information), False)
        now = now + step
        height, score, information = ahead
    return JointFit(now, _inverse(information), False)


def _inverse(matrix: Floats) -> Floats:
    return np.asarray(np.linalg.inv(matrix), dtype=np.float64)


def chance(model: SolvingModel, parameters: Floats, grid: LevelGrid, floor: Floats) -> Floats:
    """Return the chance that the subject solves each item, guessing included."""
    solving, _ = model.solving(parameters, grid)
    return np.clip(floor + (1.0 - floor) * solving, _LEAST, 1.0 - _LEAST)


def _evaluate(
    model: SolvingModel, parameters: Floats, grid: LevelGrid, solved: Floats, floor: Floats, weight: float
) -> tuple[float, Floats, Floats]:
    """Return the log posterior, its gradient and the expected information."""
    solving, slopes = model.solving(parameters, grid)
    above = (1.0 - floor) * solving
    rate = np.clip(floor + above, _LEAST, 1.0 - _LEAST)
    off = parameters - model.mean
    pull = model.precision @ off
    fitting = (solved * np.log(rate) + (1.0 - solved) * np.log1p(-rate)).sum()
    height = float(weight * fitting - 0.5 * off @ pull)
    spread = rate * (1.0 - rate) / weight
    score = slopes.T @ ((solved - rate) / spread * above) - pull
    slopes *= (above / np.sqrt(spread))[:, None]
    return height, score, slopes.T @ slopes + model.precision
