"""The published model: score = σ(α_b (C_m − D_b)), ridge-penalised least squares, solved to its optimum.

With r the residuals, w their weights and N the number of free parameters, the objective (arXiv 2512.00193) is

    ½ [ Σ w r² + λ (Σ C² + Σ D² + Σ α² of the benchmarks that are not the anchor) / N ].

Every residual touches one C and one pair (D, α). The Hessian's C block is therefore diagonal and is eliminated; what
remains is a system of the size of the benchmark side (:mod:`mensura.stitching.elimination`). Damped Gauss-Newton steps
lead near the optimum, Newton steps with exact second derivatives end there; where these lead nowhere, as the matrix is
not definite, the next step takes a smaller share of what Gauss-Newton leaves out. Many reweighted problems (bootstrap
replicates, data up to a date) are solved at once, as arrays with one row per replicate.
"""

from dataclasses import dataclass, replace

import numpy as np

from mensura.core.arrays import Floats, Ints, Mask, expit, logit
from mensura.core.errors import MensuraError
from mensura.stitching.elimination import (
    DIRECT_BENCHMARKS,
    Point,
    expected_at,
    linearise_point,
    solve_system,
    split_unknowns,
)
from mensura.stitching.layout import ScoreLayout

RIDGE = 0.1
"""Strength λ of the published penalty."""
TOLERANCE = 1e-8
"""Largest component of the gradient at an optimum: about the square root of what double precision resolves."""
MOST_ITERATIONS = 200
FIRST_RATES = (0.02, 0.98)
"""Scores are drawn into this range before their logits start difficulties and capabilities."""
AT_ONCE = 48
"""Replicates worked on together: enough to spread the cost of a call, few enough to stay in the processor's cache."""
NEWTON_GRADIENT = 0.003
"""Below this largest gradient, per score of the busiest benchmark, second derivatives are used."""
BOUND = 10.0
"""Capabilities and difficulties stay within ± this."""
SLOPE_BOUNDS = (0.1, 10.0)
"""Published bounds of the slopes."""
FIRST_DAMPING, LEAST_DAMPING, HELD_DAMPING = 0.01, 1e-5, 1e-4
"""Share of the diagonal added at the start; below the least it is dropped; kept after a quarter step."""
RELAXED, TIGHTENED = 0.2, 5.0
"""Factors on the damping after a full step, and after none."""
REGAINED, LOST, LEAST_TRUST = 2.0, 0.25, 0.02
"""Factors on the share of second derivatives after a full step, and after none; below the least it is left out."""
LENGTHS = (1.0, 0.25)
"""Shares of a step that are tried, in this order, until the cost falls."""
ROUNDING = 1e-14
"""Relative rise of the cost that counts as none."""
LONGEST_STEP = 3.0
"""No parameter moves further than this in one step."""
STRETCHES = np.exp([-0.5, -0.25, -0.1, -0.03, 0.0, 0.03, 0.1, 0.25, 0.5])
"""Factors tried when the unit is chosen again."""


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """Hold one optimum per replicate.

    Attributes
    ----------
    C : array
        Capabilities (replicates, subjects).
    D, slope : array
        Difficulties and slopes (replicates, benchmarks).
    cost, gradient : array
        Objective, and largest component of the projected gradient, of every replicate.
    iterations : int
        Iterations of the slowest replicate.
    tolerance : float
        What the gradient had to come below.

    """

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


def penalty_weight(n_subjects: int, n_benchmarks: int, *, ridge: float = RIDGE, anchored: bool = True) -> float:
    """Return the ridge strength divided by the number of free parameters, as published.

    Parameters
    ----------
    n_subjects, n_benchmarks : int
        Size of the data.
    ridge : float
        Strength of the penalty.
    anchored : bool
        Whether one slope is fixed.

    Returns
    -------
    float
        λ/N.

    Examples
    --------
    >>> from mensura.stitching import penalty_weight
    >>> penalty_weight(179, 38) == 0.1 / 254
    True

    """
    return ridge / (n_subjects + 2 * n_benchmarks - anchored)


