"""Synthetic worlds: a stream of releases, a ladder of benchmarks and the scores between them, with or without a change.

The published set-up (arXiv 2512.00193) is ``PUBLISHED``: releases spread evenly over 2024 to 2030, capability rising
by 3.5 in all with a scatter of 0.2, benchmarks half a unit ahead with slopes from 3 to 10, and a quarter of the pairs
whose expected score lies in [0.05, 0.95] evaluated with an error of 0.025. :func:`fit_world` describes any table of
scores in the same terms, which is how a watch is calibrated on data at hand.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mensura.stitching import Layout, Solution, solve_rosetta

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

RIDGE = 0.1
WEAK_RIDGE = 0.01
"""For describing a world: strong enough to settle the unit, too weak to flatten slopes and bend the scale."""


@dataclass(frozen=True)
class WorldModel:
    """How releases, benchmarks and scores come about when nothing changes.

    Capability is ``level`` at ``start`` and gains ``pace`` a year, with standard deviation ``scatter`` among releases;
    difficulties spread evenly from ``easiest`` to ``hardest``, with deviation ``jitter``; slopes are drawn from
    ``slopes``; a pair whose expected score lies within ``visible`` is evaluated with probability ``evaluated``.
    """

    start: float
    until: float
    models: int
    benchmarks: int
    level: float
    pace: float
    scatter: float
    easiest: float
    hardest: float
    jitter: float
    slopes: Floats
    visible: tuple[float, float]
    evaluated: float
    score_error: float

    def noisier(self, factor: float) -> WorldModel:
        """Multiply the three sources of noise, as the published study does."""
        return replace(
            self,
            scatter=factor * self.scatter,
            jitter=factor * self.jitter,
            score_error=factor * self.score_error,
        )


PUBLISHED = WorldModel(
    start=2024.0,
    until=2030.0,
    models=180,
    benchmarks=60,
    level=0.0,
    pace=3.5 / 6,
    scatter=0.2,
    easiest=0.5,
    hardest=4.0,
    jitter=0.2,
    slopes=np.linspace(3, 10, 1001),
    visible=(0.05, 0.95),
    evaluated=0.25,
    score_error=0.025,
)


@dataclass(frozen=True)
class World:
    """Scores of one world, sorted by release: score i is release ``rows[i]`` on benchmark ``cols[i]``."""

    years: Floats
    rows: Ints
    cols: Ints
    scores: Floats


def make_world(
    model: WorldModel,
    rng: np.random.Generator,
    *,
    change: float | None = None,
    acceleration: float = 1.0,
    share: float = 1.0,
) -> World:
    """Draw one world; from year ``change`` on, a ``share`` of the releases improves ``acceleration`` times as fast."""
    years = np.sort(rng.uniform(model.start, model.until, model.models))
    since = np.maximum(years - (model.until if change is None else change), 0)
    faster = rng.random(model.models) < share
    trend = model.level + model.pace * (years - model.start + faster * (acceleration - 1) * since)
    capability = trend + rng.normal(0, model.scatter, model.models)
    difficulty = rng.uniform(model.easiest, model.hardest, model.benchmarks)
    difficulty += rng.normal(0, model.jitter, model.benchmarks)
    slope = rng.choice(model.slopes, model.benchmarks)
    expected = 1 / (1 + np.exp(-slope * (capability[:, None] - difficulty)))
    low, high = model.visible
    taken = (expected >= low) & (expected <= high) & (rng.random(expected.shape) < model.evaluated)
    scored, tested = taken.any(axis=1), taken.any(axis=0)
    rows, cols = np.nonzero(taken[scored][:, tested])
    exact = expected[scored][:, tested][rows, cols]
    return World(years[scored], rows, cols, np.clip(exact + rng.normal(0, model.score_error, exact.size), 0, high))


def refit_by_look(world: World, counts: Ints, *, ridge: float = RIDGE) -> Floats:
    """Fit the published model to the first ``counts[j]`` releases for every look j; capabilities (looks, releases).

    All looks are solved at once, from the fit of everything; releases a look does not know yet are left at zero.
    """
    layout = Layout.of(world.rows, world.cols)
    penalty = ridge / (counts + 2 * layout.n_benchmarks)
    whole = solve_rosetta(layout, world.scores, penalty=float(penalty[-1]), tolerance=1e-4, max_iterations=500)
    known = (world.rows < counts[:, None]).astype(float)
    fits = solve_rosetta(layout, world.scores, weights=known, penalty=penalty, start=whole, tolerance=1e-3)
    return fits.C.astype(float)


def fit_world(world: World, until: float) -> WorldModel:
    """Describe the scores of a baseline as a no-change world that goes on until ``until`` at the same pace.

    Releases keep their rate, benchmarks their density along the scale. How far benchmarks lead the releases cannot be
    seen at the top, where nobody has been yet; it is taken from the bottom, where the ladder starts above the first
    releases. Only releases with a score are observed, so their number is raised by the share without one.
    """
    layout = Layout.of(world.rows, world.cols)
    penalty = WEAK_RIDGE / (layout.n_subjects + 2 * layout.n_benchmarks)
    fit = solve_rosetta(layout, world.scores, penalty=penalty, tolerance=1e-6, max_iterations=500)
    C, D, slope = fit.C[0], fit.D[0], fit.slope[0]
    begin, end = world.years[0], world.years[-1]
    pace, level = np.polyfit(world.years - begin, C, 1)
    scatter = np.sqrt(np.sum((C - level - pace * (world.years - begin)) ** 2) / (C.size - 2))
    longer = (until - begin) / (end - begin)
    easiest, seen = np.quantile(D, [0.02, 0.98])
    hardest = max(level + pace * (until - begin) + max(easiest - level, 0), seen)
    low, high = np.quantile(world.scores, [0.01, 0.99])
    expected = 1 / (1 + np.exp(-slope * (C[:, None] - D)))
    candidates = int(np.count_nonzero((expected >= low) & (expected <= high)))
    model = WorldModel(
        start=begin,
        until=until,
        models=round(C.size * longer),
        benchmarks=round(D.size * float(hardest - easiest) / max(float(seen - easiest), 1e-9)),
        level=float(level),
        pace=float(pace),
        scatter=float(scatter),
        easiest=float(easiest),
        hardest=float(hardest),
        jitter=0.0,
        slopes=slope,
        visible=(float(low), float(high)),
        evaluated=min(1.0, world.scores.size / max(candidates, 1)),
        score_error=_score_error(layout, world.scores, fit),
    )
    scored = make_world(model, np.random.default_rng(0)).years.size / model.models
    return replace(model, models=round(model.models / scored))


def _score_error(layout: Layout, scores: Floats, fit: Solution) -> float:
    """Standard deviation of a score about its expectation, with one degree of freedom lost per parameter."""
    eta = fit.slope[0][layout.cols] * (fit.C[0][layout.rows] - fit.D[0][layout.cols])
    squares = float(np.sum((scores - 1 / (1 + np.exp(-eta))) ** 2))
    free = scores.size - layout.n_subjects - 2 * layout.n_benchmarks
    return float(np.sqrt(squares / max(free, 0.2 * scores.size)))
