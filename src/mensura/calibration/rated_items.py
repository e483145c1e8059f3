"""What a calibration is made of: items with a world rate and levels, one entry each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from mensura.calibration.dominance import group_levels
from mensura.core.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class RatedItems:
    """Items with their world rates and demands, one entry per item; NaN where a figure is unknown.

    ``observed``: share of the population that succeeds, as given; ``rate``: the same with zeros lifted. ``se``: its
    standard error, 0 where nothing says how sure it is. ``n``: people counted, where that is what says so.
    ``floor``: the rate of guessing, one over the number of options, 0 where open or unknown. ``pool``: place in
    ``pools``. ``levels``: items × dimensions, the mean of the readings; ``readings``: how many there were.
    ``level_error``: per dimension, the standard deviation of one reading's error, in levels; ``level_doubt``: how
    uncertain that is, as a share of it.
    ``deciding``: items × dimensions, whether this demand is the item's highest.
    """

    items: tuple[str, ...]
    dimensions: tuple[str, ...]
    pools: tuple[str, ...]
    pool: Ints
    observed: Floats
    rate: Floats
    se: Floats
    n: Floats
    floor: Floats
    levels: Floats
    readings: Ints
    level_error: Floats
    level_doubt: Floats
    deciding: np.ndarray
    warnings: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How many items."""
        return len(self.items)

    def kept(self, rows: np.ndarray) -> RatedItems:
        """Return some of the items, by place or mask; pools that are left without items go."""
        at = np.flatnonzero(rows) if rows.dtype == bool else rows
        here = np.unique(self.pool[at])
        return replace(
            self,
            items=tuple(self.items[k] for k in at),
            pools=tuple(self.pools[k] for k in here),
            pool=np.searchsorted(here, self.pool[at]),
            observed=self.observed[at],
            rate=self.rate[at],
            se=self.se[at],
            n=self.n[at],
            floor=self.floor[at],
            levels=self.levels[at],
            readings=self.readings[at],
            deciding=self.deciding[at],
        )

    def grouped(self, groups: Mapping[str, Iterable[str]]) -> RatedItems:
        """Return the same items on groups of dimensions; an error of a group is the mean of its members' errors."""
        known = {name: [code for code in members if code in self.dimensions] for name, members in groups.items()}
        known = {name: members for name, members in known.items() if members}
        levels, deciding = group_levels(self.levels, self.dimensions, known)
        places = [[self.dimensions.index(code) for code in members] for members in known.values()]
        error = np.array([self.level_error[at].mean() for at in places])
        return replace(self, dimensions=tuple(known), levels=levels, deciding=deciding, level_error=error)
