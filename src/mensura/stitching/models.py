"""What both fitted models answer: an estimate, refits with other weights, draws from the posterior, placings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from mensura.core.arrays import Floats, Ints, Mask
from mensura.stitching.convergence import Convergence
from mensura.stitching.placing import Placed
from mensura.stitching.positions import Positions
from mensura.stitching.scores import ScoreSet


class Model(Protocol):
    """What a result needs of a fitted model. Positions come on the model's own scale, the scale is applied outside."""

    @property
    def data(self) -> ScoreSet:
        """The scores it was fitted to."""

    @property
    def positions(self) -> Positions:
        """The estimate (one draw)."""

    @property
    def shares(self) -> Floats:
        """How much each benchmark adds: 1, less where others say the same."""

    @property
    def bend(self) -> float:
        """Factor by which draws spread wider where positions are read off them than where scores are."""

    @property
    def convergence(self) -> Convergence:
        """How the fit ended."""

    def refit(self, weights: Floats, advance: Callable[[], object] | None = None) -> tuple[Positions, Mask]:
        """Refit with every row of ``weights`` (replicates, scores) from the estimate; say which ones arrived."""

    def sample(self, n: int, rng: np.random.Generator) -> Positions:
        """Draw from the Gaussian approximation of the posterior."""

    def noise(self, expected: Floats, cols: Ints) -> Floats:
        """Variance of a new score around its expectation."""

    def place(self, new: ScoreSet, phi: Floats | None = None) -> Placed:
        """Place new subjects, the benchmarks held at ``phi`` (B, 1 + K), or at their estimate with its error."""
