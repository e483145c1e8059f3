"""Slow leaks: tests on which models gain year by year once the test is public, as training data contain more of it.

With h the years from the publication of a benchmark to the release of a subject (0 before), a leak adds rate · h to η.
The rates are estimated as floors are (:mod:`mensura.stitching.floors`): their prior is a list of rates, none first,
whose weights are learned over the benchmarks. A leak only lifts, so the tests that gain least show the pace of the
subjects. Scores cannot say whether most tests leak or subjects become better: then nothing is taken off.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mensura.core.arrays import Floats
from mensura.stitching.floors import (
    FLOOR_ROUNDS,
    FLOOR_SWEEPS,
    FLOOR_TOLERANCE,
    LEAST_GAIN,
    explained_by,
    learned,
    likely_levels,
)
from mensura.stitching.pooled import solve_pooled
from mensura.stitching.sweeps import Cells, Loose, expect

RATES = np.linspace(0.0, 1.5, 31)
"""Gains that are thought possible, in logits a year."""
FIRST_RATE_WEIGHTS = np.where(RATES == 0, 0.9, 0.1 / (RATES.size - 1))
"""Nine of ten tests are taken to be closed before any is seen."""
FEWEST_TESTS = 8
"""Benchmarks with dated scores from which leaks are looked for: few cannot show which of them gain least."""
GAINING, MOST_LEAKING = 0.1, 0.6
"""A test gains from so many logits a year on; where more than this share of the tests does, subjects became better."""


class Leaks(NamedTuple):
    """Gain of each benchmark in logits a year, and the spread of the gains among benchmarks (0: no leak was found)."""

    rate: Floats
    spread: float


def estimate_leaks(cells: Cells, exposure: Floats, pooling: float, shares: Floats) -> Leaks:
    """Estimate the gains, ``exposure`` (scores,) being the years after publication; capability explains the rest."""
    layout, cols = cells.layout, cells.layout.cols
    rate, weights = np.zeros(layout.n_benchmarks), FIRST_RATE_WEIGHTS
    none = Leaks(rate, 0.0)
    exposed = np.bincount(cols, exposure, layout.n_benchmarks) > 0
    if cells.right_or_wrong or np.count_nonzero(exposed) < FEWEST_TESTS:
        return none
    without = fit = solve_pooled(cells, 1, surprise=False, pooling=pooling)
    for _ in range(FLOOR_ROUNDS):
        now = replace(cells, gain=rate[cols] * exposure)
        fit = solve_pooled(now, 1, start=fit, surprise=False, pooling=pooling, max_iterations=FLOOR_SWEEPS)
        likely = replace(now, weights=now.weights / shares[cols])
        lift = expect(likely, fit).slope * exposure
        step, variance = likely_levels(likely, fit, pooling, (lift,), (exposed,))
        before = rate
        rate, _, weights = learned(rate, step[0], variance[0], RATES, weights, FIRST_RATE_WEIGHTS, exposed, shares)
        if np.abs(rate - before).max() < FLOOR_TOLERANCE:
            break
    progress = shares[rate > GAINING].sum() > MOST_LEAKING * shares[exposed].sum()
    if progress or explained_by(now, fit) < explained_by(cells, without) + LEAST_GAIN:
        return none
    return Leaks(rate, float(np.sqrt(weights @ RATES**2 - (weights @ RATES) ** 2)))


def loose_leaks(leaks: Leaks, exposure: Floats) -> Loose:
    """Let the gains vary as they do among benchmarks."""
    return Loose(exposure, np.full(leaks.rate.size, leaks.spread**-2))
