"""Success of a whole population as a function of item difficulty, for every draw at once.

A population is a mixture of normal strata. Per draw its strata are laid on a fine grid of ability: each is
split into the three nodes of Gauss–Hermite quadrature that carry its variance beyond a common kernel, and
each node shared between its two neighbours on the grid. Success at difficulty ``b`` is then one correlation
of the grid with ``Φ((x − b) / width)``, ``width² = kernel variance + 1 / slope²``. Its probit is nearly a
straight line in ``b``, so that reading it off (or backwards, for the difficulty) by linear interpolation is
accurate to about 10⁻⁴ probit, and costs the same for one item as for thousands.

How far an interval reaches when shift and interaction are Student, and everything else normal.

A Student variable is a normal one whose variance is itself unknown: ``t_ν`` of variance 1 is N(0, w) with
``w = (ν − 2) / χ²_ν``. So the sum of a Student shift, a Student interaction and normal parts, with shares a, b and
1 − a − b of the variance, is N(0, 1 − a − b + a w₁ + b w₂), and its distribution function is the mean of
``Φ(z / √·)`` over the two unknown variances. Gauss–Laguerre nodes stand for them; the quantile is tabulated over the
shares once and read off for each item.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import scipy

if TYPE_CHECKING:
    from mensura.core.arrays import Floats

STEP = 0.05
ABILITY = np.arange(-10.0, 5.0 + STEP / 2, STEP)
DIFFICULTY = np.arange(-9.0, 10.0 + STEP / 2, STEP)
TINY = 1e-12
_NODES = ((-np.sqrt(3.0), 1 / 6), (0.0, 2 / 3), (np.sqrt(3.0), 1 / 6))


@dataclass(frozen=True)
class Abilities:
    """Draws × cells arrays: mean and variance of ability, share present, share of those able."""

    mean: Floats
    variance: Floats
    present: Floats
    able: Floats


@dataclass(frozen=True)
class Success:
    """Success of a population, per draw.

    ``present``: the share old enough. ``able``: the share that may know the answer. ``probit``: draws ×
    difficulties, the probit of success among the able.
    """

    present: Floats
    able: Floats
    probit: Floats

    def difficulty(self, rate: Floats, floor: Floats) -> Floats:
        """Return the items × draws difficulties at which this population succeeds at ``rate``."""
        ability = (rate - floor * self.present) / ((1 - floor) * self.able)
        target = scipy.special.ndtri(np.clip(ability, TINY, 1 - TINY))
        solved = np.empty(np.broadcast_shapes(target.shape, (1, self.able.size)))
        for draw in range(self.able.size):
            solved[:, draw] = np.interp(-target[:, draw], -self.probit[draw], DIFFICULTY)
        return solved

    def rate(self, difficulty: Floats, floor: Floats) -> Floats:
        """Return the items × draws rates at the given difficulties, guessing included."""
        probit = np.empty_like(difficulty)
        for draw in range(self.able.size):
            probit[:, draw] = np.interp(difficulty[:, draw], DIFFICULTY, self.probit[draw])
        return np.asarray(floor * self.present + (1 - floor) * self.able * scipy.special.ndtr(probit))


def success(weight: Floats, strata: Abilities, kernel: Floats, slope: Floats) -> Success:
    """Return the success of the mixture; ``kernel`` is a variance no stratum's is below, per draw."""
    mass = weight * strata.present
    grid = _on_grid(strata, mass * strata.able, kernel)
    able = grid.sum(axis=1)
    width = np.sqrt(kernel + 1 / slope**2)
    offsets = np.arange(-(DIFFICULTY.size - 1), ABILITY.size) * STEP + ABILITY[0] - DIFFICULTY[0]
    rates = np.empty((able.size, DIFFICULTY.size))
    for draw in range(able.size):
        rates[draw] = np.correlate(scipy.special.ndtr(offsets / width[draw]), grid[draw], "valid")[::-1]
    return Success(mass.sum(axis=1), able, scipy.special.ndtri(np.clip(rates / able[:, None], TINY, 1 - TINY)))


