"""The published model: score = σ(α_b (C_m − D_b)), ridge-penalised least squares, solved to its optimum.

With r the residuals, w their weights and N the number of free parameters, the objective (arXiv 2512.00193) is

    ½ [ Σ w r² + λ (Σ C² + Σ D² + Σ α² of the benchmarks that are not the anchor) / N ].

Every residual touches one C and one pair (D, α). The Hessian's C block is therefore diagonal and is eliminated; what
remains is a system of the size of the benchmark side (:mod:`mensura.stitching.elimination`). Damped Gauss-Newton steps
lead near the optimum, Newton steps with exact second derivatives end there. Many reweighted problems (bootstrap
replicates, data up to a date) are solved at once, as arrays with one row per replicate.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import ClassVar

import numpy as np
import polars as pl

from mensura.arrays import Floats, Ints, Mask, expit, logit
from mensura.results import Result
from mensura.stitching.convergence import warn_unconverged
from mensura.stitching.elimination import DIRECT_BENCHMARKS, Step, System, solve_system
from mensura.stitching.layout import ScoreLayout

RIDGE = 0.1
"""Strength λ of the published penalty."""
TOLERANCE = 1e-8
"""Largest component of the gradient at an optimum: about the square root of what double precision resolves."""
MOST_ITERATIONS = 200
BOUND = 10.0
"""Capabilities and difficulties stay within ± this."""
SLOPE_BOUNDS = (0.1, 10.0)
"""Published bounds of the slopes."""
FIRST_DAMPING, LEAST_DAMPING, HELD_DAMPING = 0.01, 1e-5, 1e-4
"""Share of the diagonal added at the start; below the least it is dropped; kept after a quarter step."""
RELAXED, TIGHTENED = 0.2, 5.0
"""Factors on the damping after a full step, and after none."""
LENGTHS = (1.0, 0.25)
"""Shares of a step that are tried, in this order, until the cost falls."""
ROUNDING = 1e-14
"""Relative rise of the cost that counts as none."""
LONGEST_STEP = 3.0
"""No parameter moves further than this in one step."""
FIRST_RATES = (0.02, 0.98)
"""Mean scores are drawn into this range before their logit starts a difficulty."""
STRETCHES = np.array([-0.5, -0.25, -0.1, -0.03, 0.0, 0.03, 0.1, 0.25, 0.5])
"""Logarithms of the factors tried when the unit is chosen anew."""
AT_ONCE = 48
"""Replicates worked on together: enough to spread the cost of a call, few enough to stay in the processor's cache."""
NEWTON_GRADIENT = 0.003
"""Below this largest gradient, per score of the busiest benchmark, exact second derivatives are used."""


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


@dataclass(frozen=True)
class _Point:
    """Parameters, expected scores there and data of some replicates; every array has one row per replicate."""

    C: Floats
    D: Floats
    slope: Floats
    expected: Floats
    y: Floats
    weights: Floats
    penalty: Floats

    def take(self, which: Ints | Mask) -> _Point:
        return _Point(*(getattr(self, field.name)[which] for field in fields(self)))


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
    point.expected[:] = _expected(layout, point.C, point.D, point.slope)
    replicates = point.C.shape[0]
    damping, exact = np.full(replicates, FIRST_DAMPING), np.zeros(replicates, dtype=bool)
    cost, gradient = np.empty(replicates), np.empty(replicates)
    near = NEWTON_GRADIENT * float(np.bincount(layout.cols).max())
    iterations = np.zeros(replicates, dtype=int)
    active, waiting = np.arange(min(AT_ONCE, replicates)), min(AT_ONCE, replicates)
    while active.size:
        here = point if active.size == replicates else point.take(active)
        cost[active], system = _linearise(layout, here, anchor, damping[active], exact[active])
        gradient[active] = system.largest_gradient
        unfinished = (gradient[active] >= tolerance) & (iterations[active] < max_iterations)
        if not unfinished.all():
            active, here, system = active[unfinished], here.take(unfinished), system.take(unfinished)
        if active.size:
            step, descends = solve_system(layout, system)
            full, any_length = _advance(layout, point, here, step, active, cost[active], descends)
            exact[active] = any_length & (gradient[active] < near)
            damping[active] = _next_damping(damping[active], full, any_length, exact[active])
            iterations[active] += 1
            if layout.n_benchmarks > DIRECT_BENCHMARKS:
                _stretch(layout, point, anchor, active[any_length & ~exact[active]])
        fresh = min(AT_ONCE - active.size, replicates - waiting)
        if fresh:
            active, waiting = np.append(active, np.arange(waiting, waiting + fresh)), waiting + fresh
    return Solution(point.C, point.D, point.slope, cost, gradient, int(iterations.max()), tolerance)