def solve_rosetta(
    layout: ScoreLayout,
    y: Floats,
    *,
    anchor: int | None = None,
    anchor_slope: float | None = None,
    weights: Floats | None = None,
    penalty: float | Floats | None = None,
    start: Solution | None = None,
    tolerance: float = TOLERANCE,
    max_iterations: int = MOST_ITERATIONS,
) -> Solution:
    """Minimise the published objective, for one data set or for many on the same layout at once.

    Parameters
    ----------
    layout : ScoreLayout
        Which subject and benchmark each score belongs to.
    y : array
        Scores (scores,) or (replicates, scores).
    anchor : int, optional
        Benchmark whose slope is fixed and unpenalised; its difficulty is free.
    anchor_slope : float, optional
        Slope of the anchor (default 1).
    weights : array, optional
        Weights of the scores, as ``y`` (default 1); 0 leaves a score out.
    penalty : float or array, optional
        λ/N, a number or one per replicate (default as published).
    start : Solution, optional
        Warm start of every replicate.
    tolerance, max_iterations
        When to stop.

    Returns
    -------
    Solution
        One optimum per replicate; the result is deterministic.

    Examples
    --------
    >>> import numpy as np
    >>> from mensura.stitching import ScoreLayout, solve_rosetta
    >>> layout = ScoreLayout.of([0, 0, 1, 1], [0, 1, 0, 1])
    >>> bool(solve_rosetta(layout, np.array([0.2, 0.4, 0.5, 0.8])).converged[0])
    True

    """
    if penalty is None:
        penalty = penalty_weight(layout.n_subjects, layout.n_benchmarks, anchored=anchor is not None)
    point = _start(layout, np.atleast_2d(y), weights, np.asarray(penalty, dtype=float), start)
    low, high = np.full(point.x.shape[1], -BOUND), np.full(point.x.shape[1], BOUND)
    low[-layout.n_benchmarks :], high[-layout.n_benchmarks :] = SLOPE_BOUNDS
    if anchor is not None:
        split_unknowns(layout, point.x)[2][:, anchor] = 1.0 if anchor_slope is None else anchor_slope
    elif anchor_slope is not None:
        raise MensuraError("anchor_slope: without an anchor it is not used; give anchor, or leave it out")
    point.expected[:] = expected_at(layout, point.x)
    replicates = len(point.x)
    damping, trust, share = np.full(replicates, FIRST_DAMPING), np.ones(replicates), np.zeros(replicates)
    cost, gradient = point.cost, np.empty(replicates)
    near = NEWTON_GRADIENT * float(np.bincount(layout.cols).max())
    iterations = np.zeros(replicates, dtype=int)
    active, waiting = np.arange(min(AT_ONCE, replicates)), min(AT_ONCE, replicates)
    while active.size:
        here = point if active.size == replicates else point.take(active)
        system = linearise_point(layout, here, damping[active], share[active])
        at_edge = ((here.x <= low) & (system.gradient > 0)) | ((here.x >= high) & (system.gradient < 0))
        if anchor is not None:
            split_unknowns(layout, at_edge)[2][:, anchor] = True
        system = system.holding(layout, at_edge)
        gradient[active] = np.abs(system.gradient).max(axis=1)
        unfinished = (gradient[active] >= tolerance) & (iterations[active] < max_iterations)
        if not unfinished.all():
            active, here, system = active[unfinished], here.take(unfinished), system.take(unfinished)
        if active.size:
            step, descends = solve_system(layout, system)
            full, any_length = _advance(layout, point, here, step, active, cost, descends, (low, high))
            curved = share[active] > 0
            damping[active] = _next_damping(damping[active], full, any_length, curved)
            trust[active] = _next_trust(trust[active], full, any_length, curved)
            share[active] = np.where((gradient[active] < near) & (trust[active] >= LEAST_TRUST), trust[active], 0.0)
            iterations[active] += 1
            stretched = active[any_length & (share[active] == 0)]
            if layout.n_benchmarks > DIRECT_BENCHMARKS and stretched.size:
                point.x[stretched] = np.clip(_stretch_unit(layout, point.take(stretched), anchor), low, high)
                point.expected[stretched] = expected_at(layout, point.x[stretched])
                cost[stretched] = point.take(stretched).cost
        fresh = min(AT_ONCE - active.size, replicates - waiting)
        if fresh:
            active, waiting = np.append(active, np.arange(waiting, waiting + fresh)), waiting + fresh
    C, D, slope = split_unknowns(layout, point.x)
    return Solution(C, D, slope, cost, gradient, int(iterations.max()), tolerance)


