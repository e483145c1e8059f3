"""Did the slope change? Statistics of a kink at an unknown time, for every look of a watch and many paths at once.

At the look after the first n releases, with years t and values y, the model is

    y = a + b t + δ (t − κ)₊ + ε,    κ somewhere between the start of the watch and now,

and the statistic is the largest one-sided t value of δ over a grid of κ. It does not change when y is shifted or
stretched, so the unit and the zero of the capability scale are of no consequence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mensura.arrays import Floats, Ints

CANDIDATES = 12
"""Break times tried at every look, evenly spread over the time watched so far."""
SHORTEST = 1e-9
"""A hinge that constant and trend explain to this length says nothing."""
SAME = 1e-12
"""Sum of squares of the dates below which all releases share one."""


@dataclass(frozen=True, eq=False, repr=False)
class KinkDesign:
    """What can be computed from the dates alone.

    ``counts[j]`` is the number of releases known at look j; ``hinges`` (looks, candidates, releases) holds, for every
    look and candidate break, the hinge (t − κ)₊ freed of constant and trend and scaled to length one.
    """

    years: Floats
    counts: Ints
    hinges: Floats

    @classmethod
    def of(cls, years: Floats, start: float) -> KinkDesign:
        """Lay out one look after every release later than ``start``; ``years`` must be sorted."""
        counts = np.flatnonzero(years > start) + 1
        shares = np.arange(CANDIDATES) / CANDIDATES
        hinges = np.zeros((counts.size, CANDIDATES, years.size))
        for look, n in enumerate(counts):
            t = years[:n] - years[:n].mean()
            breaks = start + shares * (years[n - 1] - start) - years[:n].mean()
            hinge = np.maximum(t - breaks[:, None], 0)
            hinge -= hinge.mean(axis=1, keepdims=True)
            hinge -= np.outer(hinge @ t / (t @ t), t)
            length = np.linalg.norm(hinge, axis=1, keepdims=True)
            hinges[look, :, :n] = np.divide(hinge, length, out=np.zeros_like(hinge), where=length > SHORTEST)
        return cls(years, counts, hinges)

    def statistics(self, paths: Floats) -> Floats:
        """Return the statistic of every path at every look, (paths, looks); ``paths`` is (paths, releases)."""
        looks, candidates, n = self.hinges.shape
        gains = paths @ self.hinges.reshape(-1, n).T
        best = gains.reshape(-1, looks, candidates).max(axis=2)
        return self._scaled(best, _unexplained(self.years, paths)[:, self.counts - 1])

    def statistics_by_look(self, values: Floats) -> Floats:
        """Return the statistic of each look when every look has its own estimates, ``values`` (looks, releases)."""
        best = np.einsum("lcn,ln->lc", self.hinges, values).max(axis=1)
        rest = np.array(
            [_unexplained(self.years[:n], row[None, :n])[0, -1] for row, n in zip(values, self.counts, strict=True)]
        )
        return self._scaled(best, rest)

    def _scaled(self, best: Floats, unexplained: Floats) -> Floats:
        """Divide by the residual standard deviation of the model with the kink."""
        freedom = np.maximum(self.counts - 3, 1)
        return best / np.sqrt(np.maximum(unexplained - best**2, np.finfo(float).tiny) / freedom)


def _unexplained(years: Floats, paths: Floats) -> Floats:
    """Sum of squares about the straight line through the first n releases, for every n, (paths, releases)."""
    t = years - years.mean()
    y = paths - paths.mean(axis=1, keepdims=True)
    n = np.arange(1, t.size + 1)
    sum_t, sum_y = np.cumsum(t), np.cumsum(y, axis=1)
    tt = np.cumsum(t * t) - sum_t**2 / n
    ty = np.cumsum(t * y, axis=1) - sum_t * sum_y / n
    yy = np.cumsum(y * y, axis=1) - sum_y**2 / n
    explained = np.divide(ty**2, tt, out=np.zeros_like(ty), where=tt > SAME)
    return np.asarray(yy - explained)
