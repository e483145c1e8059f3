"""Which model follows which: sums over predecessors and successors, for the joint model of all scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mensura.core.arrays import Floats, Ints, Mask


@dataclass(frozen=True)
class Descent:
    """Who follows whom, by row, and the models in two halves within which nobody follows another."""

    children: Ints
    parents: Ints
    follows: Mask
    halves: tuple[Mask, Mask]

    @classmethod
    def of(cls, parents: Ints) -> Descent:
        """Read a row's predecessor (−1 = none); predecessors form no circle."""
        follows = parents >= 0
        generation = np.zeros(parents.size, dtype=np.int64)
        for _ in range(parents.size):
            later = np.where(follows, generation[parents] + 1, 0)
            if (later == generation).all():
                break
            generation = later
        even = generation % 2 == 0
        return cls(np.flatnonzero(follows), parents[follows], follows, (even, ~even))

    def before(self, values: Floats) -> Floats:
        """Return each row's predecessor's values (last axis but one: rows), 0 where there is none."""
        found = np.zeros_like(values)
        found[..., self.children, :] = values[..., self.parents, :]
        return found

    def after(self, values: Floats) -> Floats:
        """Return the sums of each row's successors' values."""
        found = np.zeros_like(values.swapaxes(0, -2))
        np.add.at(found, self.parents, values.swapaxes(0, -2)[self.children])
        return found.swapaxes(0, -2)
