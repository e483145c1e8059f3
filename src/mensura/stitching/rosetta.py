"""The published model: score = σ(α_b (C_m − D_b)), ridge-penalised least squares, solved to its optimum.

With r the residuals, w their weights and N the number of free parameters, the objective (arXiv 2512.00193) is

    ½ [ Σ w r² + λ (Σ C² + Σ D² + Σ α² of the benchmarks that are not the anchor) / N ].

Every residual touches one C and one pair (D, α). The Hessian's C block is therefore diagonal and is eliminated; what
remains is a system of the size of the benchmark side (:mod:`mensura.stitching.elimination`). Damped Gauss-Newton steps
lead near the optimum, Newton steps with exact second derivatives end there; where these lead nowhere, as the matrix is
not definite, the next step takes a smaller share of what Gauss-Newton leaves out. Many reweighted problems (bootstrap
replicates, data up to a date) are solved at once, as arrays with one row per replicate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, Mask, logit
from mensura.core.results import Result
from mensura.stitching.convergence import warn_unconverged
from mensura.stitching.elimination import DIRECT_BENCHMARKS, solve_system
from mensura.stitching.layout import ScoreLayout
from mensura.stitching.rosetta_steps import (
    FIRST_DAMPING,
    LEAST_TRUST,
    Point,
    advance_point,
    expected_at,
    linearise_point,
    next_damping,
    next_trust,
    stretch_unit,
)

RIDGE = 0.1
"""Strength λ of the published penalty."""
TOLERANCE = 1e-8
"""Largest component of the gradient at an optimum: about the square root of what double precision resolves."""
MOST_ITERATIONS = 200
FIRST_RATES = (0.02, 0.98)
"""Mean scores are drawn into this range before their logit starts a difficulty."""
AT_ONCE = 48
"""Replicates worked on together: enough to spread the cost of a call, few enough to stay in the processor's cache."""
NEWTON_GRADIENT = 0.003
"""Below this largest gradient, per score of the busiest benchmark, second derivatives are used."""


