"""Anderson's acceleration: the few directions in which steps fall short are learned from the steps before.

Newton's step with an approximate information errs in a handful of directions that all items share (where the scale
lies, how wide it is). Over the last steps f₁ … fₖ at x₁ … xₖ the combination with the shortest step is sought, and
its point is where the next step starts.
"""

from __future__ import annotations

import numpy as np

from mensura.core.arrays import Floats

MEMORY = 4
_RIDGE = 1e-8


class Anderson:
    """Remembers points and steps; lengths of steps are measured in standard errors."""

    def __init__(self) -> None:
        self._points: list[Floats] = []
        self._steps: list[Floats] = []

    def forget(self) -> None:
        """Begin anew: the steps before have misled."""
        self._points.clear()
        self._steps.clear()

    def improved(self, point: Floats, step: Floats, errors: Floats) -> Floats:
        """Return the step to take from a point, given the plain one."""
        self._points = [*self._points[-MEMORY:], point]
        self._steps = [*self._steps[-MEMORY:], step]
        if len(self._steps) == 1:
            return step
        across = np.diff(np.array(self._points), axis=0)
        change = np.diff(np.array(self._steps), axis=0)
        scaled = change / errors
        gram = scaled @ scaled.T
        gram[np.diag_indices_from(gram)] *= 1.0 + _RIDGE
        share = np.linalg.solve(gram + 1e-300 * np.eye(len(gram)), scaled @ (step / errors))
        better: Floats = step - share @ (across + change)
        return better