def moments(weight: Floats, strata: Abilities) -> tuple[float, float]:
    """Return mean and SD of the ability of those present and able, under the first draw."""
    mass = (weight * strata.present * strata.able)[0]
    mass = mass / mass.sum()
    mean = float(mass @ strata.mean[0])
    return mean, float(np.sqrt(mass @ (strata.variance[0] + (strata.mean[0] - mean) ** 2)))


def _on_grid(strata: Abilities, mass: Floats, kernel: Floats) -> Floats:
    """Return draws × grid: the mass of the mixture without its common kernel."""
    draws = kernel.size
    grid = np.zeros(draws * ABILITY.size)
    start = np.arange(draws)[:, None] * ABILITY.size
    beyond = np.sqrt(np.maximum(strata.variance - kernel[:, None], 0))
    for node, share in _NODES:
        place = (strata.mean + node * beyond - ABILITY[0]) / STEP
        place = np.clip(place, 0, ABILITY.size - 1.001)
        left = place.astype(np.int64)
        right = place - left
        index = (start + left).ravel()
        grid += np.bincount(index, (share * mass * (1 - right)).ravel(), grid.size)
        grid += np.bincount(index + 1, (share * mass * right).ravel(), grid.size)
    return grid.reshape(draws, ABILITY.size)


NEARLY_NORMAL = 60.0  # degrees of freedom from which a Student variable counts as normal
FEWEST_DF = 2.5  # below it the variance is next to infinite
_LAGUERRE = 16
_STEPS = 21  # of either share in the table
_HALVINGS = 40  # of the bracket about a quantile


@lru_cache(maxsize=64)
def unknown_variances(df: float, nodes: int = _LAGUERRE) -> tuple[Floats, Floats]:
    """Return values and weights that stand for ``w = (df − 2) / χ²_df``, of mean 1; one value where nearly normal.

    χ²/2 has a gamma density of shape df/2. The nodes belong to the shape df/2 − 1, and their weights take the
    missing factor, so that both the total and the mean of w are exact.
    """
    if df >= NEARLY_NORMAL:
        return np.ones(1), np.ones(1)
    x, weight = scipy.special.roots_genlaguerre(nodes, df / 2 - 2)
    weight = weight * x
    return (df / 2 - 1) / x, weight / weight.sum()


def student_reach(
    level: float, shift_share: Floats, interaction_share: Floats, shift_df: float, interaction_df: float
) -> Floats:
    """Return how many SDs an interval of probability ``level`` goes to either side, per pair of shares of variance."""
    table = _table(level, *(max(min(df, NEARLY_NORMAL), FEWEST_DF) for df in (shift_df, interaction_df)))
    total = np.clip(shift_share + interaction_share, 0.0, 1.0)
    mix = np.clip(shift_share / np.maximum(total, 1e-12), 0.0, 1.0)
    row, column = (values * (_STEPS - 1) for values in (total, mix))
    i, j = (np.minimum(place.astype(np.int64), _STEPS - 2) for place in (row, column))
    u, v = row - i, column - j
    reach: Floats = (1 - u) * ((1 - v) * table[i, j] + v * table[i, j + 1]) + u * (
        (1 - v) * table[i + 1, j] + v * table[i + 1, j + 1]
    )
    return reach


def normal_reach(level: float) -> float:
    """Return how many standard deviations a normal interval of probability ``level`` goes to either side."""
    return float(scipy.special.ndtri((1 + level) / 2))


@lru_cache(maxsize=256)
def _table(level: float, shift_df: float, interaction_df: float) -> Floats:
    """Return the reach over the Student share of the variance (rows) and the shift's part of that share (columns)."""
    (w1, p1), (w2, p2) = unknown_variances(shift_df), unknown_variances(interaction_df)
    total, mix = np.meshgrid(*[np.linspace(0.0, 1.0, _STEPS)] * 2, indexing="ij")
    a, b = (part[..., None, None] for part in (total * mix, total * (1 - mix)))
    sd = np.sqrt(np.maximum(1 - a - b, 0.0) + a * w1[:, None] + b * w2)
    weight = p1[:, None] * p2
    target = (1 + level) / 2
    low, high = np.zeros(total.shape), np.full(total.shape, 4 * normal_reach(level) + 4)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        below = (scipy.special.ndtr(middle[..., None, None] / sd) * weight).sum(axis=(-2, -1)) < target
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray((low + high) / 2)