def shift_to_anchor(solution: Solution, anchor: int, difficulty: float = 0.0) -> Solution:
    """Move C and D together so that the anchor benchmark has the given difficulty in every replicate."""
    shift = solution.D[:, [anchor]] - difficulty
    return replace(solution, C=solution.C - shift, D=solution.D - shift)


def _start(layout: ScoreLayout, y: Floats, weights: Floats | None, penalty: Floats, start: Solution | None) -> _Point:
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
    return _Point(rows(C, n).copy(), rows(D, b).copy(), rows(slope, b).copy(), np.empty_like(y), y, w, p)


def _expected(layout: ScoreLayout, C: Floats, D: Floats, slope: Floats) -> Floats:
    """Return the expected score σ(α(C − D)) of every score.

    In place, because half the time of a fit is spent here; the bounds keep |α(C − D)| below 200, so nothing overflows.
    """
    distance = np.take(C, layout.rows, axis=1)
    distance -= np.take(D, layout.cols, axis=1)
    distance *= np.take(-slope, layout.cols, axis=1)
    np.exp(distance, out=distance)
    distance += 1
    return np.divide(1, distance, out=distance)


def _ridge(at: _Point) -> Floats:
    """Sum of squares of all parameters; the anchor's constant share is counted too, as it cancels in comparisons."""
    return np.asarray(sum(np.einsum("ij,ij->i", x, x) for x in (at.C, at.D, at.slope)))


def _cost(at: _Point) -> Floats:
    """Objective of every replicate."""
    residual = at.expected - at.y
    squares = np.einsum("ij,ij,ij->i", at.weights, residual, residual)
    return np.asarray(0.5 * (squares + at.penalty[:, 0] * _ridge(at)))


def _linearise(
    layout: ScoreLayout, at: _Point, anchor: int | None, damping: Floats, exact: Mask
) -> tuple[Floats, System]:
    """Return the cost and the linear system of the next step at a point.

    With η = α(C − D), s = σ(η): first and second derivative of ½ w r² in η are g = w r s' and h = w (s'² + r s'').
    Replicates that are not ``exact`` leave out r s'' and the curvature of η (Gauss-Newton), and their diagonal grows by
    ``damping`` (Levenberg-Marquardt).
    """
    slope = np.take(at.slope, layout.cols, axis=1)
    distance = np.take(at.C, layout.rows, axis=1) - np.take(at.D, layout.cols, axis=1)
    s = at.expected
    ds = s * (1 - s)
    h = at.weights * ds
    g = h * (s - at.y)
    h *= ds
    if exact.any():
        h += exact[:, None] * (g * (1 - 2 * s))
    h_slope = h * slope
    h_slope2, twist = h_slope * slope, h_slope * distance
    if exact.any():
        twist += exact[:, None] * g
    g_slope = g * slope
    growth = 1 + damping[:, None]
    system = System(
        g_subject=layout.over_subjects(g_slope) + at.penalty * at.C,
        g_first=-layout.over_benchmarks(g_slope) + at.penalty * at.D,
        g_second=layout.over_benchmarks(g * distance) + at.penalty * at.slope,
        subject=growth * (layout.over_subjects(h_slope2) + at.penalty),
        first=growth * (layout.over_benchmarks(h_slope2) + at.penalty),
        mixed=-layout.over_benchmarks(twist),
        second=growth * (layout.over_benchmarks(h * distance * distance) + at.penalty),
        cross_first=-h_slope2,
        cross_second=twist,
    )
    return _cost(at), system.holding(layout, *_held(at, system, anchor))


def _advance(
    layout: ScoreLayout,
    point: _Point,
    here: _Point,
    step: Step,
    active: Ints,
    cost: Floats,
    descends: Mask,
) -> tuple[Mask, Mask]:
    """Take the full step, else a quarter of it, where that lowers the cost; say who took which."""
    taken = []
    waiting = np.flatnonzero(descends)
    for length in LENGTHS:
        moved = np.zeros(active.size, dtype=bool)
        if waiting.size:
            trial = _moved(layout, here if waiting.size == active.size else here.take(waiting), step, waiting, length)
            lower = _cost(trial) <= cost[waiting] + ROUNDING * (1 + cost[waiting])
            kept = active[waiting[lower]]
            point.C[kept], point.D[kept], point.slope[kept] = trial.C[lower], trial.D[lower], trial.slope[lower]
            point.expected[kept] = trial.expected[lower]
            moved[waiting[lower]] = True
            waiting = waiting[~lower]
        taken.append(moved)
    return taken[0], taken[0] | taken[1]


