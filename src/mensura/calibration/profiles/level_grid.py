"""Levels of items as places in short lists of values, so that curves are computed once per value, not once per item.

Sums over the 18 demands of an item are taken in two steps: first for every combination of a few dimensions' levels,
then over the handful of combinations that make up each item.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from mensura.core.arrays import Floats, Ints

MOST_CELLS = 1_300
"""Combinations of levels that are added up beforehand: four dimensions of six levels, a table that stays in cache."""


@dataclass(frozen=True, eq=False)
class LevelGrid:
    """Levels of items, each a place in the list of distinct ones.

    ``values``: the distinct levels; ``place``: items × dimensions, in a table dimensions × values laid out flat.
    ``cells``: items × combinations, 1 where an item has that one; ``made``: combinations × places of the flat table, 1
    where a combination has that level.
    """

    values: Floats
    place: Ints
    cells: scipy.sparse.csr_matrix
    made: scipy.sparse.csr_matrix

    @classmethod
    def of(cls, levels: Floats) -> LevelGrid:
        """Arrange levels, items × dimensions."""
        values, place = np.unique(levels, return_inverse=True)
        count = levels.shape[1]
        own = place.reshape(levels.shape)
        flat = own + len(values) * np.arange(count)
        cells, made = [], []
        for block in _blocks(len(values), count):
            key = own[:, block] @ len(values) ** np.arange(block.stop - block.start)
            _, first, back = np.unique(key, return_index=True, return_inverse=True)
            cells.append(_ones(back[:, None], len(first)))
            made.append(_ones(flat[first, block], len(values) * count))
        return cls(values, flat, scipy.sparse.hstack(cells, format="csr"), scipy.sparse.vstack(made, format="csr"))

    @property
    def levels(self) -> Floats:
        """The levels themselves, items × dimensions."""
        return self.looked_up(np.tile(self.values, (self.place.shape[1], 1)))

    def rows(self, at: Ints) -> LevelGrid:
        """Return some of the items."""
        return LevelGrid(self.values, self.place[at], self.cells[at], self.made)

    def looked_up(self, table: Floats) -> Floats:
        """Return items × dimensions of a table dimensions × values."""
        return np.take(table.ravel(), self.place)

    def summed(self, table: Floats) -> Floats:
        """Return Σ_d table[d, level of item i in d] of each item."""
        return np.asarray(self.cells @ (self.made @ table.ravel()))

    def gathered(self, by: Floats) -> Floats:
        """Return dimensions × values: the sum of ``by`` over the items of each level; the transpose of ``summed``."""
        return np.asarray((by @ self.cells) @ self.made).reshape(self.place.shape[1], len(self.values))


def _blocks(each: int, count: int) -> list[slice]:
    """Return dimensions that are looked up together: as many as keep their combinations few."""
    size = 1
    while size < count and each ** (size + 1) <= MOST_CELLS:
        size += 1
    return [slice(at, min(at + size, count)) for at in range(0, count, size)]


def _ones(columns: Ints, width: int) -> scipy.sparse.csr_matrix:
    """Return a matrix with ones at these columns of each row, and zeros elsewhere."""
    rows, each = columns.shape
    ends = np.arange(0, rows * each + 1, each)
    return scipy.sparse.csr_matrix((np.ones(rows * each), columns.ravel(), ends), shape=(rows, width))
