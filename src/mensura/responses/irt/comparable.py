"""Answers that can be fitted with other parameters of some items in some groups: right and wrong ones, and ratings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mensura.core.arrays import Floats
from mensura.responses.irt import categories as rated
from mensura.responses.irt.category_curves import CategoryItems
from mensura.responses.irt.fitting import Effort, Fitted, climb
from mensura.responses.irt.information import gradient
from mensura.responses.irt.model import Parameters
from mensura.responses.irt.namespace import Namespace, namespace
from mensura.responses.irt.passes import Grid, NodeTables, PassSums, tally
from mensura.responses.irt.priors import Priors, group_prior_terms, prior_terms
from mensura.responses.irt.shards import Held, thinned

_MOST_WORK = 4e8
"""Subjects × items² up to which all subjects are tested; of more, a sample is."""
Maps = Sequence[np.ndarray[Any, np.dtype[np.int64]]]
"""Of every group, the place of each item's parameters among all parameters."""


@dataclass(frozen=True)
class RightAnswers:
    """Right and wrong answers, one shard or more per group."""

    space: Namespace
    held: Held
    priors: Priors

    @classmethod
    def some(cls, space: Namespace, held: Held, priors: Priors) -> RightAnswers:
        """Return the answers, of a sample of subjects where the tests of all would take long."""
        most = max(1000, int(_MOST_WORK / held.items**2))
        exact = namespace(double=True) if space.device == "numpy" else space
        return cls(exact, thinned(held, most) if held.subjects > most else held, priors)

    @property
    def sizes(self) -> list[int]:
        """Subjects of every group."""
        return [sum(len(part) for part in self.held.parts if part.group == one) for one in range(self.held.groups)]

    def _sums(self, p: Parameters, grid: Grid, by_node: bool, maps: Maps) -> PassSums:
        total: PassSums | None = None
        for part in self.held.parts:
            own = maps[part.group]
            tables = NodeTables(self.space, p.of_items(own), grid, by_node=by_node)
            sums = tally(self.space, part, tables, self.held.groups, complete=self.held.complete)
            right, taken = np.zeros((len(p.slope), sums.right.shape[1])), np.zeros((len(p.slope), len(grid.nodes)))
            right[own], taken[own] = sums.right, sums.taken
            sums = PassSums(right, taken, sums.mass, sums.spread, sums.evidence, sums.subjects)
            total = sums if total is None else total + sums
        assert total is not None
        return total

    def solve(self, p: Parameters, maps: Maps) -> Fitted:
        """Fit from ``p`` on."""

        def run(parameters: Parameters, grid: Grid, by_node: bool) -> PassSums:
            return self._sums(parameters, grid, by_node, maps)

        return climb(run, p, self.priors, Effort(tolerance=0.003, passes=60))

    def at(self, p: Parameters, maps: Maps) -> tuple[float, Floats]:
        """Return log posterior and gradient."""
        grid = Grid.over(p.mean, p.sd)
        sums = self._sums(p, grid, False, maps)
        height = sums.evidence + prior_terms(p, self.priors)[0] + group_prior_terms(p, self.priors.groups)[0]
        return height, np.concatenate([part.ravel() for part in gradient(p, grid, sums, self.priors)])


@dataclass(frozen=True)
class RatedAnswers:
    """Answers in categories, one part per group."""

    space: Namespace
    parts: Sequence[rated.CategoryCounts]
    prior: rated.CategoryPrior | None

    @property
    def sizes(self) -> list[int]:
        """Subjects of every group."""
        return [len(part) for part in self.parts]

    def _own(self, maps: Maps) -> list[rated.CategoryCounts]:
        return [replace(part, places=maps[part.group]) for part in self.parts]

    def solve(self, p: CategoryItems, maps: Maps) -> rated.CategoryFitted:
        """Fit from ``p`` on."""
        return rated.fit_categories_held(self.space, self._own(maps), p, self.prior, exact=False)

    def at(self, p: CategoryItems, maps: Maps) -> tuple[float, Floats]:
        """Return log posterior and gradient."""
        return rated.height_and_gradient(self.space, self._own(maps), p, self.prior)


Comparable = RightAnswers | RatedAnswers
"""Answers that can be fitted with other parameters of some items in some groups."""