def _held(at: _Point, system: System, anchor: int | None) -> tuple[Mask, Mask, Mask]:
    """Mark the parameters that stay: the anchor's slope, and those at a bound with the gradient pointing outward."""
    low, high = SLOPE_BOUNDS

    def pinned(x: Floats, gradient: Floats, lowest: float, highest: float) -> Mask:
        return np.asarray(((x <= lowest) & (gradient > 0)) | ((x >= highest) & (gradient < 0)))

    slopes = pinned(at.slope, system.g_second, low, high)
    if anchor is not None:
        slopes[:, anchor] = True
    return pinned(at.C, system.g_subject, -BOUND, BOUND), pinned(at.D, system.g_first, -BOUND, BOUND), slopes


def _stretch(layout: ScoreLayout, point: _Point, anchor: int | None, which: Ints) -> None:
    """Choose the unit of C and D anew, slopes following; only the anchor's scores and the penalty feel it.

    With many benchmarks the cost falls very slowly along this curve, and Newton steps, being straight, crawl. The best
    of a few factors is found on the curve itself.
    """
    if which.size == 0:
        return
    at = point.take(which)
    mine = np.flatnonzero(layout.cols == anchor) if anchor is not None else np.zeros(0, dtype=np.int64)
    distance = at.C[:, layout.rows[mine]] - (at.D[:, [anchor]] if anchor is not None else 0.0)
    distance = distance * (at.slope[:, [anchor]] if anchor is not None else 1.0)
    spread = np.einsum("ij,ij->i", at.C, at.C) + np.einsum("ij,ij->i", at.D, at.D)
    slopes = np.delete(at.slope, anchor, axis=1) if anchor is not None else at.slope
    steep = np.einsum("ij,ij->i", slopes, slopes)
    y, w = at.y[:, mine], at.weights[:, mine]

    def cost(log_factor: Floats) -> Floats:
        factor = np.exp(log_factor)
        residual = expit(factor[:, None] * distance) - y
        ridge = at.penalty[:, 0] * (factor**2 * spread + steep / factor**2)
        return np.asarray(np.einsum("ij,ij,ij->i", w, residual, residual) + ridge)

    costs = np.stack([cost(np.full(which.size, value)) for value in STRETCHES])
    factor = np.exp(STRETCHES[costs.argmin(axis=0)])[:, None]
    point.C[which], point.D[which] = np.clip(at.C * factor, -BOUND, BOUND), np.clip(at.D * factor, -BOUND, BOUND)
    slope = np.clip(at.slope / factor, *SLOPE_BOUNDS)
    if anchor is not None:
        slope[:, anchor] = at.slope[:, anchor]
    point.slope[which] = slope
    point.expected[which] = _expected(layout, point.C[which], point.D[which], slope)


def _moved(layout: ScoreLayout, at: _Point, step: Step, which: Ints, length: float) -> _Point:
    """Take a step of that length, no part of it further than is sane, and stay within the bounds."""
    dC, dD, ds = (length * np.clip(part[which], -LONGEST_STEP, LONGEST_STEP) for part in step)
    C, D = np.clip(at.C + dC, -BOUND, BOUND), np.clip(at.D + dD, -BOUND, BOUND)
    slope = np.clip(at.slope + ds, *SLOPE_BOUNDS)
    return replace(at, C=C, D=D, slope=slope, expected=_expected(layout, C, D, slope))


def _next_damping(damping: Floats, full: Mask, any_length: Mask, exact: Mask) -> Floats:
    """Relax fivefold after a full step, tighten fivefold after none; Newton steps go undamped."""
    relaxed = np.where(damping > LEAST_DAMPING, RELAXED * damping, 0.0)
    held = np.where(any_length, np.maximum(damping, HELD_DAMPING), np.maximum(TIGHTENED * damping, FIRST_DAMPING))
    return np.where(exact, 0.0, np.where(full, relaxed, held))
