"""How much of the releases' scatter stays with the lab that made them.

Distances r of the releases from their line are split as in a one-way analysis of variance, r = lab + own, with

    MS_between / (σ² + n₀ τ²) ~ χ²/(J − 1),    MS_within / σ² ~ χ²/(N − J),    n₀ = (N − Σ n_j² / N) / (J − 1),

for J labs with n_j of the N releases; the lasting share is τ² / (τ² + σ²). Dividing both mean squares by such draws
gives draws of the share as uncertain as so few labs leave it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mensura.arrays import Floats, Ints

FEWEST_LABS = 3
"""Labs, and releases beyond one for each, below which nothing is said of them."""


@dataclass(frozen=True)
class LabScatter:
    """Mean squares between and within labs, their degrees of freedom, and n₀, the releases of a typical lab."""

    labs: Ints
    between: float
    within: float
    freedom: tuple[int, int]
    typical: float

    def draw_share(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw n shares of the scatter that stays with the lab."""
        between, within = self.freedom
        own = self.within * within / rng.chisquare(within, n)
        lasting = np.maximum(self.between * between / rng.chisquare(between, n) - own, 0) / self.typical
        return np.asarray(lasting / (lasting + own))

    def draw_levels(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw a standard normal level of every lab for n worlds, at each of its releases (worlds, releases)."""
        return np.asarray(rng.standard_normal((n, int(self.labs.max()) + 1))[:, self.labs])


def describe_labs(labs: Ints, distances: Floats) -> LabScatter | None:
    """Split the releases' distances from their line by lab; None where labs are too few or made one release each."""
    size = np.bincount(labs)
    size = size[size > 0]
    j, n = size.size, labs.size
    if j < FEWEST_LABS or n - j < FEWEST_LABS:
        return None
    mean = np.bincount(labs, distances) / np.maximum(np.bincount(labs), 1)
    between = float(np.sum((mean[labs] - distances.mean()) ** 2)) / (j - 1)
    within = float(np.sum((distances - mean[labs]) ** 2)) / (n - j)
    return LabScatter(
        labs, between, max(within, np.finfo(float).tiny), (j - 1, n - j), (n - np.sum(size**2) / n) / (j - 1)
    )