def _start(layout: ScoreLayout, y: Floats, weights: Floats | None, penalty: Floats, start: Solution | None) -> Point:
    """Lay out data and first parameters with one row per replicate.

    A cold start has slopes of 1: difficulties from the mean scores, capabilities from the logits above them.
    """
    w = np.ones((1, layout.n_scores)) if weights is None else np.atleast_2d(weights)
    p = penalty.reshape(-1, 1)
    replicates = max(y.shape[0], w.shape[0], p.shape[0])
    y, w = (np.broadcast_to(x, (replicates, layout.n_scores)) for x in (y, w))
    if start is not None:
        parts = start.C, start.D, start.slope
    else:
        mean = layout.over_benchmarks(w * y) / np.maximum(layout.over_benchmarks(w), 1e-12)
        D = -logit(np.clip(mean, *FIRST_RATES))
        above = logit(np.clip(y, *FIRST_RATES)) + np.take(D, layout.cols, axis=1)
        C = layout.over_subjects(w * above) / np.maximum(layout.over_subjects(w), 1e-12)
        parts = C, D, np.ones_like(D)
    x = np.broadcast_to(np.concatenate(parts, axis=1), (replicates, layout.n_subjects + 2 * layout.n_benchmarks))
    return Point(x.copy(), np.empty_like(y), y, w, np.broadcast_to(p, (replicates, 1)))


def _advance(
    layout: ScoreLayout,
    point: Point,
    here: Point,
    step: Floats,
    active: Ints,
    cost: Floats,
    descends: Mask,
    bounds: tuple[Floats, Floats],
) -> tuple[Mask, Mask]:
    """Take the full step, else a quarter of it, where that lowers the cost; say who took which.

    No part of it goes further than is sane, nor beyond the ``bounds``.
    """
    step = np.clip(step, -LONGEST_STEP, LONGEST_STEP)
    taken = []
    waiting = np.flatnonzero(descends)
    for length in LENGTHS:
        moved = np.zeros(active.size, dtype=bool)
        if waiting.size:
            at = here if waiting.size == active.size else here.take(waiting)
            x = np.clip(at.x + length * step[waiting], *bounds)
            trial = replace(at, x=x, expected=expected_at(layout, x))
            before, reached = cost[active[waiting]], trial.cost
            lower = reached <= before + ROUNDING * (1 + before)
            kept = active[waiting[lower]]
            point.x[kept], point.expected[kept], cost[kept] = x[lower], trial.expected[lower], reached[lower]
            moved[waiting[lower]] = True
            waiting = waiting[~lower]
        taken.append(moved)
    return taken[0], taken[0] | taken[1]


def _stretch_unit(layout: ScoreLayout, at: Point, anchor: int | None) -> Floats:
    """Return parameters with the best unit of C and D, slopes following; the anchor's scores and the penalty feel it.

    With many benchmarks the cost falls very slowly along this curve, and Newton steps, being straight, crawl.
    """
    C, D, slope = split_unknowns(layout, at.x)
    mine = np.flatnonzero(layout.cols == (-1 if anchor is None else anchor))
    rows, cols, free = layout.rows[mine], layout.cols[mine], np.arange(layout.n_benchmarks) != anchor
    eta = slope[:, cols] * (C[:, rows] - D[:, cols])
    spread, steep = (C**2).sum(axis=1) + (D**2).sum(axis=1), (slope**2 * free).sum(axis=1)
    costs = [
        (at.weights[:, mine] * (expit(factor * eta) - at.y[:, mine]) ** 2).sum(axis=1)
        + at.penalty[:, 0] * (factor**2 * spread + steep / factor**2)
        for factor in STRETCHES
    ]
    factor = STRETCHES[np.argmin(costs, axis=0)][:, None]
    return np.concatenate((C * factor, D * factor, np.where(free, slope / factor, slope)), axis=1)


def _next_damping(damping: Floats, full: Mask, any_length: Mask, curved: Mask) -> Floats:
    """Relax fivefold after a full step, tighten fivefold after none; not where second derivatives were to blame."""
    relaxed = np.where(damping > LEAST_DAMPING, RELAXED * damping, 0.0)
    none = np.where(curved, damping, np.maximum(TIGHTENED * damping, FIRST_DAMPING))
    return np.where(full, relaxed, np.where(any_length, np.maximum(damping, HELD_DAMPING), none))


def _next_trust(trust: Floats, full: Mask, any_length: Mask, curved: Mask) -> Floats:
    """Double the share of second derivatives after a full step, quarter it where a step with them led nowhere."""
    regained = np.where(full, np.minimum(REGAINED * trust, 1.0), trust)
    return np.where(curved & ~any_length, LOST * trust, regained)
