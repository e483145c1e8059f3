"""Steps that go to and fro: shortened, so that a fit arrives where plain sweeps would swing for ever.

On a benchmark whose floor hardly anybody leaves, a linearised step can overshoot by as much as it was off, and the next
one back again. Among some benchmarks that is rare, among hundreds it is sure to happen, and one of them would keep a
whole fit from arriving.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mensura.core.arrays import Floats, Ints

SHORTENED = 0.5
"""Factor on the steps of a vector that swings."""
SWINGING = 0.9
"""A step that turns back swings where it is at least this part as long as the one before: shorter ones die out."""
PATIENCE = 4
"""So many swings in a row are let pass before steps are shortened."""


@dataclass(frozen=True, eq=False)
class Damping:
    """The last full ``step`` of every vector (n, k), its ``swings`` in a row (n,) and the ``length`` of steps (n,)."""

    step: Floats
    swings: Ints
    length: Floats

    @classmethod
    def begin(cls, shape: tuple[int, ...], length: Floats) -> Damping:
        """Begin at a known length of steps, without a memory of earlier ones."""
        return cls(np.zeros(shape), np.zeros(shape[0], dtype=np.int64), np.broadcast_to(length, shape[:1]))

    def after(self, step: Floats) -> Damping:
        """Learn from the next full step."""
        before = (self.step**2).sum(axis=1)
        swings = np.where(-(step * self.step).sum(axis=1) > SWINGING * before, self.swings + 1, 0)
        tired = swings >= PATIENCE
        return Damping(step, np.where(tired, 0, swings), np.where(tired, SHORTENED, 1.0) * self.length)

    @property
    def taken(self) -> Floats:
        """The part of the last full step that is taken."""
        return np.asarray(self.length[:, None] * self.step)
