"""Success of a whole population as a function of item difficulty, for every draw at once.

A population is a mixture of normal strata. Per draw its strata are laid on a fine grid of ability: each is
split into the three nodes of Gauss–Hermite quadrature that carry its variance beyond a common kernel, and
each node shared between its two neighbours on the grid. Success at difficulty ``b`` is then one correlation
of the grid with ``Φ((x − b) / width)``, ``width² = kernel variance + 1 / slope²``. Its probit is nearly a
straight line in ``b``, so that reading it off (or backwards, for the difficulty) by linear interpolation is
accurate to about 10⁻⁴ probit, and costs the same for one item as for thousands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

if TYPE_CHECKING:
    from mensura.core.arrays import Floats
    from mensura.extrapolation.abilities import Abilities

STEP = 0.05
ABILITY = np.arange(-10.0, 5.0 + STEP / 2, STEP)
DIFFICULTY = np.arange(-9.0, 10.0 + STEP / 2, STEP)
TINY = 1e-12
_NODES = ((-np.sqrt(3.0), 1 / 6), (0.0, 2 / 3), (np.sqrt(3.0), 1 / 6))


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
        known = (rate - floor * self.present) / ((1 - floor) * self.able)
        target = scipy.special.ndtri(np.clip(known, TINY, 1 - TINY))
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
    probit = scipy.special.ndtri(np.clip(rates / able[:, None], TINY, 1 - TINY))
    return Success(mass.sum(axis=1), able, probit)


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