@dataclass(frozen=True, eq=False, repr=False)
class Solution(Result):
    """One optimum per replicate: ``C`` (replicates, subjects), ``D`` and ``slope`` (replicates, benchmarks).

    ``gradient`` is the largest component of the projected gradient, which had to come below ``tolerance``;
    ``iterations`` is the count of the slowest replicate. ``ends``: replicate, cost, gradient, converged.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("ends",)
    DIGITS: ClassVar[int] = 10

    C: Floats
    D: Floats
    slope: Floats
    cost: Floats
    gradient: Floats
    iterations: int
    tolerance: float

    @property
    def converged(self) -> Mask:
        """Whether the gradient vanished, for every replicate."""
        return np.asarray(self.gradient < self.tolerance)

    @property
    def warnings(self) -> tuple[str, ...]:
        """How many replicates did not arrive."""
        return warn_unconverged(int(np.count_nonzero(~self.converged)), self.cost.size, "replicates")

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        subjects, benchmarks = self.C.shape[1], self.D.shape[1]
        return f"{len(self.cost)} fits of {subjects} subjects and {benchmarks} benchmarks, {self.iterations} iterations"

    @property
    def ends(self) -> pl.DataFrame:
        """How each replicate ended: replicate, cost, gradient, converged."""
        columns = {"cost": self.cost, "gradient": self.gradient, "converged": self.converged}
        return pl.DataFrame(columns).with_row_index("replicate")


def penalty_weight(n_subjects: int, n_benchmarks: int, *, ridge: float = RIDGE, anchored: bool = True) -> float:
    """Return the ridge strength divided by the number of free parameters, as published."""
    return ridge / (n_subjects + 2 * n_benchmarks - anchored)


def solve_rosetta(
    layout: ScoreLayout,
    y: Floats,
    *,
    anchor: int | None = None,
    anchor_slope: float = 1.0,
    weights: Floats | None = None,
    penalty: float | Floats | None = None,
    start: Solution | None = None,
    tolerance: float = TOLERANCE,
    max_iterations: int = MOST_ITERATIONS,
) -> Solution:
    """Minimise the published objective, for one data set or for many on the same layout at once.

    ``y`` and ``weights`` (default ones) are (scores,) or (replicates, scores), in the order of ``layout``; a weight of
    zero leaves a score out. ``penalty`` is λ/N, a number or one per replicate (default as published). ``anchor`` is
    the benchmark whose slope is fixed and unpenalised; its difficulty is not moved to zero here (see
    :func:`shift_to_anchor`). ``start`` warm-starts every replicate. The result is deterministic.
    """
    if penalty is None:
        penalty = penalty_weight(layout.n_subjects, layout.n_benchmarks, anchored=anchor is not None)
    point = _start(layout, np.atleast_2d(y), weights, np.asarray(penalty, dtype=float), start)
    if anchor is not None:
        point.slope[:, anchor] = anchor_slope
    point.expected[:] = expected_at(layout, point.C, point.D, point.slope)
    replicates = point.C.shape[0]
    damping, trust, share = np.full(replicates, FIRST_DAMPING), np.ones(replicates), np.zeros(replicates)
    cost, gradient = np.empty(replicates), np.empty(replicates)
    near = NEWTON_GRADIENT * float(np.bincount(layout.cols).max())
    iterations = np.zeros(replicates, dtype=int)
    active, waiting = np.arange(min(AT_ONCE, replicates)), min(AT_ONCE, replicates)
    while active.size:
        here = point if active.size == replicates else point.take(active)
        cost[active], system = linearise_point(layout, here, anchor, damping[active], share[active])
        gradient[active] = system.largest_gradient
        unfinished = (gradient[active] >= tolerance) & (iterations[active] < max_iterations)
        if not unfinished.all():
            active, here, system = active[unfinished], here.take(unfinished), system.take(unfinished)
        if active.size:
            step, descends = solve_system(layout, system)
            full, any_length = advance_point(layout, point, here, step, active, cost[active], descends)
            curved = share[active] > 0
            damping[active] = next_damping(damping[active], full, any_length, curved)
            trust[active] = next_trust(trust[active], full, any_length, curved)
            share[active] = np.where((gradient[active] < near) & (trust[active] >= LEAST_TRUST), trust[active], 0.0)
            iterations[active] += 1
            if layout.n_benchmarks > DIRECT_BENCHMARKS:
                stretch_unit(layout, point, anchor, active[any_length & (share[active] == 0)])
        fresh = min(AT_ONCE - active.size, replicates - waiting)
        if fresh:
            active, waiting = np.append(active, np.arange(waiting, waiting + fresh)), waiting + fresh
    return Solution(point.C, point.D, point.slope, cost, gradient, int(iterations.max()), tolerance)


def shift_to_anchor(solution: Solution, anchor: int, difficulty: float = 0.0) -> Solution:
    """Move C and D together so that the anchor benchmark has the given difficulty in every replicate."""
    shift = solution.D[:, [anchor]] - difficulty
    return replace(solution, C=solution.C - shift, D=solution.D - shift)


def _start(layout: ScoreLayout, y: Floats, weights: Floats | None, penalty: Floats, start: Solution | None) -> Point:
    """Lay out data and first parameters with one row per replicate; cold starts are C = 0, α = 1, D from the mean."""
    w = np.ones((1, layout.n_scores)) if weights is None else np.atleast_2d(weights)
    p = penalty.reshape(-1, 1)
    replicates = max(y.shape[0], w.shape[0], p.shape[0])

    def rows(x: Floats, width: int) -> Floats:
        return np.broadcast_to(x, (replicates, width))

    y, w, p = rows(y, layout.n_scores), rows(w, layout.n_scores), rows(p, 1)
    if start is not None:
        C, D, slope = start.C, start.D, start.slope
    else:
        total = np.maximum(layout.over_benchmarks(w), 1e-12)
        mean = np.clip(layout.over_benchmarks(w * y) / total, *FIRST_RATES)
        C, D, slope = (
            np.zeros((1, layout.n_subjects)),
            -logit(mean),
            np.ones((1, layout.n_benchmarks)),
        )
    n, b = layout.n_subjects, layout.n_benchmarks
    return Point(rows(C, n).copy(), rows(D, b).copy(), rows(slope, b).copy(), np.empty_like(y), y, w, p)
