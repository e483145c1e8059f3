"""One step of the published model's solver: the linear system at a point, the move, its damping, the choice of unit.

Every array has one row per replicate, so that many reweighted problems step together.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from mensura.core.arrays import Floats, Ints, Mask, expit
from mensura.stitching.elimination import Step, System
from mensura.stitching.layout import ScoreLayout

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
STRETCHES = np.array([-0.5, -0.25, -0.1, -0.03, 0.0, 0.03, 0.1, 0.25, 0.5])
"""Logarithms of the factors tried when the unit is chosen anew."""


@dataclass(frozen=True)
class Point:
    """Parameters, expected scores there and data of some replicates; every array has one row per replicate."""

    C: Floats
    D: Floats
    slope: Floats
    expected: Floats
    y: Floats
    weights: Floats
    penalty: Floats

    def take(self, which: Ints | Mask) -> Point:
        """Keep some replicates."""
        return Point(*(getattr(self, field.name)[which] for field in fields(self)))


def expected_at(layout: ScoreLayout, C: Floats, D: Floats, slope: Floats) -> Floats:
    """Return the expected score σ(α(C − D)) of every score.

    In place, because half the time of a fit is spent here; the bounds keep |α(C − D)| below 200, so nothing overflows.
    """
    distance = np.take(C, layout.rows, axis=1)
    distance -= np.take(D, layout.cols, axis=1)
    distance *= np.take(-slope, layout.cols, axis=1)
    np.exp(distance, out=distance)
    distance += 1
    return np.divide(1, distance, out=distance)


def _ridge(at: Point) -> Floats:
    """Sum of squares of all parameters; the anchor's constant share is counted too, as it cancels in comparisons."""
    return np.asarray(sum(np.einsum("ij,ij->i", x, x) for x in (at.C, at.D, at.slope)))


def _cost(at: Point) -> Floats:
    """Objective of every replicate."""
    residual = at.expected - at.y
    squares = np.einsum("ij,ij,ij->i", at.weights, residual, residual)
    return np.asarray(0.5 * (squares + at.penalty[:, 0] * _ridge(at)))


def linearise_point(
    layout: ScoreLayout, at: Point, anchor: int | None, damping: Floats, share: Floats
) -> tuple[Floats, System]:
    """Return the cost and the linear system of the next step at a point.

    With η = α(C − D), s = σ(η): first and second derivative of ½ w r² in η are g = w r s' and h = w (s'² + r s'').
    Of r s'' and the curvature of η only a ``share`` is counted (0: Gauss-Newton, 1: Newton), and the diagonal grows by
    ``damping`` (Levenberg-Marquardt).
    """
    slope = np.take(at.slope, layout.cols, axis=1)
    distance = np.take(at.C, layout.rows, axis=1) - np.take(at.D, layout.cols, axis=1)
    s = at.expected
    ds = s * (1 - s)
    h = at.weights * ds
    g = h * (s - at.y)
    h *= ds
    if share.any():
        h += share[:, None] * (g * (1 - 2 * s))
    h_slope = h * slope
    h_slope2, twist = h_slope * slope, h_slope * distance
    if share.any():
        twist += share[:, None] * g
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


def advance_point(
    layout: ScoreLayout,
    point: Point,
    here: Point,
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


def _held(at: Point, system: System, anchor: int | None) -> tuple[Mask, Mask, Mask]:
    """Mark the parameters that stay: the anchor's slope, and those at a bound with the gradient pointing outward."""
    low, high = SLOPE_BOUNDS

    def pinned(x: Floats, gradient: Floats, lowest: float, highest: float) -> Mask:
        return np.asarray(((x <= lowest) & (gradient > 0)) | ((x >= highest) & (gradient < 0)))

    slopes = pinned(at.slope, system.g_second, low, high)
    if anchor is not None:
        slopes[:, anchor] = True
    return pinned(at.C, system.g_subject, -BOUND, BOUND), pinned(at.D, system.g_first, -BOUND, BOUND), slopes


def _moved(layout: ScoreLayout, at: Point, step: Step, which: Ints, length: float) -> Point:
    """Take a step of that length, no part of it further than is sane, and stay within the bounds."""
    dC, dD, ds = (length * np.clip(part[which], -LONGEST_STEP, LONGEST_STEP) for part in step)
    C, D = np.clip(at.C + dC, -BOUND, BOUND), np.clip(at.D + dD, -BOUND, BOUND)
    slope = np.clip(at.slope + ds, *SLOPE_BOUNDS)
    return replace(at, C=C, D=D, slope=slope, expected=expected_at(layout, C, D, slope))


def next_damping(damping: Floats, full: Mask, any_length: Mask, curved: Mask) -> Floats:
    """Relax fivefold after a full step, tighten fivefold after none; not where second derivatives were to blame."""
    relaxed = np.where(damping > LEAST_DAMPING, RELAXED * damping, 0.0)
    none = np.where(curved, damping, np.maximum(TIGHTENED * damping, FIRST_DAMPING))
    return np.where(full, relaxed, np.where(any_length, np.maximum(damping, HELD_DAMPING), none))


def next_trust(trust: Floats, full: Mask, any_length: Mask, curved: Mask) -> Floats:
    """Double the share of second derivatives after a full step, quarter it where a step with them led nowhere."""
    regained = np.where(full, np.minimum(REGAINED * trust, 1.0), trust)
    return np.where(curved & ~any_length, LOST * trust, regained)


def stretch_unit(layout: ScoreLayout, point: Point, anchor: int | None, which: Ints) -> None:
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
    point.expected[which] = expected_at(layout, point.C[which], point.D[which], slope)
